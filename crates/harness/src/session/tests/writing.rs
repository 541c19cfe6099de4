//! Writing: what a log that fails stops, who may write, and what a death leaves.

use std::fs::OpenOptions;
use std::sync::Mutex;

use seamline_seams::Scope;

use super::*;
use crate::agent::{Agent, AgentEvent, TurnOutcome};
use crate::permission::Mode;
use crate::session::store::Store;
use crate::testing::{Echo, Play, Recorder, Scripted, Scripts};
use crate::tools::Registry;

/// A session whose log is `file`, whatever that file can do.
fn on(file: &Path, options: &OpenOptions) -> Session {
    let log = LogFile::held(file.to_owned(), options.open(file).unwrap(), 0);
    let state = State::empty(Store::File(log));
    Session::with(SessionId::new(), "/project".into(), None, state)
}

/// One turn with a call that may have side effects: its outcome, whether the call was started, and
/// how many requests were made.
async fn one_turn(session: &Session) -> (TurnOutcome, bool, usize) {
    let turns = [
        Play::call("Echo", json!({"say": "hello"})),
        Play::text("done"),
    ];
    let model = Recorder::new(Scripted::new(Scripts::main(turns)));
    let registry = Registry::new();
    registry.add(Echo).unwrap();
    let agent = Agent::builder(model.clone(), session.clone())
        .tools(registry)
        .mode(Mode::BypassPermissions)
        .build();
    let started: Arc<Mutex<bool>> = Arc::default();
    let (scope, seen) = (Scope::root("test"), Arc::clone(&started));
    agent.seams().events.on(&scope, "started", move |event| {
        *seen.lock().unwrap() |= matches!(event, AgentEvent::ToolStarted(_));
    });
    let outcome = agent.send("go").await;
    let started = *started.lock().unwrap();
    (outcome, started, model.requests().len())
}

fn message(outcome: &TurnOutcome) -> &str {
    match &outcome.end {
        TurnEndReason::Error { message } => message,
        other => panic!("{other:?}"),
    }
}

/// A log that cannot be synced keeps a call with side effects from running, and the turn ends there.
/// (Writing to this device succeeds, syncing it does not.)
#[cfg(unix)]
#[tokio::test]
async fn no_call_runs_when_the_log_cannot_be_synced() {
    let (fine, started, requests) = one_turn(&Session::ephemeral("/project")).await;
    assert_eq!(
        (fine.end, started, requests),
        (TurnEndReason::Completed, true, 2)
    );

    let session = on(Path::new("/dev/null"), OpenOptions::new().append(true));
    let (outcome, started, requests) = one_turn(&session).await;
    assert!(message(&outcome).contains("cannot sync the session log"));
    assert!(!started, "no body");
    assert_eq!(requests, 1, "no further request");
    let entries = session.entries();
    let result = entries.iter().find_map(|entry| match &entry.event {
        Event::ToolResult(result) => result.error.clone(),
        _ => None,
    });
    assert_eq!(result.unwrap().code, code::ABORTED_BEFORE_DISPATCH);
    let last = &entries.last().unwrap().event;
    assert!(matches!(last, Event::TurnEnd(_)), "{last:?}");
}

/// A log that cannot be written makes no request. What was not written is not there, and a log that
/// could not be cut back takes nothing any more.
#[tokio::test]
async fn no_request_is_made_when_the_log_cannot_be_written() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let session = on(file.path(), OpenOptions::new().read(true));
    let (outcome, started, requests) = one_turn(&session).await;
    assert!(message(&outcome).contains("session log"), "{outcome:?}");
    assert_eq!((started, requests), (false, 0));
    assert!(session.entries().is_empty() && session.history().is_empty());

    let session = on(file.path(), OpenOptions::new().read(true));
    let first = session.append(turn(1)).unwrap_err();
    assert!(matches!(first, SessionError::Io { .. }), "{first}");
    let second = session.append(turn(1)).unwrap_err();
    assert!(matches!(second, SessionError::Closed { .. }), "{second}");
    assert!(session.entries().is_empty());
}

