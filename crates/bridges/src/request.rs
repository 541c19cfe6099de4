//! Requests to the model: PreModelRequest, PostModelRequest; and turns that the user ends: Interrupt.
//!
//! Codex's hooks there only watch. PreModelRequest is awaited before the request is made; the other
//! two run beside what goes on (measured), and the end of the session waits for them.

use std::future::Future;
use std::sync::Arc;

use seamline_harness::agent::{
    AgentEvent, AgentSeams, RequestEvent, RequestPolicy, RequestSettings, TurnOutcome,
};
use seamline_harness::model::{ModelError, Usage};
use seamline_harness::session::event::{AbortCause, TurnEndReason};
use seamline_harness::{Facts, TurnFacts};
use seamline_hooks::payload::{
    Event, Interrupt, ModelRequest, PostModelRequest, PreModelRequest, TokenUsage,
};
use seamline_seams::{BoxError, Next, Reply, Scope};

use crate::bridge::Bridge;

impl Bridge {
    pub(crate) fn register_requests(self: &Arc<Self>, scope: &Scope, agent: &AgentSeams) {
        let bridge = Arc::clone(self);
        agent.request.on(scope, self.name(), move |event, next| {
            let bridge = Arc::clone(&bridge);
            async move { bridge.on_request(event, next).await }
        });
        let (bridge, own) = (Arc::clone(self), scope.clone());
        agent.events.on(scope, self.name(), move |event| {
            bridge.on_event(&own, event);
        });
    }

    /// Fires once everybody further in has agreed to the request and nobody stopped the turn.
    async fn on_request(
        &self,
        event: RequestEvent,
        next: Next<RequestPolicy>,
    ) -> Result<Reply<RequestSettings>, BoxError> {
        let reply = next.run().await?;
        if !self.listens(PreModelRequest::NAME) || reply.halt.is_some() {
            return Ok(reply);
        }
        let id = event.id.to_string();
        let request = ModelRequest {
            id: &id,
            attempt: event.attempt,
            model: self.model(&reply.decision.model),
        };
        let pre = PreModelRequest { request };
        let build = |dialect| self.payload_of(dialect, &event.facts, &pre);
        let fired = self
            .fire(PreModelRequest::NAME, &event.facts, &event.signal, &build)
            .await;
        Ok(self
            .riders(&fired.outcome)
            .notices
            .into_iter()
            .fold(reply, Reply::with_notice))
    }

    fn on_event(self: &Arc<Self>, scope: &Scope, event: &AgentEvent) {
        match event {
            AgentEvent::RequestEnded {
                facts,
                id,
                attempt,
                model,
                outcome,
            } if self.listens(PostModelRequest::NAME) => {
                let (facts, model, outcome) = (Arc::clone(facts), model.clone(), outcome.clone());
                let (bridge, id, attempt) = (Arc::clone(self), id.to_string(), *attempt);
                self.run_beside(scope, async move {
                    let request = ModelRequest {
                        id: &id,
                        attempt,
                        model: bridge.model(&model),
                    };
                    bridge.after_request(&facts, request, &outcome).await;
                });
            }
            AgentEvent::TurnEnded(outcome) if self.listens(Interrupt::NAME) => {
                if let Some(facts) = self.interrupted(outcome) {
                    let bridge = Arc::clone(self);
                    self.run_beside(scope, async move { bridge.on_interrupt(&facts).await });
                }
            }
            _ => {}
        }
    }

    fn run_beside(&self, scope: &Scope, work: impl Future<Output = ()> + Send + 'static) {
        scope.spawn(self.beside.track_future(work));
    }

    async fn after_request(
        &self,
        facts: &Facts,
        request: ModelRequest<'_>,
        outcome: &Result<Option<Usage>, ModelError>,
    ) {
        let error = outcome.as_ref().err().map(ToString::to_string);
        let outcome = match (outcome, &error) {
            (Ok(usage), _) => Ok(usage.map(usage_of)),
            (Err(_), error) => Err(error.as_deref().unwrap_or_default()),
        };
        let post = PostModelRequest { request, outcome };
        let build = |dialect| self.payload_of(dialect, facts, &post);
        self.fire_beside(PostModelRequest::NAME, facts, &build)
            .await;
    }

    /// The facts of a turn that the user ended.
    fn interrupted(&self, outcome: &TurnOutcome) -> Option<Facts> {
        let by_user = TurnEndReason::Aborted {
            cause: AbortCause::User,
        };
        let (number, id) = outcome.turn.filter(|_| outcome.end == by_user)?;
        let mut facts = Facts::clone(&*self.agent()?.facts());
        let step = 0;
        facts.turn = Some(TurnFacts { number, id, step });
        Some(facts)
    }

    async fn on_interrupt(&self, facts: &Facts) {
        let build = |dialect| self.payload_of(dialect, facts, &Interrupt);
        self.fire_beside(Interrupt::NAME, facts, &build).await;
    }

    /// Fires, and tells the user what the hooks say.
    async fn fire_beside(&self, event: &'static str, facts: &Facts, build: crate::fire::Build<'_>) {
        let signal = self.signal();
        let fired = self.fire(event, facts, &signal, build).await;
        for notice in self.notices(&fired.outcome) {
            self.tell(notice);
        }
    }
}

fn usage_of(usage: Usage) -> TokenUsage {
    TokenUsage {
        input_tokens: usage.input_tokens,
        cached_input_tokens: usage.cache_read_input_tokens,
        cache_write_input_tokens: usage.cache_creation_input_tokens,
        output_tokens: usage.output_tokens,
        reasoning_output_tokens: 0,
        total_tokens: usage.input_tokens + usage.output_tokens,
    }
}
