//! Payloads for events that nothing has fired: `hooks fire` fires every event of a dialect with
//! sensible values, each of which can be set by hand.

use serde_json::{Map, Value, json};

use crate::dialect::{DialectId, EventRow};

/// What a sample is made for.
#[derive(Debug, Clone, Default)]
pub struct Sample {
    /// The current folder.
    pub cwd: String,
    /// The tool, for tool events; `Bash` when empty.
    pub tool: Option<String>,
    /// Its input; an `echo` for Bash, otherwise empty, when absent.
    pub input: Option<Value>,
    /// The model; `sample-model` when absent.
    pub model: Option<String>,
}

/// A payload with every key that is always there, in order. Optional keys are left out, save those
/// of `set`, which also replaces values; a key that the event does not have comes last.
#[must_use]
pub fn sample(
    dialect: DialectId,
    row: &EventRow,
    sample: &Sample,
    set: &[(String, Value)],
) -> Map<String, Value> {
    let mut object = Map::new();
    for key in row.keys {
        let name = key.trim_end_matches('?');
        let given = set
            .iter()
            .rev()
            .find(|(set, _)| set == name)
            .map(|(_, value)| value.clone());
        let given = given.or_else(|| (*key == name).then(|| value(dialect, row, sample, name)));
        if let Some(value) = given {
            object.insert(name.to_owned(), value);
        }
    }
    for (key, value) in set {
        object.insert(key.clone(), value.clone());
    }
    object
}

fn value(dialect: DialectId, row: &EventRow, sample: &Sample, key: &str) -> Value {
    let tool = sample.tool.as_deref().unwrap_or("Bash");
    let first_subject = || row.subjects.first().copied().unwrap_or("general-purpose");
    match key {
        "hook_event_name" => json!(row.name),
        "cwd" | "old_cwd" | "new_cwd" | "directory" => json!(sample.cwd),
        "session_id" | "thread_id" => json!("00000000-0000-7000-8000-000000000000"),
        "turn_id" | "request_id" | "message_id" => json!("00000000-0000-4000-8000-000000000000"),
        "transcript_path" | "agent_transcript_path" if dialect == DialectId::Codex => Value::Null,
        "transcript_path" | "agent_transcript_path" => json!(""),
        "model" if sample.model.is_some() => json!(sample.model),
        "model" | "from_model" | "to_model" | "requested_model" => json!("sample-model"),
        "permission_mode" => json!("default"),
        "tool_name" => json!(tool),
        "tool_input" => sample.input.clone().unwrap_or_else(|| default_input(tool)),
        "tool_response" => tool_response(dialect, tool),
        "tool_use_id" => json!("call_sample"),
        "tool_calls" => json!([{
            "tool_name": tool,
            "tool_input": sample.input.clone().unwrap_or_else(|| default_input(tool)),
            "tool_use_id": "call_sample",
            "tool_response": "",
        }]),
        "stop_hook_active" | "is_interrupt" | "prompt_cache_warm" => json!(false),
        "final" => json!(true),
        "background_tasks" | "session_crons" => json!([]),
        "last_assistant_message" => json!("Done."),
        "prompt" => json!("Hello"),
        "attempt_number" => json!(1),
        "index" | "context_tokens" | "duration_ms" | "estimated_cache_write_usd" => json!(0),
        "error" if row.subjects.is_empty() && dialect == DialectId::Codex => Value::Null,
        "error" if row.subjects.is_empty() => json!("Exit code 1"),
        "source" | "trigger" | "reason" | "notification_type" | "load_reason" | "error" => {
            json!(first_subject())
        }
        "agent_type" => json!("general-purpose"),
        _ => other_value(key),
    }
}

fn other_value(key: &str) -> Value {
    match key {
        "agent_id" => json!("agent_sample"),
        "kind" => json!("sampling"),
        "status" => json!("completed"),
        "token_usage" | "response_id" | "custom_instructions" => Value::Null,
        "event" => json!("change"),
        "file_path" => json!("sample.txt"),
        "memory_type" => json!("Project"),
        "mcp_server_name" => json!("sample"),
        "action" => json!("accept"),
        "cache_ttl" => json!("5m"),
        "pricing" => json!("catalog"),
        "expansion_type" => json!("slash_command"),
        "invoked_by" => json!("user"),
        "team_name" | "teammate_name" => json!("sample"),
        _ => json!(format!("sample {}", key.replace('_', " "))),
    }
}

fn default_input(tool: &str) -> Value {
    match tool {
        "Bash" => json!({"command": "echo hello"}),
        "Read" => json!({"file_path": "sample.txt"}),
        "Write" => json!({"file_path": "sample.txt", "content": "hello\n"}),
        "Edit" => json!({
            "file_path": "sample.txt", "old_string": "a", "new_string": "b", "replace_all": false,
        }),
        "apply_patch" => json!({
            "command": "*** Begin Patch\n*** Add File: sample.txt\n+hello\n*** End Patch\n",
        }),
        _ => json!({}),
    }
}

fn tool_response(dialect: DialectId, tool: &str) -> Value {
    match (dialect, tool) {
        (DialectId::Codex, _) => json!("hello\n"),
        (DialectId::Claude, "Bash") => json!({
            "stdout": "hello", "stderr": "", "interrupted": false, "isImage": false,
            "noOutputExpected": false,
        }),
        (DialectId::Claude, _) => json!({}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_of_both_dialects_has_a_sample_in_the_order_of_its_row() {
        for dialect in DialectId::ALL {
            for row in dialect.table().events {
                let object = sample(dialect, row, &Sample::default(), &[]);
                let keys: Vec<&str> = object.keys().map(String::as_str).collect();
                let required: Vec<&str> = row
                    .keys
                    .iter()
                    .copied()
                    .filter(|key| !key.ends_with('?'))
                    .collect();
                assert_eq!(keys, required, "{dialect} {}", row.name);
            }
        }
    }

    #[test]
    fn a_value_that_is_set_keeps_its_place_and_an_unknown_key_comes_last() {
        let row = DialectId::Claude.table().event("SessionStart").unwrap();
        let set = [
            ("extra".to_owned(), json!(1)),
            ("source".to_owned(), json!("resume")),
            ("prompt_id".to_owned(), json!("p")),
        ];
        let object = sample(DialectId::Claude, row, &Sample::default(), &set);
        let keys: Vec<&str> = object.keys().map(String::as_str).collect();
        let expected = [
            "session_id",
            "transcript_path",
            "cwd",
            "prompt_id",
            "hook_event_name",
            "source",
            "extra",
        ];
        assert_eq!(keys, expected);
        assert_eq!(object["source"], "resume");
    }
}