/// Whoever is told of an event may write another: it stands behind the one that was told. Writers at
/// the same time get one place each, in the file as in memory.
#[tokio::test]
async fn events_are_told_after_they_are_written_and_written_one_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::create(&Place::new(folder.path(), "/project")).unwrap();
    let note = |kind: &str| Extension {
        kind: kind.to_owned(),
        turn: None,
        data: json!({}).into(),
    };
    let turns = [Play::call("Echo", json!({"say": "hello"}))];
    let agent = Agent::builder(Scripted::new(Scripts::main(turns)), session.clone()).build();
    let (scope, log) = (Scope::root("test"), session.clone());
    agent.seams().events.on(&scope, "writes", move |event| {
        if let AgentEvent::TurnEnded(_) = event {
            log.append(note("test/told")).unwrap();
        }
    });
    agent.send("go").await;
    let kinds = kinds(&session);
    assert!(
        kinds.ends_with(&["turn/end".to_owned(), "test/told".to_owned()]),
        "{kinds:?}"
    );

    let before = session.entries().len() as u64;
    let write = || -> Vec<u64> {
        let places = (0..50).map(|_| session.append(note("test/many")).unwrap());
        places.collect()
    };
    let mut places: Vec<u64> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..8).map(|_| scope.spawn(write)).collect();
        let places = writers.into_iter().map(|writer| writer.join().unwrap());
        places.flatten().collect()
    });
    places.sort_unstable();
    assert_eq!(places, (before..before + 400).collect::<Vec<u64>>());
    let view = Session::read(session.path().unwrap()).unwrap();
    assert_eq!((view.entries, view.damage), (session.entries(), vec![]));
}

/// A log is made with its first line in it, or not at all: what a death in between leaves is no
/// session. A log that is there is never made again.
#[test]
fn a_log_is_made_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place::new(folder.path(), "/project");
    let session = Session::create(&place).unwrap();
    let path = session.path().unwrap();
    let before = fs::read(path).unwrap();
    let again = LogFile::create(path, "other").unwrap_err();
    assert!(matches!(again, SessionError::Exists { .. }), "{again}");
    assert_eq!(fs::read(path).unwrap(), before);

    let left = place.log(SessionId::new());
    fs::create_dir(left.parent().unwrap()).unwrap();
    fs::write(left.with_file_name("log.jsonl.new"), "{\"form").unwrap();
    assert_eq!(place.sessions().unwrap(), [session.id()]);
}

/// Closing a turn twice, or where none is open, does nothing; a turn without a step gets no step/end.
#[test]
fn only_what_is_open_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    for (events, repaired) in [
        (vec![], vec![]),
        (vec![turn(1), end(1)], vec![]),
        (vec![turn(1)], vec!["turn/end"]),
        (
            vec![turn(1), user("go"), StepStart(AT).into()],
            vec!["step/end", "turn/end"],
        ),
        (
            vec![
                turn(1),
                StepStart(AT).into(),
                calls(&["a"]),
                call("a", "{}"),
                result("a"),
            ],
            vec!["step/end", "turn/end"],
        ),
    ] {
        let count = events.len();
        let path = written(folder.path(), events.clone());
        let loaded = Session::load(&path).unwrap();
        let entries = loaded.session.entries();
        let (kept, added) = entries.split_at(count);
        assert!(kept.iter().map(|entry| &entry.event).eq(&events));
        let added: Vec<_> = added.iter().map(|entry| entry.event.kind()).collect();
        assert_eq!(added, repaired);
        assert_eq!(loaded.repaired_turn.is_some(), !repaired.is_empty());
        let again = loaded.session.close_turn(TurnEndReason::Interrupted);
        assert!(again.is_ok() && loaded.session.entries().len() == entries.len());
    }
}

