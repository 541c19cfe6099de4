//! What waits to be said: prompts for turns of their own, and input for the turn under way.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use seamline_seams::{Context, Signal};
use tokio::sync::{Notify, oneshot};

use super::outcome::TurnOutcome;
use crate::content::{Content, Source};
use crate::session::event::AbortCause;

/// What a turn is opened for.
#[derive(Debug)]
pub(super) enum Work {
    /// A prompt.
    Prompt { content: Content, source: Source },
    /// The call a former turn put off.
    Resume,
}

/// What the driver does next.
#[derive(Debug)]
pub(super) enum Next {
    /// A turn.
    Turn(Work, Reply),
    /// Nothing, until whoever asked for that lets go.
    Rest(oneshot::Sender<Rest>),
}

pub(super) type Reply = Option<oneshot::Sender<TurnOutcome>>;

/// The time between two turns, for as long as this is held.
#[derive(Debug)]
pub(super) struct Rest {
    pub(super) signal: Signal,
    /// Dropped with the rest.
    pub(super) _held: oneshot::Sender<()>,
}

#[derive(Debug)]
struct Queued {
    id: u64,
    next: Next,
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
    settled: Notify,
}

#[derive(Debug, Default)]
struct State {
    turns: VecDeque<Queued>,
    last_id: u64,
    joining: VecDeque<Joining>,
    /// The turn under way, as far as others may reach it. It is here, and not where the turn is,
    /// so that no turn is ever under way without something to cancel it by.
    running: Option<Running>,
    /// Whether those that wait go on waiting until something is queued.
    parked: bool,
    /// Whether the turn under way was stopped for good: it takes no more steering.
    deaf: bool,
    closed: bool,
}

#[derive(Debug)]
struct Running {
    signal: Signal,
    cause: Option<AbortCause>,
}

impl Inbox {
    /// Queues something for the driver. A closed inbox drops it, and its waiter hears so. The id
    /// is good for [taking it back](Self::take_back).
    pub(super) fn queue(&self, next: Next) -> u64 {
        let mut state = self.state();
        if state.closed {
            drop(state);
            next.dropped(AbortCause::Closed);
            return 0;
        }
        state.last_id += 1;
        let id = state.last_id;
        state.turns.push_back(Queued { id, next });
        state.parked = false;
        drop(state);
        self.wake.notify_one();
        id
    }

    /// Takes something back that still waits; says whether it did.
    pub(super) fn take_back(&self, id: u64) -> bool {
        let mut state = self.state();
        let Some(at) = state.turns.iter().position(|queued| queued.id == id) else {
            return false;
        };
        let taken = state.turns.remove(at);
        drop(state);
        taken
            .into_iter()
            .for_each(|queued| queued.next.dropped(AbortCause::User));
        true
    }

    /// Adds input to the turn under way, or opens a turn for it when there is none.
    pub(super) fn steer(&self, content: Content, source: Source) {
        let mut state = self.state();
        if state.running.is_some() {
            if !state.deaf {
                state.joining.push_back(Joining::Steer { content, source });
                state.parked = false;
            }
            return;
        }
        drop(state);
        self.queue(Next::Turn(Work::Prompt { content, source }, None));
    }

    /// Has a prompt join the turn under way, before all else that waits.
    pub(super) fn joins_first(&self, content: Content, source: Source) {
        let mut state = self.state();
        state.joining.push_front(Joining::Steer { content, source });
    }

    /// Adds text for the model, without opening a turn for it.
    pub(super) fn inject(&self, context: Context) {
        self.state().joining.push_back(Joining::Inject(context));
    }

    /// Waits for what comes next and gives it a signal under `parent`; `None` once the inbox is
    /// closed. The turn before it, if any, is over.
    pub(super) async fn next(&self, parent: &Signal) -> Option<(Next, Signal)> {
        loop {
            let woken = self.wake.notified();
            {
                let mut state = self.state();
                state.running = None;
                state.deaf = false;
                state.requeue_steering();
                if state.closed {
                    self.settled.notify_waiters();
                    return None;
                }
                if let Some(queued) = state.pop() {
                    let signal = parent.child_token();
                    state.running = Some(Running {
                        signal: signal.clone(),
                        cause: None,
                    });
                    return Some((queued.next, signal));
                }
                self.settled.notify_waiters();
            }
            woken.await;
        }
    }

