//! Prompts: UserPromptSubmit.

use std::sync::{Arc, PoisonError};

use seamline_harness::agent::{AgentSeams, Prompt, PromptDecision, PromptEvent};
use seamline_hooks::Outcome;
use seamline_hooks::outcome::Decision;
use seamline_hooks::payload::UserPromptSubmit;
use seamline_seams::{BoxError, Next, Reply, Riders, Scope, Source};

use crate::bridge::Bridge;
use crate::fallback;
use crate::fire::cut_short;
use crate::tools::reply;

impl Bridge {
    pub(crate) fn register_prompt(self: &Arc<Self>, scope: &Scope, agent: &AgentSeams) {
        let bridge = Arc::clone(self);
        agent.prompt.on(scope, self.name(), move |event, next| {
            let bridge = Arc::clone(&bridge);
            async move { bridge.on_prompt(event, next).await }
        });
    }

    async fn on_prompt(
        &self,
        event: PromptEvent,
        next: Next<Prompt>,
    ) -> Result<Reply<PromptDecision>, BoxError> {
        let refused = self
            .refused_start
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(halt) = refused {
            let reason = halt
                .reason
                .unwrap_or_else(|| "stopped by SessionStart hook".to_owned());
            let by = self.source(&halt.by);
            return Ok(Reply::new(PromptDecision::Block { reason, by }));
        }
        if !self.listens("UserPromptSubmit") {
            return Ok(next.run().await?);
        }
        let prompt = event.content.to_text();
        let build =
            |dialect| self.payload_of(dialect, &event.facts, &UserPromptSubmit { prompt: &prompt });
        let fired = self
            .fire("UserPromptSubmit", &event.facts, &event.signal, &build)
            .await;
        if let Some(reason) = cut_short("UserPromptSubmit", &fired, &event.signal) {
            let by = Source::new(self.name());
            return Ok(Reply::new(PromptDecision::Block { reason, by }));
        }
        let mut riders = self.riders(&fired.outcome);
        if let Some(block) = self.block(&fired.outcome, &mut riders) {
            return Ok(reply(block, riders, Riders::default()));
        }
        let (inner, inner_riders) = next.run().await?.riders();
        if matches!(inner, PromptDecision::Block { .. }) {
            // What goes with a prompt stays out with it.
            riders.contexts.clear();
        }
        Ok(reply(inner, riders, inner_riders))
    }

    /// A block, or a halt: either keeps the prompt out, and the turn ends without a request.
    fn block(&self, outcome: &Outcome, riders: &mut Riders) -> Option<PromptDecision> {
        if let Some(halt) = riders.halt.take() {
            let reason = halt
                .reason
                .unwrap_or_else(|| "stopped by UserPromptSubmit hook".to_owned());
            return Some(PromptDecision::Block {
                reason,
                by: halt.by,
            });
        }
        if outcome.decision != Decision::Block {
            return None;
        }
        let by = outcome.reasons.first().map(|by| self.source(&by.by));
        Some(PromptDecision::Block {
            reason: outcome
                .reason
                .clone()
                .unwrap_or_else(|| fallback::PROMPT.to_owned()),
            by: by.unwrap_or_else(|| Source::new(self.name())),
        })
    }
}
