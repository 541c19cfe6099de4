//! A reminder for a model that goes in circles.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use seamline_seams::{Context, Scope, Source};

use super::Seams;
use crate::agent::PromptDecision;
use crate::content;
use crate::session::SessionId;
use crate::tools::Call;

type Counts = HashMap<(String, String), u32>;

/// Tells the model when it calls a tool with the same arguments again and again.
///
/// The same are arguments of the same value, whatever the order of their keys. Calls count whether
/// they ran or were denied; a prompt of the user starts anew. It is text for the model beside the
/// result, and never keeps a call from running.
#[derive(Debug, Clone)]
pub struct RepeatedCall {
    thresholds: Vec<u32>,
    sessions: Arc<Mutex<HashMap<SessionId, Counts>>>,
}

impl RepeatedCall {
    /// The name it registers under.
    pub const NAME: &str = "repeated-call";

    /// Reminds at these times.
    pub fn at(thresholds: impl Into<Vec<u32>>) -> Self {
        let thresholds = thresholds.into();
        Self {
            thresholds,
            sessions: Arc::default(),
        }
    }

    /// Watches the calls of these seams until `scope` is disposed.
    pub fn install<'a>(self, scope: &Scope, seams: impl Into<Seams<'a>>) {
        let Seams { agent, tools } = seams.into();
        let (ended, reset) = (self.clone(), self.clone());
        tools.post.on(scope, Self::NAME, move |event, next| {
            let reminder = self.count(&event.call);
            async move {
                let mut reply = next.run().await?;
                reply.contexts.extend(reminder);
                Ok(reply)
            }
        });
        agent.prompt.on(scope, Self::NAME, move |event, next| {
            let reset = reset.clone();
            async move {
                let reply = next.run().await?;
                let enters = matches!(reply.decision, PromptDecision::Enter { .. });
                if enters && event.source == content::Source::User {
                    reset.lock().remove(&event.facts.session);
                }
                Ok(reply)
            }
        });
        agent.session_end.on(scope, Self::NAME, move |event| {
            ended.lock().remove(&event.facts.session);
            async { Vec::new() }
        });
    }

    fn count(&self, call: &Call) -> Option<Context> {
        let mut arguments = call.arguments().value().clone();
        arguments.sort_all_objects();
        let key = (call.name().to_owned(), arguments.to_string());
        let mut sessions = self.lock();
        let times = sessions
            .entry(call.facts().session)
            .or_default()
            .entry(key)
            .or_default();
        *times += 1;
        self.thresholds.contains(times).then(|| Context {
            source: Source::new(Self::NAME),
            text: format!(
                "This is call {times} of {} with the same arguments since the user last wrote. The \
                 result will be no different: change the arguments, or say what is in the way.",
                call.name()
            ),
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Counts>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for RepeatedCall {
    /// Reminds at the third, the fifth and the eighth time.
    fn default() -> Self {
        Self::at([3, 5, 8])
    }
}
