//! Turns: requests, continuation, stops, halts, failures of the model.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use seamline_harness::agent::{BatchDecision, ContinuationDecision, RequestErrorDecision, Steer};
use seamline_harness::model::scripted::{Play, Say, ScriptBlock};
use seamline_harness::model::{Message, ModelError, StopReason, Usage};
use seamline_harness::session::event::TurnEndReason;
use seamline_seams::{Denial, When};

use crate::bench::{Bench, context, halt, probe, soon, speaker, stopped};

fn call(say: &str) -> Play {
    let (name, input) = probe(say);
    Play::call(name, input)
}

fn overloaded() -> Play {
    let (kind, message) = ("overloaded_error".to_owned(), "Overloaded".to_owned());
    Play::Fail(ModelError {
        status: Some(529),
        kind,
        message,
    })
}

fn go_on(texts: &[&str]) -> ContinuationDecision {
    let steer = |text: &&str| Steer {
        text: (*text).to_owned(),
        source: speaker(),
    };
    ContinuationDecision::Continue {
        reasons: texts.iter().map(steer).collect(),
    }
}

/// The messages of one request are a prefix of the next one's, whatever happens between.
#[tokio::test]
async fn requests_grow_at_the_end() {
    let two = Play::blocks([
        ScriptBlock::Text("thinking".to_owned()),
        ScriptBlock::call("Probe", serde_json::json!({"say": "fail a"})),
        ScriptBlock::call("Nope", serde_json::json!({})),
    ]);
    let bench = Bench::new([
        two,
        call("b"),
        Play::text("end"),
        call("c"),
        Play::text("end"),
    ]);
    bench
        .tool_seams
        .post
        .on(&bench.scope, "post", |_, next| async {
            Ok(next.run().await?.with_context(context("seen")))
        });
    let agent = bench.agent();
    soon(agent.send("one")).await;
    soon(agent.send("two")).await;
    let requests = bench.model.requests();
    assert_eq!(requests.len(), 5);
    for pair in requests.windows(2) {
        let (before, after) = (&pair[0].messages, &pair[1].messages);
        assert_eq!(before[..], after[..before.len()]);
    }
    let last: Vec<Message> = requests[4].messages.iter().map(|m| (**m).clone()).collect();
    let from_log: Vec<Message> = bench
        .session
        .history()
        .iter()
        .map(|m| (**m).clone())
        .collect();
    assert_eq!(
        last[..],
        from_log[..last.len()],
        "and all of it is in the log"
    );
}

/// The header goes into the log once, and again when it changes.
#[tokio::test]
async fn the_header_is_logged_when_it_changes() {
    let bench = Bench::new([call("one"), Play::text("two"), Play::text("three")]);
    let agent = bench.builder().model_name("m1").system("be brief").build();
    soon(agent.send("go")).await;
    let headers = |bench: &Bench| {
        bench
            .log()
            .iter()
            .filter(|event| *event == "request/header")
            .count()
    };
    assert_eq!(headers(&bench), 1);
    bench
        .seams
        .request
        .on(&bench.scope, "switch", |_, next| async {
            let reply = next.run().await?;
            Ok(
                reply.map(|settings| seamline_harness::agent::RequestSettings {
                    model: "m2".to_owned(),
                    ..settings
                }),
            )
        });
    soon(agent.send("again")).await;
    assert_eq!(headers(&bench), 2);
    let request = &bench.model.requests()[2];
    assert_eq!(
        (request.model.as_str(), request.system.as_str()),
        ("m2", "be brief")
    );
    assert_eq!(request.tools[0].name, "Probe");
}

/// A policy may keep a turn going. It is told how often, counted anew after a tool call, and
/// that the turn was kept going at all for as long as the turn lasts.
#[tokio::test]
async fn continuation_counts() {
    let bench = Bench::new([
        Play::text("a"),
        Play::text("b"),
        call("x"),
        Play::text("c"),
        Play::text("d"),
    ]);
    let seen = bench.seen.clone();
    bench
        .seams
        .continuation
        .on(&bench.scope, "stop hook", move |event, next| {
            let last = event.last_text.clone().unwrap_or_default();
            seen.note(format!("{last} {} {}", event.forced, event.consecutive));
            async move {
                let reply = next.run().await?;
                Ok(if last == "d" {
                    reply
                } else {
                    reply.map(|_| go_on(&["one", "two"]))
                })
            }
        });
    let outcome = bench.run("go").await;
    assert_eq!(
        (outcome.end, outcome.text.as_deref()),
        (TurnEndReason::Completed, Some("d"))
    );
    let stops: Vec<String> = bench
        .seen
        .all()
        .into_iter()
        .filter(|note| !note.ends_with(" x"))
        .collect();
    assert_eq!(stops, ["a false 0", "b true 1", "c true 0", "d true 1"]);
    assert_eq!(
        bench.asked(1),
        ["user go", "assistant a", "user one", "user two"]
    );
}

