//! Sessions: SessionStart and SessionEnd; batches: PostToolBatch.

use std::sync::{Arc, PoisonError};

use seamline_harness::agent::{
    AgentSeams, Batch, BatchDecision, BatchEvent, FirstMessage, SessionEndEvent, SessionName,
    SessionStartContribution, SessionStartEvent,
};
use seamline_harness::session::event::StartSource;
use seamline_hooks::dialect::Halting;
use seamline_hooks::engine::{EnvFile, LeftVariables};
use seamline_hooks::payload::{BatchCall, PostToolBatch, SessionEnd, SessionStart};
use seamline_hooks::{DialectId, Outcome};
use seamline_seams::{BoxError, Next, Notice, Reply, Scope, Signal, Source};

use crate::bridge::Bridge;
use crate::tools::reply;

impl Bridge {
    pub(crate) fn register_session(self: &Arc<Self>, scope: &Scope, agent: &AgentSeams) {
        let bridge = Arc::clone(self);
        agent.session_start.on(scope, self.name(), move |event| {
            let bridge = Arc::clone(&bridge);
            async move { bridge.on_session_start(event).await }
        });
        let bridge = Arc::clone(self);
        agent.session_end.on(scope, self.name(), move |event| {
            let bridge = Arc::clone(&bridge);
            async move { bridge.on_session_end(event).await }
        });
        let bridge = Arc::clone(self);
        agent.batch.on(scope, self.name(), move |event, next| {
            let bridge = Arc::clone(&bridge);
            async move { bridge.on_batch(event, next).await }
        });
    }

    async fn on_session_start(&self, event: SessionStartEvent) -> SessionStartContribution {
        if !self.listens("SessionStart") {
            return SessionStartContribution::default();
        }
        let source = match event.source {
            StartSource::Resume => "resume",
            StartSource::Fork => "fork",
            StartSource::Clear => "clear",
            StartSource::Compact => "compact",
            _ => "startup",
        };
        let build = |dialect| self.payload_of(dialect, &event.facts, &SessionStart { source });
        let (name, facts, signal) = ("SessionStart", &event.facts, &event.signal);
        let row = self.engine.table().event(name);
        let file = row.map_or(Ok(None), |row| EnvFile::of(self.dialect(), row));
        let env = file.iter().flatten().map(EnvFile::variable).collect();
        let fired = self.fire_with(env, name, facts, signal, &build).await;
        let left = match &file {
            Ok(Some(file)) => {
                let signal = signal.child_token();
                self.engine.left_variables(file, &facts.cwd, signal).await
            }
            Ok(None) => LeftVariables::default(),
            Err(why) => LeftVariables {
                complaint: Some(why.to_string()),
                ..LeftVariables::default()
            },
        };
        let mut contribution = self.contribution(&fired.outcome);
        contribution
            .notices
            .extend(left.complaint.map(|why| Notice {
                source: Source::new(self.name()),
                text: format!("CLAUDE_ENV_FILE of the {name} hooks: {why}"),
            }));
        contribution.environment = left.set;
        contribution
    }

    fn contribution(&self, outcome: &Outcome) -> SessionStartContribution {
        let row = self.engine.table().event("SessionStart");
        if row.is_some_and(|row| row.halting == Halting::EndsRun) {
            *self
                .refused_start
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = outcome.halt.clone();
        }
        let riders = self.riders(outcome);
        let extras = &outcome.extras;
        SessionStartContribution {
            contexts: riders.contexts,
            notices: riders.notices,
            first_message: extras.initial_user_message.as_ref().map(|by| FirstMessage {
                text: by.value.clone(),
                source: self.source(&by.by),
            }),
            title: extras.session_title.as_ref().map(|by| SessionName {
                title: by.value.clone(),
                source: self.source(&by.by),
            }),
            ..SessionStartContribution::default()
        }
    }

    /// What runs beside ends under the same deadline, and takes no time from the hooks of the end.
    async fn on_session_end(&self, event: SessionEndEvent) -> Vec<Notice> {
        self.beside.close();
        tokio::join!(self.session_ends(event), self.beside.wait()).0
    }

    async fn session_ends(&self, event: SessionEndEvent) -> Vec<Notice> {
        if !self.listens("SessionEnd") {
            return Vec::new();
        }
        let build =
            |dialect| self.payload_of(dialect, &event.facts, &SessionEnd { reason: "other" });
        let fired = self
            .fire("SessionEnd", &event.facts, &Signal::new(), &build)
            .await;
        self.notices(&fired.outcome)
    }

    async fn on_batch(
        &self,
        event: BatchEvent,
        next: Next<Batch>,
    ) -> Result<Reply<BatchDecision>, BoxError> {
        if !self.listens("PostToolBatch") {
            return Ok(next.run().await?);
        }
        let build = |dialect: DialectId| {
            let texts: Vec<String> = event
                .results
                .iter()
                .map(|result| result.outcome.content().to_text())
                .collect();
            let calls = event
                .results
                .iter()
                .zip(&texts)
                .map(|(result, text)| BatchCall {
                    tool_name: result.call.name(),
                    tool_input: result.call.written().raw(),
                    tool_use_id: result.call.call_id(),
                    tool_response: text,
                });
            self.payload_of(
                dialect,
                &event.facts,
                &PostToolBatch {
                    tool_calls: calls.collect(),
                },
            )
        };
        let fired = self
            .fire("PostToolBatch", &event.facts, &event.signal, &build)
            .await;
        let mut riders = self.riders(&fired.outcome);
        let (inner, inner_riders) = next.run().await?.riders();
        let decision = match riders.halt.take() {
            Some(halt) => BatchDecision::EndTurn {
                reason: halt.reason,
                by: halt.by,
            },
            None => inner,
        };
        Ok(reply(decision, riders, inner_riders))
    }
}
