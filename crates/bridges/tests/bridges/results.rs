//! PostToolUse, PostToolUseFailure and PostToolBatch: what has happened stays happened.

use seamline_harness::model::scripted::{Play, ScriptBlock};
use seamline_hooks::DialectId::{self, Claude, Codex};
use serde_json::{Value, json};

use crate::bench::{Bench, answers, bash, ending, prints, refuses};

fn replaces(output: &Value) -> String {
    answers("PostToolUse", json!({ "updatedToolOutput": output }))
}

/// Measured on Claude Code: the file is written, the result is a success, the feedback joins it.
#[tokio::test]
async fn a_claude_block_keeps_a_success_a_success_and_appends_the_feedback() {
    let write = Play::call("Write", json!({"file_path": "a.txt", "content": "x\n"}));
    let bench = Bench::new([write]).on(Claude, "PostToolUse", refuses("run the linter"));
    let (_, running) = bench.go().await;
    assert_eq!(running.text("a.txt"), "x\n");
    assert!(!running.results()[0].is_error);
    let shown = running.shown();
    assert!(shown.starts_with("File created successfully"), "{shown}");
    assert!(shown.ends_with("\nrun the linter"), "{shown}");
    assert!(running.asked(1)[2].ends_with("\nrun the linter"));
    running.end().await;
}

#[tokio::test]
async fn a_claude_block_without_words_has_a_fallback_text() {
    let bench = Bench::shell("echo hi").on(Claude, "PostToolUse", "exit 2");
    let (_, running) = bench.go().await;
    assert_eq!(running.shown(), "hi\nblocked by PostToolUse hook");
    running.end().await;
}

#[tokio::test]
async fn a_codex_block_replaces_the_output() {
    let block = prints(&json!({"decision": "block", "reason": "do not look"}));
    for hook in [block, refuses("do not look")] {
        let bench = Bench::shell("echo secret; touch ran").on(Codex, "PostToolUse", hook);
        let (_, running) = bench.go().await;
        assert!(running.exists("ran"));
        assert_eq!(running.shown(), "do not look");
        running.end().await;
    }
}

#[tokio::test]
async fn a_replaced_value_that_fits_is_rendered_anew() {
    let value = json!({
        "stdout": "nothing to see", "stderr": "", "interrupted": false, "isImage": false,
        "noOutputExpected": false,
    });
    let bench = Bench::shell("echo secret").on(Claude, "PostToolUse", replaces(&value));
    let (_, running) = bench.go().await;
    assert_eq!(running.shown(), "nothing to see");
    assert_eq!(running.asked(1)[2], "result nothing to see");
    running.end().await;
}

#[tokio::test]
async fn a_replaced_value_that_does_not_fit_is_refused_with_a_notice() {
    let hook = replaces(&json!("just text"));
    let (_, running) = Bench::shell("echo secret")
        .on(Claude, "PostToolUse", hook)
        .go()
        .await;
    assert_eq!(running.shown(), "secret");
    assert_eq!(running.notices().len(), 1);
    assert!(running.notices()[0].starts_with("updatedToolOutput is not used: "));
    running.end().await;
}

#[tokio::test]
async fn contexts_come_after_all_results_of_a_batch_in_the_order_of_the_calls() {
    for dialect in DialectId::ALL {
        let call = |command: &str| ScriptBlock::call("Bash", json!({ "command": command }));
        let both = Play::blocks([call("echo one"), call("echo two")]);
        let hook = "if grep -q 'echo one'; then echo one > n; else echo two > n; fi; \
             printf '{\"hookSpecificOutput\":{\"hookEventName\":\"PostToolUse\",\
             \"additionalContext\":\"about %s\"}}' $(cat n)";
        let bench = Bench::new([both]).on(dialect, "PostToolUse", hook);
        let (_, running) = bench.go().await;
        let expected = [
            "result one",
            "result two",
            "context about one",
            "context about two",
        ];
        assert_eq!(running.asked(1)[2..], expected, "{dialect}");
        running.end().await;
    }
}

#[tokio::test]
async fn a_block_and_a_context_are_both_said() {
    let both = json!({
        "decision": "block",
        "reason": "feedback",
        "hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "context"},
    });
    let rows = [(Claude, "result hi\nfeedback"), (Codex, "result feedback")];
    for (dialect, result) in rows {
        let bench = Bench::shell("echo hi").on(dialect, "PostToolUse", prints(&both));
        let (_, running) = bench.go().await;
        assert_eq!(running.asked(1)[2..], [result, "context context"]);
        running.end().await;
    }
}

/// Claude has an event of its own for a call that began and failed; for Codex a command that
/// exits with another code is a result like any other (measured).
#[tokio::test]
async fn a_failed_command_fires_the_event_that_each_client_has_for_it() {
    let rows = [
        (Claude, "PostToolUseFailure", 1),
        (Claude, "PostToolUse", 0),
        (Codex, "PostToolUse", 1),
    ];
    for (dialect, event, times) in rows {
        let bench = Bench::shell("echo oh; exit 3").on(dialect, event, "true");
        let (_, running) = bench.go().await;
        assert_eq!(
            running.fired.payloads(event).len(),
            times,
            "{dialect} {event}"
        );
        running.end().await;
    }
}

#[tokio::test]
async fn a_denied_call_fires_no_post_event() {
    for dialect in DialectId::ALL {
        let mut bench = Bench::shell("touch ran").on(dialect, "PreToolUse", refuses("no"));
        bench = bench.on(dialect, "PostToolUse", "true");
        if dialect == Claude {
            bench = bench.on(dialect, "PostToolUseFailure", "true");
        }
        let (_, running) = bench.go().await;
        assert_eq!(running.fired.count(), 1, "{dialect}");
        running.end().await;
    }
}

#[tokio::test]
async fn continue_false_after_a_call_ends_the_claude_turn_with_the_result_kept() {
    let stop = prints(&json!({"continue": false, "stopReason": "enough"}));
    let (outcome, running) = Bench::shell("echo hi")
        .on(Claude, "PostToolUse", stop)
        .go()
        .await;
    assert_eq!(ending(&outcome), ("stopped", Some("enough")));
    assert_eq!((running.shown().as_str(), running.requests()), ("hi", 1));
    running.end().await;
}

/// Measured on Codex: it stands in for the output, and the turn goes on.
#[tokio::test]
async fn continue_false_after_a_call_replaces_the_output_in_codex() {
    let stop = prints(&json!({"continue": false, "stopReason": "enough"}));
    let (outcome, running) = Bench::shell("echo hi")
        .on(Codex, "PostToolUse", stop)
        .go()
        .await;
    assert_eq!(ending(&outcome), ("completed", None));
    assert_eq!(
        (running.shown().as_str(), running.requests()),
        ("enough", 2)
    );
    running.end().await;
}

#[tokio::test]
async fn a_batch_hook_fires_once_per_message_and_may_end_the_turn() {
    let call = |command: &str| ScriptBlock::call("Bash", json!({ "command": command }));
    let both = Play::blocks([call("echo one"), call("echo two")]);
    let bench = Bench::new([both, bash("echo three")]);
    let (outcome, running) = bench
        .on(Claude, "PostToolBatch", refuses("stop here"))
        .go()
        .await;
    assert_eq!(ending(&outcome), ("stopped", Some("stop here")));
    let payloads = running.fired.payloads("PostToolBatch");
    let calls = &payloads[0].value()["tool_calls"];
    assert_eq!(calls[1]["tool_response"], "two");
    assert_eq!((payloads.len(), running.requests()), (1, 1));
    running.end().await;
}
