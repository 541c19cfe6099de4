//! Requests: failures, retries, running out of tokens, and who chooses the model.

use seamline_harness::agent::{AgentEvent, RequestErrorDecision, RequestSettings};
use seamline_harness::model::scripted::{Play, Say, ScriptBlock};
use seamline_harness::model::{ModelError, StopReason};
use seamline_harness::session::Event;
use seamline_harness::session::event::TurnEndReason;

use crate::bench::{Bench, context, probe, soon};

fn cut(text: &str) -> Play {
    let blocks = match text {
        "" => Vec::new(),
        text => vec![ScriptBlock::Text(text.to_owned())],
    };
    Play::Say(Say {
        blocks,
        stop: Some(StopReason::MaxTokens),
        ..Say::default()
    })
}

fn overloaded() -> Play {
    Play::Fail(ModelError {
        status: Some(529),
        kind: "overloaded_error".to_owned(),
        message: "Overloaded".to_owned(),
    })
}

/// Being out of tokens sticks to the turn, also when steering keeps it going, and not to the next
/// one.
#[tokio::test]
async fn out_of_tokens_sticks_to_the_turn() {
    let bench = Bench::new([cut("half"), Play::text("whole"), Play::text("fine")]);
    let agent = bench.agent();
    let handle = agent.handle();
    bench.seams.events.on(&bench.scope, "steer", move |event| {
        if matches!(event, AgentEvent::Text { text } if text == "half") {
            handle.steer("shorter");
        }
    });
    let first = soon(agent.send("go")).await;
    assert_eq!(
        (first.end, first.text.as_deref(), first.requests),
        (TurnEndReason::MaxTokens, Some("whole"), 2)
    );
    assert_eq!(
        bench.asked(1),
        ["user go", "assistant half", "user shorter"]
    );
    assert_eq!(
        soon(agent.send("again")).await.end,
        TurnEndReason::Completed
    );
}

/// A message that is cut off before it says anything is still a message of the conversation.
#[tokio::test]
async fn out_of_tokens_without_a_word() {
    let bench = Bench::new([cut(""), Play::text("fine")]);
    let agent = bench.agent();
    assert_eq!(soon(agent.send("go")).await.end, TurnEndReason::MaxTokens);
    soon(agent.send("again")).await;
    assert_eq!(bench.asked(1), ["user go", "assistant ", "user again"]);
}

/// A listener of the failure that itself fails leaves the turn ended, and the next one alone.
#[tokio::test]
async fn a_failing_recovery_is_terminal() {
    let bench = Bench::new([overloaded(), Play::text("fine")]);
    bench
        .seams
        .request_error
        .on(&bench.scope, "recovery", |_, _| async {
            Err("recovery is broken".into())
        });
    let agent = bench.agent();
    let outcome = soon(agent.send("go")).await;
    let TurnEndReason::Error { message } = outcome.end else {
        panic!("no error")
    };
    assert!(message.contains("recovery is broken"), "{message}");
    assert_eq!(outcome.requests, 1, "it is not made again");
    assert_eq!(soon(agent.send("again")).await.turn.unwrap().0, 2);
}

/// A listener that fails before the request is made is no failure of the request: nobody is asked
/// whether to make it again.
#[tokio::test]
async fn a_failing_request_policy_is_not_a_failed_request() {
    let bench = Bench::new([Play::text("never")]);
    bench
        .seams
        .request
        .on(&bench.scope, "policy", |_, _| async { Err("bug".into()) });
    let seen = bench.seen.clone();
    bench
        .seams
        .request_error
        .on(&bench.scope, "recovery", move |_, _| {
            seen.note("asked");
            async { Ok(RequestErrorDecision::Retry.into()) }
        });
    let outcome = soon(bench.agent().send("go")).await;
    assert!(matches!(outcome.end, TurnEndReason::Error { .. }));
    assert!(bench.seen.all().is_empty());
    assert!(bench.model.requests().is_empty());
    let log = bench.log();
    assert_eq!(log[log.len() - 2..], ["step/end", "turn/end error"]);
}

/// Without a model's name the turn ends with an error that says what to do, unless a listener
/// chooses one; the choice is in the log and in the facts of no other turn.
#[tokio::test]
async fn somebody_has_to_choose_a_model() {
    let bench = Bench::new([Play::text("fine")]);
    let agent = bench.builder().model_name("").build();
    let outcome = soon(agent.send("go")).await;
    let TurnEndReason::Error { message } = outcome.end else {
        panic!("no error")
    };
    assert!(message.contains("no model is chosen"), "{message}");
    bench
        .seams
        .request
        .on(&bench.scope, "chooser", |_, next| async {
            Ok(next.run().await?.map(|settings| RequestSettings {
                model: "chosen".to_owned(),
                ..settings
            }))
        });
    assert_eq!(
        soon(agent.send("again")).await.end,
        TurnEndReason::Completed
    );
    assert_eq!(bench.model.requests()[0].model, "chosen");
    let logged = bench.session.entries().iter().any(
        |entry| matches!(&entry.event, Event::RequestHeader(header) if header.model == "chosen"),
    );
    assert!(logged);
}

/// Observers that panic, at any event, change nothing but the list of faults.
#[tokio::test]
async fn observers_that_panic() {
    let (name, input) = probe("one");
    let bench = Bench::new([Play::call(name, input), Play::text("done")]);
    bench
        .tool_seams
        .post
        .on(&bench.scope, "context", |_, next| async {
            Ok(next.run().await?.with_context(context("more")))
        });
    bench
        .seams
        .events
        .on(&bench.scope, "broken", |_| panic!("observer bug"));
    bench.watch();
    let agent = bench.agent();
    assert_eq!(soon(agent.send("go")).await.end, TurnEndReason::Completed);
    assert_eq!(soon(agent.send("on")).await.turn.unwrap().0, 2);
    assert!(bench.seen.all().contains(&"text done".to_owned()));
    assert!(!bench.faults.take().is_empty());
}

/// Steps count from one in each turn, the facts of every moment say which one it is, and the
/// prompt is judged before the first.
#[tokio::test]
async fn moments_know_where_they_are() {
    let (name, input) = probe("one");
    let bench = Bench::new([Play::call(name, input), Play::text("done")]);
    let at = |facts: &seamline_harness::Facts| {
        let turn = facts.turn.unwrap();
        format!("{}.{}", turn.number, turn.step)
    };
    let seen = bench.seen.clone();
    bench
        .seams
        .prompt
        .on(&bench.scope, "p", move |event, next| {
            seen.note(format!("prompt {}", at(&event.facts)));
            async { Ok(next.run().await?) }
        });
    let seen = bench.seen.clone();
    bench
        .seams
        .request
        .on(&bench.scope, "r", move |event, next| {
            seen.note(format!("request {}", at(&event.facts)));
            async { Ok(next.run().await?) }
        });
    let seen = bench.seen.clone();
    bench
        .tool_seams
        .pre
        .on(&bench.scope, "t", move |proposal, next| {
            seen.note(format!("call {}", at(proposal.facts())));
            async { Ok(next.run().await?) }
        });
    let agent = bench.agent();
    soon(agent.send("go")).await;
    soon(agent.send("@@none on")).await;
    let seen = bench.seen.all();
    let seen: Vec<&String> = seen.iter().filter(|it| !it.ends_with("one")).collect();
    assert_eq!(
        seen,
        [
            "prompt 1.0",
            "request 1.1",
            "call 1.1",
            "request 1.2",
            "prompt 2.0",
            "request 2.1"
        ]
    );
}
