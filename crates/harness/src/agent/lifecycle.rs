//! The beginning and the end of a session in this process.

use std::sync::Arc;

use seamline_seams::Late;

use super::event::AgentEvent;
use super::seams::{SessionEndEvent, SessionStartContribution, SessionStartEvent};
use super::shared::{Shared, our_notice};
use crate::content::Source;
use crate::session::SessionError;
use crate::session::event::{Event, SessionEnd, SessionStart, SessionTitle, StartSource};

impl Shared {
    /// Takes up the session, once: hears the start contributors under their deadline. What the
    /// late ones add reaches the model at the next boundary between steps. When this is cancelled,
    /// nothing of theirs is heard.
    pub(super) async fn start(self: &Arc<Self>) -> Result<(), SessionError> {
        self.started
            .get_or_try_init(|| self.take_up())
            .await
            .map(|_| ())
    }

    async fn take_up(self: &Arc<Self>) -> Result<(), SessionError> {
        let facts = self.facts();
        let source = self
            .settings
            .start_source
            .unwrap_or_else(|| self.start_source());
        let (cwd, model) = (facts.cwd.clone(), facts.model.clone());
        self.session.append(SessionStart { source, cwd, model })?;
        let signal = self.turns.child_token();
        self.state().starting = Some(signal.clone());
        let event = SessionStartEvent {
            facts: Arc::clone(&facts),
            source,
            signal: signal.clone(),
        };
        let deadline = self.settings.start_deadline;
        let hearing = self.seams.session_start.collect(event, deadline);
        let heard = signal.run_until_cancelled(hearing).await;
        self.state().starting = None;
        match heard {
            None => self.tell(our_notice("session start was cancelled".to_owned()))?,
            Some(collected) => {
                let mut ready = collected.ready.into_iter();
                ready.try_for_each(|(_, contribution)| self.contribute(contribution))?;
                self.announce_late(&collected.late)?;
                self.listen_to(collected.late);
            }
        }
        self.notify(&AgentEvent::SessionStarted { facts, source });
        Ok(())
    }

    /// Why the session begins, by its log: what a fork took over is not its own beginning.
    fn start_source(&self) -> StartSource {
        let origin = self.session.origin();
        let own = origin.map_or(0, |origin| origin.events);
        let begun = self
            .session
            .entries()
            .iter()
            .any(|entry| entry.seq >= own && matches!(entry.event, Event::SessionStart(_)));
        match (begun, origin) {
            (true, _) => StartSource::Resume,
            (false, Some(_)) => StartSource::Fork,
            (false, None) => StartSource::Startup,
        }
    }

    fn contribute(&self, contribution: SessionStartContribution) -> Result<(), SessionError> {
        let SessionStartContribution {
            contexts,
            notices,
            first_message,
            title,
            environment,
        } = contribution;
        self.tell_all(notices)?;
        self.park(contexts);
        self.pipeline.workspace().extend_env(environment);
        self.state().first_messages.extend(first_message);
        if let Some(name) = title {
            let source = Source::from(name.source);
            self.session.append(SessionTitle {
                title: name.title.clone(),
                source,
            })?;
            self.notify(&AgentEvent::Title { title: name.title });
        }
        Ok(())
    }

    fn announce_late(&self, late: &Late<SessionStartContribution>) -> Result<(), SessionError> {
        let names: Vec<String> = late.names().iter().map(ToString::to_string).collect();
        if names.is_empty() {
            return Ok(());
        }
        self.tell(our_notice(format!(
            "session start: {} did not finish within {:?}; what is added later reaches the model \
             after the first request",
            names.join(", "),
            self.settings.start_deadline,
        )))
    }

    fn listen_to(self: &Arc<Self>, mut late: Late<SessionStartContribution>) {
        if late.is_empty() {
            return;
        }
        let shared = Arc::clone(self);
        tokio::spawn(async move {
            let arriving = async {
                while let Some((_, contribution)) = late.next().await {
                    // The log refuses only when it is broken; then the turn says so.
                    let _ = shared.contribute(contribution);
                }
            };
            shared.signal.run_until_cancelled(arriving).await;
        });
    }

    /// Lets go of the session: hears the end contributors under their deadline.
    pub(super) async fn finish(&self, reason: String) -> Result<(), SessionError> {
        if self.started.get().is_none() {
            return Ok(());
        }
        let event = SessionEndEvent {
            facts: self.facts(),
            reason: reason.clone(),
        };
        let deadline = self.settings.end_deadline;
        let collected = self.seams.session_end.collect(event, deadline).await;
        for (_, notices) in collected.ready {
            self.tell_all(notices)?;
        }
        let late: Vec<String> = collected
            .late
            .names()
            .iter()
            .map(ToString::to_string)
            .collect();
        if !late.is_empty() {
            self.tell(our_notice(format!(
                "session end: {} did not finish within {deadline:?} and was cancelled",
                late.join(", ")
            )))?;
        }
        self.session.append(SessionEnd {
            reason: reason.clone(),
        })?;
        self.session.checkpoint().await?;
        self.notify(&AgentEvent::SessionEnded { reason });
        Ok(())
    }
}
