//! The seams of a turn: what enters it, and whether it goes on.

use std::sync::Arc;

use seamline_seams::{Policy, Signal, Source};

use crate::content::{self, Content};
use crate::facts::Facts;
use crate::model::Usage;
use crate::tools::ToolResult;

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
