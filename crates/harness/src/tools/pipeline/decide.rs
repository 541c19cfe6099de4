//! Propose, pre and permission: what a call is, and whether it may run.

use seamline_seams::{self as seams, Asked, Fault, Halt, Notice, Reply, Riders, When};

use super::{Decided, Pipeline, Verdict};
use crate::content::Source;
use crate::json::Json;
use crate::permission::{self, Mode};
use crate::session::event::{ApprovalNote, ApprovalOutcome};
use crate::tools::call::{Proposal, Validity};
use crate::tools::code;
use crate::tools::outcome::{Ending, Outcome};
use crate::tools::seams::{
    ApprovalAnswer, ApprovalQuestion, DenyCause, PreDecision, ProposeDecision,
};

/// A call on its way through the deciding stations.
struct Deciding<'a> {
    pipeline: &'a Pipeline,
    proposal: Proposal,
    rewritten_by: Vec<Source>,
    approval: Option<ApprovalNote>,
    riders: Riders,
}

impl Pipeline {
    /// Asks everybody who may change, allow, deny, ask or defer a call.
    ///
    /// A halt *now*, or a cancelled turn, keeps a call that was allowed from starting; a denial
    /// stays a denial.
    pub async fn decide(&self, proposal: Proposal) -> Decided {
        let mut deciding = Deciding {
            pipeline: self,
            proposal,
            rewritten_by: Vec::new(),
            approval: None,
            riders: Riders::default(),
        };
        let verdict = deciding.verdict().await;
        let Deciding {
            proposal,
            rewritten_by,
            approval,
            riders,
            ..
        } = deciding;
        let decided = Decided {
            proposal,
            rewritten_by,
            approval,
            verdict,
            riders,
        };
        match decided.halts_now() || decided.proposal.signal().is_cancelled() {
            true => decided.withdraw(),
            false => decided,
        }
    }
}

