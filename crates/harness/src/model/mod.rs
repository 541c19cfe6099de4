//! What the model sees, and the one trait every model is reached through.
//!
//! A [`Model`] turns one [`Request`] into a stream of [`Chunk`]s. It keeps no conversation of
//! its own: everything it may know is in the request, which the agent derives from the session
//! log. A model that fails says so as a [`ModelError`] in the stream; whether the request is
//! made again is then decided at the `agent.request_error` seam. (A model over HTTP may ask again by
//! itself as long as nothing of an answer has come.)
//!
//! [`scripted`] is the model of our tests, demos and offline runs.

mod message;
pub mod scripted;

use std::pin::Pin;
use std::sync::Arc;

use futures_util::Stream;
use serde::{Deserialize, Serialize};

use crate::json::Json;
pub use message::{Block, Message, Usage};
pub use seamline_seams::Signal;

/// One request for one assistant message.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The model's name, as the provider spells it.
    pub model: String,
    /// The system prompt; empty for none.
    pub system: String,
    /// The conversation, oldest first.
    pub messages: Vec<Arc<Message>>,
    /// The tools the model may call.
    pub tools: Arc<[ToolSpec]>,
}

/// A tool as the model is told about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The name it is called by.
    pub name: String,
    /// What it does, in plain words.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub schema: Json,
}

/// One piece of a streamed answer.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Chunk {
    /// More text of the current text block.
    Text(String),
    /// More of what the model thought before it answered. It is kept in the log, not shown.
    Reasoning(String),
    /// Whatever else the provider sent with the answer and we have no word for, as JSON text. It is kept
    /// in the log as it came, so that the same provider may find it there again.
    Provider(String),
    /// One complete tool call.
    ToolCall {
        /// The provider's id.
        id: String,
        /// The tool's name.
        name: String,
        /// The argument text exactly as the model wrote it; it may not even be JSON.
        arguments: String,
    },
    /// Token counts; a later one replaces an earlier one.
    Usage(Usage),
    /// The answer is complete. Nothing follows.
    End(StopReason),
}

/// Why a model stopped writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It had said all.
    EndTurn,
    /// It called tools and waits for their results.
    ToolUse,
    /// It ran out of output tokens: its text stands, its tool calls are dropped.
    MaxTokens,
    /// It declined.
    Refusal,
}

/// A request that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// The HTTP-like status, where there is one: 401, 429, 529, …
    pub status: Option<u16>,
    /// The provider's word for the kind of error, for example `rate_limit_error`.
    pub kind: String,
    /// The provider's message.
    pub message: String,
}

/// The stream of one answer. Dropping it cancels the request.
pub type ChunkStream = Pin<Box<dyn Stream<Item = Result<Chunk, ModelError>> + Send>>;

/// Anything that answers requests.
pub trait Model: Send + Sync + 'static {
    /// Starts one request. The stream ends after [`Chunk::End`] or after its first error; a
    /// model that sees `signal` cancelled may end it at once.
    fn stream(&self, request: Request, signal: Signal) -> ChunkStream;
}

impl<M: Model + ?Sized> Model for Arc<M> {
    fn stream(&self, request: Request, signal: Signal) -> ChunkStream {
        (**self).stream(request, signal)
    }
}
