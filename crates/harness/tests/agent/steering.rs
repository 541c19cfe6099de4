//! Input that joins a turn, or waits for one: order, loss, and taking back.

use seamline_harness::agent::{AgentEvent, Pending, PromptDecision, PromptEvent};
use seamline_harness::content::{Content, Source};
use seamline_harness::model::scripted::Play;
use seamline_harness::session::Event;
use seamline_harness::session::event::{AbortCause, Trigger, TurnEndReason};
use seamline_seams::Denial;

use crate::bench::{Bench, aborted, context, probe, soon, speaker, until};

fn call(say: &str) -> Play {
    let (name, input) = probe(say);
    Play::call(name, input)
}

/// Refuses prompts that contain `bad`, fails on those that contain `bug`.
fn judge(bench: &Bench) {
    bench.seams.prompt.on(
        &bench.scope,
        "judge",
        |event: PromptEvent, next| async move {
            let text = event.content.to_text();
            if text.contains("bug") {
                return Err("judge is broken".into());
            }
            if text.contains("bad") {
                let (reason, by) = ("no".to_owned(), speaker());
                return Ok(PromptDecision::Block { reason, by }.into());
            }
            Ok(next.run().await?)
        },
    );
}

/// Steers while the session starts, that is after the prompt was taken and before it entered.
fn steer_early(bench: &Bench, agent: &seamline_harness::agent::Agent, texts: &'static [&str]) {
    let handle = agent.handle();
    bench
        .seams
        .session_start
        .on(&bench.scope, "early", move |_| {
            texts.iter().for_each(|text| handle.steer(*text));
            handle.inject(context("noted"));
            async { Default::default() }
        });
}

/// What is said after a prompt follows it, also when the prompt has not entered yet.
#[tokio::test]
async fn steering_follows_the_prompt_it_came_after() {
    let bench = Bench::new([Play::text("ok")]);
    judge(&bench);
    let agent = bench.agent();
    steer_early(&bench, &agent, &["left", "bad", "right"]);
    soon(agent.send("go")).await;
    assert_eq!(
        bench.asked(0),
        ["context noted", "user go", "user left", "user right"]
    );
    assert!(bench.log().contains(&"prompt/blocked bad: no".to_owned()));
}

/// A refused prompt takes nothing with it: what was steered gets a turn of its own.
#[tokio::test]
async fn a_refused_prompt_leaves_steering() {
    let bench = Bench::new([Play::text("ok")]);
    judge(&bench);
    let agent = bench.agent();
    steer_early(&bench, &agent, &["left"]);
    let outcome = soon(agent.send("bad")).await;
    assert!(matches!(outcome.end, TurnEndReason::Rejected { .. }));
    soon(agent.idle()).await;
    assert_eq!(bench.asked(0), ["context noted", "user left"]);
}

/// A judgement that fails costs its turn and the input it was about; nothing that waited behind
/// it is lost.
#[tokio::test]
async fn a_failing_judgement_loses_nothing_else() {
    let bench = Bench::new([call("one"), Play::text("ok")]);
    judge(&bench);
    let agent = bench.agent();
    let handle = agent.handle();
    bench
        .tool_seams
        .pre
        .on(&bench.scope, "steer", move |_, next| {
            handle.steer("bug");
            handle.steer("later");
            handle.inject(context("noted"));
            async { Ok(next.run().await?) }
        });
    let outcome = soon(agent.send("go")).await;
    let TurnEndReason::Error { message } = outcome.end else {
        panic!("no error")
    };
    assert!(message.contains("judge is broken"), "{message}");
    soon(agent.idle()).await;
    assert_eq!(
        bench.asked(1)[2..],
        ["result one", "context noted", "user later"],
        "in a turn of its own"
    );
    assert_eq!(bench.faults.take().len(), 1);
}

/// Steering that is being judged when the turn is cancelled does not enter.
#[tokio::test]
async fn cancelled_while_steering_is_judged() {
    let bench = Bench::new([call("one"), Play::text("never")]);
    let agent = bench.agent();
    let handle = agent.handle();
    bench.seams.prompt.on(&bench.scope, "slow", {
        let handle = handle.clone();
        move |event: PromptEvent, next| {
            if event.steering {
                handle.cancel(Pending::Drop);
            }
            async { Ok(next.run().await?) }
        }
    });
    bench
        .tool_seams
        .pre
        .on(&bench.scope, "steer", move |_, next| {
            handle.steer("left");
            handle.steer("right");
            async { Ok(next.run().await?) }
        });
    let outcome = soon(agent.send("go")).await;
    assert_eq!(outcome.end, aborted(AbortCause::User));
    soon(agent.idle()).await;
    let log = bench.log();
    assert!(
        !log.iter().any(|event| event.starts_with("steering")),
        "{log:?}"
    );
    assert_eq!(bench.model.requests().len(), 1, "and none is put off");
}

