//! UserPromptSubmit: what enters, and what is kept out.

use seamline_harness::content::Source;
use seamline_harness::model::scripted::Play;
use seamline_harness::session::Event;
use seamline_hooks::DialectId::{self, Claude};
use serde_json::json;

use crate::bench::{Bench, answers, ending, prints, refuses};

const GATE: &str = "if grep -q secret; then echo 'no secrets' >&2; exit 2; fi";

#[tokio::test]
async fn a_blocked_prompt_makes_no_request_and_its_reason_is_in_the_log() {
    for dialect in DialectId::ALL {
        let bench = Bench::new([Play::text("Hi.")]).on(dialect, "UserPromptSubmit", refuses("no"));
        let (outcome, running) = bench.go().await;
        assert_eq!(ending(&outcome), ("rejected", Some("no")));
        assert_eq!((running.requests(), outcome.requests), (0, 0));
        let turn = [
            "turn/start",
            "hook/invoked",
            "hook/result",
            "prompt/blocked",
            "turn/end",
        ];
        assert_eq!(running.kinds()[1..], turn, "{dialect}");
        let events = running.events();
        let Some(Event::PromptBlocked(blocked)) = events.get(4) else {
            panic!("{events:?}");
        };
        assert_eq!(
            (blocked.reason.as_str(), blocked.content.to_text()),
            ("no", "go".into())
        );
        assert!(
            matches!(&blocked.by, Source::Plugin { plugin, key: Some(key) }
            if *plugin == format!("hooks-{dialect}") && key.contains("user_prompt_submit"))
        );
        running.end().await;
    }
}

#[tokio::test]
async fn the_prompt_after_a_blocked_one_runs_in_its_own_turn() {
    for dialect in DialectId::ALL {
        let bench = Bench::new([Play::text("Hi.")]).on(dialect, "UserPromptSubmit", GATE);
        let running = bench.start();
        let first = running.agent.send("my secret");
        let second = running.agent.send("hello");
        assert_eq!(
            ending(&crate::bench::soon(first).await),
            ("rejected", Some("no secrets"))
        );
        let second = crate::bench::soon(second).await;
        assert_eq!(
            (ending(&second), second.turn.unwrap().0),
            (("completed", None), 2)
        );
        assert_eq!(running.asked(0), ["user hello"], "{dialect}");
        running.end().await;
    }
}

#[tokio::test]
async fn a_silent_block_has_a_fallback_reason() {
    let bench = Bench::new([]).on(Claude, "UserPromptSubmit", "exit 2");
    let (outcome, running) = bench.go().await;
    assert_eq!(
        ending(&outcome),
        ("rejected", Some("blocked by UserPromptSubmit hook"))
    );
    running.end().await;
}

#[tokio::test]
async fn a_context_is_in_the_first_request_after_the_prompt() {
    for dialect in DialectId::ALL {
        let json = answers("UserPromptSubmit", json!({"additionalContext": "as JSON"}));
        let bench = Bench::new([Play::text("Hi.")])
            .on(dialect, "UserPromptSubmit", json)
            .on(dialect, "UserPromptSubmit", "echo as text");
        let (_, running) = bench.go().await;
        let asked = running.asked(0);
        assert_eq!(asked[0], "user go");
        let mut contexts = asked[1..].to_vec();
        contexts.sort();
        assert_eq!(
            contexts,
            ["context as JSON", "context as text"],
            "{dialect}"
        );
        running.end().await;
    }
}

#[tokio::test]
async fn a_blocked_prompt_takes_its_contexts_with_it_in_claude() {
    let hook = json!({
        "decision": "block",
        "reason": "no",
        "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "more"},
    });
    let bench = Bench::new([]).on(Claude, "UserPromptSubmit", prints(&hook));
    let (_, running) = bench.go().await;
    assert_eq!(running.contexts(), []);
    running.end().await;
}

#[tokio::test]
async fn continue_false_keeps_the_prompt_out_with_the_stop_reason() {
    for dialect in DialectId::ALL {
        let stop = prints(&json!({"continue": false, "stopReason": "closed"}));
        let bench = Bench::new([]).on(dialect, "UserPromptSubmit", stop);
        let (outcome, running) = bench.go().await;
        assert_eq!(ending(&outcome), ("rejected", Some("closed")), "{dialect}");
        assert_eq!(running.requests(), 0);
        running.end().await;
    }
}

#[tokio::test]
async fn a_message_for_the_user_never_reaches_the_model() {
    for dialect in DialectId::ALL {
        let hook = prints(&json!({"systemMessage": "for you alone"}));
        let bench = Bench::new([Play::text("Hi.")]).on(dialect, "UserPromptSubmit", hook);
        let (_, running) = bench.go().await;
        assert_eq!(running.notices(), ["for you alone"]);
        assert_eq!(running.asked(0), ["user go"], "{dialect}");
        running.end().await;
    }
}
