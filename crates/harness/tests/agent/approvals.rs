//! Asking somebody whether a call may run, and what the log keeps of it.

use std::sync::Arc;

use seamline_harness::agent::Pending;
use seamline_harness::content::Source;
use seamline_harness::model::scripted::{Play, ScriptBlock};
use seamline_harness::permission::Mode;
use seamline_harness::session::Event;
use seamline_harness::session::event::{AbortCause, ApprovalNote, ApprovalOutcome};
use seamline_harness::tools::{ApprovalAnswer, PreDecision};
use serde_json::json;
use tokio::sync::Notify;

use crate::bench::{Bench, aborted, probe, soon, speaker};

fn yes() -> Option<ApprovalAnswer> {
    Some(ApprovalAnswer::AllowOnce {
        arguments: None,
        updates: Vec::new(),
    })
}

fn no() -> Option<ApprovalAnswer> {
    Some(ApprovalAnswer::Deny {
        message: None,
        interrupt: false,
    })
}

/// One call about which a policy asks.
fn bench() -> Bench {
    let (name, input) = probe("one");
    let bench = Bench::new([Play::call(name, input), Play::text("done")]);
    bench.tool_seams.pre.on(&bench.scope, "pre", |_, _| async {
        let (reason, by) = (Some("risky".to_owned()), speaker());
        Ok(PreDecision::Ask { reason, by }.into())
    });
    bench
}

fn notes(bench: &Bench) -> Vec<Option<ApprovalNote>> {
    bench
        .session
        .entries()
        .iter()
        .filter_map(|entry| match &entry.event {
            Event::ToolCall(call) => Some(call.approval.clone()),
            _ => None,
        })
        .collect()
}

fn asked(outcome: ApprovalOutcome) -> Vec<Option<ApprovalNote>> {
    vec![Some(ApprovalNote {
        asked_by: Some(speaker().into()),
        reason: Some("risky".to_owned()),
        outcome,
    })]
}

/// The log says who was asked about a call, why, and what came of it: a yes, a no, nobody.
#[tokio::test]
async fn the_log_keeps_the_answer() {
    let by = || "person".to_owned();
    for (answer, outcome, ran) in [
        (Some(yes()), ApprovalOutcome::Allowed { by: by() }, true),
        (Some(no()), ApprovalOutcome::Denied { by: by() }, false),
        (Some(None), ApprovalOutcome::Unanswered, false),
        (None, ApprovalOutcome::Unanswered, false),
    ] {
        let bench = bench();
        if let Some(answer) = answer {
            bench
                .tool_seams
                .approval
                .on(&bench.scope, "person", move |_, _| {
                    let answer = answer.clone();
                    async move { answer }
                });
        }
        bench.run("go").await;
        assert_eq!(notes(&bench), asked(outcome.clone()));
        assert_eq!(!bench.seen.all().is_empty(), ran, "{outcome:?}");
    }
}

/// A call that nobody asks about has no such note; one that the mode asks about says so.
#[tokio::test]
async fn the_mode_asks_too() {
    for (mode, expected) in [
        (Mode::BypassPermissions, None),
        (
            Mode::Default,
            Some(ApprovalNote {
                asked_by: None,
                reason: None,
                outcome: ApprovalOutcome::Allowed {
                    by: "person".to_owned(),
                },
            }),
        ),
    ] {
        let (name, input) = probe("one");
        let bench = Bench::new([Play::call(name, input), Play::text("done")]);
        bench
            .tool_seams
            .approval
            .on(&bench.scope, "person", |_, _| async { yes() });
        let agent = bench.builder().mode(mode).build();
        soon(agent.send("go")).await;
        assert_eq!(notes(&bench), [expected]);
    }
}

/// Answerers who pass leave the question to the next; one that panics answers nothing; the first
/// answer wins.
#[tokio::test]
async fn the_first_answer_wins() {
    let bench = bench();
    let approval = &bench.tool_seams.approval;
    approval.on(&bench.scope, "passes", |_, _| async { None });
    approval.on(&bench.scope, "broken", |_, _| async {
        panic!("answerer bug")
    });
    approval.on(&bench.scope, "slow", |_, signal| async move {
        signal.cancelled().await;
        no()
    });
    approval.on(&bench.scope, "quick", |_, _| async { yes() });
    bench.run("go").await;
    let by = "quick".to_owned();
    assert_eq!(notes(&bench), asked(ApprovalOutcome::Allowed { by }));
    assert_eq!(bench.seen.all(), ["start one", "end one"]);
    assert_eq!(bench.faults.take().len(), 1);
}

/// With nobody left but one that panics, the call does not run.
#[tokio::test]
async fn a_panicking_answerer_is_no_yes() {
    let bench = bench();
    bench
        .tool_seams
        .approval
        .on(&bench.scope, "broken", |_, _| async {
            panic!("answerer bug")
        });
    bench.run("go").await;
    assert_eq!(notes(&bench), asked(ApprovalOutcome::Unanswered));
    assert!(bench.seen.all().is_empty());
}

