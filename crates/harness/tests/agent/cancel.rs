//! Cancelling: what runs is drained, every call has a result, every turn is closed.

use futures_util::StreamExt;
use seamline_harness::agent::Pending;
use seamline_harness::model::scripted::{Play, ScriptBlock};
use seamline_harness::model::{Chunk, ChunkStream, Request, Signal};
use seamline_harness::session::Event;
use seamline_harness::session::event::{AbortCause, TurnEndReason};
use seamline_harness::testing::FnModel;
use serde_json::json;

use crate::bench::{Bench, aborted, context, ending, soon, until};

fn safe(say: &str) -> ScriptBlock {
    ScriptBlock::call("Probe", json!({"say": say, "safe": true}))
}

/// A running call is awaited and counts as aborted; those never started get a result too; text
/// that waited is kept.
#[tokio::test]
async fn in_the_middle_of_a_batch() {
    let calls = [
        safe("a"),
        safe("hang"),
        ScriptBlock::call("Probe", json!({"say": "never"})),
    ];
    let bench = Bench::new([Play::blocks(calls)]);
    bench
        .tool_seams
        .pre
        .on(&bench.scope, "pre", |_, next| async {
            Ok(next.run().await?.with_context(context("kept")))
        });
    let agent = bench.agent();
    let sent = agent.send("go");
    for note in ["end a", "start hang"] {
        until(|| bench.seen.all().contains(&note.to_owned())).await;
    }
    agent.cancel(Pending::Keep);
    assert_eq!(soon(sent).await.end, aborted(AbortCause::User));
    let log = bench.log();
    assert_eq!(
        log[log.len() - 8..],
        [
            "tool/result a",
            "tool/result Error: tool call aborted",
            "tool/call {\"say\":\"never\"}",
            "tool/result Error: tool call aborted before dispatch",
            "context/message kept",
            "context/message kept",
            "step/end",
            "turn/end aborted",
        ]
    );
    assert_eq!(bench.model.requests().len(), 1);
}

/// Prompts that wait are dropped, or run, as the caller says; those who wait always hear.
#[tokio::test]
async fn what_waits() {
    for (pending, later) in [(Pending::Drop, "aborted"), (Pending::Keep, "completed")] {
        let bench = Bench::new([Play::blocks([safe("hang")]), Play::text("later")]);
        let agent = bench.agent();
        let (first, second) = (agent.send("go"), agent.send("@@none later"));
        until(|| bench.seen.all().contains(&"start hang".to_owned())).await;
        agent.cancel(pending);
        assert_eq!(soon(first).await.end, aborted(AbortCause::User));
        let second = soon(second).await;
        assert_eq!(
            (ending(&second.end).as_str(), second.turn.is_some()),
            (later, later != "aborted")
        );
        let third = soon(agent.send("and now")).await;
        assert_eq!(
            third.end,
            TurnEndReason::Completed,
            "a fresh turn has a fresh signal"
        );
    }
}

/// Cancelling with nothing to cancel does nothing, and arms nothing.
#[tokio::test]
async fn nothing_to_cancel() {
    let bench = Bench::new([Play::text("ok")]);
    let agent = bench.agent();
    agent.cancel(Pending::Drop);
    assert_eq!(soon(agent.send("go")).await.end, TurnEndReason::Completed);
}

fn writes_then_hangs(chunks: Vec<Chunk>) -> impl Fn(Request, Signal) -> ChunkStream + Clone {
    move |_, _| {
        let chunks = futures_util::stream::iter(chunks.clone()).map(Ok);
        Box::pin(chunks.chain(futures_util::stream::pending()))
    }
}

