//! Requests to the model, and turns that the user ends.

use seamline_harness::agent::{Pending, RequestErrorDecision};
use seamline_harness::model::ModelError;
use seamline_harness::model::scripted::Play;
use seamline_hooks::DialectId::Codex;
use seamline_seams::Reply;
use serde_json::{Value, json};

use crate::bench::{Bench, Fires, bash, refuses, soon, until};

fn field(fired: &Fires, event: &str, name: &str) -> Vec<Value> {
    let payloads = fired.payloads(event);
    payloads
        .iter()
        .map(|payload| payload.value()[name].clone())
        .collect()
}

/// Each request is told of before and after, under one id of its own; what hooks say changes nothing.
#[tokio::test]
async fn each_request_is_told_of_before_and_after() {
    let (outcome, running) = Bench::shell("echo hi")
        .on(Codex, "PreModelRequest", refuses("no"))
        .on(Codex, "PostModelRequest", "echo '{\"decision\":\"block\"}'")
        .go()
        .await;
    assert_eq!(outcome.text.as_deref(), Some("Done."));
    let (fired, _) = running.close().await;
    let ids = field(&fired, "PreModelRequest", "request_id");
    assert_eq!(ids.len(), 2);
    assert_ne!(ids[0], ids[1]);
    assert_eq!(field(&fired, "PostModelRequest", "request_id"), ids);
    assert_eq!(
        field(&fired, "PostModelRequest", "status"),
        ["completed", "completed"]
    );
    assert_eq!(
        field(&fired, "PreModelRequest", "model"),
        ["test-model", "test-model"]
    );
}

/// The hooks before a request have ended when it is made.
#[tokio::test]
async fn a_request_waits_for_its_hooks() {
    let (_, running) = Bench::new([bash("test -e before && echo seen"), Play::text("Done.")])
        .on(Codex, "PreModelRequest", "sleep 0.1; touch before")
        .go()
        .await;
    assert_eq!(running.shown(), "seen");
}

/// A request that is made again keeps its id and counts; each that failed says why. Hooks of
/// PostModelRequest run beside the turn, so those of two attempts may end in any order.
#[tokio::test]
async fn a_retry_keeps_its_id() {
    let error = ModelError {
        status: Some(500),
        kind: "server_error".to_owned(),
        message: "broken".to_owned(),
    };
    let running = Bench::new([Play::Fail(error)])
        .on(Codex, "PreModelRequest", "true")
        .on(Codex, "PostModelRequest", "true")
        .start();
    let seam = &running.agent.seams().request_error;
    seam.on(&running.scope, "again", |event, _| async move {
        Ok(Reply::new(match event.attempt {
            1 => RequestErrorDecision::Retry,
            _ => RequestErrorDecision::Fail,
        }))
    });
    running.send("go").await;
    let (fired, _) = running.close().await;
    for event in ["PreModelRequest", "PostModelRequest"] {
        let mut attempts = field(&fired, event, "attempt_number");
        attempts.sort_by_key(Value::as_u64);
        assert_eq!(attempts, [1, 2], "{event}");
        let ids = field(&fired, event, "request_id");
        assert_eq!(ids[0], ids[1]);
    }
    let errors = field(&fired, "PostModelRequest", "error");
    let mut words = errors.iter().filter_map(Value::as_str);
    assert!(words.any(|words| words.contains("broken")), "{errors:?}");
    let states = field(&fired, "PostModelRequest", "status");
    assert_eq!(states, ["failed", "failed"]);
}

/// A turn that was stopped before its request was made told nobody of one.
#[tokio::test]
async fn no_request_no_event() {
    let (_, running) = Bench::new([Play::text("Done.")])
        .on(Codex, "UserPromptSubmit", refuses("no"))
        .on(Codex, "PreModelRequest", "true")
        .on(Codex, "PostModelRequest", "true")
        .go()
        .await;
    let (fired, _) = running.close().await;
    assert_eq!(fired.payloads("PreModelRequest").len(), 0);
    assert_eq!(fired.payloads("PostModelRequest").len(), 0);
}

/// Only the user's interruption fires Interrupt, with the turn it ended; its message is shown, and the
/// end of the session waits for it.
#[tokio::test]
async fn an_interrupted_turn() {
    let says = json!({"systemMessage": "stopped here"}).to_string();
    let running = Bench::shell("touch begun; sleep 600")
        .on(Codex, "Interrupt", format!("sleep 0.1; echo '{says}'"))
        .on(Codex, "PreToolUse", "true")
        .start();
    let turn = running.agent.send("go");
    until(|| running.exists("begun")).await;
    running.agent.cancel(Pending::Keep);
    soon(turn).await;
    let (fired, notices) = running.close().await;
    assert_eq!(
        field(&fired, "Interrupt", "turn_id"),
        field(&fired, "PreToolUse", "turn_id")
    );
    assert_eq!(field(&fired, "Interrupt", "turn_id").len(), 1);
    assert_eq!(notices, ["stopped here"]);
}

/// Closing an agent is no interruption by the user.
#[tokio::test]
async fn a_closed_agent_was_not_interrupted() {
    let running = Bench::shell("touch begun; sleep 600")
        .on(Codex, "Interrupt", "true")
        .start();
    let turn = running.agent.send("go");
    until(|| running.exists("begun")).await;
    let (fired, _) = running.close().await;
    soon(turn).await;
    assert_eq!(fired.payloads("Interrupt").len(), 0);
}
