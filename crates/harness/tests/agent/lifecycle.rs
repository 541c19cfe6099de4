//! Beginning, ending, and going on in another process.

use std::sync::Arc;
use std::time::Duration;

use seamline_harness::agent::{FirstMessage, SessionName, SessionStartContribution};
use seamline_harness::model::scripted::Play;
use seamline_harness::session::event::{AbortCause, StartSource};
use seamline_harness::session::{Place, Session};
use seamline_seams::Notice;
use tokio::sync::Notify;

use crate::bench::{Bench, aborted, context, probe, soon, speaker, until};

fn call(say: &str) -> Play {
    let (name, input) = probe(say);
    Play::call(name, input)
}

fn contexts(texts: &[&str]) -> SessionStartContribution {
    let contexts = texts.iter().map(|text| context(text)).collect();
    SessionStartContribution {
        contexts,
        ..Default::default()
    }
}

/// What start contributors add is in the very first request, in registration order; a first message
/// is answered first, and the prompt joins after that step.
#[tokio::test]
async fn start_contributions_are_in_the_first_request() {
    let bench = Bench::new([Play::text("good day"), Play::text("ok"), Play::text("more")]);
    let start = &bench.seams.session_start;
    start.on(&bench.scope, "slow", |_| async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        contexts(&["first"])
    });
    start.on(&bench.scope, "quick", |event| async move {
        assert_eq!(
            (event.source, event.facts.turn),
            (StartSource::Startup, None)
        );
        SessionStartContribution {
            first_message: Some(FirstMessage {
                text: "hello".to_owned(),
                source: speaker(),
            }),
            title: Some(SessionName {
                title: "a title".to_owned(),
                source: speaker(),
            }),
            notices: vec![Notice {
                source: speaker(),
                text: "welcome".to_owned(),
            }],
            ..contexts(&["second"])
        }
    });
    let agent = bench.agent();
    soon(agent.send("go")).await;
    assert_eq!(
        bench.asked(0),
        ["context first", "context second", "user hello"]
    );
    let second = bench.asked(1);
    assert_eq!(second.last().map(String::as_str), Some("user go"));
    assert_eq!(bench.notices(), ["welcome"]);
    assert_eq!(
        bench.log()[..3],
        ["session/start", "notice welcome", "session/title"]
    );
    soon(agent.send("more")).await;
    let starts = bench
        .log()
        .iter()
        .filter(|event| *event == "session/start")
        .count();
    assert_eq!(starts, 1, "once a process");
}

/// A contributor that misses the deadline is announced, does not hold up the first request, and
/// is heard at the next step.
#[tokio::test]
async fn late_start_contributions_reach_the_next_step() {
    let bench = Bench::new([call("one"), Play::text("done")]);
    let gate = Arc::new(Notify::new());
    let opened = Arc::clone(&gate);
    bench
        .seams
        .session_start
        .on(&bench.scope, "late", move |_| {
            let gate = Arc::clone(&opened);
            async move {
                gate.notified().await;
                contexts(&["at last"])
            }
        });
    let agent = bench
        .builder()
        .session_start_deadline(Duration::from_millis(10))
        .build();
    let handle = agent.handle();
    bench
        .tool_seams
        .dispatch
        .on(&bench.scope, "open", move |_, signal, inner| {
            gate.notify_one();
            let handle = handle.clone();
            async move {
                let outcome = inner.run(signal).await;
                // The contribution is on its way while the call runs; wait until it is there.
                until(|| handle.workspace().env().contains_key("LATE")).await;
                Ok(outcome)
            }
        });
    bench
        .seams
        .session_start
        .on(&bench.scope, "never", |_| std::future::pending());
    let opened = bench.seams.session_start.clone();
    opened.on(&bench.scope, "also late", {
        let session = bench.session.clone();
        move |_| {
            let session = session.clone();
            async move {
                until(|| {
                    session
                        .entries()
                        .iter()
                        .any(|e| e.event.kind() == "tool/call")
                })
                .await;
                tokio::time::sleep(Duration::from_millis(20)).await;
                let environment = [("LATE".to_owned(), "1".to_owned())].into();
                SessionStartContribution {
                    environment,
                    ..Default::default()
                }
            }
        }
    });
    soon(agent.send("go")).await;
    assert_eq!(bench.asked(0), ["user go"]);
    assert_eq!(bench.asked(1).last().unwrap(), "context at last");
    let notices = bench.notices();
    assert!(
        notices[0].contains("late, never, also late did not finish"),
        "{notices:?}"
    );
    soon(agent.close("test")).await.unwrap();
}

