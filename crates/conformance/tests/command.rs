//! The command line: exit codes, and what a case file that is not as it should be leads to.
#![expect(
    clippy::unwrap_used,
    reason = "a test may stop at what it does not expect"
)]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

fn conformance(args: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_conformance");
    Command::new(program).args(args).output().unwrap()
}

fn with_cases(dialect: &str, rows: &[Value], more: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cases.jsonl");
    let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
    std::fs::write(&file, lines.join("\n")).unwrap();
    let file = file.display().to_string();
    conformance(&[&[dialect, "--cases", &file], more].concat())
}

/// A Codex case with one PreToolUse hook that denies.
fn denying(denied: bool) -> Value {
    json!({
        "id": "x.deny", "event": "PreToolUse", "level": "engine",
        "hooks_json": {"PreToolUse": [{"hooks": [{"type": "command",
            "command": "cat > $OUT/pl.PreToolUse.0.$$.json; cat $OUT/h/0.err >&2; exit 2"}]}]},
        "hook_stdout": [""], "hook_stderr": ["no"], "hook_exit": [2],
        "script": [[{"call": "exec_command", "args": {"cmd": "true"}, "id": "c"}], {"text": "bye"}],
        "prompts": ["hello"],
        "expect": {"fires": ["PreToolUse/0/0"], "sees": ["no"],
            "runs": [{"hook": "PreToolUse/0/0", "event": "PreToolUse", "status": "blocked",
                "entries": [["feedback", "no"]]}],
            "tool": {"id": "c", "name": "Bash", "ran": !denied, "denied": denied}},
    })
}

/// A Claude case with two hooks, of which the first configured finishes last.
fn ordered(reason: &str) -> Value {
    let deny = |reason: &str| {
        json!({"stdout": {"hookSpecificOutput": {"hookEventName": "PreToolUse",
            "permissionDecision": "deny", "permissionDecisionReason": reason}}})
    };
    let payload = json!({"session_id": "$SESSION_ID", "cwd": "$CWD", "transcript_path": "",
        "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": "true"}, "tool_use_id": "t"});
    json!({
        "id": "x-order", "event": "PreToolUse", "level": "turn", "mode": "print",
        "hooks_config": {"PreToolUse": [{"hooks": [
            {"type": "command", "command": "$REC A"}, {"type": "command", "command": "$REC B"}]}]},
        "behave": {"A": deny("RA"), "B": deny("RB")},
        "order": [{"event": "PreToolUse", "completed": ["B", "A"]}],
        "scripts": {"main": [{"tool": "Bash", "input": {"command": "true"}, "id": "t"}, "bye"]},
        "prompts": ["@@main go"], "permission_mode": "default",
        "payload_in": [{"hook": "A", "stdin": payload}, {"hook": "B", "stdin": payload}],
        "expect": {"fires": ["A", "B"], "sees": [reason],
            "tool": {"id": "t", "ran": false, "denied": true}},
    })
}

#[test]
fn a_case_that_agrees_passes_and_one_that_does_not_fails() {
    let output = with_cases("codex", &[denying(true)], &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(
        text.ends_with("codex: 1 of 1 passed (0 documented)\n"),
        "{text}"
    );
    let output = with_cases("codex", &[denying(false)], &["--json"]);
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        report.pointer("/cases/0/problems/0/key"),
        Some(&json!("tool"))
    );
}

#[test]
fn hooks_finish_in_the_order_of_the_case() {
    assert_eq!(
        with_cases("claude", &[ordered("RA")], &[]).status.code(),
        Some(0)
    );
    assert_eq!(
        with_cases("claude", &[ordered("RB")], &[]).status.code(),
        Some(1)
    );
}

#[test]
fn an_unknown_key_fails_its_case_alone() {
    let mut odd = denying(true);
    odd.as_object_mut()
        .unwrap()
        .insert("soul".to_owned(), json!(1));
    let output = with_cases("codex", &[denying(true), odd], &["--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report.get("passed"), Some(&json!(1)));
    let got = report
        .pointer("/cases/1/problems/0/got")
        .unwrap()
        .to_string();
    assert!(got.contains("soul"), "{got}");
}

#[test]
fn only_counts_the_cases_that_begin_so() {
    let mut other = denying(false);
    other
        .as_object_mut()
        .unwrap()
        .insert("id".to_owned(), json!("y"));
    let output = with_cases("codex", &[denying(true), other], &["--only", "x."]);
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_file_that_cannot_be_read_is_named_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("broken.jsonl");
    std::fs::write(&file, "\n{\"id\":\"x\"\n").unwrap();
    for (path, hint) in [
        (file.as_path(), "broken.jsonl:2:"),
        (Path::new("/nowhere"), "/nowhere"),
    ] {
        let output = conformance(&["codex", "--cases", &path.display().to_string()]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(65), "{error}");
        assert!(error.contains(hint), "{error}");
    }
}

#[test]
fn a_wrong_command_line_is_usage() {
    for args in [&["gemini"][..], &["codex", "--level", "dream"], &[]] {
        assert_eq!(conformance(args).status.code(), Some(64), "{args:?}");
    }
    assert_eq!(conformance(&["--help"]).status.code(), Some(0));
}
