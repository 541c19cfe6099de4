//! What was seen when a case was played. A level fills what it can see; [`crate::compare`]
//! compares only that.

use serde_json::{Map, Value};

use crate::moments::CallFate;
use crate::text::Names;

/// Everything that was seen.
#[derive(Debug, Clone, Default)]
pub struct Observed {
    /// The firings, in order.
    pub rounds: Vec<Round>,
    /// Words that hooks wrote to a common file, where a case counts those.
    pub wrote: Option<Vec<String>>,
    /// Tool calls.
    pub calls: Option<Vec<CallFate>>,
    /// Whether each prompt entered; empty when no hook was asked.
    pub prompts: Vec<bool>,
    /// How the turn ended.
    pub turn: Option<&'static str>,
    /// Texts of hooks on their way to the model, in order.
    pub model: Option<Vec<Said>>,
    /// The same for a subagent's model.
    pub subagent: Option<Vec<Said>>,
    /// How often the model was asked.
    pub model_requests: Option<u64>,
    /// How each turn ended.
    pub turns: Option<Vec<&'static str>>,
    /// How often an approval was asked for.
    pub approvals_asked: Option<u64>,
    /// What the loader lists.
    pub listed: Option<Vec<Map<String, Value>>>,
    /// How many warnings came with the list.
    pub warnings: Option<u64>,
    /// Everything hooks put out, stream by stream.
    pub emitted: Vec<String>,
    /// What the case told its hooks to put out.
    pub scripted: Vec<String>,
    /// Values of the placeholders of this run.
    pub names: Names,
    /// What went wrong with the playing itself, in words.
    pub complaints: Vec<String>,
}

/// A text on its way to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The text.
    pub text: String,
    /// Whether it must have arrived; otherwise it may have.
    pub certain: bool,
}

/// One firing of one event.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Round {
    /// The event.
    pub event: String,
    /// Names of the handlers that fired, as `fires` names them.
    pub fired: Vec<String>,
    /// Runs that were waited for.
    pub runs: Vec<SeenRun>,
    /// All names of the handlers that were started and not waited for.
    pub background: Vec<String>,
}

/// One run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SeenRun {
    /// The names a case may call it by.
    pub names: Vec<String>,
    /// The event.
    pub event: String,
    /// `completed`, `failed`, `blocked`, `stopped` or `cancelled`.
    pub status: String,
    /// Kind and text of each entry.
    pub entries: Vec<(String, String)>,
}
