//! The pipeline: one call from what the model wrote to what the log keeps.
//!
//! The stations are methods, and the type each one returns is what the next one takes, so that
//! no caller can leave one out:
//!
//! [`propose`](Pipeline::propose) → [`Proposal`] → [`decide`](Pipeline::decide) → [`Decided`] →
//! [`commit`](Pipeline::commit) → [`Committed`] → [`execute`](Pipeline::execute) → [`Executed`] →
//! [`settle`](Pipeline::settle) → [`Settled`]
//!
//! Between `decide` and `execute` the caller writes the decision to the log; that is where the
//! call is sealed. [`run`](Pipeline::run) is all of it for a call that belongs to no agent.
//!
//! The pipeline knows one call. Order among calls, overlap and barriers are the agent's.

mod decide;
mod execute;
mod settle;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use seamline_seams::{Context, Halt, Notice, Riders, Signal, Token, TokenMint};

use super::call::{Call, Draft, Proposal};
use super::code_mode::CodeMode;
#[cfg(feature = "code-mode")]
use super::code_mode::Limits;
use super::nested::NoLedger;
use super::outcome::Outcome;
use super::registry::Registry;
use super::seams::{DenyCause, ToolDenied, ToolResult, ToolSeams};
use super::workspace::Workspace;
use crate::content::Source;
use crate::facts::Facts;
use crate::json::Json;
use crate::model::ToolSpec;
use crate::permission::Permission;
use crate::session::event::{self, ApprovalNote, DeniedNote, Step};

/// A call as the model wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The provider's id.
    pub call_id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments; text that was not JSON is a JSON string of itself.
    pub arguments: Json,
}

/// Runs tool calls through their seams. Clones are the same pipeline.
#[derive(Clone)]
pub struct Pipeline(Arc<Parts>);

struct Parts {
    seams: ToolSeams,
    registry: Registry,
    permission: Permission,
    workspace: Workspace,
    mint: TokenMint,
    deadline: Duration,
    code: CodeMode,
    #[cfg(feature = "code-mode")]
    limits: Limits,
}

/// How a pipeline is set up, beside what it is made of.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// How long those who are told of a denial may take. Default: [`Pipeline::DEADLINE`].
    pub deadline: Duration,
    /// Whether programs may call tools.
    pub code: CodeMode,
    /// What programs may use.
    #[cfg(feature = "code-mode")]
    pub limits: Limits,
}

impl Default for Setting {
    fn default() -> Self {
        Self {
            deadline: Pipeline::DEADLINE,
            code: CodeMode::Off,
            #[cfg(feature = "code-mode")]
            limits: Limits::default(),
        }
    }
}

/// What was decided about a call, before the log holds it.
#[derive(Debug)]
#[must_use = "a decided call has to be committed"]
pub struct Decided {
    proposal: Proposal,
    rewritten_by: Vec<Source>,
    approval: Option<ApprovalNote>,
    verdict: Verdict,
    riders: Riders,
}

#[derive(Debug)]
enum Verdict {
    Go,
    Denied {
        reason: String,
        by: Source,
        cause: DenyCause,
    },
    Deferred {
        reason: Option<String>,
        by: Source,
    },
    /// It ends here with this outcome; nothing is asked any more.
    Over(Outcome, super::Ending),
}

/// A decided call that is in the log.
#[derive(Debug)]
#[must_use = "a committed call has to get its result"]
pub struct Committed {
    call: Call,
    signal: Signal,
    verdict: Verdict,
    riders: Riders,
}

/// A call whose work is done and whose result nobody has seen.
#[derive(Debug)]
#[must_use = "an executed call has to be settled"]
pub struct Executed {
    call: Call,
    signal: Signal,
    outcome: Outcome,
    ending: super::Ending,
    elapsed: Duration,
    denial: Option<ToolDenied>,
    riders: Riders,
}

/// A call with its final result.
#[derive(Debug)]
#[must_use = "a settled call has a result to record"]
pub struct Settled {
    /// The result, without contexts.
    pub result: ToolResult,
    /// The denial, if it was denied.
    pub denial: Option<ToolDenied>,
    /// Text for the model, to be shown after all results of the batch.
    pub contexts: Vec<Context>,
    /// Text for the user.
    pub notices: Vec<Notice>,
    /// Whether the run should stop.
    pub halt: Option<Halt>,
}

