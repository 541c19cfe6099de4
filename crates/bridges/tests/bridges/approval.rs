//! Asking: with nobody there, and with a PermissionRequest hook that answers.

use seamline_harness::model::scripted::Play;
use seamline_harness::permission::Mode;
use seamline_hooks::DialectId::{self, Claude};
use serde_json::{Value, json};

use crate::bench::{Bench, answers, bash, refuses};

fn decides(decision: &Value) -> String {
    answers("PermissionRequest", json!({ "decision": decision }))
}

#[tokio::test]
async fn a_hook_that_asks_with_nobody_there_denies_with_its_reason() {
    let ask = json!({"permissionDecision": "ask", "permissionDecisionReason": "are you sure"});
    let bench = Bench::shell("touch ran").on(Claude, "PreToolUse", answers("PreToolUse", ask));
    let (_, running) = bench.go().await;
    assert_eq!(
        (running.shown().as_str(), running.exists("ran")),
        ("Error: are you sure", false)
    );
    assert!(!running.shown().contains("rejected"), "nobody rejected it");
    assert!(running.notices()[0].contains("nobody to ask"));
    running.end().await;
}

#[tokio::test]
async fn asking_without_a_reason_says_that_there_is_no_channel() {
    let ask = answers("PreToolUse", json!({"permissionDecision": "ask"}));
    let (_, running) = Bench::shell("touch ran")
        .on(Claude, "PreToolUse", ask)
        .go()
        .await;
    assert!(running.shown().contains("no approval channel is available"));
    assert!(!running.exists("ran"));
    running.end().await;
}

#[tokio::test]
async fn a_permission_hook_allows_what_the_mode_would_ask() {
    for dialect in DialectId::ALL {
        let allow = decides(&json!({"behavior": "allow"}));
        let bench = Bench::shell("touch ran").mode(Mode::Default);
        let (_, running) = bench.on(dialect, "PermissionRequest", allow).go().await;
        assert!(running.exists("ran"), "{dialect}");
        running.end().await;
    }
}

#[tokio::test]
async fn a_permission_hook_denies_with_its_message() {
    for dialect in DialectId::ALL {
        let deny = decides(&json!({"behavior": "deny", "message": "not here"}));
        let bench = Bench::shell("touch ran").mode(Mode::Default);
        let (_, running) = bench.on(dialect, "PermissionRequest", deny).go().await;
        assert_eq!(
            (running.shown().as_str(), running.exists("ran")),
            ("Error: not here", false)
        );
        running.end().await;
    }
}

#[tokio::test]
async fn a_permission_hook_may_amend_the_input_and_is_recorded_as_the_one_who_did() {
    let decision = json!({"behavior": "allow", "updatedInput": {"command": "echo safe"}});
    let bench = Bench::shell("touch ran").mode(Mode::Default);
    let (_, running) = bench
        .on(Claude, "PermissionRequest", decides(&decision))
        .go()
        .await;
    assert_eq!(
        (running.shown().as_str(), running.exists("ran")),
        ("safe", false)
    );
    let by = running.calls()[0].rewritten_by[0].to_string();
    assert_eq!(by, "the approval of hooks-claude");
    running.end().await;
}

#[tokio::test]
async fn a_silent_permission_hook_answers_nothing_so_the_call_is_denied() {
    for dialect in DialectId::ALL {
        let bench = Bench::shell("touch ran").mode(Mode::Default);
        let (_, running) = bench.on(dialect, "PermissionRequest", "true").go().await;
        assert!(running.shown().contains("no approval channel"), "{dialect}");
        running.end().await;
    }
}

#[tokio::test]
async fn a_permission_hook_is_not_asked_what_the_mode_allows() {
    for dialect in DialectId::ALL {
        let bench = Bench::shell("touch ran").on(dialect, "PermissionRequest", refuses("no"));
        let (_, running) = bench.go().await;
        assert!(running.exists("ran"));
        assert_eq!(running.fired.count(), 0, "{dialect}");
        running.end().await;
    }
}

/// Measured on Claude Code: `allow` of PreToolUse spares the question.
#[tokio::test]
async fn an_allow_of_pre_tool_use_spares_the_question() {
    let allow = answers("PreToolUse", json!({"permissionDecision": "allow"}));
    let bench = Bench::shell("touch ran")
        .mode(Mode::Default)
        .on(Claude, "PreToolUse", allow)
        .on(Claude, "PermissionRequest", refuses("no"));
    let (_, running) = bench.go().await;
    assert!(running.exists("ran"));
    running.end().await;
}

/// Measured on Claude Code: what a hook wants a person to be asked is not asked of another hook.
#[tokio::test]
async fn a_permission_hook_is_not_asked_for_a_person_who_is_not_there() {
    let ask = json!({"permissionDecision": "ask", "permissionDecisionReason": "a person"});
    let bench = Bench::new([Play::call("Bash", json!({"command": "touch ran"}))])
        .on(Claude, "PreToolUse", answers("PreToolUse", ask))
        .on(
            Claude,
            "PermissionRequest",
            decides(&json!({"behavior": "allow"})),
        );
    let (_, running) = bench.go().await;
    assert_eq!(
        (running.shown().as_str(), running.exists("ran")),
        ("Error: a person", false)
    );
    running.end().await;
}

/// What a hook changes with its yes holds for the rest of the session; what cannot be done is said, and
/// where it would have restricted, the call does not run.
#[tokio::test]
async fn updates_of_a_permission_hook_are_carried_out_or_refuse() {
    let update =
        |update: Value| decides(&json!({"behavior": "allow", "updatedPermissions": [update]}));
    let once = |output: String| format!("[ -e asked ] && exit 0; touch asked; {output}");

    let tool = json!({"type": "addRules", "behavior": "allow", "rules": [{"toolName": "Bash"}],
        "destination": "session"});
    let plays = [bash("touch one"), bash("touch two"), Play::text("done")];
    let bench = Bench::new(plays).mode(Mode::Default);
    let bench = bench.on(Claude, "PermissionRequest", once(update(tool)));
    let (_, running) = bench.go().await;
    assert!(running.exists("one") && running.exists("two"));
    running.end().await;

    let rule = json!({"type": "addRules", "behavior": "allow",
        "rules": [{"toolName": "Bash", "ruleContent": "touch *"}]});
    let bench = Bench::shell("touch ran").mode(Mode::Default);
    let (_, running) = bench
        .on(Claude, "PermissionRequest", update(rule))
        .go()
        .await;
    assert!(running.exists("ran"));
    assert!(running.notices()[0].contains("Bash(touch *) is not kept"));
    running.end().await;

    let deny = json!({"type": "addRules", "behavior": "deny", "rules": [{"toolName": "Write"}]});
    let bench = Bench::shell("touch ran").mode(Mode::Default);
    let (_, running) = bench
        .on(Claude, "PermissionRequest", update(deny))
        .go()
        .await;
    assert!(!running.exists("ran"));
    assert!(running.shown().contains("cannot be carried out here"));
    running.end().await;
}
