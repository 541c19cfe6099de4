//! The conversation as a model sees it.

use serde::{Deserialize, Serialize};

use crate::content::{Content, Source};
use crate::json::Json;

/// One message of a request, oldest first.
///
/// Messages are derived from the session log and from nothing else, so a provider may rely on
/// the messages of one request being a prefix of the next one's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// A prompt, or steering added while a turn was running.
    User {
        /// What was said.
        content: Content,
        /// Who said it; only [`Source::User`] is a human.
        source: Source,
    },
    /// Text a plugin added for the model. How it is marked up is the provider's business.
    Context {
        /// The text, verbatim.
        text: String,
        /// Who added it.
        source: Source,
    },
    /// What the model said.
    Assistant {
        /// Its parts in order.
        blocks: Vec<Block>,
    },
    /// The answer to one tool call. Results follow the message that called, in call order.
    ToolResult {
        /// The call's id, as the model gave it.
        call_id: String,
        /// What the model is shown.
        content: Content,
        /// Whether the call failed or was denied.
        is_error: bool,
    },
}

/// One part of an assistant message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Block {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// What the model thought before it answered.
    Reasoning {
        /// The text.
        text: String,
    },
    /// What the provider sent beside all this, as it came.
    Provider {
        /// JSON text, of which only the provider knows what it means.
        data: String,
    },
    /// A tool call.
    ToolCall {
        /// The provider's id. Not unique across a session.
        id: String,
        /// The tool's name.
        name: String,
        /// The arguments the tool ran with (the model's own where nothing rewrote them).
        arguments: Json,
    },
}

/// The token counts a provider reported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Tokens of the request.
    pub input_tokens: u64,
    /// Tokens of the answer.
    pub output_tokens: u64,
    /// Request tokens read from the provider's cache.
    pub cache_read_input_tokens: u64,
    /// Request tokens written to the provider's cache.
    pub cache_creation_input_tokens: u64,
}