impl Pipeline {
    /// How long those who are told of a denial may take, by default. Our choice.
    pub const DEADLINE: Duration = Duration::from_secs(60);

    /// A pipeline over these seams and tools.
    pub fn new(
        seams: ToolSeams,
        registry: Registry,
        permission: Permission,
        workspace: Workspace,
    ) -> Self {
        Self::with(seams, registry, permission, workspace, Setting::default())
    }

    /// The same, set up in another way than by default.
    pub fn with(
        seams: ToolSeams,
        registry: Registry,
        permission: Permission,
        workspace: Workspace,
        setting: Setting,
    ) -> Self {
        Self(Arc::new(Parts {
            seams,
            registry,
            permission,
            workspace,
            mint: TokenMint::new(),
            deadline: setting.deadline,
            code: setting.code,
            #[cfg(feature = "code-mode")]
            limits: setting.limits,
        }))
    }

    /// How long those who are told of something may take.
    pub fn deadline(&self) -> Duration {
        self.0.deadline
    }

    /// The seams.
    pub fn seams(&self) -> &ToolSeams {
        &self.0.seams
    }

    /// The tools.
    pub fn registry(&self) -> &Registry {
        &self.0.registry
    }

    /// The permissions.
    pub fn permission(&self) -> &Permission {
        &self.0.permission
    }

    /// Where the tools work.
    pub fn workspace(&self) -> &Workspace {
        &self.0.workspace
    }

    /// What programs may use.
    #[cfg(feature = "code-mode")]
    pub(crate) fn limits(&self) -> Limits {
        self.0.limits
    }

    /// The tools as the model is told about them: what it may call directly.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.0.code.specs(&self.0.registry)
    }

    /// Validates a call and gives it its token. The definition of the tool is taken now; a later
    /// change of the registry does not reach the call.
    pub fn propose(&self, written: Written, facts: Arc<Facts>, signal: Signal) -> Proposal {
        self.draft(written, facts, signal, None)
    }

    /// The same for a call that another call's body makes.
    pub(crate) fn propose_nested(
        &self,
        written: Written,
        facts: Arc<Facts>,
        signal: Signal,
        parent: Token,
    ) -> Proposal {
        self.draft(written, facts, signal, Some(parent))
    }

    fn draft(
        &self,
        written: Written,
        facts: Arc<Facts>,
        signal: Signal,
        parent: Option<Token>,
    ) -> Proposal {
        let Written {
            call_id,
            name,
            arguments,
        } = written;
        let tool = self.0.code.find(&self.0.registry, &name, parent.is_some());
        let token = self.0.mint.mint();
        Proposal::new(Draft {
            token,
            parent,
            call_id,
            name,
            written: arguments,
            tool,
            facts,
            signal,
        })
    }

    /// All stations for a call that belongs to no agent: the seams see it, no log does.
    pub async fn run(&self, written: Written, facts: Arc<Facts>, signal: Signal) -> Settled {
        let proposal = self.propose(written, Arc::clone(&facts), signal);
        let decided = self.decide(proposal).await;
        let committed = match decided.is_deferred() {
            true => self.give_up(decided),
            false => self.seal(decided),
        };
        let ledger = Arc::new(NoLedger(facts));
        let executed = self.execute_for(committed, ledger).await;
        self.settle(executed).await
    }

    /// Seals a decided call once `record` has put it in the log. A failure of `record` is
    /// returned, and there is no call.
    pub fn commit<E>(
        &self,
        decided: Decided,
        at: Step,
        record: impl FnOnce(event::ToolCall) -> Result<(), E>,
    ) -> Result<Committed, E> {
        record(decided.record(at))?;
        Ok(self.seal(decided))
    }

    fn seal(&self, decided: Decided) -> Committed {
        let denied = decided.denied();
        let Decided {
            proposal,
            rewritten_by,
            verdict,
            riders,
            ..
        } = decided;
        let signal = proposal.signal().clone();
        Committed {
            call: Call::seal(proposal, rewritten_by, denied),
            signal,
            verdict,
            riders,
        }
    }

    /// What the log gets for a call that no policy was asked about, because the run stopped
    /// first: the call as the model wrote it, and a result that says so.
    pub fn never_started(proposal: &Proposal, at: Step) -> (event::ToolCall, event::ToolResult) {
        let outcome = Outcome::not_started();
        let call = event::ToolCall {
            turn: at.turn,
            step: at.step,
            call_id: proposal.call_id().to_owned(),
            parent: None,
            name: proposal.name().to_owned(),
            arguments: proposal.arguments().clone(),
            original: None,
            rewritten_by: Vec::new(),
            approval: None,
            denied: None,
        };
        let result = outcome.record(proposal.call_id(), at);
        (call, result)
    }

    fn give_up(&self, mut decided: Decided) -> Committed {
        decided.verdict = Verdict::Denied {
            reason: "a call outside an agent's turn cannot be deferred".to_owned(),
            by: Source::Harness,
            cause: DenyCause::Policy,
        };
        self.seal(decided)
    }
}

