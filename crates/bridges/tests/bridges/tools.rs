//! PreToolUse: who may refuse a call, and what the model hears of it.

use seamline_harness::model::scripted::Play;
use seamline_hooks::DialectId::{self, Claude, Codex};
use serde_json::json;

use crate::bench::{Bench, answers, bash, ending, prints, refuses};

#[tokio::test]
async fn exit_2_denies_in_the_hooks_own_words_and_the_body_never_runs() {
    for dialect in DialectId::ALL {
        let bench = Bench::shell("touch ran").on(dialect, "PreToolUse", refuses("not today"));
        let (outcome, running) = bench.go().await;
        assert_eq!(ending(&outcome), ("completed", None));
        assert!(!running.exists("ran"), "{dialect}");
        assert_eq!(running.shown(), "Error: not today");
        assert!(running.results()[0].is_error);
        assert_eq!(running.asked(1).last().unwrap(), "result Error: not today");
        let denied = running.calls()[0].denied.clone().unwrap();
        assert_eq!(denied.reason, "not today");
        assert!(
            denied
                .by
                .to_string()
                .starts_with(&format!("hooks-{dialect} (/"))
        );
        running.end().await;
    }
}

#[tokio::test]
async fn a_json_denial_denies_with_its_reason() {
    for dialect in DialectId::ALL {
        let deny = json!({"permissionDecision": "deny", "permissionDecisionReason": "no \"rm\""});
        let bench = Bench::shell("touch ran");
        let (_, running) = bench
            .on(dialect, "PreToolUse", answers("PreToolUse", deny))
            .go()
            .await;
        assert_eq!(
            (running.shown(), running.exists("ran")),
            ("Error: no \"rm\"".into(), false)
        );
        running.end().await;
    }
}

#[tokio::test]
async fn a_silent_denial_has_a_fallback_text_in_claude() {
    let bench = Bench::shell("touch ran").on(Claude, "PreToolUse", "exit 2");
    let (_, running) = bench.go().await;
    assert_eq!(running.shown(), "Error: blocked by PreToolUse hook");
    assert!(!running.exists("ran"));
    running.end().await;
}

/// Measured on Codex: exit 2 without words is a failed hook; the call runs and the user hears why.
#[tokio::test]
async fn a_silent_exit_2_is_a_failed_hook_in_codex() {
    let bench = Bench::shell("touch ran").on(Codex, "PreToolUse", "exit 2");
    let (_, running) = bench.go().await;
    assert!(running.exists("ran"));
    assert_eq!(running.notices().len(), 1);
    assert!(running.notices()[0].contains("did not write a blocking reason"));
    running.end().await;
}

#[tokio::test]
async fn a_hook_that_does_not_match_does_not_run() {
    for dialect in DialectId::ALL {
        let bench = Bench::shell("touch ran");
        let bench = bench.on_matching(dialect, "PreToolUse", "Write", refuses("no"));
        let (_, running) = bench.go().await;
        assert!(running.exists("ran"), "{dialect}");
        assert_eq!(
            running.fired.fates("PreToolUse"),
            [format!("{dialect} matcher")]
        );
        assert_eq!(running.hook_events(), []);
        running.end().await;
    }
}

/// Codex knows one tool that edits files; its matchers may call it by our names.
#[tokio::test]
async fn a_codex_matcher_finds_our_write_under_each_of_its_names() {
    for matcher in ["apply_patch", "Write", "Edit"] {
        let write = Play::call("Write", json!({"file_path": "a.txt", "content": "x\n"}));
        let bench = Bench::new([write]).on_matching(Codex, "PreToolUse", matcher, refuses("no"));
        let (_, running) = bench.go().await;
        assert_eq!(
            (running.shown().as_str(), running.exists("a.txt")),
            ("Error: no", false)
        );
        running.end().await;
    }
}

#[tokio::test]
async fn a_call_that_cannot_run_fires_no_hook() {
    let wrong = [
        Play::call("Nothing", json!({})),
        Play::call("Bash", json!({"command": 1})),
    ];
    for call in wrong {
        for dialect in DialectId::ALL {
            let mut bench = Bench::new([call.clone()]).on(dialect, "PreToolUse", refuses("no"));
            for event in ["PostToolUse", "PermissionRequest"] {
                bench = bench.on(dialect, event, refuses("no"));
            }
            let (_, running) = bench.go().await;
            assert!(running.results()[0].is_error);
            assert_eq!(running.fired.count(), 0, "{dialect} {call:?}");
            running.end().await;
        }
    }
}

#[tokio::test]
async fn a_silent_hook_changes_nothing() {
    for dialect in DialectId::ALL {
        let bench = Bench::shell("echo hi").on(dialect, "PreToolUse", "true");
        let (_, running) = bench.go().await;
        assert_eq!(running.requests(), 2);
        let call = r#"assistant {"command":"echo hi"}"#;
        assert_eq!(running.asked(1), ["user go", call, "result hi"]);
        assert_eq!(running.notices(), Vec::<String>::new());
        running.end().await;
    }
}

#[tokio::test]
async fn each_call_of_a_turn_is_judged_by_itself() {
    for dialect in DialectId::ALL {
        let gate = r#"grep -q 'touch no' && { echo 'not that' >&2; exit 2; }; exit 0"#;
        let bench = Bench::new([bash("touch yes"), bash("touch no"), bash("touch also")]);
        let (_, running) = bench.on(dialect, "PreToolUse", gate).go().await;
        assert_eq!(
            ["yes", "no", "also"].map(|name| running.exists(name)),
            [true, false, true]
        );
        assert_eq!(running.results()[1].content.to_text(), "Error: not that");
        running.end().await;
    }
}

#[tokio::test]
async fn a_context_beside_a_decision_comes_after_the_result() {
    for dialect in DialectId::ALL {
        let context = answers("PreToolUse", json!({"additionalContext": "mind the gap"}));
        let bench = Bench::shell("echo hi").on(dialect, "PreToolUse", context);
        let (_, running) = bench.go().await;
        assert_eq!(running.asked(1)[2..], ["result hi", "context mind the gap"]);
        running.end().await;
    }
}

/// Measured on Claude Code: the call runs, its result is kept, then the run ends; the reason is
/// for the user alone.
#[tokio::test]
async fn continue_false_lets_the_call_run_and_then_ends_the_turn() {
    let stop = prints(&json!({"continue": false, "stopReason": "that will do"}));
    let bench = Bench::shell("touch ran").on(Claude, "PreToolUse", stop);
    let (outcome, running) = bench.go().await;
    assert_eq!(ending(&outcome), ("stopped", Some("that will do")));
    assert!(running.exists("ran"));
    assert!(!running.results()[0].is_error);
    assert_eq!(running.requests(), 1);
    let history = format!("{:?}", running.session.history());
    assert!(!history.contains("that will do"));
    running.end().await;
}