    /// Waits until nothing is under way and nothing will be without being queued first.
    pub(super) async fn idle(&self) {
        loop {
            let mut settled = std::pin::pin!(self.settled.notified());
            settled.as_mut().enable();
            if self.state().is_idle() {
                return;
            }
            settled.await;
        }
    }

    /// Cancels the turn under way. The first cause is the one that counts.
    pub(super) fn cancel(&self, cause: AbortCause) {
        let signal = self.state().aborted(cause);
        signal.iter().for_each(Signal::cancel);
    }

    /// Why the turn under way was cancelled, given that it was.
    pub(super) fn cause(&self) -> AbortCause {
        let state = self.state();
        let cause = state.running.as_ref().and_then(|running| running.cause);
        cause.unwrap_or(AbortCause::Closed)
    }

    /// Takes the text for the model that waits.
    pub(super) fn injected(&self) -> Vec<Context> {
        let mut state = self.state();
        let joining = std::mem::take(&mut state.joining).into_iter();
        let (steered, injected) =
            joining.partition::<VecDeque<_>, _>(|item| matches!(item, Joining::Steer { .. }));
        state.joining = steered;
        let context = |item| match item {
            Joining::Inject(context) => Some(context),
            Joining::Steer { .. } => None,
        };
        injected.into_iter().filter_map(context).collect()
    }

    /// How many things wait to join.
    pub(super) fn joining(&self) -> usize {
        self.state().joining.len()
    }

    /// Takes the first thing that waits to join.
    pub(super) fn join(&self) -> Option<Joining> {
        self.state().joining.pop_front()
    }

    /// Whether somebody has steered and was not heard yet.
    pub(super) fn is_steered(&self) -> bool {
        self.state()
            .joining
            .iter()
            .any(|item| matches!(item, Joining::Steer { .. }))
    }

    /// Forgets steering that was not heard, and takes no more until the turn is over; text for the
    /// model stays.
    pub(super) fn refuse_steering(&self) {
        let mut state = self.state();
        state.deaf = true;
        state.drop_steering();
    }

    /// Drops what people said and was not heard; text for the model stays.
    pub(super) fn clear(&self, cause: AbortCause) {
        let mut state = self.state();
        state.drop_steering();
        let dropped = std::mem::take(&mut state.turns);
        drop(state);
        dropped
            .into_iter()
            .for_each(|queued| queued.next.dropped(cause));
    }

    /// Keeps what waits, but leaves it waiting until something else is queued.
    pub(super) fn park(&self) {
        self.state().parked = true;
    }

    /// Takes nothing more and drops what waits. The turn under way is about to be cancelled.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        state.aborted(AbortCause::Closed);
        drop(state);
        self.clear(AbortCause::Closed);
        self.wake.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn pop(&mut self) -> Option<Queued> {
        (!self.parked).then(|| self.turns.pop_front()).flatten()
    }

    fn is_idle(&self) -> bool {
        self.running.is_none() && (self.parked || self.turns.is_empty())
    }

    /// Notes why the turn under way is cancelled; the signal to do it with.
    fn aborted(&mut self, cause: AbortCause) -> Option<Signal> {
        let running = self.running.as_mut()?;
        running.cause.get_or_insert(cause);
        Some(running.signal.clone())
    }

    fn drop_steering(&mut self) {
        self.joining
            .retain(|item| matches!(item, Joining::Inject(_)));
    }

    /// Turns steering that came too late for its turn into turns of its own, before the others.
    fn requeue_steering(&mut self) {
        let (steered, rest) = std::mem::take(&mut self.joining)
            .into_iter()
            .partition::<VecDeque<_>, _>(|item| matches!(item, Joining::Steer { .. }));
        self.joining = rest;
        for item in steered.into_iter().rev() {
            if let Joining::Steer { content, source } = item {
                let next = Next::Turn(Work::Prompt { content, source }, None);
                self.turns.push_front(Queued { id: 0, next });
            }
        }
    }
}

impl Next {
    /// Tells whoever waits how it went.
    pub(super) fn answer(reply: Reply, outcome: TurnOutcome) {
        if let Some(reply) = reply {
            // Nobody waits any more: nobody needs the answer.
            let _ = reply.send(outcome);
        }
    }

    fn dropped(self, cause: AbortCause) {
        if let Self::Turn(_, reply) = self {
            Self::answer(reply, TurnOutcome::dropped(cause));
        }
    }
}
