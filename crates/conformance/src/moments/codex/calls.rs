//! The tool calls of a scripted Codex model, as hooks see them.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value, json};

use crate::case::CodexCase;
use crate::stage::Stage;

/// When PostToolUse follows a call that ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    /// At once.
    Now,
    /// When a later poll sees the process end.
    LastPoll,
    /// Never: the tool fails, or reports nothing.
    Never,
    /// Never: the tool itself refuses to run.
    Refused,
}

/// What a call is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// Unknown tool or arguments that do not fit: hooks hear nothing of it.
    Invalid,
    /// A poll of a running process.
    Poll,
    /// A tool that hooks hear of.
    Tool {
        /// Whether PostToolUse follows.
        after: After,
        /// Whether the client asks before it runs.
        asks: bool,
        /// What an approval hook reads beside the input.
        extra: Map<String, Value>,
    },
    /// A subagent with its task.
    Spawn(String),
}

/// A call of the script.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    /// The model's id for it.
    pub(super) id: Option<String>,
    /// Name as hooks see it.
    pub(super) name: String,
    /// Input as hooks see it.
    pub(super) input: Value,
    /// What it is.
    pub(super) kind: Kind,
}

/// The calls of one item; none for a text.
pub(super) fn call(case: &CodexCase, stage: &Stage, item: &Value) -> Option<Call> {
    let word = |key: &str| item.get(key).and_then(Value::as_str);
    let id = word("id").map(str::to_owned);
    if let Some(name) = word("custom") {
        return Some(custom(case, stage, name, word("input").unwrap_or(""), id));
    }
    let name = word("call")?;
    let args = item.get("args").cloned().unwrap_or_else(|| json!({}));
    let (name, input, kind) = match word("namespace") {
        Some(space) if space.starts_with("mcp__") => mcp(case, space, name, args),
        _ => function(case, stage, name, args),
    };
    Some(Call {
        id,
        name,
        input,
        kind,
    })
}

fn tool(after: After, asks: bool) -> Kind {
    Kind::Tool {
        after,
        asks,
        extra: Map::new(),
    }
}

fn may_ask(case: &CodexCase) -> bool {
    case.approval != "never"
}

/// `apply_patch`, and script tools that call others.
fn custom(case: &CodexCase, stage: &Stage, name: &str, input: &str, id: Option<String>) -> Call {
    if name != "apply_patch" {
        return nested(case, name, id);
    }
    let kind = if input.starts_with("*** Begin Patch") {
        let after = if patch_applies(stage, input) {
            After::Now
        } else {
            After::Never
        };
        tool(
            after,
            may_ask(case) && targets(input).any(|(_, path)| path.starts_with('/')),
        )
    } else {
        Kind::Invalid
    };
    Call {
        id,
        name: name.to_owned(),
        input: json!({"command": input}),
        kind,
    }
}

/// The verbs and paths of a patch.
fn targets(patch: &str) -> impl Iterator<Item = (&str, &str)> {
    patch.lines().filter_map(|line| {
        let (verb, path) = line.strip_prefix("*** ")?.split_once(" File: ")?;
        Some((verb, path.trim()))
    })
}

fn patch_applies(stage: &Stage, patch: &str) -> bool {
    targets(patch).all(|(verb, path)| verb == "Add" || stage.has_project_file(path.as_ref()))
}

/// A script tool fires nothing itself; the call inside it is known from what its hook read.
fn nested(case: &CodexCase, name: &str, id: Option<String>) -> Call {
    let inner = case.payload_in.iter().find_map(|payload| {
        Some((
            payload.get("tool_name")?.as_str()?,
            payload.get("tool_input")?,
        ))
    });
    match inner {
        Some((name, input)) => Call {
            id: None,
            name: name.to_owned(),
            input: input.clone(),
            kind: tool(After::Now, false),
        },
        None => Call {
            id,
            name: name.to_owned(),
            input: Value::Null,
            kind: Kind::Invalid,
        },
    }
}

