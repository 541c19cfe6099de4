//! Whose turn it is: the loop between a model and its tools.
//!
//! An [`Agent`] owns a session and works through its inbox. Each prompt that is
//! [sent](AgentHandle::send) is one **turn**; a turn is a row of **steps**; a step is one request
//! to the model and the tool calls that come of it. A turn goes like this:
//!
//! 1. `turn/start`. Text that waited for the model is added. `agent.prompt` decides whether the
//!    prompt enters; a blocked one ends its turn without a request, and leaves the next one
//!    alone. Steering that came after the prompt follows it.
//! 2. A step: the request is derived from the log and nothing else; the model's message goes into
//!    the log; its calls run through the [pipeline](crate::tools::pipeline). Policies see the
//!    calls in model order. Calls that are safe to overlap do, up to a cap; any other call is a
//!    barrier. Results are committed in model order, contexts after all results.
//! 3. `agent.batch`. Then input that was [steered](AgentHandle::steer) or
//!    [injected](AgentHandle::inject) joins, and the next step begins.
//! 4. When the model calls nothing and nobody steered, `agent.continuation` may keep the turn
//!    going. Otherwise `turn/end`.
//!
//! A [`Halt`](seamline_seams::Halt) beside any decision ends the turn after what was decided is
//! committed. Cancelling drains what runs, gives every call a result, and closes the turn, which
//! says who cancelled it. Each turn has a signal of its own; events that can take long carry it.
//! A listener that fails costs the turn it fails in; what waits behind it is not lost.
//!
//! [`AgentSeams`] and [`ToolSeams`] are all the places where someone may
//! interfere.

mod batch;
mod builder;
mod ending;
mod entering;
mod event;
mod inbox;
mod ledger;
mod lifecycle;
mod outcome;
mod seams;
mod shared;
mod step;
mod stream;
mod turn;

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::Poll;

use seamline_seams::{Context, Notice, Signal};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub use builder::AgentBuilder;
pub use event::AgentEvent;
use inbox::{Next, Rest, Work};
pub use outcome::TurnOutcome;
pub use seams::{
    AgentSeams, Batch, BatchDecision, BatchEvent, Change, Changed, Continuation,
    ContinuationDecision, ContinuationEvent, Display, DisplayEvent, FirstMessage, Prompt,
    PromptDecision, PromptEvent, RequestError, RequestErrorDecision, RequestErrorEvent,
    RequestEvent, RequestPolicy, RequestSettings, SessionEndEvent, SessionName,
    SessionStartContribution, SessionStartEvent, Steer, TurnStopEvent,
};
use shared::Shared;

use crate::content::{Content, Source};
use crate::facts::Facts;
use crate::json::Json;
use crate::model::Model;
use crate::permission::Permission;
use crate::session::event::{AbortCause, Extension};
use crate::session::{Session, SessionError};
use crate::tools::{Registry, ToolSeams, Workspace};

/// A running agent. Dropping it cancels what it does; [`close`](Self::close) ends it properly.
pub struct Agent {
    handle: AgentHandle,
    driver: Option<JoinHandle<()>>,
}

/// A handle on an agent, cheap to clone. It does not keep the agent running.
#[derive(Clone)]
pub struct AgentHandle(Arc<Shared>);

/// A turn that was queued: a future of its outcome. Dropping it does not take the turn back.
#[must_use = "dropping this leaves the turn queued; say so with `drop`"]
pub struct Sent {
    answer: oneshot::Receiver<TurnOutcome>,
    id: u64,
    shared: Weak<Shared>,
}

impl Sent {
    /// Takes the turn back if it has not begun, and says whether that was so. The outcome is then
    /// that of a dropped prompt.
    pub fn take_back(&self) -> bool {
        let shared = self.shared.upgrade();
        shared.is_some_and(|shared| shared.inbox.take_back(self.id))
    }
}

