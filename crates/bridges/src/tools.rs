//! Tool calls: PreToolUse, PostToolUse, PostToolUseFailure, PostToolBatch.
//!
//! PreToolUse runs once per call, at *propose*; *pre* answers from what was remembered under the
//! pipeline's token. A call that hooks should have seen and that has no entry is denied. The memory
//! is dropped when the call has its result.

use std::sync::Arc;

use seamline_harness::json::Json;
use seamline_harness::tools::{
    Ending, Post, PostDecision, PostEvent, Pre, PreDecision, Proposal, Propose, ProposeDecision,
    ToolSeams,
};
use seamline_hooks::outcome::{By, Decision, Extras};
use seamline_hooks::payload::{PostToolUse, PostToolUseFailure, PreToolUse};
use seamline_hooks::{DialectId, Fired, Outcome};
use seamline_seams::{BoxError, Next, Notice, Reply, Riders, Scope, Source};

use crate::bridge::Bridge;
use crate::fallback;
use crate::fire::cut_short;
use crate::vocabulary::{Spoken, hear, response, speak, succeeded};

/// What PreToolUse said about a call, until *pre* asks.
#[derive(Debug, Clone)]
pub(crate) struct Remembered {
    decision: PreDecision,
    /// The arguments its hooks were shown.
    shown: Json,
}

impl Bridge {
    pub(crate) fn register_tools(self: &Arc<Self>, scope: &Scope, tools: &ToolSeams) {
        let bridge = Arc::clone(self);
        tools.propose.on(scope, self.name(), move |proposal, next| {
            let bridge = Arc::clone(&bridge);
            async move { bridge.on_propose(proposal, next).await }
        });
        let bridge = Arc::clone(self);
        tools.pre.on(scope, self.name(), move |proposal, next| {
            let bridge = Arc::clone(&bridge);
            async move { bridge.on_pre(proposal, next).await }
        });
        let bridge = Arc::clone(self);
        tools.post.on(scope, self.name(), move |event, next| {
            let bridge = Arc::clone(&bridge);
            async move { bridge.on_post(event, next).await }
        });
        let bridge = Arc::clone(self);
        tools.result.on(scope, self.name(), move |result| {
            bridge.with_memory(|memory| memory.remove(&result.call.token()));
        });
    }

    async fn on_propose(
        &self,
        proposal: Proposal,
        next: Next<Propose>,
    ) -> Result<Reply<ProposeDecision>, BoxError> {
        if !proposal.is_valid() {
            return Ok(next.run().await?);
        }
        if !self.listens("PreToolUse") {
            if self.engine.can_change() {
                self.nobody_asked(&proposal);
            }
            return Ok(next.run().await?);
        }
        let fired = self.fire_pre(&proposal).await;
        if let Some(why) = cut_short("PreToolUse", &fired, proposal.signal()) {
            return Err(why.into());
        }
        let mut decision = self.decision(&fired.outcome);
        let rewrite = fired.outcome.input.as_ref().map(|input| {
            let heard = hear(
                self.dialect(),
                proposal.name(),
                proposal.arguments(),
                &input.value,
                &proposal.facts().cwd,
            );
            (heard, self.source(&input.by))
        });
        let changed = match rewrite {
            Some((Ok(arguments), by)) => Some((arguments, by)),
            Some((Err(reason), by)) => {
                decision = PreDecision::Deny { reason, by };
                None
            }
            None => None,
        };
        let shown = proposal.arguments().clone();
        let remembered = Remembered { decision, shown };
        self.with_memory(|memory| memory.insert(proposal.token(), remembered));
        let inner = match &changed {
            Some((arguments, _)) => next.run_with(proposal.with_arguments(arguments)).await?,
            None => next.run().await?,
        };
        let (inner, inner_riders) = inner.riders();
        let decision = match changed {
            Some((arguments, by)) => inner.after(arguments, by),
            None => inner,
        };
        // Said here and not at *pre*, which is not asked about a rewrite that does not fit.
        let riders = self.riders(&fired.outcome);
        Ok(reply(decision, riders, inner_riders))
    }

    /// Hooks that come into force from now on are not asked about a call that was proposed before.
    fn nobody_asked(&self, proposal: &Proposal) {
        let decision = PreDecision::Allow {
            pre_approved: false,
        };
        let shown = proposal.arguments().clone();
        let remembered = Remembered { decision, shown };
        self.with_memory(|memory| memory.insert(proposal.token(), remembered));
    }