/// A turn that is cancelled while somebody thinks about it: the question is withdrawn, the answer
/// that comes too late changes nothing, and the call does not run.
#[tokio::test]
async fn an_answer_that_comes_too_late() {
    let bench = bench();
    let (asking, seen) = (Arc::new(Notify::new()), bench.seen.clone());
    let asked_now = Arc::clone(&asking);
    bench
        .tool_seams
        .approval
        .on(&bench.scope, "person", move |_, signal| {
            let (asking, seen) = (Arc::clone(&asked_now), seen.clone());
            async move {
                asking.notify_one();
                signal.cancelled().await;
                seen.note("withdrawn");
                yes()
            }
        });
    let agent = bench.agent();
    let sent = agent.send("go");
    soon(asking.notified()).await;
    agent.cancel(Pending::Drop);
    assert_eq!(soon(sent).await.end, aborted(AbortCause::User));
    assert_eq!(bench.seen.all(), ["withdrawn"]);
    assert_eq!(notes(&bench), asked(ApprovalOutcome::Cancelled));
}

/// In a turn that is already cancelled nobody is asked.
#[tokio::test]
async fn nobody_is_asked_in_a_cancelled_turn() {
    let bench = bench();
    let agent = bench.agent();
    let handle = agent.handle();
    bench
        .tool_seams
        .pre
        .on_first(&bench.scope, "cancel", move |_, next| {
            handle.cancel(Pending::Drop);
            async { Ok(next.run().await?) }
        });
    let seen = bench.seen.clone();
    bench
        .tool_seams
        .approval
        .on(&bench.scope, "person", move |_, _| {
            seen.note("asked");
            async { yes() }
        });
    assert_eq!(soon(agent.send("go")).await.end, aborted(AbortCause::User));
    assert!(bench.seen.all().is_empty(), "{:?}", bench.seen.all());
}

/// An agent's own answerer is not asked about another agent's calls; the one of all agents is.
#[tokio::test]
async fn answerers_of_one_agent() {
    let bench = bench();
    let (mine, other) = (bench.tool_seams.child(), bench.tool_seams.child());
    let seen = bench.seen.clone();
    mine.approval.on(&bench.scope, "mine", move |_, _| {
        seen.note("mine");
        async { None }
    });
    bench
        .tool_seams
        .approval
        .on(&bench.scope, "all", |_, _| async { no() });
    let agent = bench.builder().tool_seams(other).build();
    soon(agent.send("go")).await;
    assert!(bench.seen.all().is_empty());
    let by = "all".to_owned();
    assert_eq!(notes(&bench), asked(ApprovalOutcome::Denied { by }));
}

/// Each question is about one proposal, with a token of its own, and shows the call as it would
/// run.
#[tokio::test]
async fn each_question_is_its_own() {
    let call = |say: &str| ScriptBlock::call("Probe", json!({"say": say})).with_id("same");
    let bench = Bench::new([Play::blocks([call("a"), call("a")]), Play::text("done")]);
    let tokens: Arc<std::sync::Mutex<Vec<_>>> = Arc::default();
    let kept = Arc::clone(&tokens);
    bench
        .tool_seams
        .approval
        .on(&bench.scope, "person", move |question, _| {
            let token = question.proposal.token();
            kept.lock().unwrap().push(format!("{token:?}"));
            async { yes() }
        });
    let agent = bench.builder().mode(Mode::Default).build();
    soon(agent.send("go")).await;
    let tokens = tokens.lock().unwrap();
    assert_eq!(tokens.len(), 2);
    assert_ne!(tokens[0], tokens[1]);
}

/// Where nobody is to be asked, nobody is, whoever stands ready to answer; and an answer that
/// amends the call is recorded as the approval's.
#[tokio::test]
async fn modes_and_amendments() {
    let bench = bench();
    let seen = bench.seen.clone();
    bench
        .tool_seams
        .approval
        .on(&bench.scope, "person", move |_, _| {
            seen.note("asked");
            async { yes() }
        });
    let agent = bench.builder().mode(Mode::DontAsk).build();
    soon(agent.send("go")).await;
    assert!(bench.seen.all().is_empty(), "{:?}", bench.seen.all());

    let amending = self::bench();
    amending
        .tool_seams
        .approval
        .on(&amending.scope, "person", |_, _| async {
            Some(ApprovalAnswer::AllowOnce {
                arguments: Some(json!({"say": "other"}).into()),
                updates: Vec::new(),
            })
        });
    amending.run("go").await;
    assert_eq!(amending.seen.all(), ["start other", "end other"]);
    assert_eq!(
        amending.asked(1)[1..],
        [r#"assistant {"say":"other"}"#, "result other"]
    );
    let by: Vec<Source> = amending
        .session
        .entries()
        .iter()
        .find_map(|entry| match &entry.event {
            Event::ToolCall(call) => Some(call.rewritten_by.clone()),
            _ => None,
        })
        .unwrap();
    let person = Source::Approval {
        by: "person".to_owned(),
    };
    assert_eq!(by, [person]);
}

/// A mode that does not exist is refused by its name.
#[test]
fn an_unknown_mode() {
    let error = "never".parse::<Mode>().unwrap_err();
    assert!(error.to_string().contains("never"), "{error}");
}
