//! Builds the payload of an event that did not happen.
//!
//! Keys and their order come from the event's row; the values are plausible and harmless. Keys that
//! may be absent are left out, but for the few that real payloads of the event nearly always have.

use std::path::Path;

use seamline_hooks::{DialectId, EventRow};
use serde_json::{Map, Value, json};

const NIL: &str = "00000000-0000-4000-8000-000000000000";

/// What a payload is about.
pub(crate) struct Subject<'a> {
    /// Whose payload.
    pub dialect: DialectId,
    /// The project folder, which is also the current one.
    pub project: &'a Path,
    /// The tool's name and input.
    pub tool: Option<(&'a str, Value)>,
}

/// Whether the event's payload names a tool.
pub(crate) fn has_tool(row: &EventRow) -> bool {
    row.keys.contains(&"tool_name")
}

/// The payload of one event.
pub(crate) fn payload(row: &EventRow, about: &Subject<'_>) -> Map<String, Value> {
    let mut payload = Map::new();
    for key in row.keys {
        let (name, optional) = match key.strip_suffix('?') {
            Some(name) => (name, true),
            None => (*key, false),
        };
        if optional && !matches!(name, "effort" | "prompt_id" | "command_source") {
            continue;
        }
        payload.insert(name.to_owned(), value(name, row, about));
    }
    payload
}

/// What a tool is called with when nobody says: `(name, input)`.
fn tool(about: &Subject<'_>) -> (String, Value) {
    match &about.tool {
        Some((name, input)) => ((*name).to_owned(), input.clone()),
        None => ("Bash".to_owned(), input_of("Bash", about.project)),
    }
}

/// A harmless input for a known tool, `{}` for any other.
pub(crate) fn input_of(tool: &str, project: &Path) -> Value {
    let file = project.join("example.txt").display().to_string();
    match tool {
        "Bash" => json!({ "command": "echo hello" }),
        "Read" => json!({ "file_path": file }),
        "Write" => json!({ "file_path": file, "content": "hello\n" }),
        "Edit" => json!({
            "file_path": file, "old_string": "hello", "new_string": "goodbye", "replace_all": false
        }),
        "Glob" => json!({ "pattern": "**/*.txt" }),
        "Grep" => json!({ "pattern": "hello" }),
        "Agent" | "Task" => json!({ "description": "Look around", "prompt": "Look around." }),
        "apply_patch" => json!({
            "command": "*** Begin Patch\n*** Add File: example.txt\n+hello\n*** End Patch\n"
        }),
        _ => json!({}),
    }
}

fn value(key: &str, row: &EventRow, about: &Subject<'_>) -> Value {
    let claude = about.dialect == DialectId::Claude;
    if let Some(first) = row.subjects.first() {
        if matches!(row.subject, seamline_hooks::dialect::Subject::Field(field) if field == key) {
            return json!(first);
        }
    }
    match key {
        "hook_event_name" => json!(row.name),
        "cwd" | "directory" | "old_cwd" => json!(about.project),
        "new_cwd" | "worktree_path" => json!(about.project.join("sub")),
        "file_path" => json!(about.project.join("example.txt")),
        // Claude's is a file; an empty one that is always there does.
        "transcript_path" | "agent_transcript_path" if claude => json!("/dev/null"),
        "transcript_path" | "agent_transcript_path" => Value::Null,
        "model" => json!(if claude { "claude-opus-5-5" } else { "gpt-5" }),
        "effort" => json!({ "level": "medium" }),
        "tool_name" => json!(tool(about).0),
        "tool_input" => tool(about).1,
        "tool_use_id" => json!(if claude { "toolu_example" } else { "call_example" }),
        "tool_response" if claude => response_of(&tool(about).0),
        "tool_response" => json!("hello\n"),
        "tool_calls" => {
            let (name, input) = tool(about);
            json!([{
                "tool_name": name, "tool_input": input, "tool_use_id": "toolu_example",
                "tool_response": "hello"
            }])
        }
        _ if key.ends_with("_id") => json!(NIL),
        _ => plain_value(key, row),
    }
}

