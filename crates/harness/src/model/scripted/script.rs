//! What a script can say, as values.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::json::Json;
use crate::model::{Chunk, ModelError, StopReason, Usage};

/// Scripts by name, each a list of turns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scripts(pub BTreeMap<String, Vec<Play>>);

/// One turn of a script: the answer to one request.
#[derive(Debug, Clone, PartialEq)]
pub enum Play {
    /// A message.
    Say(Say),
    /// A failure.
    Fail(ModelError),
}

/// A message of a script.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Say {
    /// Its parts.
    pub blocks: Vec<ScriptBlock>,
    /// Why it stops; by default `tool_use` if it calls a tool, `end_turn` if not.
    pub stop: Option<StopReason>,
    /// How long to wait before it.
    pub delay: Duration,
    /// The token counts to report.
    pub usage: Option<Usage>,
}

/// One part of a message of a script.
#[derive(Debug, Clone, PartialEq)]
pub enum ScriptBlock {
    /// Text.
    Text(String),
    /// A tool call.
    Call {
        /// The tool.
        name: String,
        /// The arguments.
        input: Json,
        /// The call's id; made up from its place in the conversation if missing.
        id: Option<String>,
    },
}

impl Scripts {
    /// The one script `main`.
    pub fn main(turns: impl IntoIterator<Item = Play>) -> Self {
        Self::default().with("main", turns)
    }

    /// Adds a script.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, turns: impl IntoIterator<Item = Play>) -> Self {
        self.0.insert(name.into(), turns.into_iter().collect());
        self
    }
}

impl Play {
    /// A message of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::blocks([ScriptBlock::Text(text.into())])
    }

    /// A message of these parts.
    pub fn blocks(blocks: impl IntoIterator<Item = ScriptBlock>) -> Self {
        Self::Say(Say {
            blocks: blocks.into_iter().collect(),
            ..Say::default()
        })
    }

    /// A message of one tool call.
    pub fn call(name: impl Into<String>, input: impl Into<Json>) -> Self {
        Self::blocks([ScriptBlock::call(name, input)])
    }
}

impl ScriptBlock {
    /// A tool call without an id of its own.
    pub fn call(name: impl Into<String>, input: impl Into<Json>) -> Self {
        Self::Call {
            name: name.into(),
            input: input.into(),
            id: None,
        }
    }

    /// The same call with an id; text stays as it is.
    #[must_use]
    pub fn with_id(self, id: impl Into<String>) -> Self {
        match self {
            Self::Call { name, input, .. } => Self::Call {
                name,
                input,
                id: Some(id.into()),
            },
            text => text,
        }
    }
}

impl Say {
    /// The message as a stream would bring it; `place` is its place in the conversation.
    pub(super) fn chunks(self, place: usize) -> Vec<Chunk> {
        let calls = self
            .blocks
            .iter()
            .any(|block| matches!(block, ScriptBlock::Call { .. }));
        let natural = if calls {
            StopReason::ToolUse
        } else {
            StopReason::EndTurn
        };
        let mut chunks = Vec::new();
        for (index, block) in self.blocks.into_iter().enumerate() {
            chunks.push(match block {
                ScriptBlock::Text(text) => Chunk::Text(text),
                ScriptBlock::Call { name, input, id } => Chunk::ToolCall {
                    id: id.unwrap_or_else(|| format!("call_{place}_{index}")),
                    name,
                    arguments: input.text().to_owned(),
                },
            });
        }
        chunks.extend(self.usage.map(Chunk::Usage));
        chunks.push(Chunk::End(self.stop.unwrap_or(natural)));
        chunks
    }
}
