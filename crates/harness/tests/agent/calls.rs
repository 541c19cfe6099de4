//! The calls of one message: overlap, barriers, order, and what the log keeps of them.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use seamline_harness::content::Content;
use seamline_harness::json::Json;
use seamline_harness::model::scripted::{Play, ScriptBlock};
use seamline_harness::session::Event;
use seamline_harness::session::event::TurnEndReason;
use seamline_harness::tools::{
    PostDecision, PreDecision, ProposeDecision, Tool, ToolContext, ToolError,
};
use seamline_seams::{Reply, When};
use serde_json::{Value, json};
use tokio::sync::Barrier;

use crate::bench::{Bench, context, halt, probe, soon, speaker, stopped};

fn safe(say: &str) -> ScriptBlock {
    ScriptBlock::call("Probe", json!({"say": say, "safe": true}))
}

fn lone(say: &str) -> ScriptBlock {
    let (name, input) = probe(say);
    ScriptBlock::call(name, input)
}

fn batch(calls: impl IntoIterator<Item = ScriptBlock>) -> Bench {
    Bench::new([Play::blocks(calls), Play::text("done")])
}

/// Makes the work of every call named in `names` wait until all of them have started.
fn meet(bench: &Bench, names: &'static [&'static str]) {
    let barrier = Arc::new(Barrier::new(names.len()));
    bench
        .tool_seams
        .dispatch
        .on(&bench.scope, "meet", move |call, signal, inner| {
            let say = call.arguments().value()["say"].as_str().unwrap().to_owned();
            let barrier = names.contains(&say.as_str()).then(|| Arc::clone(&barrier));
            async move {
                if let Some(barrier) = barrier {
                    barrier.wait().await;
                }
                Ok(inner.run(signal).await)
            }
        });
}

/// Calls that are safe to overlap all start before any ends. (They wait for each other.)
#[tokio::test]
async fn safe_calls_overlap() {
    let bench = batch(["a", "b", "c"].map(safe));
    meet(&bench, &["a", "b", "c"]);
    assert_eq!(bench.run("go").await.end, TurnEndReason::Completed);
    assert_eq!(bench.asked(1)[2..], ["result a", "result b", "result c"]);
}

/// A call that is not safe waits for those before it and holds back those after it.
#[tokio::test]
async fn an_exclusive_call_is_a_barrier() {
    let bench = batch([safe("a"), safe("b"), lone("x"), safe("c"), safe("d")]);
    meet(&bench, &["a", "b"]);
    bench.run("go").await;
    let seen = bench.seen.all();
    let at = |note: &str| seen.iter().position(|seen| seen == note).unwrap();
    assert!(
        at("end a") < at("start x") && at("end b") < at("start x"),
        "{seen:?}"
    );
    assert!(
        at("end x") < at("start c") && at("end x") < at("start d"),
        "{seen:?}"
    );
}

/// The cap holds, and a cap of one is one by one.
#[tokio::test]
async fn the_cap_holds() {
    for cap in [1, 3] {
        let bench = batch((0..8).map(|n| safe(&format!("{n}"))));
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&most);
        bench
            .tool_seams
            .dispatch
            .on(&bench.scope, "count", move |_, signal, inner| {
                let (now, most) = (Arc::clone(&now), Arc::clone(&most));
                async move {
                    most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    tokio::task::yield_now().await;
                    let outcome = inner.run(signal).await;
                    now.fetch_sub(1, Ordering::SeqCst);
                    Ok(outcome)
                }
            });
        let cap = NonZeroUsize::new(cap).unwrap();
        let agent = bench.builder().parallel_tool_calls(cap).build();
        soon(agent.send("go")).await;
        assert!(counted.load(Ordering::SeqCst) <= cap.get());
        assert_eq!(bench.seen.all().len(), 16, "every call ran");
    }
}

/// By default ten overlap, no more; whoever finishes makes room for the next, also when the first
/// of the message still works.
#[tokio::test]
async fn the_pool_is_filled_again() {
    let bench = batch((0..12).map(|n| safe(&format!("{n}"))));
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (counted, last) = (Arc::clone(&most), Arc::new(tokio::sync::Notify::new()));
    bench
        .tool_seams
        .dispatch
        .on(&bench.scope, "count", move |call, signal, inner| {
            let say = call.arguments().value()["say"].as_str().unwrap().to_owned();
            let (now, most, last) = (Arc::clone(&now), Arc::clone(&most), Arc::clone(&last));
            async move {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                match say.as_str() {
                    "0" => last.notified().await,
                    "11" => last.notify_one(),
                    _ => tokio::task::yield_now().await,
                }
                let outcome = inner.run(signal).await;
                now.fetch_sub(1, Ordering::SeqCst);
                Ok(outcome)
            }
        });
    bench.run("go").await;
    assert_eq!(counted.load(Ordering::SeqCst), 10);
    let results: Vec<String> = (0..12).map(|n| format!("result {n}")).collect();
    assert_eq!(bench.asked(1)[2..], results);
}

