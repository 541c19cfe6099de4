//! What enters a turn: the prompt, and what waited for a boundary between steps.

use seamline_seams::{Fault, Reply};

use super::event::AgentEvent;
use super::inbox::Joining;
use super::seams::{PromptDecision, PromptEvent};
use super::turn::{Broken, Flow, Turn};
use crate::content::{Content, Source};
use crate::session::SessionError;
use crate::session::event::{PromptBlocked, SteeringMessage, TurnEndReason, UserMessage};

impl Turn<'_> {
    /// The beginning: text that waited, then the prompt, if it may enter. A session that opens with
    /// a message of a contributor answers that first; the prompt joins after the first step
    /// (measured on Claude Code 2.1.332).
    pub(super) async fn enter(&mut self, content: Content, source: Source) -> Result<Flow, Broken> {
        self.abandon_deferred()?;
        self.add_injected()?;
        if self.add_first_messages()? {
            if !content.is_empty() {
                self.shared.inbox.joins_first(content, source);
            }
            return Ok(self.checked());
        }
        let steered = self.shared.inbox.joining();
        let reply = self
            .ask_prompt(content.clone(), source.clone(), false)
            .await?;
        if self.signal.is_cancelled() {
            return Ok(Flow::Over(self.aborted()));
        }
        let (decision, riders) = reply.riders();
        let turn = self.number;
        let rejected = match decision {
            PromptDecision::Enter { content: rewritten } => {
                let content = rewritten.unwrap_or(content);
                let message = UserMessage {
                    turn,
                    content: content.clone(),
                    source: source.clone(),
                };
                self.shared.session.append(message)?;
                let steering = false;
                self.notify(&AgentEvent::PromptEntered {
                    content,
                    source,
                    steering,
                });
                None
            }
            PromptDecision::Block { reason, by } => {
                self.record_blocked((content, source), &reason, by.into(), false)?;
                Some(reason)
            }
        };
        self.ride(riders)?;
        Ok(match (self.stopped(), rejected) {
            (Some(end), _) => Flow::Over(end),
            (None, Some(reason)) => Flow::Over(TurnEndReason::Rejected { reason }),
            (None, None) => {
                self.add_first(steered).await?;
                self.checked()
            }
        })
    }

    /// Text for the model that waited.
    fn add_injected(&self) -> Result<(), SessionError> {
        let mut injected = self.shared.inbox.injected().into_iter();
        injected.try_for_each(|context| self.add_context(context))
    }

    async fn ask_prompt(
        &self,
        content: Content,
        source: Source,
        steering: bool,
    ) -> Result<Reply<PromptDecision>, Fault> {
        let (facts, signal) = (self.facts(), self.signal.clone());
        let event = PromptEvent {
            facts,
            content,
            source,
            steering,
            signal,
        };
        let default = |_| async { PromptDecision::Enter { content: None } };
        self.shared.seams.prompt.dispatch(event, default).await
    }

    fn record_blocked(
        &self,
        (content, source): (Content, Source),
        reason: &str,
        by: Source,
        steering: bool,
    ) -> Result<(), SessionError> {
        let (turn, reason) = (self.number, reason.to_owned());
        self.shared.session.append(PromptBlocked {
            turn,
            content: content.clone(),
            source,
            reason: reason.clone(),
            by: by.clone(),
        })?;
        self.notify(&AgentEvent::PromptBlocked {
            content,
            reason,
            by,
            steering,
        });
        Ok(())
    }

    /// Whether there were any.
    fn add_first_messages(&self) -> Result<bool, SessionError> {
        let first = std::mem::take(&mut self.shared.state().first_messages);
        let any = !first.is_empty();
        for message in first {
            let (content, source) = (Content::text(message.text), Source::from(message.source));
            let turn = self.number;
            let entry = UserMessage {
                turn,
                content: content.clone(),
                source: source.clone(),
            };
            self.shared.session.append(entry)?;
            self.notify(&AgentEvent::PromptEntered {
                content,
                source,
                steering: false,
            });
        }
        Ok(any)
    }

    /// What waited for a boundary: text for the model, and steering, which policy may refuse.
    pub(super) async fn add_waiting(&mut self) -> Result<(), Broken> {
        let waiting = self.shared.inbox.joining();
        self.add_first(waiting).await
    }

    /// The first of what waits. What comes while policy judges waits for the next boundary; what
    /// is left when the turn is over stays where it is.
    async fn add_first(&mut self, count: usize) -> Result<(), Broken> {
        for _ in 0..count {
            if self.signal.is_cancelled() || self.halt.is_some() {
                break;
            }
            match self.shared.inbox.join() {
                Some(Joining::Inject(context)) => self.add_context(context)?,
                Some(Joining::Steer { content, source }) => {
                    self.add_steering(content, source).await?;
                }
                None => break,
            }
        }
        Ok(())
    }

    async fn add_steering(&mut self, content: Content, source: Source) -> Result<(), Broken> {
        let reply = self
            .ask_prompt(content.clone(), source.clone(), true)
            .await?;
        if self.signal.is_cancelled() {
            return Ok(());
        }
        let (decision, riders) = reply.riders();
        match decision {
            PromptDecision::Enter { content: rewritten } => {
                let content = rewritten.unwrap_or(content);
                self.shared.session.append(SteeringMessage {
                    turn: self.number,
                    content: content.clone(),
                    source: source.clone(),
                })?;
                let steering = true;
                self.notify(&AgentEvent::PromptEntered {
                    content,
                    source,
                    steering,
                });
            }
            PromptDecision::Block { reason, by } => {
                self.record_blocked((content, source), &reason, by.into(), true)?;
            }
        }
        Ok(self.ride(riders)?)
    }
}
