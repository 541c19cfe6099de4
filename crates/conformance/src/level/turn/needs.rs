//! What a case needs that the harness does not have yet.

use seamline_harness::permission::Mode;
use seamline_hooks::DialectId;
use serde_json::Value;

use crate::case::{Case, ClaudeCase, CodexCase};

/// Tools of Claude Code that the harness has, and the test server's that the runner has.
const TOOLS: &[&str] = &[
    "Bash",
    "Read",
    "Write",
    "Edit",
    "Glob",
    "Grep",
    "mcp server",
    "mcp__tiny__echo",
    "mcp__tiny__fail",
    "mcp__tiny__hook",
    "mcp__tiny__slow",
];

/// Flags of Claude Code that change nothing here, or that the runner plays.
const FLAGS: &[&str] = &["--model", "--mcp-config"];

/// Names the first thing a case needs in vain.
pub(super) fn missing(case: &Case) -> Option<String> {
    match case {
        Case::Claude(case) => claude(case),
        Case::Codex(case) => codex(case),
    }
}

fn claude(case: &ClaudeCase) -> Option<String> {
    let seen = case.payload_in.iter();
    let seen = seen.filter_map(|payload| payload.stdin.get("hook_event_name")?.as_str());
    let tested = case.event.iter().map(String::as_str);
    driver(case)
        .or_else(|| first_moment(DialectId::Claude, seen.chain(tested)))
        .or_else(|| feature(case))
}

/// What only another way of driving the client could do.
fn driver(case: &ClaudeCase) -> Option<String> {
    let slash = case.prompts.iter().any(|prompt| prompt.starts_with('/'));
    let way = match case.mode.as_str() {
        _ if !case.invocations.is_empty() => "several starts",
        _ if case.stdin.is_some() => "messages on standard input",
        "print" | "print-text" if slash => "slash commands",
        "print" | "print-text" if case.prompts.len() == 1 => return None,
        "print" | "print-text" => "several prompts",
        mode => mode,
    };
    Some(format!("driver: {way}"))
}

/// A tool, flag, setting or mode.
fn feature(case: &ClaudeCase) -> Option<String> {
    let need = case
        .needs
        .iter()
        .find(|need| !TOOLS.contains(&need.as_str()));
    let mut flags = case.cli_args.chunks(2).filter_map(|pair| pair.first());
    let flag = flags.find(|flag| !FLAGS.contains(&flag.as_str()));
    let mode = case.permission_mode.as_deref().unwrap_or("default");
    if let Some(need) = need {
        return Some(format!("tool {need}"));
    }
    if let Some(flag) = flag {
        return Some(format!("flag {flag}"));
    }
    let mode = mode.parse::<Mode>().err().map(|_| format!("mode {mode}"));
    mode.or_else(|| (!case.rules.is_empty()).then(|| "rules of the model".to_owned()))
        .or_else(|| {
            case.managed_settings
                .as_ref()
                .map(|_| "managed settings".to_owned())
        })
}

fn codex(case: &CodexCase) -> Option<String> {
    if !case.steps.is_empty() || case.is_discovery() {
        return Some("driver: steps".to_owned());
    }
    let events = case
        .hooks_json
        .as_object()
        .into_iter()
        .flat_map(|hooks| hooks.keys());
    if let Some(event) = first_moment(DialectId::Codex, events.map(String::as_str)) {
        return Some(event);
    }
    let mut items = case
        .script
        .iter()
        .flat_map(|turn| match (turn, turn.get("items")) {
            (Value::Array(items), _) | (_, Some(Value::Array(items))) => items.clone(),
            _ => vec![turn.clone()],
        });
    items
        .find_map(|item| foreign_tool(&item))
        .map(|name| format!("tool {name}"))
}

/// The tool of an item, when it is one of the client's own.
fn foreign_tool(item: &Value) -> Option<String> {
    let word = |key: &str| item.get(key).and_then(Value::as_str);
    if let Some(name) = word("custom") {
        return (name != "apply_patch").then(|| name.to_owned());
    }
    let name = word("call")?;
    let ours = match word("namespace") {
        Some(space) => space.starts_with("mcp__"),
        None => matches!(name, "exec_command" | "nope_tool"),
    };
    let yields = item.pointer("/args/yield_time_ms").is_some();
    let command = item
        .pointer("/args/cmd")
        .and_then(Value::as_str)
        .unwrap_or("");
    match name {
        _ if command.starts_with("apply_patch") => Some("apply_patch in a shell".to_owned()),
        _ if yields => Some("exec_command that yields".to_owned()),
        _ => (!ours).then(|| name.to_owned()),
    }
}

/// The first event the dialect has and the bridges do not fire.
fn first_moment<'a>(
    dialect: DialectId,
    mut events: impl Iterator<Item = &'a str>,
) -> Option<String> {
    let known = |event: &&str| dialect.table().event(event).is_some();
    let event = events.find(|event| known(event) && !seamline_bridges::fires(event))?;
    Some(format!("moment {event}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn codex_case(value: Value) -> Option<String> {
        codex(&serde_json::from_value(value).unwrap())
    }

    #[test]
    fn a_case_of_shell_calls_needs_nothing_more() {
        let script = json!([[{"call": "exec_command", "args": {"cmd": "x"}}], {"text": "bye"}]);
        let hooks = json!({"PreToolUse": [], "NoSuchEvent": []});
        assert_eq!(
            codex_case(json!({"script": script, "hooks_json": hooks})),
            None
        );
    }

    #[test]
    fn the_missing_thing_is_named() {
        let call = |call: Value| codex_case(json!({"script": [call]}));
        assert_eq!(
            call(json!({"call": "get_goal"})).as_deref(),
            Some("tool get_goal")
        );
        assert_eq!(
            call(json!({"custom": "exec", "input": ""})).as_deref(),
            Some("tool exec")
        );
        let hooks = json!({"hooks_json": {"PreCompact": []}});
        assert_eq!(codex_case(hooks).as_deref(), Some("moment PreCompact"));
        let case = |value: Value| claude(&serde_json::from_value(value).unwrap());
        let base = json!({"mode": "print", "prompts": ["@@main"]});
        let with = |key: &str, value: Value| {
            let mut base = base.clone();
            base[key] = value;
            case(base)
        };
        assert_eq!(case(base.clone()), None);
        assert_eq!(with("mode", json!("tui")).as_deref(), Some("driver: tui"));
        assert_eq!(with("needs", json!(["Task"])).as_deref(), Some("tool Task"));
        assert_eq!(
            with("cli_args", json!(["--bare"])).as_deref(),
            Some("flag --bare")
        );
        assert_eq!(
            with("permission_mode", json!("auto")).as_deref(),
            Some("mode auto")
        );
        assert_eq!(
            with("event", json!("Setup")).as_deref(),
            Some("moment Setup")
        );
    }
}
