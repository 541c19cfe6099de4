//! Prompts: entering, being refused, steering, injecting.

use seamline_harness::agent::{PromptDecision, PromptEvent};
use seamline_harness::content::Content;
use seamline_harness::model::scripted::Play;
use seamline_harness::session::event::TurnEndReason;
use seamline_seams::{Notice, Reply, When};

use crate::bench::{Bench, context, halt, probe, soon, speaker, stopped};

fn block(reason: &str) -> PromptDecision {
    PromptDecision::Block {
        reason: reason.to_owned(),
        by: speaker(),
    }
}

fn call(say: &str) -> Play {
    let (name, input) = probe(say);
    Play::call(name, input)
}

/// Refuses prompts that contain `bad`.
fn refuse_bad(bench: &Bench) {
    bench.seams.prompt.on(
        &bench.scope,
        "policy",
        |event: PromptEvent, next| async move {
            if event.content.to_text().contains("bad") {
                return Ok(block("not nice").into());
            }
            Ok(next.run().await?)
        },
    );
}

/// With nobody listening, a prompt enters as it is.
#[tokio::test]
async fn a_prompt_enters() {
    let bench = Bench::new([Play::text("hello")]);
    let outcome = bench.run("hi").await;
    assert_eq!(
        (outcome.end, outcome.text.as_deref()),
        (TurnEndReason::Completed, Some("hello"))
    );
    assert_eq!(bench.asked(0), ["user hi"]);
    assert_eq!(
        bench.log(),
        [
            "session/start",
            "turn/start",
            "user/message hi",
            "step/start",
            "request/header",
            "assistant/message",
            "step/end",
            "turn/end completed",
            "session/end",
        ]
    );
}

/// A rewritten prompt is what log and request have; contexts follow it, notices do not.
#[tokio::test]
async fn a_prompt_is_rewritten() {
    let bench = Bench::new([Play::text("ok")]);
    bench.seams.prompt.on(
        &bench.scope,
        "policy",
        |event: PromptEvent, next| async move {
            let content = Some(Content::text(format!("{}!", event.content.to_text())));
            let notice = Notice {
                source: speaker(),
                text: "rewritten".to_owned(),
            };
            let reply = next.run().await?.map(|_| PromptDecision::Enter { content });
            Ok(reply
                .with_context(context("one"))
                .with_context(context("two"))
                .with_notice(notice))
        },
    );
    bench.run("hi").await;
    assert_eq!(bench.asked(0), ["user hi!", "context one", "context two"]);
    assert_eq!(bench.notices(), ["rewritten"]);
}

/// A refused prompt makes a turn without steps, with its words and the reason in the log; the
/// prompts beside it have turns of their own.
#[tokio::test]
async fn a_refused_prompt_leaves_its_neighbours_alone() {
    let bench = Bench::new([Play::text("ok")]);
    refuse_bad(&bench);
    let agent = bench.agent();
    let sent = [agent.send("bad one"), agent.send("good")];
    let [bad, good] = sent.map(soon);
    let reason = "not nice".to_owned();
    let (bad, good) = (bad.await, good.await);
    assert_eq!(bad.end, TurnEndReason::Rejected { reason });
    assert_eq!(
        (good.end, good.turn.map(|turn| turn.0)),
        (TurnEndReason::Completed, Some(2))
    );
    assert_eq!(bench.model.requests().len(), 1);
    assert_eq!(bench.asked(0), ["user good"]);
    assert_eq!(
        bench.log()[1..4],
        [
            "turn/start",
            "prompt/blocked bad one: not nice",
            "turn/end rejected",
        ]
    );
}

/// What rides beside a refusal is kept: the next turn's model sees the context.
#[tokio::test]
async fn contexts_of_a_refused_prompt_stay() {
    let bench = Bench::new([Play::text("ok")]);
    bench.seams.prompt.on(
        &bench.scope,
        "policy",
        |event: PromptEvent, next| async move {
            let refused = event.content.to_text() == "bad";
            let reply = next.run().await?;
            Ok(match refused {
                true => reply.map(|_| block("no")).with_context(context("why not")),
                false => reply,
            })
        },
    );
    let agent = bench.agent();
    soon(agent.send("bad")).await;
    soon(agent.send("good")).await;
    assert_eq!(bench.asked(0), ["context why not", "user good"]);
}

/// A halt beside a prompt's decision ends the turn without a request.
#[tokio::test]
async fn a_halt_at_the_prompt() {
    for blocked in [false, true] {
        let bench = Bench::new([Play::text("ok")]);
        bench
            .seams
            .prompt
            .on(&bench.scope, "policy", move |_, next| async move {
                let reply = next.run().await?.with_halt(halt(When::Now));
                Ok(if blocked {
                    reply.map(|_| block("no"))
                } else {
                    reply
                })
            });
        assert_eq!(bench.run("hi").await.end, stopped());
        assert!(bench.model.requests().is_empty());
    }
}