impl Future for Sent {
    type Output = TurnOutcome;

    fn poll(mut self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<TurnOutcome> {
        let answer = Pin::new(&mut self.answer).poll(cx);
        answer.map(|answer| answer.unwrap_or_else(|_| TurnOutcome::dropped(AbortCause::Closed)))
    }
}

impl std::fmt::Debug for Sent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sent").field("id", &self.id).finish()
    }
}

/// What cancelling does to prompts that wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pending {
    /// They are dropped; whoever waits for them hears so.
    Drop,
    /// They run.
    Keep,
    /// They wait on, until something else is sent; then they run before it.
    Park,
}

impl Agent {
    /// Begins to set up an agent.
    pub fn builder(model: impl Model, session: Session) -> AgentBuilder {
        AgentBuilder::new(Arc::new(model), session)
    }

    /// A handle on this agent.
    pub fn handle(&self) -> AgentHandle {
        self.handle.clone()
    }

    /// Ends the agent: drops what waits, cancels the turn under way and waits for it, hears
    /// `agent.session_end` under its deadline, and closes the log, so that another process may
    /// open it even while handles on this agent remain. `reason` is the host's word
    /// for why. The error is the log's; the agent has ended all the same.
    pub async fn close(mut self, reason: impl Into<String>) -> Result<(), SessionError> {
        let shared = Arc::clone(&self.handle.0);
        shared.inbox.close();
        shared.turns.cancel();
        if let Some(driver) = self.driver.take() {
            // A driver that panicked has nothing left to wait for.
            let _ = driver.await;
        }
        let finished = shared.finish(reason.into()).await;
        shared.signal.cancel();
        shared.session.close();
        finished
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.handle.0.inbox.close();
        self.handle.0.signal.cancel();
    }
}

impl std::ops::Deref for Agent {
    type Target = AgentHandle;

    fn deref(&self) -> &AgentHandle {
        &self.handle
    }
}

impl AgentHandle {
    /// Takes up the session without sending anything: `agent.session_start` is heard now instead
    /// of before the first turn. Does nothing the second time.
    pub async fn start(&self) -> Result<(), SessionError> {
        self.0.start().await
    }

    /// Sends a prompt of the user. It gets a turn of its own, after those sent before. The
    /// prompt is queued at once; the future waits for the end of its turn, and may be dropped.
    ///
    /// A listener of the agent's own seams must not await it: its turn cannot begin before the
    /// listener's ends.
    pub fn send(&self, content: impl Into<Content>) -> Sent {
        self.send_as(content.into(), Source::User)
    }

    /// Sends a prompt in somebody else's name.
    pub fn send_as(&self, content: Content, source: Source) -> Sent {
        self.queue(Work::Prompt { content, source })
    }

    /// Takes up the call that a former turn put off, in a turn of its own. `None` when there is
    /// no such call.
    pub fn resume(&self) -> Option<Sent> {
        let waiting = |relations: &crate::session::Relations| {
            relations.open_turn().is_none() && relations.waiting_deferred().is_some()
        };
        self.0
            .session
            .relations(waiting)
            .then(|| self.queue(Work::Resume))
    }

    fn queue(&self, work: Work) -> Sent {
        let (reply, answer) = oneshot::channel();
        Sent {
            answer,
            id: self.0.inbox.queue(Next::Turn(work, Some(reply))),
            shared: Arc::downgrade(&self.0),
        }
    }

    /// Does something between two turns, after what was sent before: while `job` runs no turn
    /// does, and what is sent meanwhile waits. [`cancel`](Self::cancel) cancels its signal. `None`
    /// when it was dropped before it began.
    ///
    /// A listener of the agent's own seams must not await it, as with [`send`](Self::send).
    pub async fn between_turns<T, F>(&self, job: impl FnOnce(Signal) -> F) -> Option<T>
    where
        F: Future<Output = T>,
    {
        let (granted, begun) = oneshot::channel();
        self.0.inbox.queue(Next::Rest(granted));
        let rest = begun.await.ok()?;
        Some(job(rest.signal.clone()).await)
    }

