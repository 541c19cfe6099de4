//! Rewritten inputs: everybody sees what was run, and who changed it.

use seamline_harness::content::Source;
use seamline_harness::model::scripted::Play;
use seamline_harness::tools::builtin::ApplyPatch;
use seamline_hooks::DialectId::{self, Claude, Codex};
use serde_json::{Value, json};

use crate::bench::{Bench, Running, answers, bash, refuses};

fn rewrites(fields: &Value, input: &Value) -> String {
    let mut fields = fields.clone();
    fields["updatedInput"] = input.clone();
    answers("PreToolUse", fields)
}

fn allow() -> Value {
    json!({"permissionDecision": "allow"})
}

/// The plugin and the handler key of the only rewriter of the first call.
fn rewriter(running: &Running) -> (String, String) {
    let call = &running.calls()[0];
    match call.rewritten_by.as_slice() {
        [
            Source::Plugin {
                plugin,
                key: Some(key),
            },
        ] => (plugin.clone(), key.clone()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn tool_log_next_request_and_post_hooks_see_the_rewrite() {
    let rows = [(Claude, json!({})), (Claude, allow()), (Codex, allow())];
    for (dialect, fields) in rows {
        let to = json!({"command": "echo safe"});
        let bench = Bench::shell("touch ran")
            .on(dialect, "PreToolUse", rewrites(&fields, &to))
            .on(dialect, "PostToolUse", "true");
        let (_, running) = bench.go().await;
        assert!(!running.exists("ran"));
        assert_eq!(running.shown(), "safe");
        let call = &running.calls()[0];
        assert_eq!(call.arguments.value(), &to);
        let original = call.original.clone().unwrap();
        assert_eq!(original.value(), &json!({"command": "touch ran"}));
        let (plugin, key) = rewriter(&running);
        assert_eq!(plugin, format!("hooks-{dialect}"));
        assert!(key.ends_with(":pre_tool_use:0:0"), "{key}");
        assert_eq!(running.asked(1)[1], format!("assistant {to}"));
        let payload = &running.fired.payloads("PostToolUse")[0];
        assert_eq!(payload.value()["tool_input"], to);
        running.end().await;
    }
}

#[tokio::test]
async fn a_denial_beats_a_rewrite_and_no_rewrite_is_recorded() {
    for dialect in DialectId::ALL {
        let rewrite = rewrites(&allow(), &json!({"command": "touch other"}));
        let bench = Bench::shell("touch ran")
            .on(dialect, "PreToolUse", rewrite)
            .on(dialect, "PreToolUse", refuses("no"));
        let (_, running) = bench.go().await;
        assert_eq!(running.shown(), "Error: no");
        assert_eq!(
            ["ran", "other"].map(|name| running.exists(name)),
            [false, false]
        );
        let call = &running.calls()[0];
        assert_eq!((&call.original, call.rewritten_by.len()), (&None, 0));
        running.end().await;
    }
}

#[tokio::test]
async fn a_rewrite_that_does_not_fit_the_tool_denies_the_call_and_says_so() {
    let bench = Bench::shell("touch ran");
    let rewrite = rewrites(&allow(), &json!({"command": 7}));
    let (_, running) = bench.on(Claude, "PreToolUse", rewrite).go().await;
    let shown = running.shown();
    assert!(
        shown.starts_with("Error: the arguments of tool \"Bash\" as rewritten by hooks-claude")
    );
    assert!(!running.exists("ran"));
    running.end().await;

    let bench = Bench::shell("touch ran");
    let rewrite = rewrites(&allow(), &json!({"cmd": "ls"}));
    let (_, running) = bench.on(Codex, "PreToolUse", rewrite).go().await;
    let why = "Error: hook returned updatedInput without string field `command`";
    assert_eq!(
        (running.shown().as_str(), running.exists("ran")),
        (why, false)
    );
    running.end().await;
}

/// What rode beside the rewrite is not lost with it: the run ends as the hook wanted.
#[tokio::test]
async fn a_rewrite_that_does_not_fit_keeps_what_rode_beside_it() {
    let output = json!({
        "continue": false,
        "stopReason": "enough",
        "systemMessage": "look here",
        "hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": 7}},
    });
    let bench = Bench::shell("touch ran").on(Claude, "PreToolUse", crate::bench::prints(&output));
    let (outcome, running) = bench.go().await;
    assert_eq!(crate::bench::ending(&outcome), ("stopped", Some("enough")));
    assert_eq!(running.notices(), ["look here"]);
    running.end().await;
}

/// A rewritten patch is what is applied, by every tool that a patch stands for, and the log says so.
#[tokio::test]
async fn a_rewritten_patch_is_applied() {
    let patch =
        |line: &str| format!("*** Begin Patch\n*** Add File: a.txt\n+{line}\n*** End Patch\n");
    let calls = [
        ("Write", json!({"file_path": "a.txt", "content": "mine\n"})),
        ("apply_patch", json!({"command": patch("mine")})),
    ];
    for (name, call) in calls {
        let rewrite = rewrites(&allow(), &json!({"command": patch("theirs")}));
        let running = Bench::new([Play::call(name, call), Play::text("Done.")])
            .on(Codex, "PreToolUse", rewrite)
            .start();
        running.agent.tools().add(ApplyPatch).unwrap();
        running.send("go").await;
        assert_eq!(
            running.text("a.txt"),
            "theirs\n",
            "{name}: {}",
            running.shown()
        );
        assert_eq!(running.calls()[0].rewritten_by.len(), 1, "{name}");
        running.end().await;
    }
}

/// A patch that is none, or that the call cannot stand for, is refused as a whole.
#[tokio::test]
async fn a_rewritten_patch_is_refused_with_a_reason_and_the_file_stays() {
    let files = [
        "*** Begin Patch",
        "*** Delete File: a.txt",
        "*** Add File: b.txt",
        "+x",
    ];
    let cases = [
        (vec!["*** Begin Patch"], "changes no file"),
        (files.to_vec(), "what it says now is no Write"),
    ];
    for (lines, why) in cases {
        let write = Play::call("Write", json!({"file_path": "a.txt", "content": "mine\n"}));
        let patch = format!("{}\n*** End Patch\n", lines.join("\n"));
        let bench = Bench::new([write]).on(
            Codex,
            "PreToolUse",
            rewrites(&allow(), &json!({ "command": patch })),
        );
        std::fs::write(bench.project().join("a.txt"), "before").unwrap();
        let (_, running) = bench.go().await;
        assert!(running.shown().contains(why), "{}", running.shown());
        assert_eq!(running.text("a.txt"), "before");
        assert!(!running.exists("b.txt"));
        running.end().await;
    }
}

#[tokio::test]
async fn a_codex_rewrite_of_a_command_keeps_the_calls_other_arguments() {
    let call = Play::call("Bash", json!({"command": "touch ran", "timeout": 5000}));
    let rewrite = rewrites(&allow(), &json!({"command": "echo safe"}));
    let (_, running) = Bench::new([call])
        .on(Codex, "PreToolUse", rewrite)
        .go()
        .await;
    let expected = json!({"command": "echo safe", "timeout": 5000});
    assert_eq!(running.calls()[0].arguments.value(), &expected);
    running.end().await;
}

/// Measured: without an allow Codex calls it a failed hook, and the call runs as it was.
#[tokio::test]
async fn a_codex_rewrite_without_an_allow_is_a_failed_hook() {
    let rewrite = rewrites(&json!({}), &json!({"command": "echo safe"}));
    let (_, running) = Bench::new([bash("touch ran")])
        .on(Codex, "PreToolUse", rewrite)
        .go()
        .await;
    assert!(running.exists("ran"));
    assert!(running.notices()[0].contains("updatedInput without permissionDecision:allow"));
    running.end().await;
}
