//! Whether a turn goes on.

use super::event::AgentEvent;
use super::seams::{ContinuationDecision, ContinuationEvent, Steer, TurnStopEvent};
use super::turn::{Broken, Flow, Turn};
use crate::content::{Content, Source};
use crate::model::StopReason;
use crate::session::SessionError;
use crate::session::event::{SteeringMessage, TurnEndReason};

impl Turn<'_> {
    /// Between two steps: may the turn go on, and what joins?
    pub(super) async fn join(&mut self) -> Result<Flow, Broken> {
        if let Some(denied) = self.shared.seams.turn_stop.check(&self.turn_stop_event()) {
            self.shared.inbox.refuse_steering();
            let by = Source::Plugin {
                plugin: denied.by.to_string(),
                key: None,
            };
            let reason = Some(denied.denial.reason);
            return Ok(Flow::Over(TurnEndReason::Stopped { reason, by }));
        }
        self.add_waiting().await?;
        Ok(self.checked())
    }

    fn turn_stop_event(&self) -> TurnStopEvent {
        let (usage, consecutive) = (self.usage, self.consecutive);
        TurnStopEvent {
            facts: self.facts(),
            usage,
            consecutive,
        }
    }

    /// The model is done. Does the turn end? Where it ran out of tokens no policy is asked, but
    /// who steered is heard.
    pub(super) async fn natural_end(&mut self, stop: Option<StopReason>) -> Result<Flow, Broken> {
        if self.shared.inbox.is_steered() {
            return Ok(Flow::On);
        }
        if stop == Some(StopReason::MaxTokens) {
            return Ok(Flow::Over(self.done()));
        }
        let event = ContinuationEvent {
            facts: self.facts(),
            last_text: self.last_text.clone(),
            forced: self.forced,
            consecutive: self.consecutive,
            signal: self.signal.clone(),
        };
        let seam = &self.shared.seams.continuation;
        let reply = seam
            .dispatch(event, |_| async { ContinuationDecision::Stop })
            .await?;
        let (decision, riders) = reply.riders();
        let reasons = match decision {
            ContinuationDecision::Stop => None,
            ContinuationDecision::Continue { reasons } => Some(reasons),
        };
        self.halt_with(riders.halt.clone());
        if let (Some(reasons), None, false) = (&reasons, &self.halt, self.signal.is_cancelled()) {
            self.forced = true;
            self.consecutive += 1;
            reasons
                .iter()
                .try_for_each(|reason| self.keep_going(reason))?;
        }
        self.ride(riders)?;
        Ok(match (self.checked(), reasons) {
            (Flow::Over(end), _) => Flow::Over(end),
            (Flow::On, Some(_)) => Flow::On,
            (Flow::On, None) if self.shared.inbox.is_steered() => Flow::On,
            (Flow::On, None) => Flow::Over(self.done()),
        })
    }

    /// How a turn ends that nobody stops: that it was cut short once is not forgotten.
    pub(super) fn done(&self) -> TurnEndReason {
        match self.cut_short {
            true => TurnEndReason::MaxTokens,
            false => TurnEndReason::Completed,
        }
    }

    fn keep_going(&self, reason: &Steer) -> Result<(), SessionError> {
        let (text, source) = (reason.text.clone(), Source::from(reason.source.clone()));
        let content = Content::text(text.clone());
        let turn = self.number;
        self.shared.session.append(SteeringMessage {
            turn,
            content,
            source: source.clone(),
        })?;
        self.notify(&AgentEvent::Steering { text, source });
        Ok(())
    }
}
