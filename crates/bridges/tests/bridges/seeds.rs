//! The profile `seeds` through the real loop, and the four fallback texts in every profile that can
//! produce them.

use seamline_harness::model::scripted::Play;
use seamline_hooks::DialectId::{self, Claude, Codex};
use seamline_hooks::Profile::{self, Measured, Seeds};
use serde_json::json;

use crate::bench::{Bench, answers, ending, prints, refuses};

/// Who can refuse without words: in Codex, as measured, a refusal without words is a failed hook.
const WORDLESS: [(DialectId, Profile); 3] = [(Claude, Measured), (Claude, Seeds), (Codex, Seeds)];

#[tokio::test]
async fn a_prompt_that_is_blocked_without_words() {
    for (dialect, profile) in WORDLESS {
        let bench = Bench::new([]).profile(profile);
        let (outcome, running) = bench.on(dialect, "UserPromptSubmit", "exit 2").go().await;
        let reason = "blocked by UserPromptSubmit hook";
        assert_eq!(
            ending(&outcome),
            ("rejected", Some(reason)),
            "{dialect} {profile:?}"
        );
        let turn = [
            "turn/start",
            "hook/invoked",
            "hook/result",
            "prompt/blocked",
            "turn/end",
        ];
        assert_eq!(running.kinds()[1..], turn);
        assert_eq!(running.requests(), 0);
        running.end().await;
    }
}

#[tokio::test]
async fn a_call_that_is_denied_without_words() {
    for (dialect, profile) in WORDLESS {
        let bench = Bench::shell("touch ran").profile(profile);
        let (_, running) = bench.on(dialect, "PreToolUse", "exit 2").go().await;
        assert_eq!(
            running.shown(),
            "Error: blocked by PreToolUse hook",
            "{dialect} {profile:?}"
        );
        assert_eq!(
            running.asked(1)[2],
            "result Error: blocked by PreToolUse hook"
        );
        assert!(!running.exists("ran"));
        running.end().await;
    }
}

#[tokio::test]
async fn a_result_that_is_blocked_without_words() {
    for (dialect, profile) in WORDLESS {
        let bench = Bench::shell("echo hi").profile(profile);
        let (_, running) = bench.on(dialect, "PostToolUse", "exit 2").go().await;
        let (shown, is_error) = match profile {
            // Measured: the output stays, and stays a success.
            Measured => ("hi\nblocked by PostToolUse hook", false),
            Seeds => ("blocked by PostToolUse hook", true),
        };
        assert_eq!(running.shown(), shown, "{dialect} {profile:?}");
        assert_eq!(running.results()[0].is_error, is_error);
        running.end().await;
    }
}

#[tokio::test]
async fn a_turn_that_goes_on_without_words() {
    let once = "[ -e stopped ] || { touch stopped; exit 2; }";
    for (dialect, profile) in WORDLESS {
        let bench = Bench::new([Play::text("One."), Play::text("Two.")]).profile(profile);
        let (outcome, running) = bench.on(dialect, "Stop", once).go().await;
        assert_eq!(ending(&outcome), ("completed", None));
        assert_eq!(running.asked(1)[2], "user continue: blocked by Stop hook");
        assert_eq!(running.requests(), 2, "{dialect} {profile:?}");
        running.end().await;
    }
}

/// In Codex, as measured, none of the four texts can come up: the hook counts as failed.
#[tokio::test]
async fn in_measured_codex_a_refusal_without_words_is_a_failed_hook_everywhere() {
    for event in ["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"] {
        let (outcome, running) = Bench::shell("echo hi")
            .on(Codex, event, "exit 2")
            .go()
            .await;
        assert_eq!(ending(&outcome), ("completed", None), "{event}");
        assert_eq!(running.shown(), "hi", "{event}");
        assert!(
            running.notices()[0].contains("exited with code 2 but did not write"),
            "{event}"
        );
        running.end().await;
    }
}

#[tokio::test]
async fn a_codex_matcher_is_found_anywhere_in_a_tools_name_and_the_log_names_the_dialect() {
    for (profile, denied) in [(Seeds, true), (Measured, false)] {
        let bench = Bench::shell("touch ran").profile(profile);
        let bench = bench.on_matching(Codex, "PreToolUse", "Bas", refuses("no"));
        let (_, running) = bench.go().await;
        assert_eq!(running.exists("ran"), !denied, "{profile:?}");
        if denied {
            assert_eq!(running.asked(1)[2], "result Error: no");
            let (_, _, invoked) = &running.hook_events()[0];
            assert_eq!(
                (&invoked["dialect"], &invoked["matcher"]),
                (&json!("codex"), &json!("Bas"))
            );
            let tool = running.fired.payloads("PreToolUse");
            assert_eq!(tool[0].str_field("tool_name"), Some("Bash"));
        }
        running.end().await;
    }
}

#[tokio::test]
async fn a_stop_hook_has_no_matcher_and_an_event_that_does_not_happen_runs_nothing() {
    let once = "[ -e stopped ] || { touch stopped; echo 'go on' >&2; exit 2; }";
    for dialect in DialectId::ALL {
        let bench = Bench::new([Play::text("One."), Play::text("Two.")]).profile(Seeds);
        let bench = bench.on_matching(dialect, "Stop", "[", once).on(
            dialect,
            "SubagentStop",
            "touch subagent",
        );
        let (_, running) = bench.go().await;
        assert_eq!(running.asked(1)[2], "user go on", "{dialect}");
        assert!(!running.exists("subagent"));
        running.end().await;
    }
}