/// The log keeps a refused prompt as it was written, who wrote it, why and by whom it was refused,
/// for prompts and for steering; and what opened each turn.
#[tokio::test]
async fn what_the_log_keeps_of_a_refusal() {
    let bench = Bench::new([call("one"), Play::text("ok")]);
    judge(&bench);
    bench
        .seams
        .prompt
        .on(&bench.scope, "rewriter", |event, next| async move {
            let content = Some(Content::text(format!("{}!", event.content.to_text())));
            Ok(next.run().await?.map(|decision| match decision {
                PromptDecision::Enter { .. } => PromptDecision::Enter { content },
                block @ PromptDecision::Block { .. } => block,
            }))
        });
    let agent = bench.agent();
    let author: Source = speaker().with_key("author").into();
    let handle = agent.handle();
    bench
        .tool_seams
        .pre
        .on(&bench.scope, "steer", move |_, next| {
            handle.steer("bad too");
            async { Ok(next.run().await?) }
        });
    let outcome = soon(agent.send_as("bad".into(), author.clone())).await;
    let reason = "no".to_owned();
    assert_eq!(outcome.end, TurnEndReason::Rejected { reason });
    assert_eq!(outcome.requests, 0);
    soon(agent.send("go")).await;
    let blocked: Vec<_> = bench
        .session
        .entries()
        .iter()
        .filter_map(|entry| match &entry.event {
            Event::PromptBlocked(it) => Some((it.turn, it.content.to_text(), it.source.clone())),
            _ => None,
        })
        .collect();
    assert_eq!(
        blocked,
        [
            (1, "bad".to_owned(), author),
            (2, "bad too".to_owned(), Source::User)
        ]
    );
    let triggers = bench
        .session
        .entries()
        .iter()
        .filter(
            |entry| matches!(&entry.event, Event::TurnStart(it) if it.trigger == Trigger::Prompt),
        )
        .count();
    assert_eq!(triggers, 2);
    assert_eq!(bench.asked(0)[0], "user go!");
}

/// Steering that comes after a turn was told to stop, even as it closes, is dropped; a prompt is
/// not.
#[tokio::test]
async fn a_stopped_turn_hears_no_more() {
    let bench = Bench::new([call("one"), Play::text("ok")]);
    let agent = bench.agent();
    bench.seams.turn_stop.add(&bench.scope, "stop", |event| {
        (event.facts.turn.unwrap().number == 1).then(|| Denial::new("enough"))
    });
    let handle = agent.handle();
    bench.seams.events.on(&bench.scope, "late", move |event| {
        if matches!(event, AgentEvent::TurnEnded(outcome) if outcome.turn.unwrap().0 == 1) {
            handle.steer("too late");
            drop(handle.send("in time"));
        }
    });
    let outcome = soon(agent.send("go")).await;
    assert!(matches!(outcome.end, TurnEndReason::Stopped { .. }));
    soon(agent.idle()).await;
    assert_eq!(bench.model.requests().len(), 2);
    assert_eq!(bench.asked(1).last().unwrap(), "user in time");
    soon(agent.send("and now")).await;
    assert!(!bench.log().iter().any(|event| event.contains("too late")));
}

/// A guard that panics stops the turn rather than let it go on, and the agent lives.
#[tokio::test]
async fn a_panicking_stop_guard_stops() {
    let bench = Bench::new([call("one"), Play::text("ok")]);
    bench.seams.turn_stop.add(&bench.scope, "broken", |event| {
        assert!(event.facts.turn.unwrap().number > 1, "guard bug");
        None
    });
    let agent = bench.agent();
    let [first, second] = [agent.send("go"), agent.send("again")].map(soon);
    assert!(matches!(first.await.end, TurnEndReason::Stopped { .. }));
    assert_eq!(second.await.end, TurnEndReason::Completed);
    assert_eq!(bench.faults.take().len(), 1);
}

/// What listeners send while a turn runs gets turns after it, one each, in order.
#[tokio::test]
async fn sending_from_within_a_turn() {
    let bench = Bench::new([]);
    let agent = bench.agent();
    let handle = agent.handle();
    bench.seams.events.on(&bench.scope, "send", move |event| {
        match event {
            AgentEvent::PromptEntered { content, .. } if content.to_text() == "go" => {
                drop(handle.send("two"));
                drop(handle.send("three"));
            }
            _ => {}
        };
    });
    soon(agent.send("go")).await;
    soon(agent.idle()).await;
    let last: Vec<String> = (0..3)
        .map(|n| bench.asked(n).last().unwrap().clone())
        .collect();
    assert_eq!(last, ["user go", "user two", "user three"]);
    let ends = bench
        .log()
        .iter()
        .filter(|event| *event == "turn/end completed")
        .count();
    assert_eq!(ends, 3);
}

