//! Stop: turns that go on, and for how long.

use seamline_harness::model::scripted::Play;
use seamline_hooks::DialectId::{self, Claude, Codex};
use serde_json::json;

use crate::bench::{Bench, answers, bash, ending, prints, refuses};

/// Blocks the first `n` times.
fn blocks_times(n: usize) -> String {
    format!("echo x >> runs; if [ $(wc -l < runs) -le {n} ]; then echo 'go on' >&2; exit 2; fi")
}

fn texts(n: usize) -> Vec<Play> {
    (1..=n)
        .map(|n| Play::text(format!("Answer {n}.")))
        .collect()
}

#[tokio::test]
async fn a_block_forces_one_more_step_with_the_reason_verbatim() {
    for dialect in DialectId::ALL {
        let bench = Bench::new(texts(2)).on(dialect, "Stop", blocks_times(1));
        let (outcome, running) = bench.go().await;
        assert_eq!(ending(&outcome), ("completed", None));
        assert_eq!(outcome.text.as_deref(), Some("Answer 2."));
        assert_eq!(
            running.asked(1),
            ["user go", "assistant Answer 1.", "user go on"]
        );
        assert_eq!(running.requests(), 2, "{dialect}");
        running.end().await;
    }
}

#[tokio::test]
async fn a_json_block_does_the_same() {
    for dialect in DialectId::ALL {
        let block = prints(&json!({"decision": "block", "reason": "say \"more\""}));
        let hook = format!("grep -q 'stop_hook_active\":true' || {block}");
        let (_, running) = Bench::new(texts(2)).on(dialect, "Stop", hook).go().await;
        assert_eq!(running.asked(1)[2], "user say \"more\"");
        assert_eq!(running.requests(), 2, "{dialect}");
        running.end().await;
    }
}

#[tokio::test]
async fn the_payload_says_whether_a_hook_keeps_the_turn_going_and_what_was_said_last() {
    for dialect in DialectId::ALL {
        let bench = Bench::new(texts(2)).on(dialect, "Stop", blocks_times(1));
        let (_, running) = bench.go().await;
        let payloads = running.fired.payloads("Stop");
        let seen: Vec<_> = payloads
            .iter()
            .map(|payload| {
                (
                    &payload.value()["stop_hook_active"],
                    payload.str_field("last_assistant_message"),
                )
            })
            .collect();
        let expected = [
            (&json!(false), Some("Answer 1.")),
            (&json!(true), Some("Answer 2.")),
        ];
        assert_eq!(seen, expected, "{dialect}");
        running.end().await;
    }
}

#[tokio::test]
async fn a_silent_block_steers_with_a_fallback_text_in_claude() {
    let hook = "grep -q 'stop_hook_active\":true' || exit 2";
    let (_, running) = Bench::new(texts(2)).on(Claude, "Stop", hook).go().await;
    assert_eq!(running.asked(1)[2], "user continue: blocked by Stop hook");
    running.end().await;
}

/// Measured on Codex.
#[tokio::test]
async fn a_silent_block_is_a_failed_hook_in_codex() {
    let (_, running) = Bench::new(texts(2)).on(Codex, "Stop", "exit 2").go().await;
    assert_eq!((running.requests(), running.notices().len()), (1, 1));
    running.end().await;
}

/// Measured on Claude Code: eight continuations, so the hook runs nine times.
#[tokio::test]
async fn claude_ends_the_turn_after_eight_continuations_in_a_row_and_says_so() {
    let bench = Bench::new(texts(20)).on(Claude, "Stop", blocks_times(99));
    let (outcome, running) = bench.go().await;
    assert_eq!(ending(&outcome), ("completed", None));
    assert_eq!(
        (running.requests(), running.fired.payloads("Stop").len()),
        (9, 9)
    );
    assert!(running.notices()[0].contains("8 times in a row"));
    running.end().await;
}

#[tokio::test]
async fn a_tool_call_resets_the_cap() {
    let script = [
        Play::text("1"),
        Play::text("2"),
        bash("echo hi"),
        Play::text("3"),
    ];
    let bench = Bench::new(script)
        .stop_cap(2)
        .on(Claude, "Stop", blocks_times(99));
    let (_, running) = bench.go().await;
    // Continued after `1` and `2`; the call starts the count anew; continued after `3` and one
    // more; the fifth time the cap ends it.
    assert_eq!(running.fired.payloads("Stop").len(), 5);
    running.end().await;
}

#[tokio::test]
async fn the_cap_is_an_option_in_codex_and_zero_lifts_it() {
    for (cap, block, requests) in [(3, 99, 4), (0, 12, 13)] {
        let bench = Bench::new(texts(20))
            .stop_cap(cap)
            .on(Codex, "Stop", blocks_times(block));
        let (outcome, running) = bench.go().await;
        assert_eq!(ending(&outcome), ("completed", None));
        assert_eq!(running.requests(), requests);
        assert_eq!(
            running.notices().len(),
            usize::from(cap > 0),
            "loud when it bites"
        );
        running.end().await;
    }
}

#[tokio::test]
async fn continue_false_wins_over_a_block() {
    for dialect in DialectId::ALL {
        let stop = prints(&json!({"continue": false, "stopReason": "home time"}));
        let bench = Bench::new(texts(2))
            .on(dialect, "Stop", refuses("go on"))
            .on(dialect, "Stop", stop);
        let (outcome, running) = bench.go().await;
        assert_eq!(
            ending(&outcome),
            ("stopped", Some("home time")),
            "{dialect}"
        );
        assert_eq!(running.requests(), 1);
        running.end().await;
    }
}

/// Measured on Claude Code.
#[tokio::test]
async fn a_context_alone_makes_the_claude_turn_go_on() {
    let context = answers("Stop", json!({"additionalContext": "one more thing"}));
    let hook = format!("grep -q 'stop_hook_active\":true' || {context}");
    let (_, running) = Bench::new(texts(2)).on(Claude, "Stop", hook).go().await;
    assert_eq!(
        running.asked(1)[1..],
        ["assistant Answer 1.", "context one more thing"]
    );
    running.end().await;
}

#[tokio::test]
async fn two_blocks_are_two_messages() {
    for dialect in DialectId::ALL {
        let hook = |words: &str| {
            format!("grep -q 'stop_hook_active\":true' && exit 0; echo {words} >&2; exit 2")
        };
        let bench =
            Bench::new(texts(2))
                .on(dialect, "Stop", hook("one"))
                .on(dialect, "Stop", hook("two"));
        let (_, running) = bench.go().await;
        let mut said = running.asked(1)[2..].to_vec();
        said.sort();
        assert_eq!(said, ["user one", "user two"], "{dialect}");
        running.end().await;
    }
}
