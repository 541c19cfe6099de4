//! `hook/invoked` and `hook/result` in the session's log.

use std::collections::BTreeMap;

use seamline_harness::session::Session;
use seamline_hooks::DialectId::{self, Claude};
use serde_json::json;

use crate::bench::{Bench, bash, prints, refuses, soon};
use std::num::NonZeroUsize;

#[tokio::test]
async fn every_run_leaves_a_pair_inside_its_turn_and_the_log_loads_again() {
    for dialect in DialectId::ALL {
        let mut bench = Bench::new([bash("echo hi")]);
        for event in [
            "SessionStart",
            "UserPromptSubmit",
            "PreToolUse",
            "PostToolUse",
            "Stop",
        ] {
            bench = bench
                .on(dialect, event, "true # one")
                .on(dialect, event, "true # two");
        }
        let (_, running) = bench.go().await;
        let mut open: BTreeMap<String, usize> = BTreeMap::new();
        let mut pairs = 0;
        for (kind, turn, data) in running.hook_events() {
            let id = data["handlerId"].as_str().unwrap().to_owned();
            let expected = (data["point"] != "SessionStart").then_some(1);
            assert_eq!((turn, &data["turn"]), (expected, &json!(expected)));
            assert_eq!(data["dialect"], dialect.as_str());
            assert_eq!(data.get("matcher"), None, "match-all");
            match kind.as_str() {
                "hook/invoked" => *open.entry(id).or_default() += 1,
                "hook/result" => {
                    *open.get_mut(&id).unwrap() -= 1;
                    pairs += 1;
                    let said = [&data["decision"], &data["status"], &data["exitCode"]];
                    assert_eq!(said, [&json!("pass"), &json!("completed"), &json!(0)]);
                    assert_eq!(data.get("stderrSummary"), None);
                    assert!(data["durationMs"].is_u64());
                }
                other => panic!("{other}"),
            }
        }
        assert_eq!(pairs, 10);
        assert!(open.values().all(|open| *open == 0), "{open:?}");

        let path = running.session.path().unwrap().to_owned();
        let before = running.kinds().len();
        soon(running.scope.dispose()).await;
        soon(running.agent.close("test")).await.unwrap();
        assert_eq!(
            Session::read(&path).unwrap().entries.len(),
            before + 1,
            "and session/end"
        );
        let loaded = Session::load(&path).unwrap();
        assert_eq!((loaded.torn_bytes, loaded.repaired_turn), (0, None));
    }
}

#[tokio::test]
async fn a_result_says_what_the_run_decided_and_how_it_ended() {
    let halt = prints(&json!({"continue": false}));
    let rows = [
        (refuses("no"), ("deny", "blocked", Some(2), Some("no"))),
        (halt, ("stop", "stopped", Some(0), None)),
        (
            "echo oops >&2; exit 7".to_owned(),
            ("pass", "failed", Some(7), Some("oops")),
        ),
    ];
    for (hook, (decision, status, code, stderr)) in rows {
        let bench = Bench::shell("true").on_matching(Claude, "PreToolUse", "Bash", hook);
        let (_, running) = bench.go().await;
        let (_, _, invoked) = &running.hook_events()[0];
        assert_eq!(invoked["matcher"], "Bash");
        let (_, _, result) = &running.hook_events()[1];
        assert_eq!(
            (&result["decision"], &result["status"]),
            (&json!(decision), &json!(status))
        );
        assert_eq!(
            result.get("exitCode"),
            code.map(|code| json!(code)).as_ref()
        );
        assert_eq!(
            result.get("stderrSummary"),
            stderr.map(|text| json!(text)).as_ref()
        );
        running.end().await;
    }
}

#[tokio::test]
async fn a_long_standard_error_is_cut_in_the_log() {
    let hook = "head -c 600 /dev/zero | tr '\\0' x >&2; exit 1";
    let (_, running) = Bench::shell("true")
        .on(Claude, "PreToolUse", hook)
        .go()
        .await;
    let (_, _, result) = &running.hook_events()[1];
    assert_eq!(result["stderrSummary"], format!("{}…", "x".repeat(500)));
    running.end().await;
}

#[tokio::test]
async fn the_longest_summary_is_an_option() {
    let hook = "head -c 600 /dev/zero | tr '\\0' x >&2; exit 1";
    for dialect in DialectId::ALL {
        let bench = Bench::shell("true").on(dialect, "PreToolUse", hook);
        let limit = NonZeroUsize::new(40).unwrap();
        let (_, running) = bench.stderr_summary(limit).go().await;
        let (_, _, result) = &running.hook_events()[1];
        assert_eq!(result["stderrSummary"], format!("{}…", "x".repeat(40)));
        running.end().await;
    }
}

#[tokio::test]
async fn a_command_that_is_not_found_leaves_its_exit_code_and_the_call_runs() {
    for dialect in DialectId::ALL {
        let bench = Bench::shell("touch ran").on(dialect, "PreToolUse", "/nowhere/gate.sh");
        let (_, running) = bench.go().await;
        let (_, _, result) = &running.hook_events()[1];
        assert_eq!(
            (&result["exitCode"], &result["decision"]),
            (&json!(127), &json!("pass"))
        );
        assert!(running.exists("ran"), "{dialect}");
        running.end().await;
    }
}

/// A program without a shell around it: nothing is started, so nothing has an exit code.
#[tokio::test]
async fn a_hook_that_cannot_be_started_leaves_no_exit_code_and_the_call_runs() {
    let handler = json!({"type": "command", "command": "/nowhere/gate", "args": []});
    let bench = Bench::shell("touch ran").on(Claude, "PreToolUse", handler);
    let (_, running) = bench.go().await;
    let (_, _, result) = &running.hook_events()[1];
    assert_eq!(
        (result.get("exitCode"), &result["decision"]),
        (None, &json!("pass"))
    );
    assert!(running.exists("ran"));
    running.end().await;
}

#[tokio::test]
async fn hook_events_are_for_the_log_alone() {
    for dialect in DialectId::ALL {
        let bench = Bench::shell("echo hi").on(dialect, "PreToolUse", "echo words >&2");
        let (_, running) = bench.go().await;
        assert_eq!(running.hook_events().len(), 2, "{dialect}");
        assert_eq!(running.asked(1).len(), 3, "prompt, call, result");
        running.end().await;
    }
}