    async fn fire_pre(&self, proposal: &Proposal) -> Fired {
        let facts = proposal.facts();
        // The elder's hooks ran before the elder rewrote the call.
        let elder = self
            .elder
            .as_ref()
            .filter(|elder| elder.engine.listens("PreToolUse"));
        let elder = elder.map(|elder| (elder.dialect(), elder.shown(proposal)));
        let build = |dialect| {
            let shown = match &elder {
                Some((id, Some(shown))) if *id == dialect => shown,
                _ => proposal.arguments(),
            };
            let spoken = speak(dialect, proposal.name(), shown, &facts.cwd);
            self.payload_of(dialect, facts, &pre_tool_use(&spoken, proposal.call_id()))
        };
        self.fire("PreToolUse", facts, proposal.signal(), &build)
            .await
    }

    /// The arguments this bridge's hooks were shown for a call.
    fn shown(&self, proposal: &Proposal) -> Option<Json> {
        self.with_memory(|memory| {
            let remembered = memory.get(&proposal.token());
            remembered.map(|remembered| remembered.shown.clone())
        })
    }

    fn decision(&self, outcome: &Outcome) -> PreDecision {
        let reason = outcome.reason.clone();
        let by = self.speaker(outcome);
        match outcome.decision {
            Decision::Deny | Decision::Block => {
                let reason = reason.unwrap_or_else(|| fallback::TOOL.to_owned());
                PreDecision::Deny { reason, by }
            }
            Decision::Ask => PreDecision::Ask { reason, by },
            Decision::Defer => PreDecision::Defer { reason, by },
            Decision::Allow => PreDecision::Allow { pre_approved: true },
            Decision::None => PreDecision::Allow {
                pre_approved: false,
            },
        }
    }

    /// The handler whose reason speaks.
    fn speaker(&self, outcome: &Outcome) -> Source {
        let said = outcome
            .reasons
            .iter()
            .find(|by| Some(&by.value) == outcome.reason.as_ref());
        said.or(outcome.reasons.first())
            .map_or_else(|| Source::new(self.name()), |by| self.source(&by.by))
    }

    async fn on_pre(
        &self,
        proposal: Proposal,
        next: Next<Pre>,
    ) -> Result<Reply<PreDecision>, BoxError> {
        let remembered = self.with_memory(|memory| {
            let remembered = memory.get(&proposal.token());
            remembered.map(|remembered| remembered.decision.clone())
        });
        let asked = remembered.is_some() || self.engine.listens("PreToolUse");
        if !proposal.is_valid() || !asked {
            return Ok(next.run().await?);
        }
        let own = remembered.unwrap_or_else(|| PreDecision::Deny {
            reason: "its PreToolUse hooks did not run".to_owned(),
            by: Source::new(self.name()),
        });
        Ok(next.run().await?.map(|inner| stricter(own, inner)))
    }

    async fn on_post(
        &self,
        event: PostEvent,
        next: Next<Post>,
    ) -> Result<Reply<PostDecision>, BoxError> {
        if event.ending != Ending::Ran {
            return Ok(next.run().await?);
        }
        let Some(fired) = self.fire_post(&event).await else {
            return Ok(next.run().await?);
        };
        let mut riders = self.riders(&fired.outcome);
        let own = self.post_decision(&event, &fired.outcome, &mut riders.notices);
        let (inner, inner_riders) = next.run().await?.riders();
        Ok(reply(
            both(own, inner, &mut riders.notices, self),
            riders,
            inner_riders,
        ))
    }

    /// Fires the event that fits the result; `None` when nobody listens to it.
    async fn fire_post(&self, event: &PostEvent) -> Option<Fired> {
        let (call, facts) = (&event.call, event.call.facts());
        let ok = succeeded(self.dialect(), call.name(), &event.outcome);
        let name = if ok {
            "PostToolUse"
        } else {
            "PostToolUseFailure"
        };
        if !self.listens(name) {
            return None;
        }
        let duration_ms = u64::try_from(event.elapsed.as_millis()).unwrap_or(u64::MAX);
        let build = |dialect: DialectId| {
            let spoken = speak(dialect, call.name(), call.arguments(), &facts.cwd);
            let call_facts = pre_tool_use(&spoken, call.call_id());
            if ok {
                let response = response(dialect, call.name(), &event.outcome);
                let tool_response = response.raw();
                let event = PostToolUse {
                    call: call_facts,
                    tool_response,
                    duration_ms,
                };
                return self.payload_of(dialect, facts, &event);
            }
            let error = event.outcome.result.as_ref().err();
            let error = error.map_or("", |failure| failure.message.as_str());
            let is_interrupt = event.outcome.has_code("ABORTED");
            let event = PostToolUseFailure {
                call: call_facts,
                error,
                is_interrupt,
                duration_ms,
            };
            self.payload_of(dialect, facts, &event)
        };
        Some(self.fire(name, facts, &event.signal, &build).await)
    }

