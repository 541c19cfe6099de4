//! A case measured on Codex.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Expect, or_default, unknown_keys};

/// One row; the fields are described in `fixtures/README.md`.
#[derive(Debug, Clone, Deserialize)]
#[serde(default)]
pub struct CodexCase {
    /// Content of `hooks` in `$CODEX_HOME/hooks.json`.
    pub hooks_json: Value,
    /// Every configuration file, path to text; replaces `hooks_json`.
    #[serde(deserialize_with = "or_default")]
    pub files: BTreeMap<String, String>,
    /// Text at the end of `config.toml`.
    #[serde(deserialize_with = "or_default")]
    pub toml_extra: String,
    /// Text before the first table of `config.toml`.
    #[serde(deserialize_with = "or_default")]
    pub top_extra: String,
    /// The `config` of the thread, hook trust included.
    #[serde(deserialize_with = "or_default")]
    pub thread_config: Map<String, Value>,
    /// Arguments of the client.
    #[serde(deserialize_with = "or_default")]
    pub cli_args: Vec<String>,
    /// Whether the project is a git repository.
    #[serde(deserialize_with = "or_default")]
    pub git_init: bool,
    /// Where the client was started.
    pub start_dir: Option<String>,
    /// Variables of the client's environment.
    #[serde(deserialize_with = "or_default")]
    pub env: BTreeMap<String, String>,
    /// Turns of the scripted model.
    #[serde(deserialize_with = "or_default")]
    pub script: Vec<Value>,
    /// Texts of the user.
    #[serde(deserialize_with = "or_default")]
    pub prompts: Vec<String>,
    /// What the client did, where it was more than prompts.
    #[serde(deserialize_with = "or_default")]
    pub steps: Vec<Value>,
    /// Approval policy: `never`, `on-request`, …
    #[serde(deserialize_with = "or_default")]
    pub approval: String,
    /// Sandbox mode.
    #[serde(deserialize_with = "or_default")]
    pub sandbox: String,
    /// Answer to each approval request.
    #[serde(deserialize_with = "or_default")]
    pub approve: String,
    /// The model's name.
    #[serde(deserialize_with = "or_default")]
    pub model: String,
    /// The test MCP server, where there is one.
    pub mcp_server: Option<Value>,
    /// Rounds in completion order.
    #[serde(deserialize_with = "or_default")]
    pub order: Vec<Value>,
    /// The first payload a hook read.
    pub payload_in: Option<Map<String, Value>>,
    /// Standard output of each handler of the standard form.
    #[serde(deserialize_with = "or_default")]
    pub hook_stdout: Vec<String>,
    /// Standard error of each.
    #[serde(deserialize_with = "or_default")]
    pub hook_stderr: Vec<String>,
    /// What to compare.
    pub expect: Expect,
    #[serde(flatten)]
    pub(crate) extra: BTreeMap<String, Value>,
}

impl Default for CodexCase {
    fn default() -> Self {
        Self {
            hooks_json: Value::Null,
            files: BTreeMap::new(),
            toml_extra: String::new(),
            top_extra: String::new(),
            thread_config: Map::new(),
            cli_args: Vec::new(),
            git_init: false,
            start_dir: None,
            env: BTreeMap::new(),
            script: Vec::new(),
            prompts: Vec::new(),
            steps: Vec::new(),
            approval: "never".to_owned(),
            sandbox: "danger-full-access".to_owned(),
            approve: "accept".to_owned(),
            model: "gpt-5.5".to_owned(),
            mcp_server: None,
            order: Vec::new(),
            payload_in: None,
            hook_stdout: Vec::new(),
            hook_stderr: Vec::new(),
            expect: Expect::default(),
            extra: BTreeMap::new(),
        }
    }
}

/// Fields that describe a row to people and change nothing in how it is played.
const FOR_READING: &[&str] = &[
    "id",
    "event",
    "level",
    "why",
    "note",
    "scenario",
    "hooks_config",
    "hook_exit",
    "n_payloads",
    "runs_a_turn",
    "measured_together",
    "wait_idle_s",
];

impl CodexCase {
    /// Keys the runner does not know.
    pub(super) fn unknown(&self) -> Vec<String> {
        let own = self
            .extra
            .keys()
            .filter(|key| !FOR_READING.contains(&key.as_str()))
            .cloned();
        let turns = self.script.iter().flat_map(turn_keys);
        own.chain(self.expect.unknown()).chain(turns).collect()
    }

    /// Whether hook trust was switched off for the thread.
    #[must_use]
    pub fn bypasses_trust(&self) -> bool {
        self.thread_config.get("bypass_hook_trust") == Some(&Value::Bool(true))
    }

    /// What the hooks are told to put out.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        let reply = self
            .mcp_server
            .as_ref()
            .and_then(|server| server.get("HOOK_TOOL_REPLY"));
        let reply = reply.and_then(Value::as_str).map(str::to_owned);
        let streams = self.hook_stdout.iter().chain(&self.hook_stderr).cloned();
        streams.chain(reply).collect()
    }

    /// Whether the row is about what is loaded, and not about an event.
    #[must_use]
    pub fn is_discovery(&self) -> bool {
        self.expect.discovers.is_some()
    }
}

/// Keys of one scripted turn that the runner does not know.
fn turn_keys(turn: &Value) -> Vec<String> {
    const TURN: &[&str] = &[
        "items",
        "delay",
        "match",
        "not_match",
        "usage",
        "status",
        "cut",
    ];
    const ITEM: &[&str] = &[
        "text",
        "phase",
        "call",
        "args",
        "id",
        "namespace",
        "custom",
        "input",
        "sleep",
    ];
    let (mut unknown, items) = match (turn, turn.get("items")) {
        (Value::Array(items), _) => (Vec::new(), items.clone()),
        (_, Some(Value::Array(items))) => (unknown_keys("script", turn, TURN), items.clone()),
        _ => (Vec::new(), vec![turn.clone()]),
    };
    unknown.extend(
        items
            .iter()
            .flat_map(|item| unknown_keys("script", item, ITEM)),
    );
    unknown
}
