//! A case measured on Claude Code.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Expect, or_default, unknown_keys};
use crate::json::python_dumps;
use crate::text::Names;

/// One row; the fields are described in `fixtures/README.md`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct ClaudeCase {
    /// The event under test; none when there are several.
    pub event: Option<String>,
    /// Tools and features beyond the shell tool.
    #[serde(deserialize_with = "or_default")]
    pub needs: Vec<String>,
    /// Content of `hooks` in the project's settings.
    pub hooks_config: Value,
    /// The other keys of the project's settings.
    #[serde(deserialize_with = "or_default")]
    pub settings_other: Map<String, Value>,
    /// Arguments of the client.
    #[serde(deserialize_with = "or_default")]
    pub cli_args: Vec<String>,
    /// Permission mode; `None` when the flag was not given.
    pub permission_mode: Option<String>,
    /// Variables of the client's environment.
    #[serde(deserialize_with = "or_default")]
    pub env: BTreeMap<String, String>,
    /// The client's standard input.
    pub stdin: Option<String>,
    /// Where the client was started; the project folder when absent.
    pub start_dir: Option<String>,
    /// How the client was driven: `print`, `print-text`, `sdk` or `tui`.
    #[serde(deserialize_with = "or_default")]
    pub mode: String,
    /// Texts of the user.
    #[serde(deserialize_with = "or_default")]
    pub prompts: Vec<String>,
    /// Answers to permission questions.
    pub answers: Option<Value>,
    /// Several starts on the same folders, in order.
    #[serde(deserialize_with = "or_default")]
    pub invocations: Vec<Invocation>,
    /// Commands run before the start.
    #[serde(deserialize_with = "or_default")]
    pub setup_commands: Vec<String>,
    /// Content of the managed settings file.
    pub managed_settings: Option<Value>,
    /// Files of the project folder, path to text.
    #[serde(deserialize_with = "or_default")]
    pub files: BTreeMap<String, String>,
    /// Files of the home folder, path to text.
    #[serde(deserialize_with = "or_default")]
    pub home_files: BTreeMap<String, String>,
    /// What each recorder hook does.
    #[serde(deserialize_with = "or_default")]
    pub behave: Map<String, Value>,
    /// Turns of the scripted model, by the name of the script.
    #[serde(deserialize_with = "or_default")]
    pub scripts: BTreeMap<String, Vec<Value>>,
    /// Replies that come before the scripts.
    #[serde(deserialize_with = "or_default")]
    pub rules: Vec<Value>,
    /// The test MCP server's name, where there is one.
    pub mcp_server: Option<Value>,
    /// Rounds in completion order.
    #[serde(deserialize_with = "or_default")]
    pub order: Vec<Order>,
    /// What each hook read, in start order.
    #[serde(deserialize_with = "or_default")]
    pub payload_in: Vec<Received>,
    /// What to compare.
    pub expect: Expect,
    #[serde(flatten)]
    pub(crate) extra: BTreeMap<String, Value>,
}

/// One payload as a hook read it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Received {
    /// The recorder's name.
    pub hook: String,
    /// The payload.
    pub stdin: Map<String, Value>,
}

/// One round of several hooks.
#[derive(Debug, Clone, Deserialize)]
pub struct Order {
    /// The event.
    pub event: String,
    /// Names in the order they finished.
    pub completed: Vec<String>,
}

/// One of several starts.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Invocation {
    /// What each recorder hook does from here on.
    #[serde(deserialize_with = "or_default")]
    pub behave: Map<String, Value>,
    /// Whether the folders of the start before are kept.
    pub keeps_folder: Option<bool>,
    /// Whether the settings file is written again.
    pub writes_settings: Option<bool>,
    #[serde(flatten)]
    pub(crate) extra: BTreeMap<String, Value>,
}

/// Fields that describe a row to people, or belong to a part of the client that is not played:
/// keys of a terminal, side requests, paths asked of a server.
const FOR_READING: &[&str] = &[
    "steps",
    "default_reply",
    "http_server",
    "id",
    "level",
    "why",
    "note",
    "hook_stdout",
    "hook_stderr",
    "hook_exit",
];

/// Fields of one start that are read at the turn level only.
const OF_A_START: &[&str] = &[
    "prompts",
    "cli_args",
    "scripts",
    "rules",
    "stdin",
    "default_reply",
    "env",
    "mode",
];

/// What a recorder can be told to do.
const BEHAVIOUR: &[&str] = &[
    "stdout",
    "stderr",
    "exit",
    "sleep",
    "early",
    "ignore_term",
    "stdout_on_term",
    "child",
    "child_sleep",
    "env_append",
];

impl ClaudeCase {
    /// Keys the runner does not know.
    pub(super) fn unknown(&self) -> Vec<String> {
        let own = self
            .extra
            .keys()
            .filter(|key| !FOR_READING.contains(&key.as_str()))
            .cloned();
        let starts = self.invocations.iter().flat_map(|start| start.extra.keys());
        let starts = starts.filter(|key| !OF_A_START.contains(&key.as_str()));
        let behave = [&self.behave].into_iter();
        let behave = behave.chain(self.invocations.iter().map(|start| &start.behave));
        own.chain(starts.map(|key| format!("invocations.{key}")))
            .chain(
                behave
                    .flatten()
                    .flat_map(|(_, value)| behaviour_keys(value)),
            )
            .chain(self.expect.unknown())
            .collect()
    }

    /// What the recorders are told to put out.
    #[must_use]
    pub fn texts(&self, names: &Names) -> Vec<String> {
        let starts = self.invocations.iter().map(|start| &start.behave);
        let behaviours = starts
            .chain([&self.behave])
            .flat_map(|behave| behave.values());
        let calls = behaviours.flat_map(|value| match value {
            Value::Array(calls) => calls.clone(),
            one => vec![one.clone()],
        });
        let mut texts = Vec::new();
        for call in calls {
            for key in ["stdout", "stderr", "stdout_on_term"] {
                match call.get(key).map(|value| names.fill_value(value)) {
                    Some(Value::String(text)) => texts.push(text),
                    Some(other) => texts.push(python_dumps(&other)),
                    None => {}
                }
            }
        }
        texts
    }

    /// The longest time a recorder takes, in seconds; 0 when none sleeps.
    #[must_use]
    pub fn longest_sleep(&self) -> f64 {
        let sleeps = self
            .behave
            .values()
            .filter_map(|value| value.get("sleep")?.as_f64());
        sleeps.fold(0.0, f64::max)
    }

    /// Whether a tool was named that answers permission questions.
    #[must_use]
    pub fn has_prompt_tool(&self) -> bool {
        self.cli_args
            .iter()
            .any(|arg| arg == "--permission-prompt-tool")
    }

    /// After how many seconds a permission question is answered by the driver, or by the prompt
    /// tool of the test server.
    #[must_use]
    pub fn answers_after(&self) -> Option<f64> {
        let driver = self
            .answers
            .as_ref()
            .and_then(|answers| answers.get("after_s")?.as_f64());
        let tool = self.cli_args.iter().any(|arg| arg == "mcp__tiny__perm");
        driver.or(tool.then_some(0.7))
    }

    /// Whether the client ran to its end by itself on one command line.
    #[must_use]
    pub fn is_print(&self) -> bool {
        matches!(self.mode.as_str(), "print" | "print-text") && self.invocations.is_empty()
    }
}

fn behaviour_keys(value: &Value) -> Vec<String> {
    match value {
        Value::Array(calls) => calls.iter().flat_map(behaviour_keys).collect(),
        one => unknown_keys("behave", one, BEHAVIOUR),
    }
}