/// Whatever finishes first, policies see the calls and their results in model order, results are
/// committed in model order, and contexts come after all of them, in model order.
#[tokio::test]
async fn model_order() {
    let bench = batch([safe("a"), safe("b"), lone("fail c"), safe("d")]);
    bench
        .tool_seams
        .dispatch
        .on(&bench.scope, "slow a", |call, signal, inner| async move {
            if call.arguments().value()["say"] == "a" {
                for _ in 0..20 {
                    tokio::task::yield_now().await;
                }
            }
            Ok(inner.run(signal).await)
        });
    let seen = bench.seen.clone();
    bench
        .tool_seams
        .pre
        .on(&bench.scope, "pre", move |proposal, next| {
            let say = proposal.arguments().value()["say"]
                .as_str()
                .unwrap()
                .to_owned();
            seen.note(format!("pre {say}"));
            async move {
                Ok(next
                    .run()
                    .await?
                    .with_context(context(&format!("about {say}"))))
            }
        });
    let seen = bench.seen.clone();
    bench
        .tool_seams
        .post
        .on(&bench.scope, "post", move |event, next| {
            seen.note(format!("post {}", event.outcome.content().to_text()));
            async { Ok(next.run().await?) }
        });
    bench.run("go").await;
    let notes = |prefix: &str| -> Vec<String> {
        bench
            .seen
            .all()
            .into_iter()
            .filter(|note| note.starts_with(prefix))
            .collect()
    };
    assert_eq!(notes("pre"), ["pre a", "pre b", "pre fail c", "pre d"]);
    assert_eq!(
        notes("post"),
        ["post a", "post b", "post Error: fail c", "post d"]
    );
    assert_eq!(
        bench.asked(1)[2..],
        [
            "result a",
            "result b",
            "result Error: fail c",
            "result d",
            "context about a",
            "context about b",
            "context about fail c",
            "context about d",
        ]
    );
}

/// A denied call keeps its place, in the log with its denial.
#[tokio::test]
async fn denials_keep_their_place() {
    let bench = batch([safe("a"), safe("no"), safe("c")]);
    bench
        .tool_seams
        .pre
        .on(&bench.scope, "pre", |proposal, next| async move {
            if proposal.arguments().value()["say"] == "no" {
                let reason = "not that".to_owned();
                return Ok(PreDecision::Deny {
                    reason,
                    by: speaker(),
                }
                .into());
            }
            Ok(next.run().await?)
        });
    bench.run("go").await;
    assert_eq!(
        bench.asked(1)[2..],
        ["result a", "result Error: not that", "result c"]
    );
    let denied: Vec<bool> = bench
        .session
        .entries()
        .iter()
        .filter_map(|entry| match &entry.event {
            Event::ToolCall(call) => Some(call.denied.is_some()),
            _ => None,
        })
        .collect();
    assert_eq!(denied, [false, true, false]);
}

