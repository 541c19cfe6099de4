//! What waits to be said: prompts for turns of their own, and input for the turn under way.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use seamline_seams::{Context, Signal};
use tokio::sync::{Notify, oneshot};

use super::outcome::TurnOutcome;
use crate::content::{Content, Source};

/// What a turn is opened for.
#[derive(Debug)]
pub(super) enum Work {
    /// A prompt.
    Prompt { content: Content, source: Source },
    /// The call a former turn put off.
    Resume,
}

/// A turn that waits for its turn.
#[derive(Debug)]
pub(super) struct Queued {
    pub(super) work: Work,
    pub(super) reply: Option<oneshot::Sender<TurnOutcome>>,
}

/// Input that joins at the next boundary between steps.
#[derive(Debug)]
pub(super) enum Joining {
    /// It counts as said by its author; a policy may refuse it.
    Steer { content: Content, source: Source },
    /// Text for the model.
    Inject(Context),
}

/// The queues. One prompt is one turn, first come first served; nothing is ever merged.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    state: Mutex<State>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct State {
    turns: VecDeque<Queued>,
    joining: VecDeque<Joining>,
    /// The signal of the turn under way. It is here, and not where the turn is, so that no turn is
    /// ever under way without something to cancel it by.
    running: Option<Signal>,
    closed: bool,
}

impl Inbox {
    /// Queues a turn. A closed inbox drops it, and its waiter hears so.
    pub(super) fn queue(&self, queued: Queued) {
        let mut state = self.state();
        if state.closed {
            drop(state);
            queued.dropped();
            return;
        }
        state.turns.push_back(queued);
        drop(state);
        self.wake.notify_one();
    }

    /// Adds input to the turn under way, or opens a turn for it when there is none.
    pub(super) fn steer(&self, content: Content, source: Source) {
        let mut state = self.state();
        if state.running.is_some() {
            state.joining.push_back(Joining::Steer { content, source });
            return;
        }
        drop(state);
        self.queue(Queued {
            work: Work::Prompt { content, source },
            reply: None,
        });
    }

    /// Adds text for the model, without opening a turn for it.
    pub(super) fn inject(&self, context: Context) {
        self.state().joining.push_back(Joining::Inject(context));
    }

    /// Waits for the next turn and gives it a signal under `parent`; `None` once the inbox is
    /// closed. The turn before it, if any, is over.
    pub(super) async fn next(&self, parent: &Signal) -> Option<(Queued, Signal)> {
        loop {
            let woken = self.wake.notified();
            {
                let mut state = self.state();
                state.running = None;
                state.requeue_steering();
                if state.closed {
                    return None;
                }
                if let Some(queued) = state.turns.pop_front() {
                    let signal = parent.child_token();
                    state.running = Some(signal.clone());
                    return Some((queued, signal));
                }
            }
            woken.await;
        }
    }

    /// Cancels the turn under way.
    pub(super) fn cancel(&self) {
        let running = self.state().running.clone();
        running.iter().for_each(Signal::cancel);
    }

    /// Takes what joins now, in order.
    pub(super) fn join(&self) -> Vec<Joining> {
        self.state().joining.drain(..).collect()
    }

    /// Whether somebody has steered and was not heard yet.
    pub(super) fn is_steered(&self) -> bool {
        self.state()
            .joining
            .iter()
            .any(|item| matches!(item, Joining::Steer { .. }))
    }

    /// Forgets steering that was not heard; text for the model stays.
    pub(super) fn drop_steering(&self) {
        self.state()
            .joining
            .retain(|item| matches!(item, Joining::Inject(_)));
    }

    /// Drops what people said and was not heard; text for the model stays.
    pub(super) fn clear(&self) {
        self.drop_steering();
        let dropped = std::mem::take(&mut self.state().turns);
        dropped.into_iter().for_each(Queued::dropped);
    }

    /// Takes nothing more and drops what waits.
    pub(super) fn close(&self) {
        self.state().closed = true;
        self.clear();
        self.wake.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Turns steering that came too late for its turn into turns of its own, before the others.
    fn requeue_steering(&mut self) {
        let (steered, rest) = std::mem::take(&mut self.joining)
            .into_iter()
            .partition::<VecDeque<_>, _>(|item| matches!(item, Joining::Steer { .. }));
        self.joining = rest;
        for item in steered.into_iter().rev() {
            if let Joining::Steer { content, source } = item {
                let work = Work::Prompt { content, source };
                self.turns.push_front(Queued { work, reply: None });
            }
        }
    }
}

impl Queued {
    /// Tells whoever waits how it went.
    pub(super) fn answer(reply: Option<oneshot::Sender<TurnOutcome>>, outcome: TurnOutcome) {
        if let Some(reply) = reply {
            // Nobody waits any more: nobody needs the answer.
            let _ = reply.send(outcome);
        }
    }

    fn dropped(self) {
        Self::answer(self.reply, TurnOutcome::dropped());
    }
}
