//! Hooks that fail: the action goes on and the user hears of it, unless the handler says otherwise.

use seamline_hooks::DialectId::{self, Claude, Codex};
use serde_json::json;

use crate::bench::{Bench, answers};

const FAILURES: [(&str, &str); 3] = [
    ("/nowhere/gate.sh", "127"),
    ("sleep 60", "timed out"),
    ("exit 1", "1"),
];

#[tokio::test]
async fn a_hook_that_fails_lets_the_call_run_and_the_user_hears_of_it() {
    for dialect in DialectId::ALL {
        for (command, why) in FAILURES {
            let handler = json!({"type": "command", "command": command, "timeout": 1});
            let (_, running) = Bench::shell("touch ran")
                .on(dialect, "PreToolUse", handler)
                .go()
                .await;
            assert!(running.exists("ran"), "{dialect} {command}");
            let notices = running.notices();
            assert_eq!(notices.len(), 1, "{dialect} {command}: {notices:?}");
            assert!(notices[0].starts_with("PreToolUse hook /"), "{notices:?}");
            if dialect == Codex || why == "timed out" {
                assert!(notices[0].contains(why), "{notices:?}");
            }
            running.end().await;
        }
    }
}

/// `onFailure` is Claude Code's, and for Codex our own.
#[tokio::test]
async fn with_on_failure_block_a_hook_that_fails_denies() {
    let dialects = [Claude, Codex].into_iter();
    for (dialect, (command, why)) in dialects.flat_map(|dialect| FAILURES.map(|it| (dialect, it))) {
        let handler = json!({
            "type": "command", "command": command, "timeout": 1, "onFailure": "block",
        });
        let (_, running) = Bench::shell("touch ran")
            .on(dialect, "PreToolUse", handler)
            .go()
            .await;
        assert!(!running.exists("ran"), "{dialect} {command}");
        let shown = running.shown();
        assert!(shown.starts_with("Error: "), "{shown}");
        assert!(
            shown.contains(why) && shown.contains("onFailure"),
            "{shown}"
        );
        running.end().await;
    }
}

/// Measured on Claude Code; Codex does not compare the names.
#[tokio::test]
async fn claude_output_that_names_another_event_decides_nothing_and_is_announced() {
    let deny = json!({"permissionDecision": "deny", "permissionDecisionReason": "no"});
    let hook = answers("PostToolUse", deny);
    let (_, running) = Bench::shell("touch ran")
        .on(Claude, "PreToolUse", hook)
        .go()
        .await;
    assert!(running.exists("ran"));
    assert!(!running.notices().is_empty());
    running.end().await;
}
