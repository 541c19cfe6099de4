//! Calls that are put off.

use seamline_harness::model::scripted::{Play, ScriptBlock};
use seamline_harness::session::event::TurnEndReason;
use seamline_harness::session::{Place, Session};
use seamline_harness::tools::PreDecision;
use seamline_seams::When;

use crate::bench::{Bench, context, halt, probe, soon, speaker, stopped};

fn call(say: &str) -> ScriptBlock {
    let (name, input) = probe(say);
    ScriptBlock::call(name, input).with_id(say)
}

/// Puts off calls that say `later`, until `now` is in the log as a notice.
fn put_off(bench: &Bench) {
    let session = bench.session.clone();
    bench
        .tool_seams
        .pre
        .on(&bench.scope, "defer", move |proposal, next| {
            let say = proposal.arguments().value()["say"]
                .as_str()
                .unwrap()
                .to_owned();
            let turns = session
                .entries()
                .iter()
                .filter(|e| e.event.kind() == "turn/start")
                .count();
            async move {
                if say.starts_with("later") && turns == 1 {
                    let decision = PreDecision::Defer {
                        reason: Some("wait".to_owned()),
                        by: speaker(),
                    };
                    return Ok(
                        seamline_seams::Reply::new(decision).with_context(context("deferring"))
                    );
                }
                Ok(next.run().await?)
            }
        });
}

/// The turn ends, the other calls have run, one call is open; taking it up runs it through all
/// stations again, and the turn goes on from there.
#[tokio::test]
async fn put_off_and_taken_up() {
    let calls = ["a", "later", "b", "later too"].map(call);
    let bench = Bench::new([Play::blocks(calls), Play::text("done")]);
    put_off(&bench);
    let agent = bench.agent();
    let first = soon(agent.send("go")).await;
    let (call_id, reason) = ("later".to_owned(), Some("wait".to_owned()));
    assert_eq!(
        first.end,
        TurnEndReason::Deferred {
            call_id,
            reason,
            by: Some(speaker().into())
        }
    );
    assert_eq!(bench.seen.all(), ["start a", "end a", "start b", "end b"]);
    assert_eq!(bench.model.requests().len(), 1);

    let second = soon(agent.resume().unwrap()).await;
    assert_eq!(
        (second.end, second.turn.unwrap().0),
        (TurnEndReason::Completed, 2)
    );
    let asked = bench.asked(1);
    assert_eq!(
        asked[2..5],
        ["result a", "result later", "result b"],
        "in call order"
    );
    assert!(asked[5].starts_with("result Error: another call of this message was put off"));
    assert_eq!(
        asked[6..],
        ["context deferring"],
        "that of the denial, not of the deferral"
    );
    assert!(agent.resume().is_none(), "nothing is left to take up");
}

/// A prompt that comes instead of a resume: the call is told that it was not run.
#[tokio::test]
async fn put_off_and_given_up() {
    let bench = Bench::new([Play::blocks([call("later")]), Play::text("done")]);
    put_off(&bench);
    let agent = bench.agent();
    soon(agent.send("go")).await;
    let second = soon(agent.send("never mind")).await;
    assert_eq!(second.end, TurnEndReason::Completed);
    assert!(bench.seen.all().is_empty());
    let asked = bench.asked(1);
    assert!(
        asked[2].contains("was put off") && asked[2].contains("not run"),
        "{asked:?}"
    );
    assert_eq!(asked[3], "user never mind");
}

/// A deferred call outlives the process.
#[tokio::test]
async fn put_off_and_taken_up_by_another_process() {
    let mut bench = Bench::new([Play::blocks([call("later")]), Play::text("done")]);
    let state = tempfile::tempdir().unwrap();
    bench.session = Session::create(&Place::new(state.path(), bench.project())).unwrap();
    put_off(&bench);
    let path = bench.session.path().unwrap().to_owned();
    let first = bench.run("go").await;
    assert!(matches!(first.end, TurnEndReason::Deferred { .. }));
    drop(bench);

    let mut bench = Bench::new([Play::blocks([call("later")]), Play::text("done")]);
    bench.session = Session::load(&path).unwrap().session;
    let agent = bench.agent();
    let second = soon(agent.resume().unwrap()).await;
    assert_eq!(second.text.as_deref(), Some("done"));
    assert_eq!(bench.seen.all(), ["start later", "end later"]);
}

/// A turn that is stopped leaves no call open.
#[tokio::test]
async fn put_off_and_stopped() {
    let bench = Bench::new([Play::blocks(["later", "b"].map(call)), Play::text("done")]);
    put_off(&bench);
    bench
        .tool_seams
        .post
        .on(&bench.scope, "halt", |_, next| async {
            Ok(next.run().await?.with_halt(halt(When::AfterBatch)))
        });
    let agent = bench.agent();
    assert_eq!(soon(agent.send("go")).await.end, stopped());
    assert!(agent.resume().is_none());
    soon(agent.send("more")).await;
    let asked = bench.asked(1);
    assert!(
        asked[2].contains("put off, and the turn was stopped"),
        "{asked:?}"
    );
    assert_eq!(asked[3], "result b");
}
