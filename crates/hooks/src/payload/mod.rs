//! What hooks read on standard input.
//!
//! A payload is made of facts: those of the session ([`Session`]) and those of one event (a struct
//! per event, grouped by family). Which of them a dialect sends, and in which order, is its row in
//! the event table; so there is one place for key order and none for forgetting a key.

mod agent;
mod prompt;
mod request;
mod sample;
mod session;
mod tool;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

pub use agent::{Interrupt, Stop, SubagentStart, SubagentStop};
pub use prompt::UserPromptSubmit;
pub use request::{ModelRequest, PostModelRequest, PreModelRequest, TokenUsage};
pub use sample::{Sample, sample};
pub use session::{SessionEnd, SessionStart};
pub use tool::{
    BatchCall, McpServer, PermissionRequest, PostToolBatch, PostToolUse, PostToolUseFailure,
    PreToolUse,
};

use crate::dialect::{DialectId, EventRow};

/// One event's payload: its exact text and a parsed view, shared.
#[derive(Debug, Clone)]
pub struct Payload {
    text: Arc<str>,
    value: Arc<Value>,
}

impl Payload {
    /// Takes a payload as text, without a trailing newline.
    ///
    /// # Errors
    /// When the text is not one JSON object.
    pub fn from_text(text: impl Into<Arc<str>>) -> Result<Self, serde_json::Error> {
        let text = text.into();
        let value: serde_json::Map<String, Value> = serde_json::from_str(&text)?;
        Ok(Self {
            text,
            value: Arc::new(Value::Object(value)),
        })
    }

    /// Takes a parsed object; its keys keep their order.
    #[must_use]
    pub fn from_object(object: serde_json::Map<String, Value>) -> Self {
        let value = Value::Object(object);
        Self {
            text: Arc::from(value.to_string()),
            value: Arc::new(value),
        }
    }

    /// The exact text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The parsed view.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// A string field.
    #[must_use]
    pub fn str_field(&self, key: &str) -> Option<&str> {
        self.value.get(key).and_then(Value::as_str)
    }
}

/// Values by key, each as JSON text.
#[derive(Debug, Clone, Default)]
pub struct Facts(BTreeMap<&'static str, String>);

impl Facts {
    /// Sets a value that serializes.
    pub fn set(&mut self, key: &'static str, value: impl Serialize) {
        // Strings, numbers, lists and options of them always serialize.
        if let Ok(text) = serde_json::to_string(&value) {
            self.0.insert(key, text);
        }
    }

    /// Sets a value that may be absent.
    pub fn set_some(&mut self, key: &'static str, value: Option<impl Serialize>) {
        if let Some(value) = value {
            self.set(key, value);
        }
    }

    /// Sets a value whose text must stay as it is.
    pub fn set_raw(&mut self, key: &'static str, value: &RawValue) {
        self.0.insert(key, value.get().to_owned());
    }
}

/// What every payload of a session says.
#[derive(Debug, Clone, Default)]
pub struct Session {
    /// The session's id.
    pub id: String,
    /// Path of the transcript; Claude sends an empty string when there is none, Codex `null`.
    pub transcript_path: Option<String>,
    /// The current folder.
    pub cwd: String,
    /// The running model.
    pub model: String,
    /// The permission mode, in the dialect's word.
    pub permission_mode: String,
    /// Id of the turn: Codex `turn_id`, Claude `prompt_id`; absent before the first prompt.
    pub turn_id: Option<String>,
    /// The subagent the event comes from: id and type.
    pub agent: Option<(String, String)>,
    /// Reasoning effort of the model, when it has one.
    pub effort: Option<String>,
}

impl Session {
    fn facts(&self, dialect: DialectId, facts: &mut Facts) {
        facts.set("session_id", &self.id);
        facts.set("cwd", &self.cwd);
        facts.set("permission_mode", &self.permission_mode);
        if let Some((id, kind)) = &self.agent {
            facts.set("agent_id", id);
            facts.set("agent_type", kind);
        }
        match dialect {
            DialectId::Claude => {
                facts.set(
                    "transcript_path",
                    self.transcript_path.as_deref().unwrap_or_default(),
                );
                facts.set_some("prompt_id", self.turn_id.as_ref());
                let effort = self.effort.as_ref();
                facts.set_some(
                    "effort",
                    effort.map(|level| BTreeMap::from([("level", level)])),
                );
            }
            DialectId::Codex => {
                facts.set("transcript_path", self.transcript_path.as_ref());
                facts.set("turn_id", self.turn_id.as_deref().unwrap_or_default());
                facts.set("thread_id", &self.id);
                facts.set("model", &self.model);
            }
        }
    }
}

/// An event with its own facts.
pub trait Event {
    /// Its name, the same in both dialects where both have it.
    const NAME: &'static str;

    /// Adds its facts; they replace those of the session.
    fn facts(&self, dialect: DialectId, facts: &mut Facts);
}

/// Builds the payload of an event. `None` when the dialect does not have it.
#[must_use]
pub fn build<E: Event>(dialect: DialectId, session: &Session, event: &E) -> Option<Payload> {
    let row = dialect.table().event(E::NAME)?;
    let mut facts = Facts::default();
    session.facts(dialect, &mut facts);
    facts.set("hook_event_name", row.name);
    event.facts(dialect, &mut facts);
    Payload::from_text(write(row, &facts)).ok()
}

/// Writes the facts of a row in its order. Keys that must be there and have no fact are `null`.
fn write(row: &EventRow, facts: &Facts) -> String {
    let mut text = String::from("{");
    for key in row.keys {
        let name = key.trim_end_matches('?');
        let value = match facts.0.get(name) {
            Some(value) => value.as_str(),
            None if *key != name => continue,
            None => "null",
        };
        if text.len() > 1 {
            text.push(',');
        }
        text.push('"');
        text.push_str(name);
        text.push_str("\":");
        text.push_str(value);
    }
    text.push('}');
    text
}
