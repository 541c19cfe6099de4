//! What became of the tool calls.

use seamline_hooks::DialectId;
use serde_json::{Value, json};

use super::Mismatch;
use crate::case::{Expect, ExpectedTool};
use crate::moments::CallFate;
use crate::observed::Observed;

/// Calls are found by their id, or by name and place. A call that was not seen is not compared:
/// no hook listened to it.
pub(super) fn compare(dialect: DialectId, expect: &Expect, seen: &Observed) -> Vec<Mismatch> {
    let mut calls: Vec<&CallFate> = seen.calls.iter().flatten().collect();
    let mut found = Vec::new();
    for want in expect.tools() {
        let place = calls.iter().position(|call| is_of(want, call));
        let Some(call) = place.map(|place| calls.remove(place)) else {
            continue;
        };
        if !fits(dialect, want, call) {
            found.push(Mismatch::new("tool", wanted(want), shown(call)));
        }
    }
    found
}

fn is_of(want: &ExpectedTool, call: &CallFate) -> bool {
    match (&want.id, &call.id) {
        (Some(want), Some(got)) => want == got,
        _ => {
            let renamed = want.name.as_deref() == Some("Task") && call.name == "Agent";
            renamed || want.name.as_ref().is_none_or(|name| *name == call.name)
        }
    }
}

fn fits(dialect: DialectId, want: &ExpectedTool, call: &CallFate) -> bool {
    let agree = |want: Option<bool>, got: Option<bool>| match (want, got) {
        (Some(want), Some(got)) => want == got,
        _ => true,
    };
    let input = match (&want.input, &call.input) {
        (Some(want_input), Some(got)) if want.ran == Some(true) => {
            same_input(dialect, want, want_input, got)
        }
        _ => true,
    };
    let pre = match (&want.pre, &call.pre) {
        (Some(want), Some(got)) => {
            let (mut want, mut got) = (want.clone(), got.clone());
            want.sort();
            got.sort();
            want == got
        }
        _ => true,
    };
    agree(want.ran, call.ran) && agree(want.denied, call.denied) && input && pre
}

/// The same value; of a part only its keys. Codex reads nothing but the command of a shell call
/// or a patch.
fn same_input(dialect: DialectId, want: &ExpectedTool, expected: &Value, got: &Value) -> bool {
    let only_command =
        dialect == DialectId::Codex && matches!(want.name.as_deref(), Some("Bash" | "apply_patch"));
    match (expected, got) {
        (Value::Object(expected), Value::Object(got)) if want.input_is_part || only_command => {
            expected
                .iter()
                .all(|(key, value)| got.get(key) == Some(value))
        }
        _ => expected == got,
    }
}

fn wanted(tool: &ExpectedTool) -> Value {
    json!({"id": tool.id, "name": tool.name, "ran": tool.ran, "denied": tool.denied,
        "input": tool.input, "pre": tool.pre})
}

fn shown(call: &CallFate) -> Value {
    json!({"id": call.id, "name": call.name, "ran": call.ran, "denied": call.denied,
        "input": call.input, "pre": call.pre})
}
