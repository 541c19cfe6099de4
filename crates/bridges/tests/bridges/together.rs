//! Both dialects in one project.

use seamline_harness::model::scripted::Play;
use seamline_hooks::DialectId::{Claude, Codex};
use serde_json::json;

use crate::bench::{Bench, answers, prints, refuses, soon};

fn rewrites_to(command: &str) -> String {
    let input = json!({ "command": command });
    answers(
        "PreToolUse",
        json!({"permissionDecision": "allow", "updatedInput": input}),
    )
}

#[tokio::test]
async fn any_denial_wins() {
    for (denies, allows) in [(Claude, Codex), (Codex, Claude)] {
        let allow = match allows {
            Claude => answers("PreToolUse", json!({"permissionDecision": "allow"})),
            Codex => "true".to_owned(),
        };
        let bench = Bench::shell("touch ran")
            .on(denies, "PreToolUse", refuses("no"))
            .on(allows, "PreToolUse", allow);
        let (_, running) = bench.go().await;
        assert_eq!(
            (running.shown().as_str(), running.exists("ran")),
            ("Error: no", false)
        );
        let by = running.calls()[0].denied.clone().unwrap().by.to_string();
        assert!(by.starts_with(&format!("hooks-{denies}")), "{by}");
        assert_eq!(
            running.fired.fates("PreToolUse"),
            ["claude ran", "codex ran"]
        );
        running.end().await;
    }
}

#[tokio::test]
async fn of_two_denials_claudes_is_heard() {
    let bench = Bench::shell("touch ran")
        .on(Claude, "PreToolUse", refuses("claude says no"))
        .on(Codex, "PreToolUse", refuses("codex says no"));
    let (_, running) = bench.go().await;
    assert_eq!(running.shown(), "Error: claude says no");
    running.end().await;
}

#[tokio::test]
async fn codex_sees_claudes_rewrite_and_may_refuse_it() {
    let gate = "if grep -q safe; then exit 0; fi; echo 'not rewritten' >&2; exit 2";
    let bench = Bench::shell("touch ran")
        .on(Claude, "PreToolUse", rewrites_to("echo safe"))
        .on(Codex, "PreToolUse", gate);
    let (_, running) = bench.go().await;
    assert_eq!(running.shown(), "safe");
    let seen = running.fired.payloads("PreToolUse");
    let seen: Vec<_> = seen
        .iter()
        .map(|p| p.value()["tool_input"]["command"].clone())
        .collect();
    assert_eq!(seen, ["touch ran", "echo safe"]);
    running.end().await;
}

#[tokio::test]
async fn the_same_command_runs_once_under_claude() {
    let rows = [
        ("SessionStart", ""),
        ("UserPromptSubmit", ""),
        ("PreToolUse", "Bash"),
        ("PostToolUse", "Bash"),
        ("Stop", ""),
    ];
    for (event, matcher) in rows {
        let bench = Bench::shell("echo hi")
            .on_matching(Codex, event, matcher, "echo x >> runs")
            .on_matching(Claude, event, matcher, "echo x >> runs");
        let (_, running) = bench.go().await;
        assert_eq!(running.text("runs"), "x\n", "{event}");
        let mut fates = running.fired.fates(event);
        fates.sort();
        assert_eq!(fates, ["claude ran", "codex duplicate"], "{event}");
        running.end().await;
    }
}

#[tokio::test]
async fn the_same_command_runs_in_codex_where_claudes_matcher_does_not_fit() {
    let bench = Bench::shell("echo hi")
        .on_matching(Claude, "PreToolUse", "Write", "echo x >> runs")
        .on_matching(Codex, "PreToolUse", "Bash", "echo x >> runs");
    let (_, running) = bench.go().await;
    assert_eq!(running.text("runs"), "x\n");
    assert_eq!(
        running.fired.fates("PreToolUse"),
        ["claude matcher", "codex ran"]
    );
    running.end().await;
}

/// Whether Claude ran a command is asked of the call as Claude saw it, not as Claude left it.
#[tokio::test]
async fn a_gate_that_claude_passed_over_runs_in_codex_after_a_rewrite() {
    let conditional = json!({"type": "command", "command": refuses("no"), "if": "Bash(touch *)"});
    let bench = Bench::shell("echo hi")
        .on(Claude, "PreToolUse", conditional)
        .on(Claude, "PreToolUse", rewrites_to("touch ran"))
        .on(Codex, "PreToolUse", refuses("no"));
    let (_, running) = bench.go().await;
    assert_eq!(
        (running.shown().as_str(), running.exists("ran")),
        ("Error: no", false)
    );
    running.end().await;
}