fn response_of(tool: &str) -> Value {
    match tool {
        "Bash" => json!({ "stdout": "hello", "stderr": "", "interrupted": false, "isImage": false }),
        name if name.starts_with("mcp__") => json!([{ "type": "text", "text": "hello" }]),
        _ => json!({ "success": true }),
    }
}

/// Values that depend on nothing but the key.
fn plain_value(key: &str, row: &EventRow) -> Value {
    match key {
        "permission_mode" => json!("default"),
        "agent_type" => json!("general-purpose"),
        "prompt" => json!("Say hello."),
        "custom_instructions" | "command_args" => json!(""),
        "compact_summary" => json!("They said hello."),
        "last_assistant_message" => json!("Done."),
        "message" => json!("Claude needs your permission"),
        "error" => match row.name {
            "PostModelRequest" => Value::Null,
            _ => json!("Exit code 1"),
        },
        "reason" => json!("Classifier unavailable"),
        "duration_ms" => json!(12),
        "attempt_number" => json!(1),
        "index" | "context_tokens" | "estimated_cache_write_usd" => json!(0),
        "stop_hook_active" | "is_interrupt" | "final" | "prompt_cache_warm" => json!(false),
        "background_tasks" | "session_crons" => json!([]),
        "memory_type" => json!("Project"),
        "load_reason" => json!("session_start"),
        "event" => json!("change"),
        "expansion_type" => json!("slash_command"),
        "command_name" | "name" => json!("example"),
        "command_source" => json!("projectSettings"),
        "invoked_by" => json!("user"),
        "task_subject" => json!("Say hello"),
        "teammate_name" | "team_name" | "mcp_server_name" => json!("example"),
        "action" => json!("accept"),
        "delta" => json!("Hello."),
        "from_model" => json!("claude-sonnet-4-5"),
        "to_model" | "requested_model" => json!("claude-opus-5-5"),
        "cache_ttl" => json!("5m"),
        "pricing" => json!("catalog"),
        "source" => json!("command"),
        "kind" => json!("sampling"),
        "status" => json!("completed"),
        "token_usage" => json!({
            "input_tokens": 10, "cached_input_tokens": 0, "cache_write_input_tokens": 0,
            "output_tokens": 5, "reasoning_output_tokens": 0, "total_tokens": 15
        }),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = (DialectId, &'static EventRow)> {
        DialectId::ALL.into_iter().flat_map(|d| d.table().events.iter().map(move |row| (d, row)))
    }

    fn about(dialect: DialectId) -> Subject<'static> {
        Subject { dialect, project: Path::new("/project"), tool: None }
    }

    #[test]
    fn keys_come_in_the_order_of_the_row() {
        for (dialect, row) in all() {
            let payload = payload(row, &about(dialect));
            let mut rest = row.keys.iter().map(|key| key.trim_end_matches('?'));
            for key in payload.keys() {
                assert!(rest.any(|k| k == key), "{dialect} {}: {key} out of order", row.name);
            }
            for key in row.keys.iter().filter(|key| !key.ends_with('?')) {
                assert!(payload.contains_key(*key), "{dialect} {}: no {key}", row.name);
            }
        }
    }

    /// `null` is what the client really sends, never a key that was forgotten here.
    #[test]
    fn every_key_has_a_value() {
        let null = [
            (DialectId::Codex, "transcript_path"),
            (DialectId::Codex, "agent_transcript_path"),
            (DialectId::Codex, "error"),
        ];
        for (dialect, row) in all() {
            for (key, value) in payload(row, &about(dialect)) {
                let known = null.contains(&(dialect, key.as_str()));
                assert!(known || !value.is_null(), "{dialect} {}: {key} is null", row.name);
            }
        }
    }

    #[test]
    fn the_tool_of_the_command_line_is_in_the_payload() {
        let row = DialectId::Claude.table().event("PreToolUse").unwrap();
        let tool = Some(("Write", json!({ "file_path": "/x" })));
        let payload = payload(row, &Subject { tool, ..about(DialectId::Claude) });
        assert_eq!(payload["tool_name"], "Write");
        assert_eq!(payload["tool_input"], json!({ "file_path": "/x" }));
    }
}
