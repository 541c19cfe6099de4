//! The end of a turn: Stop.

use std::sync::Arc;

use seamline_harness::agent::{
    AgentSeams, Continuation, ContinuationDecision, ContinuationEvent, Steer,
};
use seamline_hooks::outcome::Decision;
use seamline_hooks::payload::Stop;
use seamline_hooks::{DialectId, Outcome};
use seamline_seams::{BoxError, Next, Notice, Reply, Scope, Source};

use crate::bridge::Bridge;
use crate::fallback;
use crate::tools::reply;

impl Bridge {
    pub(crate) fn register_stop(self: &Arc<Self>, scope: &Scope, agent: &AgentSeams) {
        let bridge = Arc::clone(self);
        agent
            .continuation
            .on(scope, self.name(), move |event, next| {
                let bridge = Arc::clone(&bridge);
                async move { bridge.on_stop(event, next).await }
            });
    }

    async fn on_stop(
        &self,
        event: ContinuationEvent,
        next: Next<Continuation>,
    ) -> Result<Reply<ContinuationDecision>, BoxError> {
        if !self.listens("Stop") {
            return Ok(next.run().await?);
        }
        let build = |dialect| {
            let stop = Stop {
                stop_hook_active: event.forced,
                last_assistant_message: event.last_text.as_deref(),
            };
            self.payload_of(dialect, &event.facts, &stop)
        };
        let fired = self.fire("Stop", &event.facts, &event.signal, &build).await;
        let mut riders = self.riders(&fired.outcome);
        let mut own = self.continuation(&fired.outcome);
        if own.is_some() && self.capped(event.consecutive) {
            own = None;
            riders.contexts.clear();
            riders.notices.push(self.cap_notice(event.consecutive));
        }
        let (inner, inner_riders) = next.run().await?.riders();
        let halted = riders.halt.is_some() || inner_riders.halt.is_some();
        let decision = match (own, inner) {
            _ if halted => ContinuationDecision::Stop,
            (None, inner) => inner,
            (Some(own), ContinuationDecision::Stop) => {
                ContinuationDecision::Continue { reasons: own }
            }
            (Some(own), ContinuationDecision::Continue { reasons }) => {
                ContinuationDecision::Continue {
                    reasons: [own, reasons].concat(),
                }
            }
        };
        Ok(reply(decision, riders, inner_riders))
    }

    /// Why the turn goes on, one message per blocking hook; `None` when it may end. An empty list
    /// goes on with the contexts alone (Claude Code, measured).
    fn continuation(&self, outcome: &Outcome) -> Option<Vec<Steer>> {
        let row = self.engine.table().event("Stop")?;
        if outcome.decision == Decision::Block {
            let said = outcome.reasons.iter();
            let mut reasons: Vec<Steer> = said
                .map(|by| Steer {
                    text: by.value.clone(),
                    source: self.source(&by.by),
                })
                .collect();
            if reasons.is_empty() {
                let source = Source::new(self.name());
                reasons.push(Steer {
                    text: fallback::STOP.to_owned(),
                    source,
                });
            }
            return Some(reasons);
        }
        (row.context_continues && !outcome.contexts.is_empty()).then(Vec::new)
    }

    fn capped(&self, consecutive: u32) -> bool {
        self.options.stop_cap > 0 && consecutive >= self.options.stop_cap
    }

    fn cap_notice(&self, consecutive: u32) -> Notice {
        let how = match self.dialect() {
            DialectId::Claude => "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP sets another limit, 0 none",
            DialectId::Codex => "`stop_cap` sets another limit, 0 none",
        };
        let text = format!(
            "Stop hooks kept this turn going {consecutive} times in a row; it ends all the same ({how})"
        );
        Notice {
            source: Source::new(self.name()),
            text,
        }
    }
}