impl Deciding<'_> {
    async fn verdict(&mut self) -> Verdict {
        if self.proposal.signal().is_cancelled() {
            return Verdict::Over(Outcome::not_started(), Ending::NotStarted);
        }
        if let Some(outcome) = self.pipeline.0.code.refuses(&self.proposal) {
            return Verdict::Over(outcome, Ending::NotStarted);
        }
        if let Some(verdict) = self.propose().await {
            return verdict;
        }
        let decision = match self.ask_pre().await {
            Ok(reply) => self.take(reply),
            Err(fault) => return Verdict::Over(fault.into(), Ending::Faulted),
        };
        self.permission(decision).await
    }

    /// `tools.propose`; a verdict ends the call here.
    async fn propose(&mut self) -> Option<Verdict> {
        let seam = &self.pipeline.0.seams.propose;
        if seam.is_empty() {
            return None;
        }
        let answer = seam
            .dispatch(self.proposal.clone(), |_| async { ProposeDecision::Keep })
            .await;
        match answer {
            Err(fault) => Some(Verdict::Over(fault.into(), Ending::Faulted)),
            Ok(reply) => match self.take(reply) {
                ProposeDecision::Keep => None,
                ProposeDecision::Rewrite { arguments, by } => self
                    .rewrite(&arguments, by.into_iter().map(Into::into).collect())
                    .err(),
            },
        }
    }

    async fn ask_pre(&self) -> Result<Reply<PreDecision>, Fault> {
        let allow = PreDecision::Allow {
            pre_approved: false,
        };
        let seam = &self.pipeline.0.seams.pre;
        match seam.is_empty() {
            true => Ok(Reply::new(allow)),
            false => {
                seam.dispatch(self.proposal.clone(), |_| async { allow })
                    .await
            }
        }
    }

    async fn permission(&mut self, decision: PreDecision) -> Verdict {
        let invalid = invalid(&self.proposal);
        match (decision, invalid) {
            (PreDecision::Deny { reason, by }, _) => denied(reason, by),
            (_, Some(outcome)) => Verdict::Over(outcome, Ending::Invalid),
            (PreDecision::Ask { reason, by }, None) => self.policy_asks(reason, by).await,
            (PreDecision::Defer { reason, by }, None) => Verdict::Deferred {
                reason,
                by: by.into(),
            },
            (PreDecision::Allow { pre_approved }, None) => self.mode_decides(pre_approved).await,
        }
    }

    async fn mode_decides(&mut self, pre_approved: bool) -> Verdict {
        match self
            .pipeline
            .0
            .permission
            .judge(&self.proposal, pre_approved)
        {
            permission::Verdict::Allow => Verdict::Go,
            permission::Verdict::Ask => self.ask(None, None).await,
            permission::Verdict::Deny(reason) => {
                self.refused_by_mode();
                Verdict::Denied {
                    reason,
                    by: Source::Harness,
                    cause: DenyCause::Mode,
                }
            }
        }
    }

    /// A policy that asks is asked for in every mode but `dontAsk`, where nobody is to be asked.
    async fn policy_asks(&mut self, reason: Option<String>, by: seams::Source) -> Verdict {
        if self.pipeline.0.permission.mode() == Mode::DontAsk {
            self.refused_by_mode();
            let reason = reason.unwrap_or_else(|| {
                format!(
                    "tool {:?} requires approval, and the permission mode is dontAsk",
                    self.name()
                )
            });
            return Verdict::Denied {
                reason,
                by: by.into(),
                cause: DenyCause::Mode,
            };
        }
        self.ask(reason, Some(by)).await
    }

    async fn ask(&mut self, reason: Option<String>, by: Option<seams::Source>) -> Verdict {
        let question = ApprovalQuestion {
            proposal: self.proposal.clone(),
            reason: reason.clone(),
            by: by.clone(),
        };
        let seam = &self.pipeline.0.seams.approval;
        let asked = seam.ask(question, self.proposal.signal().clone()).await;
        self.approval = Some(ApprovalNote {
            asked_by: by.clone().map(Into::into),
            reason: reason.clone(),
            outcome: outcome_of(&asked),
        });
        match asked {
            Asked::Answered { answer, by } => self.answered(answer, &by).await,
            Asked::Cancelled => Verdict::Over(Outcome::not_started(), Ending::NotStarted),
            Asked::Nobody => self.unanswered(reason, by),
        }
    }

    async fn answered(&mut self, answer: ApprovalAnswer, by: &seams::Name) -> Verdict {
        let source = Source::Approval { by: by.to_string() };
        match answer {
            ApprovalAnswer::AllowOnce { arguments, updates } => {
                updates
                    .into_iter()
                    .for_each(|update| self.pipeline.0.permission.apply(update));
                match arguments.filter(|amended| amended != self.proposal.arguments()) {
                    None => Verdict::Go,
                    Some(amended) => self.amended(&amended, source).await,
                }
            }
            ApprovalAnswer::Deny { message, interrupt } => {
                if interrupt {
                    let by = seams::Source::new(by);
                    self.halt(Halt {
                        when: When::AfterBatch,
                        reason: message.clone(),
                        by,
                    });
                }
                let reason =
                    message.unwrap_or_else(|| format!("the user rejected tool {:?}", self.name()));
                Verdict::Denied {
                    reason,
                    by: source,
                    cause: DenyCause::Approval,
                }
            }
        }
    }

    /// Arguments changed by an approval go past `tools.pre` once more, where only a denial
    /// counts: whoever approved has already said yes, and the rest was heard the first time.
    async fn amended(&mut self, arguments: &Json, by: Source) -> Verdict {
        if let Err(verdict) = self.rewrite(arguments, vec![by]) {
            return verdict;
        }
        if let Some(outcome) = invalid(&self.proposal) {
            return Verdict::Over(outcome, Ending::Invalid);
        }
        let reply = match self.ask_pre().await {
            Ok(reply) => reply,
            Err(fault) => return Verdict::Over(fault.into(), Ending::Faulted),
        };
        let (decision, riders) = reply.riders();
        match decision {
            PreDecision::Deny { reason, by } => {
                self.ride(riders);
                denied(reason, by)
            }
            _ => Verdict::Go,
        }
    }

    fn refused_by_mode(&mut self) {
        let (name, mode) = (self.name(), self.pipeline.0.permission.mode());
        self.tell(format!(
            "{name} was not run: the permission mode is {mode}. Choose another one to allow it."
        ));
    }

    fn unanswered(&mut self, reason: Option<String>, by: Option<seams::Source>) -> Verdict {
        let name = self.name().to_owned();
        let asked = match &by {
            Some(by) => format!("{} asks for it", by.plugin),
            None => format!(
                "the permission mode is {}",
                self.pipeline.0.permission.mode()
            ),
        };
        let remedy = match by {
            Some(_) => "Run interactively to be asked.",
            None => {
                "Run interactively to be asked, or choose a permission mode that allows it: \
                 acceptEdits for edits inside the project, bypassPermissions for everything."
            }
        };
        self.tell(format!(
            "{name} was not run: it needs approval ({asked}), and there is nobody to ask. {remedy}"
        ));
        let reason = reason.unwrap_or_else(|| {
            format!("tool {name:?} requires approval, but no approval channel is available")
        });
        let by = by.map_or(Source::Harness, Source::from);
        Verdict::Denied {
            reason,
            by,
            cause: DenyCause::Unanswered,
        }
    }

    /// Takes over new arguments, or refuses them because they do not fit.
    fn rewrite(&mut self, arguments: &Json, by: Vec<Source>) -> Result<(), Verdict> {
        let rewritten = self.proposal.with_arguments(arguments);
        if let Validity::InvalidArguments(violations) = rewritten.validity() {
            let by = by.last().cloned().unwrap_or(Source::Harness);
            let reason = format!(
                "the arguments of tool {:?} as rewritten by {by} do not fit it: {}",
                self.name(),
                violations.join("; ")
            );
            return Err(Verdict::Denied {
                reason,
                by,
                cause: DenyCause::Rewrite,
            });
        }
        self.proposal = rewritten;
        self.rewritten_by.extend(by);
        Ok(())
    }

    fn name(&self) -> &str {
        self.proposal.name()
    }

    fn take<D>(&mut self, reply: Reply<D>) -> D {
        let (decision, riders) = reply.riders();
        self.ride(riders);
        decision
    }

    fn ride(&mut self, riders: Riders) {
        let before = std::mem::take(&mut self.riders);
        let reply = Reply::new(()).with_riders_after(before);
        self.riders = reply.with_riders_after(riders).riders().1;
    }

    fn halt(&mut self, halt: Halt) {
        let halt = Some(halt);
        self.ride(Riders {
            halt,
            ..Riders::default()
        });
    }

    fn tell(&mut self, text: String) {
        let source = seams::Source::new("seamline");
        self.riders.notices.push(Notice { source, text });
    }
}

