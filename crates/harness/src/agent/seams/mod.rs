//! The seams of the loop.

mod request;
mod session;
mod turn;

use seamline_seams::{
    Context, Contributors, FaultLog, Guards, Listener, Notice, Observers, Waterfall,
};

pub use request::{
    Display, DisplayEvent, RequestError, RequestErrorDecision, RequestErrorEvent, RequestEvent,
    RequestPolicy, RequestSettings,
};
pub use session::{
    Change, Changed, FirstMessage, SessionEndEvent, SessionName, SessionStartContribution,
    SessionStartEvent,
};
pub use turn::{
    Batch, BatchDecision, BatchEvent, Continuation, ContinuationDecision, ContinuationEvent,
    Prompt, PromptDecision, PromptEvent, Steer, TurnStopEvent,
};

use super::event::AgentEvent;

/// Every place where someone may interfere with the loop, in the order a turn meets them.
#[derive(Debug, Clone)]
pub struct AgentSeams {
    /// Once per process, before the first turn. Awaited under a deadline.
    pub session_start: Contributors<SessionStartEvent, SessionStartContribution>,
    /// Whether a prompt enters, and as what.
    pub prompt: Waterfall<Prompt>,
    /// How the next request is made.
    pub request: Waterfall<RequestPolicy>,
    /// What becomes of a request that failed.
    pub request_error: Waterfall<RequestError>,
    /// What of the model's text is shown to the user.
    pub display: Waterfall<Display>,
    /// After all calls of one message have their results.
    pub batch: Waterfall<Batch>,
    /// Whether a turn that would end goes on.
    pub continuation: Waterfall<Continuation>,
    /// Whether a turn that would go on must end: a guard can only end it.
    pub turn_stop: Guards<TurnStopEvent>,
    /// Told of each change of the session's surroundings; may add text for the model.
    pub changed: Contributors<Changed, Vec<Context>>,
    /// Once, when the agent is closed. Awaited under a deadline.
    pub session_end: Contributors<SessionEndEvent, Vec<Notice>>,
    /// Told of everything that happens.
    pub events: Observers<AgentEvent>,
}

impl AgentSeams {
    /// Seams without listeners.
    pub fn new(faults: &FaultLog) -> Self {
        Self {
            session_start: Contributors::new("agent.session_start", faults),
            prompt: Waterfall::new(faults),
            request: Waterfall::new(faults),
            request_error: Waterfall::new(faults),
            display: Waterfall::new(faults),
            batch: Waterfall::new(faults),
            continuation: Waterfall::new(faults),
            turn_stop: Guards::new("agent.turn_stop", faults),
            changed: Contributors::new("agent.changed", faults),
            session_end: Contributors::new("agent.session_end", faults),
            events: Observers::new("agent.events", faults),
        }
    }

    /// One agent's seams: these, outermost, and then its own.
    #[must_use]
    pub fn child(&self) -> Self {
        Self {
            session_start: self.session_start.child(),
            prompt: self.prompt.child(),
            request: self.request.child(),
            request_error: self.request_error.child(),
            display: self.display.child(),
            batch: self.batch.child(),
            continuation: self.continuation.child(),
            turn_stop: self.turn_stop.child(),
            changed: self.changed.child(),
            session_end: self.session_end.child(),
            events: self.events.child(),
        }
    }

    /// Everybody who is registered, seam by seam.
    pub fn describe(&self) -> Vec<Listener> {
        [
            self.session_start.describe(),
            self.prompt.describe(),
            self.request.describe(),
            self.request_error.describe(),
            self.display.describe(),
            self.batch.describe(),
            self.continuation.describe(),
            self.turn_stop.describe(),
            self.changed.describe(),
            self.session_end.describe(),
            self.events.describe(),
        ]
        .concat()
    }
}