/// A policy that fails ends its turn as an error, once, and the next prompt still runs.
#[tokio::test]
async fn a_failing_policy_costs_one_turn() {
    let bench = Bench::new([Play::text("ok")]);
    bench.seams.prompt.on(
        &bench.scope,
        "policy",
        |event: PromptEvent, next| async move {
            match event.content.to_text().as_str() {
                "bad" => Err("bug".into()),
                _ => Ok(next.run().await?),
            }
        },
    );
    let agent = bench.agent();
    let [bad, good] = [agent.send("bad"), agent.send("good")].map(soon);
    let message = "agent.prompt: `policy` failed: bug".to_owned();
    assert_eq!(bad.await.end, TurnEndReason::Error { message });
    assert_eq!(good.await.end, TurnEndReason::Completed);
    assert_eq!(bench.faults.take().len(), 1);
}

/// Steering joins the running turn between two steps, past the same policy; what is refused
/// there does not end the turn.
#[tokio::test]
async fn steering_joins_between_steps() {
    let bench = Bench::new([call("one"), call("two"), Play::text("done")]);
    refuse_bad(&bench);
    let agent = bench.agent();
    let handle = agent.handle();
    bench
        .tool_seams
        .pre
        .on(&bench.scope, "steer", move |proposal, next| {
            if proposal.arguments().value()["say"] == "one" {
                handle.steer("left");
                handle.steer("bad");
                handle.inject(context("note"));
            }
            async { Ok(next.run().await?) }
        });
    let outcome = soon(agent.send("go")).await;
    assert_eq!(outcome.end, TurnEndReason::Completed);
    assert_eq!(
        bench.asked(1)[2..],
        ["result one", "user left", "context note"]
    );
    assert!(
        bench
            .log()
            .contains(&"prompt/blocked bad: not nice".to_owned())
    );
    assert!(bench.log().contains(&"steering/message left".to_owned()));
}

/// Steering that comes while the last answer is written keeps the turn going.
#[tokio::test]
async fn steering_at_the_end_keeps_the_turn_going() {
    let bench = Bench::new([Play::text("one"), Play::text("two")]);
    let agent = bench.agent();
    let handle = agent.handle();
    bench
        .seams
        .display
        .on(&bench.scope, "steer", move |event, next| {
            if event.text == "one" {
                handle.steer("more");
            }
            async { Ok(next.run().await?) }
        });
    let outcome = soon(agent.send("go")).await;
    assert_eq!(outcome.text.as_deref(), Some("two"));
    assert_eq!(bench.asked(1), ["user go", "assistant one", "user more"]);
    assert_eq!(outcome.turn.unwrap().0, 1);
}

/// With no turn under way, steering opens one and injected text waits for one.
#[tokio::test]
async fn idle_steering_and_injecting() {
    let bench = Bench::new([Play::text("one")]);
    bench.watch();
    let agent = bench.agent();
    agent.inject(context("early"));
    agent.steer("go");
    crate::bench::until(|| {
        bench
            .seen
            .all()
            .iter()
            .any(|note| note.starts_with("ended"))
    })
    .await;
    assert_eq!(bench.asked(0), ["context early", "user go"]);
}

/// Text injected while a prompt is being judged is too late for its first request.
#[tokio::test]
async fn injected_while_judged_waits_a_step() {
    let bench = Bench::new([call("one"), Play::text("done")]);
    let agent = bench.agent();
    let handle = agent.handle();
    bench
        .seams
        .prompt
        .on(&bench.scope, "policy", move |_, next| {
            handle.inject(context("late"));
            async { Ok(next.run().await?) }
        });
    soon(agent.send("go")).await;
    assert_eq!(bench.asked(0), ["user go"]);
    assert_eq!(bench.asked(1).last().unwrap(), "context late");
}

/// One send, one turn, first come first served, whoever waits for it.
#[tokio::test]
async fn a_burst_of_prompts() {
    let bench = Bench::new([]);
    let agent = bench.agent();
    drop(agent.send("one"));
    drop(agent.send("two"));
    let last = soon(agent.send("three")).await;
    assert_eq!(last.turn.unwrap().0, 3);
    let firsts: Vec<String> = (0..3)
        .map(|n| bench.asked(n).last().unwrap().clone())
        .collect();
    assert_eq!(firsts, ["user one", "user two", "user three"]);
}

/// A reply without listeners: the decision of `Reply::new` is what the loop takes.
#[tokio::test]
async fn blocking_alone_decides() {
    let bench = Bench::new([Play::text("ok")]);
    bench.seams.prompt.on(&bench.scope, "wall", |_, _| async {
        Ok(Reply::new(block("no")))
    });
    let reason = "no".to_owned();
    assert_eq!(
        bench.run("hi").await.end,
        TurnEndReason::Rejected { reason }
    );
}