/// A rewritten call: log, history, execution and result agree on the new arguments; the log
/// keeps the model's own and who rewrote them.
#[tokio::test]
async fn rewritten_arguments_are_the_arguments() {
    let bench = batch([lone("original")]);
    bench
        .tool_seams
        .propose
        .on(&bench.scope, "rewriter", |_, _| async {
            let arguments = json!({"say": "better", "extra": 1}).into();
            Ok(Reply::new(ProposeDecision::rewrite(arguments, speaker())))
        });
    bench.run("go").await;
    assert_eq!(bench.seen.all(), ["start better", "end better"]);
    assert_eq!(
        bench.asked(1)[1..],
        [r#"assistant {"say":"better","extra":1}"#, "result better",]
    );
    let entries = bench.session.entries();
    let call = entries.iter().find_map(|entry| match &entry.event {
        Event::ToolCall(call) => Some(call.clone()),
        _ => None,
    });
    let call = call.unwrap();
    assert_eq!(call.original.unwrap().text(), r#"{"say":"original"}"#);
    assert_eq!(call.rewritten_by, [speaker().into()]);
}

/// The log keeps what kind of failure a result is, under the call's own id, whatever the model is
/// shown instead.
#[tokio::test]
async fn failures_keep_their_codes() {
    let bench = batch([
        ScriptBlock::call("Nope", json!({})).with_id("unknown"),
        ScriptBlock::call("Probe", json!({"said": 1})).with_id("invalid"),
        lone("fail").with_id("failed"),
        lone("fine").with_id("fine"),
    ]);
    bench
        .tool_seams
        .post
        .on(&bench.scope, "post", |_, next| async {
            let reply = next.run().await?;
            Ok(reply.map(|_| PostDecision::ReplaceContent("shown".into())))
        });
    bench.run("go").await;
    let codes: Vec<String> = bench
        .session
        .entries()
        .iter()
        .filter_map(|entry| match &entry.event {
            Event::ToolResult(it) => {
                let code = it.error.as_ref().map_or("-", |error| error.code.as_str());
                let shown = it.content.to_text();
                Some(format!("{} {} {code} {shown}", it.call_id, it.is_error))
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        codes,
        [
            "unknown true UNKNOWN_TOOL shown",
            "invalid true INVALID_ARGS shown",
            "failed true - shown",
            "fine false - shown",
        ]
    );
}

/// Two calls with one id are two calls.
#[tokio::test]
async fn ids_may_repeat() {
    let bench = batch(["a", "b"].map(|say| lone(say).with_id("same")));
    let outcome = bench.run("go").await;
    assert_eq!(outcome.end, TurnEndReason::Completed);
    assert_eq!(
        bench.asked(1)[1..],
        [
            r#"assistant {"say":"a"} {"say":"b"}"#,
            "result a",
            "result b",
        ]
    );
}

/// A halt now keeps the call and those after it from starting; each gets a result. A halt after
/// the batch lets all of them run.
#[tokio::test]
async fn halts_within_a_batch() {
    for (when, ran) in [
        (When::Now, vec!["a"]),
        (When::AfterBatch, vec!["a", "b", "c"]),
    ] {
        let bench = batch(["a", "b", "c"].map(lone));
        bench
            .tool_seams
            .pre
            .on(&bench.scope, "pre", move |proposal, next| async move {
                let reply = next.run().await?;
                let here = proposal.arguments().value()["say"] == "b";
                Ok(if here {
                    reply.with_halt(halt(when))
                } else {
                    reply
                })
            });
        assert_eq!(bench.run("go").await.end, stopped());
        let starts: Vec<String> = bench
            .seen
            .all()
            .into_iter()
            .filter(|note| note.starts_with("start"))
            .collect();
        assert_eq!(starts.len(), ran.len(), "{when:?}: {starts:?}");
        let results = bench
            .log()
            .into_iter()
            .filter(|event| event.starts_with("tool/result"))
            .count();
        assert_eq!(results, 3, "every call has its result");
        assert_eq!(bench.model.requests().len(), 1);
    }
}

/// After a batch, its policy sees all results in order; once per batch, also if all were denied.
#[tokio::test]
async fn the_batch_is_seen_whole() {
    let bench = batch([
        safe("a"),
        lone("fail b"),
        ScriptBlock::call("Nope", json!({})),
    ]);
    let seen = bench.seen.clone();
    bench
        .seams
        .batch
        .on(&bench.scope, "batch", move |event, next| {
            let results = event
                .results
                .iter()
                .map(|result| format!("{} {}", result.call.name(), result.outcome.is_error()));
            seen.note(format!("batch: {}", results.collect::<Vec<_>>().join(", ")));
            async { Ok(next.run().await?.with_context(context("after the batch"))) }
        });
    bench.run("go").await;
    let batches: Vec<String> = bench
        .seen
        .all()
        .into_iter()
        .filter(|note| note.starts_with("batch"))
        .collect();
    assert_eq!(batches, ["batch: Probe false, Probe true, Nope true"]);
    assert_eq!(bench.asked(1).last().unwrap(), "context after the batch");
}

/// What a call injects, and what anybody injects while calls run, comes after all results.
#[tokio::test]
async fn nothing_comes_between_calls_and_results() {
    let bench = batch(["a", "b"].map(lone));
    let agent = bench.agent();
    let handle = agent.handle();
    bench
        .tool_seams
        .dispatch
        .on(&bench.scope, "inject", move |_, signal, inner| {
            handle.inject(context("injected"));
            async { Ok(inner.run(signal).await) }
        });
    soon(agent.send("go")).await;
    assert_eq!(
        bench.asked(1)[2..],
        [
            "result a",
            "result b",
            "context injected",
            "context injected",
        ]
    );
}

/// An extension event may be written at any moment of a turn, and says which turn it belongs to.
#[tokio::test]
async fn extensions_in_the_middle() {
    let bench = batch([lone("a")]);
    let agent = bench.agent();
    let handle = agent.handle();
    bench
        .tool_seams
        .propose
        .on(&bench.scope, "log", move |proposal, next| {
            let turn = proposal.facts().turn.map(|turn| turn.number);
            handle
                .log_extension("hook/invoked", turn, json!({"point": "x"}).into())
                .unwrap();
            async { Ok(next.run().await?) }
        });
    soon(agent.send("go")).await;
    let log = bench.log();
    let at = |kind: &str| {
        log.iter()
            .position(|event| event.starts_with(kind))
            .unwrap()
    };
    assert!(at("hook/invoked") > at("assistant/message") && at("hook/invoked") < at("tool/call"));
    assert!(
        agent
            .log_extension("hook/x", Some(1), json!({}).into())
            .is_err(),
        "it is over"
    );
    agent
        .log_extension("hook/x", None, json!({}).into())
        .unwrap();
}

/// A tool that calls another one, and may end the turn.
struct Composite;

impl Tool for Composite {
    type Args = Value;
    type Value = Value;

    fn name(&self) -> &str {
        "Composite"
    }
    fn description(&self) -> &str {
        "Calls the probe twice."
    }
    fn schema(&self) -> Value {
        json!({"type": "object"})
    }
    async fn run(&self, args: Value, context: ToolContext) -> Result<Value, ToolError> {
        let probe = |say: &str| context.call("Probe", Json::from_value(json!({ "say": say })));
        let (one, two) = (probe("one"), probe("two"));
        let two = two
            .await
            .map_err(|failure| ToolError::new(failure.message))?;
        let one = one
            .await
            .map_err(|failure| ToolError::new(failure.message))?;
        if args["concludes"] == true {
            context.conclude_turn();
        }
        match args["fails"] == true {
            true => Err(ToolError::new("it failed after all")),
            false => Ok(json!([one.value.value(), two.value.value()])),
        }
    }
    fn render(&self, _: &Value, value: &Value) -> Content {
        Content::text(value.to_string())
    }
}

fn composite(args: Value) -> Bench {
    let call = ScriptBlock::call("Composite", args).with_id("outer");
    let bench = Bench::new([Play::blocks([call]), Play::text("done")]);
    bench.registry.add(Composite).unwrap();
    bench
}

/// A tool's calls are made in the order it makes them, whatever it waits for first.
#[tokio::test]
async fn a_tool_calls_another_tool() {
    let bench = composite(json!({}));
    let outcome = soon(bench.run("go")).await;
    assert_eq!(outcome.end, TurnEndReason::Completed);
    assert_eq!(
        bench.seen.all(),
        ["start one", "end one", "start two", "end two"]
    );
    assert_eq!(bench.asked(1)[2], r#"result ["one","two"]"#);
    let log: Vec<String> = bench
        .log()
        .into_iter()
        .filter(|l| l.starts_with("tool/"))
        .collect();
    assert_eq!(
        log,
        [
            "tool/call {}",
            r#"tool/call {"say":"one"}"#,
            "tool/result one",
            r#"tool/call {"say":"two"}"#,
            "tool/result two",
            r#"tool/result ["one","two"]"#,
        ]
    );
}

/// A success may conclude the turn: no further request, unless somebody has steered; a failure
/// concludes nothing.
#[tokio::test]
async fn a_tool_concludes_the_turn() {
    let bench = composite(json!({"concludes": true}));
    let outcome = soon(bench.run("go")).await;
    assert_eq!(
        (outcome.end, outcome.requests),
        (TurnEndReason::Completed, 1)
    );

    let bench = composite(json!({"concludes": true, "fails": true}));
    assert_eq!(soon(bench.run("go")).await.requests, 2);

    let bench = composite(json!({"concludes": true}));
    let agent = bench.agent();
    let handle = agent.handle();
    let _registered = bench
        .tool_seams
        .result
        .on(&bench.scope, "steer", move |result| {
            if result.call.name() == "Composite" {
                handle.steer("wait");
            }
        });
    assert_eq!(soon(agent.send("go")).await.requests, 2);
    assert_eq!(bench.asked(1).last().unwrap(), "user wait");
}