#[tokio::test]
async fn a_blocked_result_is_a_failure_with_the_feedback_alone_and_its_context_follows() {
    let both = json!({
        "decision": "block",
        "reason": "look again",
        "hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "context"},
    });
    for dialect in DialectId::ALL {
        let bench = Bench::shell("echo hi").profile(Seeds);
        let (_, running) = bench.on(dialect, "PostToolUse", prints(&both)).go().await;
        assert!(running.results()[0].is_error, "{dialect}");
        assert_eq!(
            running.asked(1)[2..],
            ["result look again", "context context"]
        );
        running.end().await;

        let bench = Bench::shell("echo hi").profile(Seeds);
        let (_, running) = bench
            .on(dialect, "PostToolUse", refuses("by exit"))
            .go()
            .await;
        assert_eq!(running.asked(1)[2..], ["result by exit"], "{dialect}");
        running.end().await;
    }
}

#[tokio::test]
async fn reasons_of_several_hooks_are_one_text_with_blank_lines() {
    for dialect in DialectId::ALL {
        let bench = Bench::shell("touch ran").profile(Seeds);
        let bench = bench
            .on(dialect, "PreToolUse", refuses("one"))
            .on(dialect, "PreToolUse", refuses("two"))
            .on(dialect, "PostToolUse", "true");
        let (_, running) = bench.go().await;
        assert_eq!(running.shown(), "Error: one\n\ntwo", "{dialect}");
        running.end().await;

        let bench = Bench::shell("echo hi").profile(Seeds);
        let bench = bench.on(dialect, "PostToolUse", refuses("one")).on(
            dialect,
            "PostToolUse",
            refuses("two"),
        );
        let (_, running) = bench.go().await;
        assert_eq!(running.shown(), "one\n\ntwo", "{dialect}");
        running.end().await;

        let once =
            |name: &str| format!("[ -e {name} ] || {{ touch {name}; echo {name} >&2; exit 2; }}");
        let bench = Bench::new([Play::text("A."), Play::text("B.")]).profile(Seeds);
        let bench = bench
            .on(dialect, "Stop", once("one"))
            .on(dialect, "Stop", once("two"));
        let (_, running) = bench.go().await;
        assert_eq!(running.asked(1)[2..], ["user one\n\ntwo"], "{dialect}");
        running.end().await;
    }
}

#[tokio::test]
async fn output_that_names_another_event_denies_nothing() {
    let deny = json!({"permissionDecision": "deny", "permissionDecisionReason": "no"});
    for dialect in DialectId::ALL {
        let bench = Bench::shell("touch ran").profile(Seeds);
        let hook = answers("PostToolUse", deny.clone());
        let (_, running) = bench.on(dialect, "PreToolUse", hook).go().await;
        assert!(running.exists("ran"), "{dialect}");
        running.end().await;
    }
}

/// Text and what looks like JSON and is none, on the exit codes that count and those that do not.
#[tokio::test]
async fn codex_takes_plain_text_as_context_and_broken_json_as_nothing() {
    let rows = [
        ("echo the map", Some("the map")),
        ("echo '{ not json'", None),
        ("echo the map; exit 1", None),
        ("echo the map; exit 2", None),
    ];
    for (hook, context) in rows {
        let bench = Bench::new([Play::text("Hi.")]).profile(Seeds);
        let (_, running) = bench.on(Codex, "SessionStart", hook).go().await;
        let contexts: Vec<_> = running
            .contexts()
            .into_iter()
            .map(|(_, text)| text)
            .collect();
        assert_eq!(contexts.first().map(String::as_str), context, "{hook}");
        running.end().await;
    }
    for (hook, context) in [rows[0], rows[1], rows[2]] {
        let bench = Bench::new([Play::text("Hi.")]).profile(Seeds);
        let (_, running) = bench.on(Codex, "UserPromptSubmit", hook).go().await;
        let expected: Vec<String> = ["user go".to_owned()]
            .into_iter()
            .chain(context.map(|text| format!("context {text}")))
            .collect();
        assert_eq!(running.asked(0), expected, "{hook}");
        running.end().await;
    }
}

/// The commission records it and goes on; what it lists as missing is not missing here.
#[tokio::test]
async fn continue_false_ends_the_run_after_the_call_and_leaves_its_word_in_the_log() {
    let stop = prints(&json!({"continue": false, "stopReason": "enough"}));
    for dialect in DialectId::ALL {
        let bench = Bench::shell("touch ran").profile(Seeds);
        let (outcome, running) = bench.on(dialect, "PreToolUse", stop.as_str()).go().await;
        assert_eq!(ending(&outcome), ("stopped", Some("enough")), "{dialect}");
        assert!(running.exists("ran") && !running.results()[0].is_error);
        let (_, _, result) = &running.hook_events()[1];
        assert_eq!(result["decision"], "stop");
        running.end().await;
    }
}
