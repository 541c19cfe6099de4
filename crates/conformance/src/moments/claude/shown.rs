//! The moments that a script shows.

use serde_json::{Map, Value, json};

use crate::case::ClaudeCase;

/// A moment the script shows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shown {
    pub(super) event: &'static str,
    /// Values beyond those all payloads have.
    pub(super) values: Map<String, Value>,
    /// Whether it may be played although no hook was seen at it.
    pub(super) may_be_unseen: bool,
}

/// The moments that the prompts and the script `main` show.
pub(super) fn shown(case: &ClaudeCase) -> Vec<Shown> {
    let expect = &case.expect;
    let started = expect.model_requests != Some(0) || expect.prompt.is_some();
    if !case.is_print() || case.stdin.is_some() || !started {
        return Vec::new();
    }
    let mut all = vec![moment("SessionStart", json!({"source": "startup"}))];
    for prompt in &case.prompts {
        all.push(moment("UserPromptSubmit", json!({"prompt": prompt})));
        // Slash commands are expanded, or answered by the client.
        if !prompt.starts_with('/') {
            all.extend(turns(case));
        }
    }
    all.push(moment("SessionEnd", json!({"reason": "other"})));
    all
}

/// The moments of the turns that the model was asked for.
fn turns(case: &ClaudeCase) -> Vec<Shown> {
    let script = case.scripts.get("main").cloned().unwrap_or_default();
    let asked = case.expect.model_requests.unwrap_or(u64::MAX);
    let asked = usize::try_from(asked)
        .unwrap_or(usize::MAX)
        .min(script.len() + 1);
    let mut all = Vec::new();
    for n in 0..asked {
        let turn = script.get(n).cloned().unwrap_or_else(|| json!("DONE"));
        if !ends_well(&turn) {
            return all;
        }
        let calls = calls(&turn);
        if calls.is_empty() {
            all.push(moment(
                "Stop",
                json!({"stop_hook_active": false,
                "last_assistant_message": turn.as_str().unwrap_or("")}),
            ));
            return all;
        }
        for call in calls {
            all.extend(of_call(&call));
        }
        all.push(moment("PostToolBatch", json!({"tool_calls": []})));
    }
    all
}

/// Whether a turn of the model is an answer, cut short by nothing.
fn ends_well(turn: &Value) -> bool {
    let reason = turn.get("stop_reason").and_then(Value::as_str);
    turn.get("error").is_none() && reason.is_none_or(|r| r == "end_turn" || r == "tool_use")
}

pub(super) fn calls(turn: &Value) -> Vec<Value> {
    let blocks = match (turn, turn.get("blocks")) {
        (Value::Array(blocks), _) | (_, Some(Value::Array(blocks))) => blocks.clone(),
        _ => vec![turn.clone()],
    };
    blocks
        .into_iter()
        .filter(|block| block.get("tool").is_some())
        .collect()
}

fn of_call(call: &Value) -> [Shown; 2] {
    let name = match call.get("tool").and_then(Value::as_str) {
        Some("Task") => "Agent",
        Some(name) => name,
        None => "",
    };
    let input = call.get("input").cloned().unwrap_or_else(|| json!({}));
    let id = call
        .get("id")
        .cloned()
        .unwrap_or_else(|| json!("toolu_unnamed"));
    let usable = is_usable(name, &input);
    let values = json!({"tool_name": name, "tool_input": input, "tool_use_id": id});
    let mut pre = moment("PreToolUse", values.clone());
    let mut post = moment("PostToolUse", values);
    let response = json!({"stdout": "", "stderr": "", "interrupted": false, "isImage": false});
    post.values.insert("tool_response".to_owned(), response);
    pre.may_be_unseen = usable;
    // What other tools answer is not known, nor whether they fail.
    post.may_be_unseen = usable && name == "Bash";
    [pre, post]
}

/// Whether every client has the tool, and the input fits it: hooks hear of no other calls.
fn is_usable(name: &str, input: &Value) -> bool {
    let text = |key: &str| input.get(key).is_some_and(Value::is_string);
    match name {
        "Bash" => text("command"),
        "Read" => text("file_path"),
        "Write" => text("file_path") && text("content"),
        "Edit" => text("file_path") && text("old_string") && text("new_string"),
        "Agent" => text("prompt") && text("description"),
        _ => name.starts_with("mcp__tiny__") && text("text"),
    }
}

fn moment(event: &'static str, values: Value) -> Shown {
    let values = match values {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    Shown {
        event,
        values,
        may_be_unseen: true,
    }
}
