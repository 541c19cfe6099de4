//! SessionStart and SessionEnd.

use seamline_harness::model::scripted::Play;
use seamline_hooks::DialectId::{self, Claude, Codex};
use serde_json::json;

use crate::bench::{Bench, answers, ending, prints};

#[tokio::test]
async fn a_start_context_is_in_the_first_request_with_its_source_in_the_log() {
    for dialect in DialectId::ALL {
        // The hook is slower than an agent that would not wait for it.
        let json = answers("SessionStart", json!({"additionalContext": "the map"}));
        let slow = format!("sleep 0.3; {json}");
        for hook in [slow, "echo the map".to_owned()] {
            let bench = Bench::new([Play::text("Hi.")]).on(dialect, "SessionStart", hook);
            let (_, running) = bench.go().await;
            let mut asked = running.asked(0);
            asked.sort();
            assert_eq!(asked, ["context the map", "user go"], "{dialect}");
            let (source, text) = running.contexts().remove(0);
            assert_eq!(text, "the map");
            assert!(
                source.starts_with(&format!("hooks-{dialect} (/")),
                "{source}"
            );
            assert!(source.ends_with(":session_start:0:0)"), "{source}");
            running.end().await;
        }
    }
}

#[tokio::test]
async fn a_silent_start_hook_adds_nothing() {
    for dialect in DialectId::ALL {
        let bench = Bench::new([Play::text("Hi.")]).on(dialect, "SessionStart", "true");
        let (_, running) = bench.go().await;
        assert_eq!(running.asked(0), ["user go"], "{dialect}");
        running.end().await;
    }
}

/// Measured on Codex.
#[tokio::test]
async fn a_codex_start_that_says_continue_false_refuses_the_first_prompt_only() {
    let stop = prints(&json!({"continue": false, "stopReason": "not in this folder"}));
    let bench = Bench::new([Play::text("Hi.")]).on(Codex, "SessionStart", stop);
    let (first, running) = bench.go().await;
    assert_eq!(ending(&first), ("rejected", Some("not in this folder")));
    assert_eq!(running.requests(), 0);
    let second = running.send("again").await;
    assert_eq!(
        (ending(&second), running.requests()),
        (("completed", None), 1)
    );
    running.end().await;
}

#[tokio::test]
async fn a_claude_start_cannot_refuse_anything() {
    let stop = prints(&json!({"continue": false, "stopReason": "no"}));
    let bench = Bench::new([Play::text("Hi.")]).on(Claude, "SessionStart", stop);
    let (outcome, running) = bench.go().await;
    assert_eq!(ending(&outcome), ("completed", None));
    running.end().await;
}

#[tokio::test]
async fn the_end_of_a_session_waits_for_its_hooks() {
    for dialect in DialectId::ALL {
        let bench = Bench::new([Play::text("Hi.")]);
        let running = bench
            .on(dialect, "SessionEnd", "sleep 0.2; cat > ended")
            .start();
        running.send("go").await;
        let ended = running.path("ended");
        let payloads = running.fired.clone();
        crate::bench::soon(running.agent.close("test"))
            .await
            .unwrap();
        assert!(
            std::fs::read_to_string(ended)
                .unwrap()
                .contains("SessionEnd"),
            "{dialect}"
        );
        assert_eq!(payloads.payloads("SessionEnd").len(), 1);
        crate::bench::soon(running.scope.dispose()).await;
    }
}
