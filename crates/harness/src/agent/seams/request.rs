//! The seams of a request: how it is made, what becomes of a failure, what is shown.

use std::sync::Arc;

use seamline_seams::{Policy, Signal};
use uuid::Uuid;

use crate::facts::Facts;
use crate::model::ModelError;

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
    /// The request's own id, the same each time it is made again.
    pub id: Uuid,
    /// How many times it was made, this one included; 1 at first.
    pub attempt: u32,
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
