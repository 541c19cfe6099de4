//! The seams of the loop.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use seamline_seams::{
    Context, Contributors, FaultLog, Guards, Listener, Notice, Observers, Policy, Signal, Source,
    Waterfall,
};

use super::event::AgentEvent;
use crate::content::{self, Content};
use crate::facts::Facts;
use crate::model::{ModelError, Usage};
use crate::session::event::StartSource;
use crate::tools::ToolResult;

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

/// `agent.session_start`: a process takes up a session.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SessionStartEvent {
    /// Where the session stands; no turn is open.
    pub facts: Arc<Facts>,
    /// New or resumed.
    pub source: StartSource,
    /// Cancelled when the agent closes.
    pub signal: Signal,
}

/// What a contributor gives a session on its way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionStartContribution {
    /// Text for the model, before the first prompt.
    pub contexts: Vec<Context>,
    /// Text for the user.
    pub notices: Vec<Notice>,
    /// A message the first turn opens with, before the prompt.
    pub first_message: Option<FirstMessage>,
    /// A name for the session.
    pub title: Option<SessionName>,
    /// Environment of the commands that tools run from here on.
    pub environment: BTreeMap<String, String>,
}

/// A message a session opens with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstMessage {
    /// The text.
    pub text: String,
    /// Who wrote it.
    pub source: Source,
}

/// A name for a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionName {
    /// The name.
    pub title: String,
    /// Who gave it.
    pub source: Source,
}

/// `agent.session_end`: the agent is being closed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SessionEndEvent {
    /// Where the session stands; no turn is open.
    pub facts: Arc<Facts>,
    /// The reason the host gave, in its own words.
    pub reason: String,
}

/// `agent.prompt`: whether a prompt enters. Fired inside the open turn.
#[derive(Debug)]
pub struct Prompt;

impl Policy for Prompt {
    const NAME: &'static str = "agent.prompt";
    type Event = PromptEvent;
    type Decision = PromptDecision;
}

/// A prompt that wants to enter.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PromptEvent {
    /// Where the session stands.
    pub facts: Arc<Facts>,
    /// What was written.
    pub content: Content,
    /// Who wrote it.
    pub source: content::Source,
    /// Whether it joins a turn that is already under way.
    pub steering: bool,
    /// The turn's signal; policies that take long must watch it.
    pub signal: Signal,
}

/// What becomes of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptDecision {
    /// It enters.
    Enter {
        /// In other words, if any.
        content: Option<Content>,
    },
    /// It does not. The model never sees it; the turn makes no request (unless it was steering).
    Block {
        /// Why, for the user.
        reason: String,
        /// Who says so.
        by: Source,
    },
}

/// `agent.request`: how the next request is made.
#[derive(Debug)]
pub struct RequestPolicy;

impl Policy for RequestPolicy {
    const NAME: &'static str = "agent.request";
    type Event = RequestEvent;
    type Decision = RequestSettings;
}

/// A request that is about to be made.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RequestEvent {
    /// Where the session stands.
    pub facts: Arc<Facts>,
    /// How it would be made.
    pub settings: RequestSettings,
    /// The turn's signal.
    pub signal: Signal,
}

/// How requests are made. The messages are not among it: they are the log's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestSettings {
    /// The model's name.
    pub model: String,
    /// The system prompt.
    pub system: String,
}

/// `agent.request_error`: what becomes of a request that failed.
#[derive(Debug)]
pub struct RequestError;

impl Policy for RequestError {
    const NAME: &'static str = "agent.request_error";
    type Event = RequestErrorEvent;
    type Decision = RequestErrorDecision;
}

/// A request that failed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RequestErrorEvent {
    /// Where the session stands.
    pub facts: Arc<Facts>,
    /// What went wrong.
    pub error: ModelError,
    /// How many requests this step has made; 1 at the first failure.
    pub attempt: u32,
    /// The last text of the model in this turn.
    pub last_text: Option<String>,
    /// The turn's signal; a listener that waits before a retry must watch it.
    pub signal: Signal,
}

/// What to do about a failed request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestErrorDecision {
    /// Make it again. Nothing of the failed attempt is kept.
    Retry,
    /// End the turn.
    Fail,
}

/// `agent.display`: what of the model's text the user is shown. The log keeps the model's own.
#[derive(Debug)]
pub struct Display;

impl Policy for Display {
    const NAME: &'static str = "agent.display";
    type Event = DisplayEvent;
    type Decision = String;
}

/// A text of the model that is complete and not yet shown.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DisplayEvent {
    /// Where the session stands.
    pub facts: Arc<Facts>,
    /// The text, as the model wrote it or as a listener further out changed it.
    pub text: String,
    /// Its place among the text blocks of its message, counting from 0.
    pub index: usize,
    /// Whether it is the last text block of its message.
    pub last: bool,
    /// The turn's signal.
    pub signal: Signal,
}

/// `agent.batch`: all calls of one message have their results.
#[derive(Debug)]
pub struct Batch;

impl Policy for Batch {
    const NAME: &'static str = "agent.batch";
    type Event = BatchEvent;
    type Decision = BatchDecision;
}

/// A settled batch.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct BatchEvent {
    /// Where the session stands.
    pub facts: Arc<Facts>,
    /// The calls with their results, in model order. A deferred call is not among them.
    pub results: Vec<ToolResult>,
    /// The turn's signal.
    pub signal: Signal,
}

/// Whether the turn goes on after a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchDecision {
    /// It goes on.
    Proceed,
    /// It ends here, as stopped.
    EndTurn {
        /// Why, for the user.
        reason: Option<String>,
        /// Who says so.
        by: Source,
    },
}

/// `agent.continuation`: the model is done; does the turn end?
///
/// Fired when the last message called no tools and no steering is waiting. Whoever keeps a turn
/// going should watch `forced` and `consecutive`: the loop itself has no cap.
#[derive(Debug)]
pub struct Continuation;

impl Policy for Continuation {
    const NAME: &'static str = "agent.continuation";
    type Event = ContinuationEvent;
    type Decision = ContinuationDecision;
}

/// A turn that is about to end.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ContinuationEvent {
    /// Where the session stands.
    pub facts: Arc<Facts>,
    /// The text of the model's last message that has any.
    pub last_text: Option<String>,
    /// Whether this turn was kept going before, at any time.
    pub forced: bool,
    /// How often it was kept going since the last tool call.
    pub consecutive: u32,
    /// The turn's signal; policies that take long must watch it.
    pub signal: Signal,
}

/// Whether a turn goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContinuationDecision {
    /// It ends.
    Stop,
    /// It goes on with another step.
    Continue {
        /// What the model is told, one message each. With none, only the reply's contexts.
        reasons: Vec<Steer>,
    },
}

/// Steering with its author.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Steer {
    /// The text, verbatim.
    pub text: String,
    /// Who says it.
    pub source: Source,
}

/// `agent.turn_stop`: a turn would go on with another step; a denial ends it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TurnStopEvent {
    /// Where the session stands.
    pub facts: Arc<Facts>,
    /// Token counts of the turn so far, added up.
    pub usage: Usage,
    /// How often the turn was kept going since the last tool call.
    pub consecutive: u32,
}

/// `agent.changed`: something around the session changed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Changed {
    /// Where the session stands, after the change.
    pub facts: Arc<Facts>,
    /// What changed.
    pub change: Change,
}

/// A change of a session's surroundings.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// The current directory.
    Cwd {
        /// Where it was.
        old: PathBuf,
        /// Where it is.
        new: PathBuf,
    },
}