/// While the model writes: its text so far stands, marked as interrupted; its calls do not.
#[tokio::test]
async fn in_the_middle_of_an_answer() {
    let call = Chunk::ToolCall {
        id: "c".to_owned(),
        name: "Probe".to_owned(),
        arguments: "{}".to_owned(),
    };
    let cases = [
        (
            vec![Chunk::Text("half a".to_owned()), call.clone()],
            Some("half a"),
        ),
        (vec![call], None),
        (vec![], None),
    ];
    for (chunks, kept) in cases {
        let heard = chunks.len();
        let bench = Bench::with_model(FnModel(writes_then_hangs(chunks)));
        bench.watch();
        let agent = bench.agent();
        let sent = agent.send("go");
        if kept.is_some() {
            until(|| bench.seen.all().contains(&"delta half a".to_owned())).await;
        }
        until(|| bench.model.requests().len() == 1).await;
        agent.cancel(Pending::Drop);
        assert_eq!(
            soon(sent).await.end,
            aborted(AbortCause::User),
            "after {heard} chunks"
        );
        let entries = bench.session.entries();
        let said = entries.iter().find_map(|entry| match &entry.event {
            Event::AssistantMessage(message) => Some(message.clone()),
            _ => None,
        });
        assert_eq!(
            said.as_ref().map(|message| message.interrupted),
            kept.map(|_| true)
        );
        assert_eq!(
            said.map_or(0, |message| message.blocks.len()),
            kept.iter().len()
        );
    }
}

/// While the start contributors are heard: their wait ends, the prompt is dropped, and the next
/// one runs.
#[tokio::test]
async fn while_the_session_starts() {
    let bench = Bench::new([Play::text("ok")]);
    let seen = bench.seen.clone();
    bench
        .seams
        .session_start
        .on(&bench.scope, "slow", move |event| {
            seen.note("starting");
            async move {
                event.signal.cancelled().await;
                std::future::pending().await
            }
        });
    let agent = bench
        .builder()
        .session_start_deadline(crate::bench::DEADLINE * 2)
        .build();
    let sent = agent.send("go");
    until(|| bench.seen.all().contains(&"starting".to_owned())).await;
    agent.cancel(Pending::Keep);
    let dropped = soon(sent).await;
    assert_eq!(
        (dropped.turn, dropped.end),
        (None, aborted(AbortCause::User))
    );
    let next = soon(agent.send("again")).await;
    assert_eq!(
        (next.turn.unwrap().0, next.end),
        (1, TurnEndReason::Completed)
    );
    assert_eq!(bench.asked(0), ["user again"]);
}

/// While a prompt is judged: the policy is awaited, the prompt does not enter.
#[tokio::test]
async fn while_a_prompt_is_judged() {
    let bench = Bench::new([Play::text("ok")]);
    let seen = bench.seen.clone();
    bench
        .seams
        .prompt
        .on(&bench.scope, "slow", move |event, next| {
            let seen = seen.clone();
            async move {
                seen.note("judging");
                event.signal.cancelled().await;
                seen.note("reaped");
                Ok(next.run().await?)
            }
        });
    let agent = bench.agent();
    let sent = agent.send("go");
    until(|| bench.seen.all().contains(&"judging".to_owned())).await;
    agent.cancel(Pending::Drop);
    assert_eq!(soon(sent).await.end, aborted(AbortCause::User));
    assert_eq!(
        bench.seen.all(),
        ["judging", "reaped"],
        "awaited before the turn is over"
    );
    assert!(
        !bench
            .log()
            .iter()
            .any(|event| event.starts_with("user/message"))
    );
    assert!(bench.model.requests().is_empty());
}

/// While a policy decides whether to stop: aborted, and no further step.
#[tokio::test]
async fn while_the_turn_ends() {
    let bench = Bench::new([Play::text("one"), Play::text("two")]);
    let agent = bench.agent();
    let handle = agent.handle();
    bench.seams.continuation.on(&bench.scope, "s", move |_, _| {
        handle.cancel(Pending::Drop);
        async {
            Ok(seamline_harness::agent::ContinuationDecision::Continue { reasons: vec![] }.into())
        }
    });
    assert_eq!(soon(agent.send("go")).await.end, aborted(AbortCause::User));
    assert_eq!(bench.model.requests().len(), 1);
}

/// An agent that is dropped cancels its turn; whoever waits hears.
#[tokio::test]
async fn dropping_the_agent() {
    let bench = Bench::new([Play::blocks([safe("hang")])]);
    let agent = bench.agent();
    let handle = agent.handle();
    let sent = handle.send("go");
    until(|| bench.seen.all().contains(&"start hang".to_owned())).await;
    drop(agent);
    assert_eq!(soon(sent).await.end, aborted(AbortCause::Closed));
    assert_eq!(
        soon(handle.send("more")).await.turn,
        None,
        "nothing is taken any more"
    );
}