/// A start contributor that panics costs what it would have added, and nothing else.
#[tokio::test]
async fn a_panicking_start_contributor() {
    let bench = Bench::new([Play::text("ok")]);
    let start = &bench.seams.session_start;
    start.on(&bench.scope, "broken", |_| async { panic!("start bug") });
    start.on(&bench.scope, "sound", |_| async { contexts(&["heard"]) });
    let agent = bench.agent();
    soon(agent.send("go")).await;
    assert_eq!(bench.asked(0), ["context heard", "user go"]);
    assert_eq!(bench.faults.take().len(), 1);
    soon(agent.close("other")).await.unwrap();
}

/// The end is awaited under its deadline, after the turn, and closes the log.
#[tokio::test]
async fn the_end_is_awaited() {
    let bench = Bench::new([Play::text("ok")]);
    let seen = bench.seen.clone();
    let end = &bench.seams.session_end;
    end.on(&bench.scope, "bye", move |event| {
        let seen = seen.clone();
        async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            seen.note(format!("end {}", event.reason));
            vec![Notice {
                source: speaker(),
                text: "bye".to_owned(),
            }]
        }
    });
    end.on(&bench.scope, "stuck", |_| std::future::pending());
    let agent = bench
        .builder()
        .session_end_deadline(Duration::from_millis(200))
        .build();
    soon(agent.send("go")).await;
    soon(agent.close("other")).await.unwrap();
    assert_eq!(bench.seen.all(), ["end other"]);
    assert_eq!(bench.notices()[0], "bye");
    assert!(bench.notices()[1].contains("stuck did not finish within 200ms"));
    assert_eq!(bench.log().last().unwrap(), "session/end");
}

/// Closing an agent that was never sent anything leaves no trace.
#[tokio::test]
async fn closing_unused() {
    let bench = Bench::new([]);
    soon(bench.agent().close("other")).await.unwrap();
    assert!(bench.log().is_empty());
}

/// Closing lets go of the log, whoever still holds a handle.
#[tokio::test]
async fn closing_lets_go_of_the_log() {
    let state = tempfile::tempdir().unwrap();
    let mut bench = Bench::new([Play::text("ok")]);
    bench.session = Session::create(&Place::new(state.path(), bench.project())).unwrap();
    let path = bench.session.path().unwrap().to_owned();
    let agent = bench.agent();
    let handle = agent.handle();
    soon(agent.send("go")).await;
    soon(agent.close("other")).await.unwrap();
    let loaded = Session::load(&path).unwrap();
    assert_eq!(loaded.repaired_turn, None);
    assert!(
        handle
            .tell(Notice {
                source: speaker(),
                text: String::new()
            })
            .is_err()
    );
}

/// Closing in the middle of a turn closes the turn first.
#[tokio::test]
async fn closing_in_the_middle() {
    let bench = Bench::new([call("hang")]);
    let agent = bench.agent();
    let sent = agent.send("go");
    until(|| bench.seen.all().contains(&"start hang".to_owned())).await;
    soon(agent.close("other")).await.unwrap();
    assert_eq!(soon(sent).await.end, aborted(AbortCause::Closed));
    let log = bench.log();
    assert_eq!(log[log.len() - 2..], ["turn/end aborted", "session/end"]);
}

/// A killed session goes on in another process: the turn it died in is closed, the model is told
/// what is known, turn numbers go on, and the script is played from where it stood.
#[tokio::test]
async fn a_killed_session_goes_on() {
    let state = tempfile::tempdir().unwrap();
    let turns = || {
        [
            call("one"),
            call("hang"),
            Play::text("told"),
            Play::text("again"),
        ]
    };
    let mut bench = Bench::new(turns());
    bench.session = Session::create(&Place::new(state.path(), bench.project())).unwrap();
    let path = bench.session.path().unwrap().to_owned();
    let agent = bench.agent();
    let sent = agent.send("go");
    until(|| bench.seen.all().contains(&"start hang".to_owned())).await;
    let killed = std::fs::read(&path).unwrap();
    drop(agent);
    soon(sent).await;
    let place = Place::new(state.path(), bench.project());
    drop(bench);
    let copy = place.log(seamline_harness::session::SessionId::new());
    std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
    std::fs::write(&copy, killed).unwrap();

    let loaded = Session::load(&copy).unwrap();
    assert_eq!(loaded.repaired_turn, Some(1));
    let mut bench = Bench::new(turns());
    bench.session = loaded.session;
    bench
        .seams
        .session_start
        .on(&bench.scope, "start", |event| async move {
            contexts(&[&format!("{:?}", event.source)])
        });
    let outcome = bench.run("and now?").await;
    assert_eq!(
        (outcome.turn.unwrap().0, outcome.text.as_deref()),
        (2, Some("told"))
    );
    let asked = bench.asked(0);
    assert!(asked[4].contains("outcome is unknown"), "{asked:?}");
    assert_eq!(asked[5..], ["context Resume", "user and now?"]);
}