/// A prompt can be taken back while it waits, and not after.
#[tokio::test]
async fn taking_back() {
    let bench = Bench::new([call("hang"), Play::text("ok")]);
    let agent = bench.agent();
    let first = agent.send("go");
    let (second, third) = (agent.send("two"), agent.send("three"));
    until(|| bench.seen.all().contains(&"start hang".to_owned())).await;
    assert!(!first.take_back(), "it has begun");
    assert!(second.take_back());
    assert!(!second.take_back(), "only once");
    let second = soon(second).await;
    assert_eq!((second.turn, second.end), (None, aborted(AbortCause::User)));
    agent.cancel(Pending::Keep);
    soon(first).await;
    assert_eq!(soon(third).await.turn.unwrap().0, 2);
    assert_eq!(bench.asked(1).last().unwrap(), "user three");
}

/// Only steering that came in time joins: what is said to a turn that was halted opens the next.
#[tokio::test]
async fn steering_a_turn_that_is_over() {
    let bench = Bench::new([Play::text("one"), Play::text("two")]);
    let agent = bench.agent();
    let handle = agent.handle();
    bench.seams.events.on(&bench.scope, "late", move |event| {
        if matches!(event, AgentEvent::TurnEnded(outcome) if outcome.turn.unwrap().0 == 1) {
            handle.steer("late");
            handle.steer("later");
        }
    });
    soon(agent.send("go")).await;
    soon(agent.idle()).await;
    let starts = bench
        .log()
        .iter()
        .filter(|event| *event == "turn/start")
        .count();
    assert_eq!(starts, 3, "each its own, in order: {:?}", bench.log());
    assert_eq!(bench.asked(2).last().unwrap(), "user later");
}

/// What is said or injected while the prompt is judged waits for the next boundary.
#[tokio::test]
async fn said_while_the_prompt_is_judged() {
    let bench = Bench::new([call("one"), Play::text("ok")]);
    let agent = bench.agent();
    let handle = agent.handle();
    bench
        .seams
        .prompt
        .on(&bench.scope, "slow", move |event: PromptEvent, next| {
            if !event.steering {
                handle.steer("left");
                handle.inject(context("noted"));
            }
            async { Ok(next.run().await?) }
        });
    soon(agent.send("go")).await;
    assert_eq!(bench.asked(0), ["user go"]);
    assert_eq!(
        bench.asked(1)[2..],
        ["result one", "user left", "context noted"]
    );
}

/// A policy that is asked whether to stop, and steers, keeps the turn going.
#[tokio::test]
async fn steering_from_the_stop_policy() {
    let bench = Bench::new([Play::text("one"), Play::text("two")]);
    let agent = bench.agent();
    let handle = agent.handle();
    bench
        .seams
        .continuation
        .on(&bench.scope, "stop", move |event, next| {
            if event.last_text.as_deref() == Some("one") {
                handle.steer("not yet");
            }
            async { Ok(next.run().await?) }
        });
    let outcome = soon(agent.send("go")).await;
    assert_eq!((outcome.turn.unwrap().0, outcome.requests), (1, 2));
    assert_eq!(bench.asked(1).last().unwrap(), "user not yet");
}

/// Each context has an entry of its own with its own source, behind the prompt it came with.
#[tokio::test]
async fn contexts_keep_their_sources() {
    let bench = Bench::new([Play::text("ok")]);
    for plugin in ["outer", "inner"] {
        bench
            .seams
            .prompt
            .on(&bench.scope, plugin, move |_, next| async move {
                let source = seamline_seams::Source::new(plugin);
                let text = format!("from {plugin}");
                let context = seamline_seams::Context { source, text };
                Ok(next.run().await?.with_context(context))
            });
    }
    bench.run("go").await;
    let entries = bench.session.entries();
    let said: Vec<String> = entries
        .iter()
        .filter_map(|entry| match &entry.event {
            Event::UserMessage(it) => Some(format!("{} {}", it.source, it.content.to_text())),
            Event::ContextMessage(it) => Some(format!("{} {}", it.source, it.text)),
            _ => None,
        })
        .collect();
    assert_eq!(
        said,
        ["the user go", "inner from inner", "outer from outer"]
    );
}