    /// Waits until no turn is under way and none is about to begin.
    pub async fn idle(&self) {
        self.0.inbox.idle().await;
    }

    /// Adds input of the user to the turn under way, at the next boundary between steps. With no
    /// turn under way it is a prompt like any other. Input that comes too late for the turn gets a
    /// turn of its own, unless the turn was told to stop by `agent.turn_stop`; then it is dropped.
    pub fn steer(&self, content: impl Into<Content>) {
        self.0.inbox.steer(content.into(), Source::User);
    }

    /// Adds text for the model, at the next boundary between steps or, with no turn under way,
    /// at the beginning of the next turn. Opens no turn.
    pub fn inject(&self, context: Context) {
        self.0.inbox.inject(context);
    }

    /// Cancels the turn under way for the user, or the wait for the start contributors before the
    /// first one. Without either, only what waits is affected.
    pub fn cancel(&self, pending: Pending) {
        self.cancel_by(AbortCause::User, pending);
    }

    /// Cancels on somebody's behalf. The first cause is the one that counts, and `turn/end` keeps
    /// it.
    pub fn cancel_by(&self, cause: AbortCause, pending: Pending) {
        match pending {
            Pending::Drop => self.0.inbox.clear(cause),
            Pending::Keep => {}
            Pending::Park => self.0.inbox.park(),
        }
        self.0.inbox.cancel(cause);
        let starting = self.0.state().starting.clone();
        starting.iter().for_each(Signal::cancel);
    }

    /// Where the session stands now.
    pub fn facts(&self) -> Arc<Facts> {
        self.0.facts()
    }

    /// The session's log.
    pub fn session(&self) -> &Session {
        &self.0.session
    }

    /// The seams of the loop.
    pub fn seams(&self) -> &AgentSeams {
        &self.0.seams
    }

    /// The seams of tool calls.
    pub fn tool_seams(&self) -> &ToolSeams {
        self.0.pipeline.seams()
    }

    /// The tools.
    pub fn tools(&self) -> &Registry {
        self.0.pipeline.registry()
    }

    /// The permissions.
    pub fn permission(&self) -> &Permission {
        self.0.pipeline.permission()
    }

    /// Where the tools work.
    pub fn workspace(&self) -> &Workspace {
        self.0.pipeline.workspace()
    }

    /// Tells the user something; the log keeps it.
    pub fn tell(&self, notice: Notice) -> Result<(), SessionError> {
        self.0.tell(notice)
    }

    /// Puts an event of your own into the log, for example `hook/result`. `turn` must be the
    /// open turn, or `None` for something that belongs to no turn.
    pub fn log_extension(
        &self,
        kind: impl Into<String>,
        turn: Option<u32>,
        data: Json,
    ) -> Result<(), SessionError> {
        let extension = Extension {
            kind: kind.into(),
            turn,
            data,
        };
        self.0.session.append(extension).map(|_| ())
    }
}

impl std::fmt::Debug for AgentHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("AgentHandle").field(&self.0.session).finish()
    }
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Agent")
            .field(&self.handle.0.session)
            .finish()
    }
}

/// Works through the inbox until it closes.
async fn drive(shared: Arc<Shared>) {
    while let Some((next, signal)) = shared.inbox.next(&shared.turns).await {
        match next {
            Next::Turn(work, reply) => {
                let outcome = turn::run(&shared, work, signal).await;
                Next::answer(reply, outcome);
            }
            Next::Rest(granted) => {
                let (held, over) = oneshot::channel();
                if granted
                    .send(Rest {
                        signal,
                        _held: held,
                    })
                    .is_ok()
                {
                    // It is never sent anything: it ends when the rest is dropped.
                    let _ = over.await;
                }
            }
        }
    }
}