/// Continuing with nothing but context is another step too.
#[tokio::test]
async fn continuation_by_context() {
    let bench = Bench::new([Play::text("a"), Play::text("b")]);
    bench
        .seams
        .continuation
        .on(&bench.scope, "stop hook", |event, next| async move {
            let reply = next.run().await?;
            Ok(match event.forced {
                true => reply,
                false => reply.map(|_| go_on(&[])).with_context(context("hint")),
            })
        });
    bench.run("go").await;
    assert_eq!(bench.asked(1), ["user go", "assistant a", "context hint"]);
}

/// Who must stop a turn stops it whatever wants it to go on; pending steering goes, the next
/// prompt does not.
#[tokio::test]
async fn a_turn_that_must_stop() {
    let bench = Bench::new([call("one"), Play::text("next turn")]);
    bench.seams.turn_stop.add(&bench.scope, "budget", |event| {
        (event.usage.input_tokens == 0 && event.facts.turn.unwrap().number == 1)
            .then(|| Denial::new("spent"))
    });
    let agent = bench.agent();
    let handle = agent.handle();
    bench
        .tool_seams
        .pre
        .on(&bench.scope, "steer", move |_, next| {
            handle.steer("left");
            async { Ok(next.run().await?) }
        });
    let [first, second] = [agent.send("go"), agent.send("again")].map(soon);
    let TurnEndReason::Stopped { reason, by } = first.await.end else {
        panic!("not stopped")
    };
    assert_eq!(
        (reason.as_deref(), by.to_string().as_str()),
        (Some("spent"), "budget")
    );
    assert_eq!(second.await.end, TurnEndReason::Completed);
    assert!(
        !bench.asked(1).contains(&"user left".to_owned()),
        "{:?}",
        bench.asked(1)
    );
}

/// A halt beside each decision of a turn ends it as stopped; stopping wins over going on.
#[tokio::test]
async fn halts_beside_decisions() {
    for seam in [
        "request",
        "pre",
        "post",
        "batch",
        "batch ends",
        "continuation",
    ] {
        let bench = Bench::new([call("one"), Play::text("two"), Play::text("three")]);
        let (seams, tools, scope) = (&bench.seams, &bench.tool_seams, &bench.scope);
        let when = When::AfterBatch;
        match seam {
            "request" => drop(seams.request.on(scope, "h", move |_, next| async move {
                Ok(next.run().await?.with_halt(halt(when)))
            })),
            "pre" => drop(tools.pre.on(scope, "h", move |_, next| async move {
                Ok(next.run().await?.with_halt(halt(when)))
            })),
            "post" => drop(tools.post.on(scope, "h", move |_, next| async move {
                Ok(next.run().await?.with_halt(halt(when)))
            })),
            "batch" => drop(seams.batch.on(scope, "h", move |_, next| async move {
                Ok(next.run().await?.with_halt(halt(when)))
            })),
            "batch ends" => drop(seams.batch.on(scope, "h", move |_, _| async move {
                let reason = Some("enough".to_owned());
                Ok(BatchDecision::EndTurn {
                    reason,
                    by: speaker(),
                }
                .into())
            })),
            _ => drop(
                seams
                    .continuation
                    .on(scope, "h", move |_, next| async move {
                        Ok(next
                            .run()
                            .await?
                            .map(|_| go_on(&["more"]))
                            .with_halt(halt(when)))
                    }),
            ),
        }
        let outcome = bench.run("go").await;
        assert_eq!(outcome.end, stopped(), "{seam}");
        let requests = match seam {
            "request" => 0,
            "continuation" => 2,
            _ => 1,
        };
        assert_eq!(bench.model.requests().len(), requests, "{seam}");
        let ran = bench.seen.all().contains(&"end one".to_owned());
        assert_eq!(
            ran,
            seam != "request",
            "what was decided before is done: {seam}"
        );
        assert!(
            !bench.log().contains(&"steering/message more".to_owned()),
            "{seam}"
        );
    }
}

/// A failed request ends the turn, or is made again if policy says so; nothing of the failed
/// attempt is kept.
#[tokio::test]
async fn failed_requests() {
    let bench = Bench::new([overloaded()]);
    let outcome = bench.run("go").await;
    assert_eq!(
        outcome.end,
        TurnEndReason::Error {
            message: "Overloaded".to_owned()
        }
    );
    assert_eq!(
        bench
            .log()
            .iter()
            .filter(|e| *e == "assistant/message")
            .count(),
        0
    );

    let bench = Bench::new([overloaded()]);
    let attempts = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&attempts);
    bench
        .seams
        .request_error
        .on(&bench.scope, "retry", move |event, _| {
            assert_eq!((event.error.status, event.last_text), (Some(529), None));
            assert_eq!(
                event.attempt as usize,
                count.fetch_add(1, Ordering::SeqCst) + 1
            );
            let again = event.attempt < 3;
            async move {
                Ok(if again {
                    RequestErrorDecision::Retry
                } else {
                    RequestErrorDecision::Fail
                }
                .into())
            }
        });
    let outcome = bench.run("go").await;
    assert_eq!((attempts.load(Ordering::SeqCst), outcome.requests), (3, 3));
    assert_eq!(
        outcome.end,
        TurnEndReason::Error {
            message: "Overloaded".to_owned()
        }
    );
}