    fn post_decision(
        &self,
        event: &PostEvent,
        outcome: &Outcome,
        notices: &mut Vec<Notice>,
    ) -> PostDecision {
        if let Some(text) = &outcome.extras.replaced_output {
            let feedback = if text.is_empty() {
                fallback::RESULT
            } else {
                text
            }
            .to_owned();
            return PostDecision::Block {
                feedback,
                keep_output: false,
            };
        }
        if outcome.decision == Decision::Block {
            let reasons: Vec<&str> = outcome.reasons.iter().map(|by| by.value.as_str()).collect();
            let feedback = if reasons.is_empty() {
                fallback::RESULT.to_owned()
            } else {
                reasons.join("\n\n")
            };
            return PostDecision::Block {
                feedback,
                keep_output: true,
            };
        }
        self.replaced_value(event, &outcome.extras, notices)
            .unwrap_or(PostDecision::Accept)
    }

    /// `updatedToolOutput` must fit the tool; what does not is refused with a notice (measured).
    fn replaced_value(
        &self,
        event: &PostEvent,
        extras: &Extras,
        notices: &mut Vec<Notice>,
    ) -> Option<PostDecision> {
        let is_mcp = event.call.name().starts_with("mcp__");
        let mcp_output = extras.mcp_output.as_ref().filter(|_| is_mcp);
        let By { value, by } = extras.tool_output.as_ref().or(mcp_output)?;
        let checked = Json::parse(value.get())
            .map_err(|error| error.to_string())
            .and_then(|value| {
                event
                    .call
                    .check_value(&value)
                    .map(|()| PostDecision::ReplaceValue(value))
            });
        checked
            .map_err(|why| {
                let text = format!("updatedToolOutput is not used: {why}");
                notices.push(Notice {
                    source: self.source(by),
                    text,
                });
            })
            .ok()
    }
}

fn pre_tool_use<'a>(spoken: &'a Spoken, call_id: &'a str) -> PreToolUse<'a> {
    PreToolUse {
        tool_name: &spoken.name,
        tool_input: spoken.input.raw(),
        tool_use_id: call_id,
        mcp_server: None,
    }
}

/// A decision with the riders of both, the outer one's first.
pub(crate) fn reply<D>(decision: D, outer: Riders, inner: Riders) -> Reply<D> {
    let mut reply = Reply::new(decision);
    reply.contexts = [outer.contexts, inner.contexts].concat();
    reply.notices = [outer.notices, inner.notices].concat();
    reply.halt = outer.halt.or(inner.halt);
    reply
}

/// `deny > defer > ask > allow`; of two equal ones the outer speaks.
fn stricter(outer: PreDecision, inner: PreDecision) -> PreDecision {
    fn rank(decision: &PreDecision) -> u8 {
        match decision {
            PreDecision::Allow {
                pre_approved: false,
            } => 0,
            PreDecision::Allow { pre_approved: true } => 1,
            PreDecision::Ask { .. } => 2,
            PreDecision::Defer { .. } => 3,
            PreDecision::Deny { .. } => 4,
        }
    }
    if rank(&inner) > rank(&outer) {
        inner
    } else {
        outer
    }
}

/// Two objections are both said. A replacement beside an objection is kept only when it is the
/// inner one's content; a value that gives way to an objection leaves a notice.
fn both(
    outer: PostDecision,
    inner: PostDecision,
    notices: &mut Vec<Notice>,
    bridge: &Bridge,
) -> PostDecision {
    match (outer, inner) {
        (PostDecision::Accept, inner) => inner,
        (outer, PostDecision::Accept) => outer,
        (
            PostDecision::Block {
                feedback: first,
                keep_output: keep,
            },
            PostDecision::Block {
                feedback: second,
                keep_output: also,
            },
        ) => PostDecision::Block {
            feedback: format!("{first}\n\n{second}"),
            keep_output: keep && also,
        },
        (block @ PostDecision::Block { .. }, _) | (_, block @ PostDecision::Block { .. }) => {
            let text = "a replaced tool output gave way to an objection".to_owned();
            notices.push(Notice {
                source: Source::new(bridge.name()),
                text,
            });
            block
        }
        (_, inner) => inner,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_denial_wins_and_nothing_softens_the_stricter_word() {
        let by = || Source::new("x");
        let all = [
            PreDecision::Allow {
                pre_approved: false,
            },
            PreDecision::Allow { pre_approved: true },
            PreDecision::Ask {
                reason: None,
                by: by(),
            },
            PreDecision::Defer {
                reason: None,
                by: by(),
            },
            PreDecision::Deny {
                reason: "no".into(),
                by: by(),
            },
        ];
        for (i, outer) in all.iter().enumerate() {
            for (j, inner) in all.iter().enumerate() {
                assert_eq!(
                    stricter(outer.clone(), inner.clone()),
                    all[i.max(j)].clone()
                );
            }
        }
    }
}
