//! Why a turn was cancelled, when it may be, and what waits meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::StreamExt;
use seamline_harness::agent::{AgentEvent, Pending, RequestErrorDecision};
use seamline_harness::model::scripted::{Play, ScriptBlock};
use seamline_harness::model::{Chunk, ChunkStream, ModelError, Request, Signal};
use seamline_harness::session::Event;
use seamline_harness::session::event::{AbortCause, TurnEndReason};
use seamline_harness::testing::FnModel;

use crate::bench::{Bench, aborted, context, ending, probe, soon, until};

fn call(say: &str) -> Play {
    let (name, input) = probe(say);
    Play::call(name, input)
}

fn kept(bench: &Bench) -> Vec<TurnEndReason> {
    bench
        .session
        .entries()
        .iter()
        .filter_map(|entry| match &entry.event {
            Event::TurnEnd(end) => Some(end.reason.clone()),
            _ => None,
        })
        .collect()
}

/// The first cause is the one that counts, whatever comes after it, and the log keeps it.
#[tokio::test]
async fn the_first_cause_counts() {
    for first in [AbortCause::User, AbortCause::Parent, AbortCause::Closed] {
        let bench = Bench::new([call("hang")]);
        let agent = bench.agent();
        let handle = agent.handle();
        bench
            .tool_seams
            .dispatch
            .on(&bench.scope, "slow", move |_, signal, inner| {
                let handle = handle.clone();
                async move {
                    let outcome = inner.run(signal).await;
                    handle.cancel_by(AbortCause::Parent, Pending::Drop);
                    handle.cancel(Pending::Drop);
                    Ok(outcome)
                }
            });
        let sent = agent.send("go");
        until(|| bench.seen.all().contains(&"start hang".to_owned())).await;
        if first != AbortCause::Closed {
            agent.cancel_by(first, Pending::Drop);
        }
        soon(agent.close("other")).await.unwrap();
        assert_eq!(soon(sent).await.end, aborted(first));
        assert_eq!(kept(&bench), [aborted(first)]);
    }
}

/// Whoever is told of anything may cancel there: no further request, and the log is closed behind
/// it.
#[tokio::test]
async fn from_any_listener() {
    for moment in ["turn", "prompt", "request", "text", "tool", "context"] {
        let bench = Bench::new([
            Play::blocks([
                ScriptBlock::Text("hm".to_owned()),
                ScriptBlock::call("Probe", serde_json::json!({"say": "one"})),
            ]),
            Play::text("never"),
        ]);
        let agent = bench.agent();
        let handle = agent.handle();
        bench
            .tool_seams
            .post
            .on(&bench.scope, "context", |_, next| async {
                Ok(next.run().await?.with_context(context("more")))
            });
        bench.seams.events.on(&bench.scope, "cancel", {
            let handle = handle.clone();
            move |event| {
                let now = match event {
                    AgentEvent::TurnStarted { .. } => "turn",
                    AgentEvent::PromptEntered { .. } => "prompt",
                    AgentEvent::Text { .. } => "text",
                    AgentEvent::ToolStarted(_) => "tool",
                    AgentEvent::Context { .. } => "context",
                    _ => return,
                };
                if now == moment {
                    handle.cancel(Pending::Drop);
                }
            }
        });
        bench
            .seams
            .request
            .on(&bench.scope, "cancel", move |_, next| {
                if moment == "request" {
                    handle.cancel(Pending::Drop);
                }
                async { Ok(next.run().await?) }
            });
        let outcome = soon(agent.send("go")).await;
        assert_eq!(outcome.end, aborted(AbortCause::User), "{moment}");
        let before = ["turn", "prompt", "request"].contains(&moment);
        assert_eq!(
            bench.model.requests().len(),
            usize::from(!before),
            "{moment}"
        );
        assert_eq!(kept(&bench).len(), 1, "{moment}");
        let starts = |kind: &str| bench.log().iter().filter(|e| *e == kind).count();
        assert_eq!(starts("step/start"), starts("step/end"), "{moment}");
        let results = bench
            .log()
            .iter()
            .filter(|e| e.starts_with("tool/result"))
            .count();
        assert_eq!(
            results,
            usize::from(!before),
            "{moment}: every call is answered"
        );
    }
}

/// Prompts that are parked wait until somebody sends something, and run before it.
#[tokio::test]
async fn parked_prompts_wait() {
    let bench = Bench::new([call("hang")]);
    let agent = bench.agent();
    let (first, second) = (agent.send("go"), agent.send("@@none parked"));
    until(|| bench.seen.all().contains(&"start hang".to_owned())).await;
    agent.cancel(Pending::Park);
    assert_eq!(soon(first).await.end, aborted(AbortCause::User));
    soon(agent.idle()).await;
    assert_eq!(bench.model.requests().len(), 1, "idle, with one that waits");
    let third = agent.send("@@none next");
    assert_eq!(soon(second).await.turn.unwrap().0, 2);
    assert_eq!(soon(third).await.turn.unwrap().0, 3);
}