fn outcome_of(asked: &Asked<ApprovalAnswer>) -> ApprovalOutcome {
    match asked {
        Asked::Nobody => ApprovalOutcome::Unanswered,
        Asked::Cancelled => ApprovalOutcome::Cancelled,
        Asked::Answered { answer, by } => {
            let by = by.to_string();
            match answer {
                ApprovalAnswer::AllowOnce { .. } => ApprovalOutcome::Allowed { by },
                ApprovalAnswer::Deny { .. } => ApprovalOutcome::Denied { by },
            }
        }
    }
}

fn denied(reason: String, by: seams::Source) -> Verdict {
    let (by, cause) = (by.into(), DenyCause::Policy);
    Verdict::Denied { reason, by, cause }
}

/// The failure of a call that could not run whatever anybody says.
fn invalid(proposal: &Proposal) -> Option<Outcome> {
    match proposal.validity() {
        Validity::Valid => None,
        Validity::UnknownTool => Some(Outcome::failed(
            format!("unknown tool {:?}", proposal.name()),
            Some(code::UNKNOWN_TOOL),
        )),
        Validity::InvalidArguments(violations) => Some(Outcome::failed(
            format!("invalid arguments: {}", violations.join("; ")),
            Some(code::INVALID_ARGS),
        )),
    }
}
