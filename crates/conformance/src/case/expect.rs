//! What a case says should be seen. A key that is absent is not compared.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::text::Names;

/// The `expect` object.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Expect {
    /// Handlers that ran, in start order; within one round of an event a set.
    pub fires: Option<Vec<String>>,
    /// Runs with their outcome.
    pub runs: Option<Vec<ExpectedRun>>,
    /// The only tool call of the script.
    pub tool: Option<ExpectedTool>,
    /// The tool calls of the script.
    pub tools: Option<Vec<ExpectedTool>>,
    /// Fate of the first prompt: `entered` or `rejected`.
    pub prompt: Option<String>,
    /// Fate of each prompt.
    pub prompts: Option<Vec<String>>,
    /// How the turn ended: `completed`, `stopped`, `deferred` or `error`.
    pub turn: Option<String>,
    /// How each turn ended.
    pub turns: Option<Vec<String>>,
    /// How often the model was asked.
    pub model_requests: Option<u64>,
    /// How often the client was asked for an approval.
    pub approvals_asked: Option<u64>,
    /// Strings of the hooks that reached the model, in order of first occurrence.
    pub sees: Option<Vec<String>>,
    /// The same for a subagent's model.
    pub sees_subagent: Option<Vec<String>>,
    /// What discovery lists, in run order.
    pub discovers: Option<Vec<Map<String, Value>>>,
    /// How many warnings came with the list.
    pub discovery_warnings: Option<u64>,
    #[serde(flatten)]
    extra: BTreeMap<String, Value>,
}

impl Expect {
    /// Keys the runner does not know.
    pub(super) fn unknown(&self) -> Vec<String> {
        let own = self.extra.keys().map(|key| format!("expect.{key}"));
        let runs = self.runs.iter().flatten().flat_map(|run| run.extra.keys());
        let tools = self.tools().flat_map(|tool| tool.extra.keys());
        own.chain(runs.map(|key| format!("expect.runs.{key}")))
            .chain(tools.map(|key| format!("expect.tool.{key}")))
            .collect()
    }

    /// `tool` or `tools`, whichever is there.
    pub fn tools(&self) -> impl Iterator<Item = &ExpectedTool> {
        self.tool.iter().chain(self.tools.iter().flatten())
    }
}

/// One run.
#[derive(Debug, Clone, Deserialize)]
pub struct ExpectedRun {
    /// The handler; absent where several matchers make it unknown.
    pub hook: Option<String>,
    /// The event.
    pub event: String,
    /// `completed`, `failed`, `blocked`, `stopped` or `cancelled`.
    pub status: String,
    /// Kind and text of each entry; a text of `null` is some text in the client's own words.
    #[serde(default)]
    pub entries: Vec<(String, Option<String>)>,
    #[serde(flatten)]
    extra: BTreeMap<String, Value>,
}

/// One tool call.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct ExpectedTool {
    /// Name as hooks see it.
    pub name: Option<String>,
    /// The model's id for it.
    pub id: Option<String>,
    /// Whether it ran.
    pub ran: Option<bool>,
    /// Whether it was denied.
    pub denied: Option<bool>,
    /// The input it ran with.
    pub input: Option<Value>,
    /// Only the keys of `input` are known.
    #[serde(default)]
    pub input_is_part: bool,
    /// Names of the PreToolUse hooks that ran for it.
    pub pre: Option<Vec<String>>,
    #[serde(flatten)]
    extra: BTreeMap<String, Value>,
}

impl Expect {
    /// The same with placeholders filled in, where texts and inputs are compared.
    #[must_use]
    pub fn filled(&self, names: &Names) -> Self {
        let mut all = self.clone();
        for run in all.runs.iter_mut().flatten() {
            for (_, text) in &mut run.entries {
                *text = text.as_ref().map(|text| names.fill(text));
            }
        }
        for tool in all.tool.iter_mut().chain(all.tools.iter_mut().flatten()) {
            tool.input = tool.input.as_ref().map(|input| names.fill_value(input));
        }
        for sees in [&mut all.sees, &mut all.sees_subagent] {
            for text in sees.iter_mut().flatten() {
                *text = names.fill(text);
            }
        }
        all
    }
}
