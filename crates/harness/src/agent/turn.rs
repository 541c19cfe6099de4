//! One turn, from `turn/start` to `turn/end`.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use seamline_seams::{Context, Fault, Halt, Reply, Riders, Signal};
use uuid::Uuid;

use super::event::AgentEvent;
use super::inbox::Work;
use super::outcome::TurnOutcome;
use super::shared::Shared;
use crate::content::Source;
use crate::facts::{Facts, TurnFacts};
use crate::model::{ModelError, Usage};
use crate::session::SessionError;
use crate::session::event::{AbortCause, ContextMessage, Trigger, TurnEndReason, TurnStart};

/// What ends a turn from within, against everybody's will.
#[derive(Debug, thiserror::Error)]
pub(super) enum Broken {
    #[error(transparent)]
    Log(#[from] SessionError),
    #[error(transparent)]
    Policy(#[from] Fault),
    #[error("{0}")]
    Model(ModelError),
    #[error(
        "no model is chosen: name one when the agent is built, or in a listener of agent.request"
    )]
    NoModel,
}

/// Whether a turn goes on.
pub(super) enum Flow {
    On,
    Over(TurnEndReason),
}

/// A call that was put off.
pub(super) struct Deferral {
    pub(super) call_id: String,
    pub(super) reason: Option<String>,
    pub(super) by: Source,
}

/// A turn under way.
pub(super) struct Turn<'a> {
    pub(super) shared: &'a Arc<Shared>,
    pub(super) number: u32,
    id: Uuid,
    pub(super) signal: Signal,
    /// The step that was last opened.
    pub(super) step: u32,
    pub(super) usage: Usage,
    pub(super) requests: u32,
    /// The text of the model's last message that has any, as the model wrote it.
    pub(super) last_text: Option<String>,
    /// The same as the user was shown it.
    pub(super) shown_text: Option<String>,
    /// Whether the model ran out of output tokens in one of the steps.
    pub(super) cut_short: bool,
    /// Whether the turn was ever kept going, and how often since the last tool call.
    pub(super) forced: bool,
    pub(super) consecutive: u32,
    pub(super) halt: Option<Halt>,
    /// A tool concluded the turn with the last batch.
    pub(super) concluded: bool,
    /// The call that was put off in this turn, as the turn's end will say it.
    pub(super) deferred: Option<Deferral>,
}

/// Runs one turn. Whatever happens, the turn is closed and there is an outcome.
pub(super) async fn run(shared: &Arc<Shared>, work: Work, signal: Signal) -> TurnOutcome {
    let opened = match shared.start().await {
        Ok(()) if signal.is_cancelled() => return TurnOutcome::dropped(shared.inbox.cause()),
        Ok(()) => Turn::open(shared, &work, signal),
        Err(error) => Err(error),
    };
    let mut turn = match opened {
        Ok(turn) => turn,
        Err(error) => return unopened(shared, &error),
    };
    let end = match AssertUnwindSafe(turn.body(work)).catch_unwind().await {
        Ok(Ok(end)) => end,
        Ok(Err(broken)) => TurnEndReason::Error {
            message: broken.to_string(),
        },
        Err(panic) => TurnEndReason::Error {
            message: panic_message(panic.as_ref()),
        },
    };
    turn.close(end).await
}

fn unopened(shared: &Shared, error: &SessionError) -> TurnOutcome {
    let message = error.to_string();
    let outcome = TurnOutcome {
        end: TurnEndReason::Error { message },
        ..TurnOutcome::dropped(AbortCause::Closed)
    };
    shared.notify(&AgentEvent::TurnEnded(outcome.clone()));
    outcome
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    format!(
        "the turn panicked: {}",
        text.as_deref().unwrap_or("<unprintable panic>")
    )
}