/// What is sent or steered between the cancelling and the end of the turn runs after it, in
/// order, parked prompts first; cancelling again drops it.
#[tokio::test]
async fn sent_while_a_turn_is_being_cancelled() {
    for again in [false, true] {
        let bench = Bench::new([call("hang")]);
        let agent = bench.agent();
        let handle = agent.handle();
        bench
            .tool_seams
            .dispatch
            .on(&bench.scope, "slow", move |_, signal, inner| {
                let handle = handle.clone();
                async move {
                    let outcome = inner.run(signal).await;
                    handle.steer("@@none steered");
                    drop(handle.send("@@none sent"));
                    if again {
                        handle.cancel(Pending::Drop);
                    }
                    Ok(outcome)
                }
            });
        let (first, second) = (agent.send("go"), agent.send("@@none parked"));
        until(|| bench.seen.all().contains(&"start hang".to_owned())).await;
        agent.cancel(Pending::Park);
        soon(first).await;
        let second = soon(second).await;
        soon(agent.idle()).await;
        let last: Vec<String> = bench
            .model
            .requests()
            .iter()
            .skip(1)
            .map(|request| crate::bench::shapes(request).pop().unwrap())
            .collect();
        if again {
            assert_eq!(second.turn, None);
            assert!(last.is_empty(), "{last:?}");
        } else {
            let expected = ["steered", "parked", "sent"].map(|it| format!("user @@none {it}"));
            assert_eq!(last, expected);
        }
    }
}

/// Something may be done between two turns: what is sent meanwhile waits for it, cancelling
/// reaches it, and a closed agent never begins it.
#[tokio::test]
async fn between_two_turns() {
    let bench = Bench::new([Play::text("one"), Play::text("two")]);
    let agent = bench.agent();
    drop(agent.send("go"));
    let handle = agent.handle();
    let session = bench.session.clone();
    let done = agent.between_turns(|signal| async move {
        assert!(
            session
                .entries()
                .iter()
                .any(|e| e.event.kind() == "turn/end")
        );
        let sent = handle.send("more");
        handle.steer("and this");
        handle.inject(context("noted"));
        handle.cancel(Pending::Keep);
        soon(signal.cancelled()).await;
        let turns = || {
            let entries = session.entries();
            entries
                .iter()
                .filter(|e| e.event.kind() == "turn/start")
                .count()
        };
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        assert_eq!(turns(), 1, "nothing begins meanwhile");
        vec![sent]
    });
    let sent = soon(done).await.unwrap().remove(0);
    assert_eq!(soon(sent).await.end, TurnEndReason::Completed);
    soon(agent.idle()).await;
    assert_eq!(bench.model.requests().len(), 3);
    assert_eq!(bench.asked(1)[2..], ["context noted", "user and this"]);
    let handle = agent.handle();
    soon(agent.close("other")).await.unwrap();
    assert!(soon(handle.between_turns(|_| async {})).await.is_none());
    soon(handle.idle()).await;
}

/// Cancelling beats a retry that was already decided, and of the failed attempt nothing is kept.
#[tokio::test]
async fn cancelling_beats_a_retry() {
    let attempts = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&attempts);
    let model = move |_: Request, _: Signal| {
        count.fetch_add(1, Ordering::SeqCst);
        let error = ModelError {
            status: Some(529),
            kind: "overloaded_error".to_owned(),
            message: "Overloaded".to_owned(),
        };
        let chunks = [Ok(Chunk::Text("half".to_owned())), Err(error)];
        Box::pin(futures_util::stream::iter(chunks)) as ChunkStream
    };
    let bench = Bench::with_model(FnModel(model));
    let agent = bench.agent();
    let handle = agent.handle();
    bench
        .seams
        .request_error
        .on(&bench.scope, "retry", move |_, _| {
            handle.cancel(Pending::Drop);
            async { Ok(RequestErrorDecision::Retry.into()) }
        });
    let seen = bench.seen.clone();
    bench
        .seams
        .request
        .on(&bench.scope, "asked", move |_, next| {
            seen.note("asked");
            async { Ok(next.run().await?) }
        });
    let outcome = soon(agent.send("go")).await;
    assert_eq!(outcome.end, aborted(AbortCause::User));
    assert_eq!(attempts.load(Ordering::SeqCst), 1);
    assert_eq!(
        bench.seen.all(),
        ["asked"],
        "nobody is asked about a request that is not made"
    );
    assert!(!bench.log().contains(&"assistant/message".to_owned()));
    assert_eq!(ending(&outcome.end), "aborted");
}