#[tokio::test]
async fn a_gate_of_both_runs_in_codex_when_claudes_bridge_is_gone() {
    let running = Bench::shell("touch ran")
        .on(Claude, "PreToolUse", refuses("no"))
        .on(Codex, "PreToolUse", refuses("no"))
        .start();
    soon(running.scopes[&Claude].dispose()).await;
    running.send("go").await;
    assert_eq!(
        (running.shown().as_str(), running.exists("ran")),
        ("Error: no", false)
    );
    running.end().await;
}

#[tokio::test]
async fn contexts_of_both_reach_the_model_claudes_first() {
    let says = |text: &str| answers("PreToolUse", json!({ "additionalContext": text }));
    let bench = Bench::shell("echo hi")
        .on(Codex, "PreToolUse", says("from codex"))
        .on(Claude, "PreToolUse", says("from claude"));
    let (_, running) = bench.go().await;
    assert_eq!(
        running.asked(1)[3..],
        ["context from claude", "context from codex"]
    );
    running.end().await;
}

#[tokio::test]
async fn objections_of_both_to_a_result_are_both_said() {
    let bench = Bench::shell("echo hi")
        .on(Claude, "PostToolUse", refuses("first"))
        .on(Codex, "PostToolUse", refuses("second"));
    let (_, running) = bench.go().await;
    // Codex's objection stands for the output.
    assert_eq!(running.shown(), "first\n\nsecond");
    running.end().await;
}

#[tokio::test]
async fn a_stop_of_either_keeps_the_turn_going_and_a_halt_of_either_ends_it() {
    let once = |words: &str| {
        format!(
            "grep -q 'stop_hook_active\":true' || {{ {}; }}",
            refuses(words)
        )
    };
    let bench = Bench::new([Play::text("One."), Play::text("Two.")])
        .on(Claude, "Stop", once("a"))
        .on(Codex, "Stop", once("b"));
    let (_, running) = bench.go().await;
    assert_eq!(running.asked(1)[2..], ["user a", "user b"]);
    running.end().await;

    let halt = prints(&json!({"continue": false, "stopReason": "enough"}));
    for (blocks, halts) in [(Claude, Codex), (Codex, Claude)] {
        let bench = Bench::new([Play::text("One.")])
            .on(blocks, "Stop", refuses("go on"))
            .on(halts, "Stop", halt.clone());
        let (outcome, running) = bench.go().await;
        assert_eq!(crate::bench::ending(&outcome), ("stopped", Some("enough")));
        assert_eq!(running.requests(), 1);
        running.end().await;
    }
}

#[tokio::test]
async fn a_prompt_that_claude_blocks_is_not_shown_to_codex() {
    let bench = Bench::new([])
        .on(Claude, "UserPromptSubmit", refuses("no"))
        .on(Codex, "UserPromptSubmit", "touch seen");
    let (_, running) = bench.go().await;
    assert!(!running.exists("seen"));
    running.end().await;
}

#[tokio::test]
async fn a_context_for_a_prompt_that_codex_blocks_stays_out_with_it() {
    let gate = "if grep -q secret; then echo no >&2; exit 2; fi";
    let running = Bench::new([Play::text("Hi.")])
        .on(Claude, "UserPromptSubmit", "echo about the secret")
        .on(Codex, "UserPromptSubmit", gate)
        .start();
    running.send("my secret").await;
    assert_eq!(running.contexts(), []);
    running.send("hello").await;
    assert_eq!(running.asked(0), ["user hello", "context about the secret"]);
    running.end().await;
}

#[tokio::test]
async fn each_is_spoken_to_in_its_own_words() {
    let write = Play::call("Write", json!({"file_path": "a.txt", "content": "x\n"}));
    let bench = Bench::new([write])
        .on(Claude, "PreToolUse", "true # claude")
        .on(Codex, "PreToolUse", "true # codex");
    let (_, running) = bench.go().await;
    let seen = running.fired.payloads("PreToolUse");
    let names: Vec<_> = seen
        .iter()
        .map(|payload| payload.str_field("tool_name").unwrap())
        .collect();
    assert_eq!(names, ["Write", "apply_patch"]);
    running.end().await;
}

#[tokio::test]
async fn both_rewriters_of_a_call_are_in_the_log_first_to_last() {
    let bench = Bench::shell("touch ran")
        .on(Claude, "PreToolUse", rewrites_to("echo once"))
        .on(Codex, "PreToolUse", rewrites_to("echo twice"));
    let (_, running) = bench.go().await;
    assert_eq!(running.shown(), "twice");
    let by: Vec<String> = running.calls()[0]
        .rewritten_by
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(by.len(), 2, "{by:?}");
    assert!(
        by[0].starts_with("hooks-claude") && by[1].starts_with("hooks-codex"),
        "{by:?}"
    );
    running.end().await;
}