impl<'a> Turn<'a> {
    fn open(shared: &'a Arc<Shared>, work: &Work, signal: Signal) -> Result<Self, SessionError> {
        let number = shared.session.relations(|relations| relations.last_turn()) + 1;
        let id = Uuid::new_v4();
        let trigger = match work {
            Work::Prompt { .. } => Trigger::Prompt,
            Work::Resume => Trigger::Resume,
        };
        shared.session.append(TurnStart {
            turn: number,
            id,
            trigger,
        })?;
        shared.state().turn = Some(TurnFacts {
            number,
            id,
            step: 0,
        });
        shared.notify(&AgentEvent::TurnStarted { turn: number, id });
        Ok(Self {
            shared,
            number,
            id,
            signal,
            step: 0,
            usage: Usage::default(),
            requests: 0,
            last_text: None,
            shown_text: None,
            cut_short: false,
            forced: false,
            consecutive: 0,
            halt: None,
            concluded: false,
            deferred: None,
        })
    }

    /// Closes the turn in the log, whatever state it is in.
    async fn close(mut self, mut end: TurnEndReason) -> TurnOutcome {
        let closed = self.shared.session.close_turn(end.clone());
        let closed = match closed {
            Ok(()) => self.shared.session.checkpoint().await,
            Err(error) => Err(error),
        };
        if let Err(error) = closed {
            end = TurnEndReason::Error {
                message: error.to_string(),
            };
        }
        self.shared.state().turn = None;
        let outcome = TurnOutcome {
            turn: Some((self.number, self.id)),
            end,
            text: self.shown_text.take(),
            usage: self.usage,
            requests: self.requests,
        };
        self.shared.notify(&AgentEvent::TurnEnded(outcome.clone()));
        outcome
    }

    async fn body(&mut self, work: Work) -> Result<TurnEndReason, Broken> {
        let flow = match work {
            Work::Prompt { content, source } => self.enter(content, source).await?,
            Work::Resume => self.take_up_deferred().await?,
        };
        if let Flow::Over(end) = flow {
            return Ok(end);
        }
        loop {
            if let Flow::Over(end) = self.one_step().await? {
                return Ok(end);
            }
            if let Flow::Over(end) = self.join().await? {
                return Ok(end);
            }
        }
    }

    /// Over, if somebody halted or cancelled the turn.
    pub(super) fn checked(&self) -> Flow {
        match self.stopped() {
            Some(end) => Flow::Over(end),
            None if self.signal.is_cancelled() => Flow::Over(self.aborted()),
            None => Flow::On,
        }
    }

    /// How the turn ends, given that it was cancelled.
    pub(super) fn aborted(&self) -> TurnEndReason {
        let cause = self.shared.inbox.cause();
        TurnEndReason::Aborted { cause }
    }

    /// How the turn ends, if somebody halted it.
    pub(super) fn stopped(&self) -> Option<TurnEndReason> {
        let halt = self.halt.clone()?;
        Some(TurnEndReason::Stopped {
            reason: halt.reason,
            by: halt.by.into(),
        })
    }

    /// Takes in what rode beside a decision.
    pub(super) fn ride(&mut self, riders: Riders) -> Result<(), SessionError> {
        self.shared.tell_all(riders.notices)?;
        riders
            .contexts
            .into_iter()
            .try_for_each(|context| self.add_context(context))?;
        self.halt_with(riders.halt);
        Ok(())
    }

    /// A halt; with two the one that stops sooner counts, the first on a tie.
    pub(super) fn halt_with(&mut self, halt: Option<Halt>) {
        let halts = self.halt.take().into_iter().chain(halt);
        self.halt = halts.fold(Reply::new(()), Reply::with_halt).halt;
    }

    /// Adds text for the model.
    pub(super) fn add_context(&self, context: Context) -> Result<(), SessionError> {
        let (text, source) = (context.text, Source::from(context.source));
        let turn = self.number;
        let entry = ContextMessage {
            turn,
            text: text.clone(),
            source: source.clone(),
        };
        self.shared.session.append(entry)?;
        self.notify(&AgentEvent::Context { text, source });
        Ok(())
    }

    pub(super) fn facts(&self) -> Arc<Facts> {
        self.shared.facts()
    }

    pub(super) fn notify(&self, event: &AgentEvent) {
        self.shared.notify(event);
    }
}