fn mcp(case: &CodexCase, space: &str, name: &str, args: Value) -> (String, Value, Kind) {
    let servers = servers(&case.toml_extra);
    let known = servers.is_empty() || servers.iter().any(|s| space == format!("mcp__{s}"));
    let asks = may_ask(case)
        && case
            .toml_extra
            .contains("default_tools_approval_mode=\"prompt\"");
    let kind = match name {
        _ if !known || !args.is_object() => Kind::Invalid,
        "boom" => tool(After::Never, asks),
        "create_entities" | "structured" | "hook_tool" => tool(After::Now, asks),
        _ => Kind::Invalid,
    };
    (format!("{space}__{name}"), args, kind)
}

/// Names of the configured MCP servers as tool names carry them.
fn servers(toml: &str) -> Vec<String> {
    static TABLE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"(?m)^\[mcp_servers\."?([^\]."]+)"?\]"#).ok());
    let Some(pattern) = TABLE.as_ref() else {
        return Vec::new();
    };
    let names = pattern.captures_iter(toml).filter_map(|found| found.get(1));
    let clean = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    names
        .map(|name| name.as_str().chars().map(clean).collect())
        .collect()
}

fn function(case: &CodexCase, stage: &Stage, name: &str, args: Value) -> (String, Value, Kind) {
    let word = |key: &str| args.get(key).and_then(Value::as_str);
    let kind = match name {
        "exec_command" => return shell(case, &args),
        "write_stdin" => Kind::Poll,
        "spawn_agent" => word("message").map_or(Kind::Invalid, |m| Kind::Spawn(m.to_owned())),
        "get_goal" => tool(After::Now, false),
        "request_user_input" => tool(After::Refused, false),
        "view_image" => match word("path") {
            Some(path) if stage.has_project_file(path.as_ref()) => tool(After::Now, false),
            Some(_) => tool(After::Never, false),
            None => Kind::Invalid,
        },
        _ => Kind::Invalid,
    };
    (name.to_owned(), args, kind)
}

fn shell(case: &CodexCase, args: &Value) -> (String, Value, Kind) {
    let word = |key: &str| args.get(key).and_then(Value::as_str);
    let name = "Bash".to_owned();
    let Some(command) = word("cmd") else {
        return (name, args.clone(), Kind::Invalid);
    };
    let after = match args.get("yield_time_ms") {
        Some(_) => After::LastPoll,
        // A patch inside a shell text is applied by the client, which then reports nothing.
        None if command.starts_with("apply_patch") => After::Never,
        None => After::Now,
    };
    let asks = may_ask(case) && word("sandbox_permissions") == Some("require_escalated");
    let mut extra = Map::new();
    if let Some(why) = word("justification") {
        extra.insert("description".to_owned(), why.into());
    }
    (
        name,
        json!({"command": command}),
        Kind::Tool { after, asks, extra },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_names_are_cleaned_as_in_tool_names() {
        let toml =
            "[mcp_servers.my-srv]\nx=1\n[mcp_servers.my-srv.env]\nA=\"b\"\n[mcp_servers.mem]\n";
        assert_eq!(servers(toml), ["my_srv", "mem"]);
        let case = CodexCase {
            toml_extra: toml.to_owned(),
            ..CodexCase::default()
        };
        assert_ne!(
            mcp(&case, "mcp__my_srv", "boom", json!({})).2,
            Kind::Invalid
        );
        assert_eq!(
            mcp(&case, "mcp__my-srv", "boom", json!({})).2,
            Kind::Invalid
        );
        assert_eq!(mcp(&case, "mcp__mem", "nope", json!({})).2, Kind::Invalid);
    }

    #[test]
    fn a_shell_call_shows_only_its_command() {
        let case = CodexCase {
            approval: "on-request".to_owned(),
            ..CodexCase::default()
        };
        let args = json!({"cmd": "touch x", "workdir": "/", "justification": "why",
            "sandbox_permissions": "require_escalated"});
        let (name, input, kind) = shell(&case, &args);
        assert_eq!(
            (name.as_str(), input),
            ("Bash", json!({"command": "touch x"}))
        );
        let Kind::Tool { asks, extra, .. } = kind else {
            panic!("a tool")
        };
        assert!(asks);
        assert_eq!(extra["description"], "why");
        assert_eq!(shell(&case, &json!({"command": "ls"})).2, Kind::Invalid);
    }

    #[test]
    fn patches_name_their_files() {
        let patch = "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b/c\n*** End Patch\n";
        assert_eq!(
            targets(patch).collect::<Vec<_>>(),
            [("Add", "a"), ("Update", "b/c")]
        );
    }
}