/// A model out of tokens: its text stands, its calls do not run, and no policy is asked whether
/// to go on.
#[tokio::test]
async fn out_of_tokens() {
    let (name, input) = probe("never");
    let bench = Bench::new([Play::Say(Say {
        blocks: vec![
            ScriptBlock::Text("cut".to_owned()),
            ScriptBlock::call(name, input),
        ],
        stop: Some(StopReason::MaxTokens),
        usage: Some(Usage {
            output_tokens: 7,
            ..Usage::default()
        }),
        ..Say::default()
    })]);
    let seen = bench.seen.clone();
    bench
        .seams
        .continuation
        .on(&bench.scope, "s", move |_, next| {
            seen.note("asked");
            async { Ok(next.run().await?) }
        });
    let outcome = bench.run("go").await;
    assert_eq!(
        (outcome.end, outcome.usage.output_tokens),
        (TurnEndReason::MaxTokens, 7)
    );
    assert_eq!(outcome.text.as_deref(), Some("cut"));
    assert!(bench.seen.all().is_empty(), "{:?}", bench.seen.all());
}

/// A model that panics costs one turn, and the log is closed behind it.
#[tokio::test]
async fn a_panicking_model_costs_one_turn() {
    let model =
        seamline_harness::testing::FnModel(|request: seamline_harness::model::Request, _| {
            assert!(request.messages.len() > 1, "model bug");
            let end = Ok(seamline_harness::model::Chunk::End(StopReason::EndTurn));
            Box::pin(futures_util::stream::iter([end])) as seamline_harness::model::ChunkStream
        });
    let bench = Bench::with_model(model);
    let agent = bench.agent();
    let [first, second] = [agent.send("go"), agent.send("again")].map(soon);
    let TurnEndReason::Error { message } = first.await.end else {
        panic!("no error")
    };
    assert!(
        message.contains("panicked") && message.contains("model bug"),
        "{message}"
    );
    assert_eq!(second.await.end, TurnEndReason::Completed);
}

/// The user may be shown other words than the model wrote; the log keeps the model's.
#[tokio::test]
async fn display_changes_what_is_shown() {
    let bench = Bench::new([Play::text("plain")]);
    bench.watch();
    bench
        .seams
        .display
        .on(&bench.scope, "shout", |_, next| async {
            Ok(next.run().await?.map(|text| text.to_uppercase()))
        });
    let agent = bench.agent();
    assert_eq!(soon(agent.send("go")).await.text.as_deref(), Some("PLAIN"));
    let seen = bench.seen.all();
    assert!(seen.contains(&"text PLAIN".to_owned()), "{seen:?}");
    assert!(
        !seen.iter().any(|note| note.starts_with("delta")),
        "{seen:?}"
    );
    soon(agent.send("more")).await;
    assert_eq!(bench.asked(1)[1], "assistant plain");
}

/// What rides beside what is shown: the context comes after the results, the halt ends the turn.
#[tokio::test]
async fn riders_beside_display() {
    let (name, input) = probe("one");
    let blocks = [
        ScriptBlock::Text("hm".to_owned()),
        ScriptBlock::call(name, input),
    ];
    let bench = Bench::new([
        Play::blocks(blocks),
        Play::text("stop"),
        Play::text("never"),
    ]);
    bench
        .seams
        .display
        .on(&bench.scope, "d", |event, next| async move {
            let reply = next
                .run()
                .await?
                .with_context(context(&format!("about {}", event.text)));
            Ok(if event.text == "stop" {
                reply.with_halt(halt(When::Now))
            } else {
                reply
            })
        });
    let outcome = bench.run("go").await;
    assert_eq!(
        (outcome.end, outcome.text.as_deref()),
        (stopped(), Some("stop"))
    );
    assert_eq!(bench.asked(1)[2..], ["result one", "context about hm"]);
    assert_eq!(bench.model.requests().len(), 2);
}

/// What a front end is told, in order.
#[tokio::test]
async fn events_in_order() {
    let bench = Bench::new([call("one"), Play::text("done")]);
    bench.watch();
    bench.run("go").await;
    assert_eq!(
        bench.seen.all(),
        [
            "session started",
            "turn 1",
            "prompt go",
            "proposed {\"say\":\"one\"}",
            "start one",
            "end one",
            "finished one",
            "delta done",
            "text done",
            "ended completed",
            "session ended test",
        ]
    );
}