impl Decided {
    /// The call as it stands now.
    pub fn proposal(&self) -> &Proposal {
        &self.proposal
    }

    /// Whether the call was put off. A deferred call is not committed; its riders are
    /// [taken](Self::into_riders).
    pub fn is_deferred(&self) -> bool {
        matches!(self.verdict, Verdict::Deferred { .. })
    }

    /// Why the call was put off, where the policy said, and who put it off; `None` when it was
    /// not.
    pub fn deferral(&self) -> Option<(Option<&str>, &Source)> {
        match &self.verdict {
            Verdict::Deferred { reason, by } => Some((reason.as_deref(), by)),
            _ => None,
        }
    }

    /// Turns a deferral into a denial, where the call cannot be put off.
    pub fn deny(mut self, reason: impl Into<String>) -> Self {
        let (reason, by) = (reason.into(), Source::Harness);
        self.verdict = Verdict::Denied {
            reason,
            by,
            cause: DenyCause::Policy,
        };
        self
    }

    /// Takes a call back that was decided to run, because the run stops first.
    pub fn withdraw(mut self) -> Self {
        if matches!(self.verdict, Verdict::Go | Verdict::Deferred { .. }) {
            self.verdict = Verdict::Over(Outcome::not_started(), super::Ending::NotStarted);
        }
        self
    }

    /// Whether the call will be dispatched, as far as is decided.
    pub fn will_run(&self) -> bool {
        matches!(self.verdict, Verdict::Go)
    }

    /// Whether somebody asked for a halt at once.
    pub fn halts_now(&self) -> bool {
        let now = |halt: &Halt| halt.when == seamline_seams::When::Now;
        self.riders.halt.as_ref().is_some_and(now)
    }

    /// The halt somebody asked for.
    pub fn halt(&self) -> Option<&Halt> {
        self.riders.halt.as_ref()
    }

    /// What rode beside the decisions.
    pub fn into_riders(self) -> Riders {
        self.riders
    }

    fn denied(&self) -> Option<DeniedNote> {
        match &self.verdict {
            Verdict::Denied { reason, by, .. } => Some(DeniedNote {
                reason: reason.clone(),
                by: by.clone(),
            }),
            _ => None,
        }
    }

    fn record(&self, at: Step) -> event::ToolCall {
        let rewritten = !self.rewritten_by.is_empty();
        event::ToolCall {
            turn: at.turn,
            step: at.step,
            call_id: self.proposal.call_id().to_owned(),
            parent: None,
            name: self.proposal.name().to_owned(),
            arguments: self.proposal.arguments().clone(),
            original: rewritten.then(|| self.proposal.written().clone()),
            rewritten_by: self.rewritten_by.clone(),
            approval: self.approval.clone(),
            denied: self.denied(),
        }
    }
}

impl Committed {
    /// The call.
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// Whether the call may be dispatched; only the guards are still to come.
    pub fn will_run(&self) -> bool {
        matches!(self.verdict, Verdict::Go)
    }

    /// Whether the call may overlap with other such calls.
    pub fn is_concurrency_safe(&self) -> bool {
        self.call.proposal().is_concurrency_safe()
    }

    /// Takes a call back that was committed to run, because the run stops first.
    pub fn withdraw(mut self) -> Self {
        if self.will_run() {
            self.verdict = Verdict::Over(Outcome::not_started(), super::Ending::NotStarted);
        }
        self
    }
}

impl fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipeline")
            .field("registry", &self.0.registry)
            .finish_non_exhaustive()
    }
}