/// A call whose policy is under way when the turn is cancelled does not run, nor do those after it.
#[tokio::test]
async fn while_a_call_is_judged() {
    let calls = ["a", "b", "c"]
        .map(|say| ScriptBlock::call("Probe", serde_json::json!({"say": say, "safe": true})));
    let bench = Bench::new([Play::blocks(calls)]);
    let agent = bench.agent();
    let handle = agent.handle();
    bench.tool_seams.pre.on(&bench.scope, "pre", {
        let seen = bench.seen.clone();
        move |proposal, next| {
            let say = proposal.arguments().value()["say"]
                .as_str()
                .unwrap()
                .to_owned();
            seen.note(format!("pre {say}"));
            let handle = handle.clone();
            async move {
                if say == "b" {
                    handle.cancel(Pending::Drop);
                }
                Ok(next.run().await?)
            }
        }
    });
    soon(agent.send("go")).await;
    let seen = bench.seen.all();
    assert!(!seen.contains(&"pre c".to_owned()), "{seen:?}");
    assert!(!seen.contains(&"start b".to_owned()), "{seen:?}");
    let log = bench.log();
    let calls = log.iter().filter(|e| e.starts_with("tool/call")).count();
    let results: Vec<&String> = log
        .iter()
        .filter(|e| e.starts_with("tool/result"))
        .collect();
    assert_eq!((calls, results.len()), (3, 3), "{log:?}");
    assert!(
        results[1..]
            .iter()
            .all(|it| it.ends_with("aborted before dispatch")),
        "{log:?}"
    );
}

/// A log that refuses a result ends the turn with that error: what was started is awaited, and no
/// result is made up.
#[tokio::test]
async fn the_log_fails_within_a_batch() {
    let call =
        |say: &str| ScriptBlock::call("Probe", serde_json::json!({"say": say, "safe": true}));
    let bench = Bench::new([Play::blocks([call("a"), call("b")])]);
    let agent = bench.agent();
    let session = bench.session.clone();
    let (seen, meet) = (bench.seen.clone(), Arc::new(tokio::sync::Barrier::new(2)));
    bench
        .tool_seams
        .dispatch
        .on(&bench.scope, "work", move |call, signal, inner| {
            let (session, seen, meet) = (session.clone(), seen.clone(), Arc::clone(&meet));
            async move {
                meet.wait().await;
                session.close();
                if call.arguments().value()["say"] == "b" {
                    for _ in 0..50 {
                        tokio::task::yield_now().await;
                    }
                }
                let outcome = inner.run(signal).await;
                seen.note(format!("drained {}", call.arguments().value()["say"]));
                Ok(outcome)
            }
        });
    let outcome = soon(agent.send("go")).await;
    assert_eq!(ending(&outcome.end), "error");
    assert!(bench.seen.all().contains(&"drained \"b\"".to_owned()));
    assert!(
        !bench
            .log()
            .iter()
            .any(|event| event.starts_with("tool/result"))
    );
    let next = soon(agent.send("more")).await;
    assert_eq!(
        (ending(&next.end).as_str(), next.turn),
        ("error", None),
        "the sender hears"
    );
}

/// Text the model was writing when the turn was cancelled stands; what was steered meanwhile is
/// dropped with the rest.
#[tokio::test]
async fn steering_goes_with_the_turn() {
    let model = |_: Request, _: Signal| {
        let chunks = futures_util::stream::iter([Ok(Chunk::Text("half".to_owned()))]);
        Box::pin(chunks.chain(futures_util::stream::pending())) as ChunkStream
    };
    let bench = Bench::with_model(FnModel(model));
    bench.watch();
    let agent = bench.agent();
    let sent = agent.send("go");
    until(|| bench.seen.all().contains(&"delta half".to_owned())).await;
    agent.steer("left");
    agent.cancel(Pending::Drop);
    soon(sent).await;
    soon(agent.idle()).await;
    assert_eq!(bench.model.requests().len(), 1);
    assert!(bench.log().contains(&"assistant/message".to_owned()));
}

/// A log of before there were causes is read as if the user had cancelled.
#[test]
fn aborted_without_a_cause() {
    let read: TurnEndReason = serde_json::from_str(r#"{"kind":"aborted"}"#).unwrap();
    assert_eq!(read, aborted(AbortCause::User));
    let written = serde_json::to_value(aborted(AbortCause::Closed)).unwrap();
    assert_eq!(
        written,
        serde_json::json!({"kind": "aborted", "cause": "closed"})
    );
}