/// A later version's event that may be passed over is: kept as it is, shown, copied by a fork. It is
/// no way around the rules for the events that we know.
#[test]
fn an_unknown_event_that_may_be_passed_over_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), vec![turn(1), user("go"), end(1)]);
    let line = r#"{"seq":3,"time":7,"type":"tool/progress","ignorable":true,"data":{"n":1.50}}"#;
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{whole}{line}\n")).unwrap();
    assert_eq!(Session::read(&path).unwrap().damage, []);
    let loaded = Session::load(&path).unwrap().session;
    assert_eq!(loaded.entries()[3].line().unwrap(), line);
    loaded.append(turn(2)).unwrap();
    let fork = Session::fork(&path, &Place::new(folder.path(), "/project"), Some(1)).unwrap();
    assert_eq!(fork.entries().len(), 3, "the boundary is the turn's end");
    let rules = Ignorable {
        kind: "turn/start".to_owned(),
        data: json!({}).into(),
    };
    let refused = fork.append(rules).unwrap_err().to_string();
    assert!(refused.contains("can be passed over"), "{refused}");

    let required = line.replace(r#""ignorable":true,"#, "");
    drop(loaded);
    fs::write(&path, format!("{whole}{required}\n")).unwrap();
    let error = Session::load(&path).unwrap_err().to_string();
    assert!(error.contains(":5: "), "{error}");
}

/// Data that cannot be JSON never becomes an event, and what is JSON keeps its text: names that mean
/// something elsewhere, a negative zero, duplicates.
#[test]
fn data_is_json_and_keeps_its_text() {
    let folder = tempfile::tempdir().unwrap();
    let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
    let texts = [
        r#"{"__proto__":{"constructor":null},"":0}"#,
        r#"{"zero":-0.0,"wide":123456789012345678901234567890,"twice":1,"twice":2}"#,
        &deep,
    ];
    let note = |text: &str| -> Event {
        Extension {
            kind: "test/data".to_owned(),
            turn: None,
            data: Json::parse(text).unwrap(),
        }
        .into()
    };
    let path = written(folder.path(), texts.iter().map(|text| note(text)).collect());
    let loaded = Session::load(&path).unwrap().session;
    for (entry, text) in loaded.entries().iter().zip(texts) {
        assert!(
            entry
                .line()
                .unwrap()
                .ends_with(&format!("\"data\":{text}}}"))
        );
        assert_eq!(entry.event, note(text));
    }
    for text in ["NaN", "{\"a\":Infinity}", "undefined", "[1,,2]", "01", ""] {
        assert!(Json::parse(text).is_err(), "{text}");
    }
    assert!(Json::of(&std::collections::BTreeMap::from([((1, 2), 3)])).is_err());
}

/// An observer that panics is too late to undo what it is told of, and the turn goes on.
#[tokio::test]
async fn an_observer_that_panics_undoes_nothing() {
    let session = Session::ephemeral("/project");
    let model = Scripted::new(Scripts::main([Play::text("done")]));
    let agent = Agent::builder(model, session.clone()).build();
    let scope = Scope::root("test");
    let events = &agent.seams().events;
    events.on(&scope, "panics", |_| panic!("on purpose"));
    let outcome = agent.send("go").await;
    assert_eq!(outcome.end, TurnEndReason::Completed);
    let kinds = kinds(&session);
    for kind in ["user/message", "assistant/message", "turn/end"] {
        assert!(kinds.iter().any(|seen| seen == kind), "{kind}: {kinds:?}");
    }
}

/// The conversation is a fold of the log: folded at once it is what was folded event by event, and
/// what is not for the model leaves no trace in it.
#[test]
fn what_is_not_for_the_model_derives_nothing() {
    let session = Session::ephemeral("/project");
    append_all(&session, everything());
    let entries = session.entries();
    assert_eq!(History::of(&entries).messages(), session.history());
    let derive = [
        "user/message",
        "context/message",
        "steering/message",
        "assistant/message",
        "tool/call",
        "tool/result",
    ];
    let for_the_model = |entry: &&Arc<Entry>| derive.contains(&entry.event.kind());
    let kept: Vec<_> = entries.iter().filter(for_the_model).cloned().collect();
    assert!(kept.len() < entries.len());
    assert_eq!(History::of(&kept).messages(), session.history());
}
