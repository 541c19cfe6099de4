//! The log on disk: round trips, damage, repair, one writer.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::json;
use uuid::Uuid;

use super::event::*;
use super::*;
use crate::content::{Content, Source};
use crate::json::Json;
use crate::model::{Block, ToolSpec};
use crate::tools::code;

mod nested;
mod page;
mod writing;

const AT: Step = Step { turn: 1, step: 1 };

fn turn(turn: u32) -> Event {
    TurnStart {
        turn,
        id: Uuid::nil(),
        trigger: Trigger::Prompt,
    }
    .into()
}

fn end(turn: u32) -> Event {
    TurnEnd {
        turn,
        reason: TurnEndReason::Completed,
    }
    .into()
}

fn user(text: &str) -> Event {
    UserMessage {
        turn: 1,
        content: Content::text(text),
        source: Source::User,
    }
    .into()
}

fn calls(ids: &[&str]) -> Event {
    let call = |id: &&str| ReceivedBlock::ToolCall {
        id: (*id).to_owned(),
        name: "T".to_owned(),
        arguments: r#"{"a": 1.50}"#.to_owned(),
    };
    let blocks = ids.iter().map(call).collect();
    AssistantMessage {
        turn: 1,
        step: 1,
        blocks,
        usage: None,
        interrupted: false,
    }
    .into()
}

fn call(id: &str, arguments: &str) -> Event {
    ToolCall {
        turn: 1,
        step: 1,
        call_id: id.to_owned(),
        parent: None,
        name: "T".to_owned(),
        arguments: Json::parse(arguments).unwrap(),
        original: None,
        rewritten_by: Vec::new(),
        approval: None,
        denied: None,
    }
    .into()
}

fn result(id: &str) -> Event {
    ToolResult {
        turn: 1,
        step: 1,
        call_id: id.to_owned(),
        parent: None,
        content: Content::text(format!("result of {id}")),
        is_error: false,
        error: None,
    }
    .into()
}

fn context(text: &str) -> Event {
    ContextMessage {
        turn: 1,
        text: text.to_owned(),
        source: Source::Harness,
    }
    .into()
}

/// A log in the middle of a step with two calls, the first answered.
fn half_a_step() -> Vec<Event> {
    vec![
        turn(1),
        user("go"),
        StepStart(AT).into(),
        calls(&["a", "b", "c"]),
        call("a", "{}"),
        result("a"),
        call("b", "{}"),
    ]
}

fn append_all(session: &Session, events: Vec<Event>) {
    for event in events {
        session.append(event).unwrap();
    }
}

fn written(folder: &Path, events: Vec<Event>) -> std::path::PathBuf {
    let session = Session::create(&Place::new(folder, "/project")).unwrap();
    append_all(&session, events);
    session.path().unwrap().to_owned()
}

fn kinds(session: &Session) -> Vec<String> {
    session
        .entries()
        .iter()
        .map(|entry| entry.event.kind().to_owned())
        .collect()
}

/// One of each event, in an order the relations allow.
fn everything() -> Vec<Event> {
    [up_to_the_call(), vec![rewritten_call()], after_the_call()].concat()
}

fn plugin() -> Source {
    Source::Plugin {
        plugin: "p".to_owned(),
        key: Some("k".to_owned()),
    }
}

fn up_to_the_call() -> Vec<Event> {
    vec![
        SessionStart {
            source: StartSource::Startup,
            cwd: "/project".into(),
            model: "m".to_owned(),
        }
        .into(),
        SessionTitle {
            title: "t".to_owned(),
            source: plugin(),
        }
        .into(),
        Extension {
            kind: "hook/invoked".to_owned(),
            turn: None,
            data: json!({"n": 1}).into(),
        }
        .into(),
        turn(1),
        user("go"),
        context("c"),
        StepStart(AT).into(),
        RequestHeader {
            turn: 1,
            step: 1,
            model: "m".to_owned(),
            system: "s".to_owned(),
            tools: vec![ToolSpec {
                name: "T".to_owned(),
                description: "d".to_owned(),
                schema: Json::parse(r#"{"const": 123456789012345678901234567890}"#).unwrap(),
            }],
        }
        .into(),
        calls(&["a"]),
        Extension {
            kind: "hook/result".to_owned(),
            turn: Some(1),
            data: Json::parse("[1.50]").unwrap(),
        }
        .into(),
    ]
}

fn rewritten_call() -> Event {
    let mut rewritten = call("a", r#"{"b":1e2}"#);
    if let Event::ToolCall(call) = &mut rewritten {
        let by = "terminal".to_owned();
        call.original = Some(Json::parse(r#"{"a": 1.50}"#).unwrap());
        let asked = by.clone();
        call.rewritten_by = vec![plugin(), Source::Approval { by }];
        call.approval = Some(ApprovalNote {
            asked_by: Some(plugin()),
            reason: None,
            outcome: ApprovalOutcome::Allowed { by: asked },
        });
        let (reason, by) = ("no".to_owned(), plugin());
        call.denied = Some(DeniedNote { reason, by });
    }
    rewritten
}

fn after_the_call() -> Vec<Event> {
    vec![
        result("a"),
        StepEnd(AT).into(),
        SteeringMessage {
            turn: 1,
            content: Content::text("s"),
            source: Source::User,
        }
        .into(),
        PromptBlocked {
            turn: 1,
            content: Content::text("b"),
            source: Source::User,
            reason: "r".to_owned(),
            by: plugin(),
        }
        .into(),
        NoticeShown {
            turn: Some(1),
            text: "n".to_owned(),
            source: Source::Harness,
        }
        .into(),
        end(1),
        SessionEnd {
            reason: "other".to_owned(),
        }
        .into(),
    ]
}

/// What was appended is what is loaded: every kind of event, texts of numbers included.
#[test]
fn everything_survives_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), everything());
    let mut seen: Vec<&str> = KINDS.to_vec();
    let loaded = Session::load(&path).unwrap();
    assert_eq!((loaded.torn_bytes, loaded.repaired_turn), (0, None));
    let entries = loaded.session.entries();
    let events: Vec<Event> = entries.iter().map(|entry| entry.event.clone()).collect();
    assert_eq!(events, everything());
    seen.retain(|kind| !events.iter().any(|event| event.kind() == *kind));
    assert!(seen.is_empty(), "not tested: {seen:?}");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(r#"{"b":1e2}"#) && text.contains("123456789012345678901234567890"));
    assert!(text.contains(r#""turn":1,"data":[1.50]"#), "{text}");
    assert!(text.starts_with(r#"{"format":1,"#), "{text}");
}

/// The file is where the architecture says, and nobody else's business.
#[cfg(unix)]
#[test]
fn the_file_is_private_and_in_its_place() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let place = Place::new(folder.path(), "/a/project");
    let session = Session::create(&place).unwrap();
    let id = session.id().to_string();
    let path = folder
        .path()
        .join("sessions/-a-project")
        .join(id)
        .join("log.jsonl");
    assert_eq!(session.path(), Some(path.as_path()));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    assert_eq!(place.sessions().unwrap(), [session.id()]);
}

/// One writer at a time; the lock goes with its holder.
#[test]
fn one_writer() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), vec![turn(1), end(1)]);
    let first = Session::load(&path).unwrap();
    let error = Session::load(&path).unwrap_err();
    let own = Some(std::process::id());
    assert!(matches!(error, SessionError::Locked { pid, .. } if pid == own));
    fs::remove_file(path.with_file_name("writer")).unwrap();
    let error = Session::load(&path).unwrap_err().to_string();
    assert!(error.contains("in use by another process"), "{error}");
    assert_eq!(
        Session::read(&path).unwrap().entries.len(),
        2,
        "reading needs no lock"
    );
    drop(first);
    Session::load(&path).unwrap();
}

/// A damaged log is refused with its line, and can be looked at all the same.
#[test]
fn viewing_is_never_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(
        folder.path(),
        vec![turn(1), user("u"), context("c"), end(1)],
    );
    let whole = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let without = |gone: usize| -> String {
        let kept = lines.iter().enumerate().filter(|(index, _)| *index != gone);
        kept.map(|(_, line)| format!("{line}\n")).collect()
    };
    let cases = [
        (whole.replace("\"turn/start\"", "\"turn/begin\""), 2, 3),
        (whole.replace("{\"format\":1", "{\"format\":2"), 1, 4),
        (whole.replace("{\"format\"", "{format"), 1, 4),
        (whole.replacen("\"seq\":1", "seq:1", 1), 3, 3),
        (without(3), 4, 3),
        (without(1), 2, 3),
        (format!("{whole}nonsense\n"), 6, 4),
    ];
    for (text, line, readable) in cases {
        fs::write(&path, &text).unwrap();
        let view = Session::read(&path).unwrap();
        let first = view.damage.first().unwrap();
        assert_eq!((first.line, view.entries.len()), (line, readable), "{text}");
        let error = Session::load(&path).unwrap_err().to_string();
        let named = error.contains(&format!(":{line}: ")) || error.contains("has format 2");
        assert!(named, "{error}");
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            text,
            "nothing was changed"
        );
    }
    fs::write(&path, format!("{whole}nonsense")).unwrap();
    let view = Session::read(&path).unwrap();
    assert_eq!(
        (view.torn_bytes, view.damage.len()),
        (8, 0),
        "perhaps still being written"
    );
}

/// A cut-off last line is dropped wherever it was cut; nothing before it is.
#[test]
fn a_torn_last_line_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), vec![turn(1), user("é"), end(1)]);
    let whole = fs::read(&path).unwrap();
    let last = whole[..whole.len() - 1]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .unwrap()
        + 1;
    for cut in last + 1..whole.len() - 1 {
        fs::write(&path, &whole[..cut]).unwrap();
        let loaded = Session::load(&path).unwrap();
        assert_eq!(loaded.torn_bytes, (cut - last) as u64);
        assert_eq!(
            kinds(&loaded.session),
            ["turn/start", "user/message", "turn/end"],
            "{cut}"
        );
        assert_eq!(loaded.repaired_turn, Some(1));
    }
    fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    let loaded = Session::load(&path).unwrap();
    assert_eq!(
        (loaded.torn_bytes, loaded.repaired_turn),
        (0, None),
        "only the line break"
    );
    drop(loaded);
    assert_eq!(fs::read(&path).unwrap(), whole);
}

/// Damage anywhere else is refused with its place, and nothing is changed.
#[test]
fn damage_in_the_middle_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), vec![turn(1), user("x"), end(1)]);
    let whole = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let with = |line: usize, text: &str| {
        let mut lines = lines.clone();
        lines[line - 1] = text;
        lines.join("\n") + "\n"
    };
    let unknown = r#"{"seq":1,"time":0,"type":"tool/unknown","data":{}}"#;
    let cases = [
        (with(3, "{\"seq\":1"), 3, "EOF"),
        (with(3, lines[3]), 3, "event 2 stands where event 1 belongs"),
        (with(3, unknown), 3, "there is no event \"tool/unknown\""),
        (
            with(3, &lines[2].replace("\"turn\":1", "\"turn\":7")),
            3,
            "turn 1 is open",
        ),
        (with(4, "\0\0\0"), 4, "expected value"),
        (with(1, "{}"), 1, "header"),
        (String::new(), 1, "header"),
    ];
    for (text, line, part) in cases {
        fs::write(&path, &text).unwrap();
        let error = Session::load(&path).unwrap_err();
        let SessionError::Corrupt {
            line: at, message, ..
        } = &error
        else {
            panic!("{error}")
        };
        assert!(message.contains(part), "{message}");
        assert_eq!(*at, line, "{message}");
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            text,
            "nothing was changed"
        );
    }
    fs::write(&path, whole.replace("\"format\":1", "\"format\":2")).unwrap();
    let error = Session::load(&path).unwrap_err().to_string();
    assert!(error.contains("has format 2"), "{error}");
}

/// A dead process's turn is closed: each call is told what is known about it, in order, and the
/// next load finds nothing to do.
#[test]
fn an_open_turn_is_repaired() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), half_a_step());
    let loaded = Session::load(&path).unwrap();
    assert_eq!(loaded.repaired_turn, Some(1));
    let entries = loaded.session.entries();
    let repaired: Vec<_> = entries
        .iter()
        .skip(half_a_step().len())
        .map(|e| &e.event)
        .collect();
    let [
        Event::ToolResult(b),
        Event::ToolResult(c),
        Event::StepEnd(_),
        Event::TurnEnd(end),
    ] = &repaired[..]
    else {
        panic!("{repaired:?}")
    };
    let code = |result: &ToolResult| result.error.clone().unwrap().code;
    assert_eq!(
        (b.call_id.as_str(), code(b).as_str()),
        ("b", code::TOOL_OUTCOME_UNKNOWN)
    );
    assert_eq!(
        (c.call_id.as_str(), code(c).as_str()),
        ("c", code::TOOL_NOT_STARTED)
    );
    assert_eq!(end.reason, TurnEndReason::Interrupted);
    drop(loaded);
    let again = Session::load(&path).unwrap();
    assert_eq!(again.repaired_turn, None);
    again.session.append(turn(2)).unwrap();
}

/// A call that was put off stays put off, also when the turn that took it up dies at once.
#[test]
fn a_deferred_call_stays_open() {
    let folder = tempfile::tempdir().unwrap();
    let reason = TurnEndReason::Deferred {
        call_id: "a".to_owned(),
        reason: None,
        by: None,
    };
    let mut events = vec![turn(1), user("go"), StepStart(AT).into(), calls(&["a"])];
    events.extend([
        StepEnd(AT).into(),
        TurnEnd {
            turn: 1,
            reason: reason.clone(),
        }
        .into(),
    ]);
    events.push(
        TurnStart {
            turn: 2,
            id: Uuid::nil(),
            trigger: Trigger::Resume,
        }
        .into(),
    );
    let path = written(folder.path(), events);
    let loaded = Session::load(&path).unwrap();
    let entries = loaded.session.entries();
    let Event::TurnEnd(end) = &entries.last().unwrap().event else {
        panic!("{entries:?}")
    };
    assert_eq!((end.turn, &end.reason), (2, &reason));
    loaded
        .session
        .append(TurnStart {
            turn: 3,
            id: Uuid::nil(),
            trigger: Trigger::Resume,
        })
        .unwrap();
    let at = Step { turn: 3, step: 1 };
    loaded.session.append(StepStart(at)).unwrap();
    let mut late = call("a", r#"{"late":true}"#);
    let mut answer = result("a");
    if let (Event::ToolCall(call), Event::ToolResult(answer)) = (&mut late, &mut answer) {
        (call.turn, answer.turn) = (3, 3);
    }
    loaded.session.append(late).unwrap();
    loaded.session.append(answer).unwrap();
    let history = loaded.session.history();
    let Message::Assistant { blocks } = &*history[1] else {
        panic!("{history:?}")
    };
    let [Block::ToolCall { arguments, .. }] = &blocks[..] else {
        panic!("{blocks:?}")
    };
    assert_eq!(arguments.text(), r#"{"late":true}"#);
    assert!(matches!(&*history[2], Message::ToolResult { call_id, .. } if call_id == "a"));
}

/// What does not fit is refused and leaves no trace.
#[test]
fn relations_are_enforced() {
    let after = |events: Vec<Event>, event: Event| {
        let session = Session::ephemeral("/project");
        append_all(&session, events);
        let before = (kinds(&session), session.history());
        let refused = session.append(event).err().map(|error| error.to_string());
        assert!(refused.is_none() || (kinds(&session), session.history()) == before);
        refused.unwrap_or_default()
    };
    let extension = |kind: &str, turn| {
        Event::from(Extension {
            kind: kind.to_owned(),
            turn,
            data: json!({}).into(),
        })
    };
    let step = |turn, step| Event::from(StepStart(Step { turn, step }));
    let opened = || vec![turn(1), user("go"), step(1, 1)];
    let cases = [
        (vec![], turn(2), "the next turn is 1"),
        (vec![turn(1)], turn(2), "turn 1 is still open"),
        (vec![turn(1), end(1)], turn(1), "the next turn is 2"),
        (vec![], user("x"), "turn 1 is not open"),
        (vec![turn(1)], step(1, 2), "the next step is 1"),
        (opened(), step(1, 2), "step 1 is still open"),
        (opened(), end(1), "step 1 is still open"),
        (vec![turn(1)], calls(&[]), "step 1 of turn 1 is not open"),
        (
            [opened(), vec![calls(&[])]].concat(),
            calls(&[]),
            "already has its message",
        ),
        (
            [opened(), vec![calls(&["a"])]].concat(),
            call("x", "{}"),
            "no call x waits",
        ),
        (
            [opened(), vec![calls(&["a"])]].concat(),
            result("a"),
            "no call a waits for this result",
        ),
        (half_a_step(), result("a"), "no call a waits"),
        (half_a_step(), context("c"), "the call b has no result yet"),
        (
            half_a_step(),
            StepEnd(AT).into(),
            "calls without a result: b, c",
        ),
        (
            vec![turn(1)],
            extension("hook/x", Some(2)),
            "turn 1 is open, not turn 2",
        ),
        (vec![], extension("hook/x", Some(1)), "turn 1 is not open"),
        (vec![], extension("hook", None), "namespace"),
        (vec![], extension("tool/mine", None), "namespace"),
        (
            vec![turn(1)],
            SessionEnd {
                reason: String::new(),
            }
            .into(),
            "a turn is open",
        ),
        (vec![], extension("hook/x", None), ""),
        (vec![turn(1)], extension("hook/x", Some(1)), ""),
        (
            [opened(), vec![calls(&["a"])]].concat(),
            call("a", "{}"),
            "",
        ),
    ];
    for (events, event, expected) in cases {
        let kind = event.kind().to_owned();
        let refused = after(events, event);
        assert_eq!(refused.is_empty(), expected.is_empty(), "{kind}: {refused}");
        assert!(refused.contains(expected), "{kind}: {refused}");
    }
}

/// Results stand behind their calls in call order, contexts behind the results.
#[test]
fn history_keeps_calls_and_results_together() {
    let session = Session::ephemeral("/project");
    let mut events = half_a_step();
    events.extend([
        call("c", r#"{"new":1}"#),
        result("c"),
        result("b"),
        context("after"),
    ]);
    append_all(&session, events);
    let shapes: Vec<String> = session
        .history()
        .iter()
        .map(|message| shape(message))
        .collect();
    assert_eq!(
        shapes,
        [
            "user go",
            "calls a {} b {} c {\"new\":1}",
            "result a",
            "result b",
            "result c",
            "context after",
        ]
    );
}

fn shape(message: &Message) -> String {
    match message {
        Message::User { content, .. } => format!("user {}", content.to_text()),
        Message::Context { text, .. } => format!("context {text}"),
        Message::ToolResult { call_id, .. } => format!("result {call_id}"),
        Message::Assistant { blocks } => {
            let calls = blocks.iter().map(|block| match block {
                Block::Text { text } => text.clone(),
                Block::ToolCall { id, arguments, .. } => format!("{id} {arguments}"),
                Block::Reasoning { text } | Block::Provider { data: text } => text.clone(),
            });
            format!("calls {}", calls.collect::<Vec<_>>().join(" "))
        }
    }
}

/// The model's arguments as JSON, whatever it wrote.
#[test]
fn arguments_are_always_json() {
    let cases = [
        ("", "{}"),
        (" \n", "{}"),
        ("{\"a\":1.0}", "{\"a\":1.0}"),
        ("{oops", "\"{oops\""),
    ];
    for (text, expected) in cases {
        assert_eq!(read_arguments(text).text(), expected);
    }
}

/// Some event that may or may not fit, named by a small number.
fn any_event(choice: u8, number: u32) -> Event {
    let at = Step {
        turn: number / 3 + 1,
        step: number % 3 + 1,
    };
    let id = ["a", "b"][usize::from(choice) % 2];
    match choice % 12 {
        0 => TurnStart {
            turn: at.turn,
            id: Uuid::nil(),
            trigger: Trigger::Prompt,
        }
        .into(),
        1 => end(at.turn),
        2 => StepStart(at).into(),
        3 => StepEnd(at).into(),
        4 | 5 => calls(&["a", "b"][..usize::from(choice) % 3]),
        6 | 7 => call(id, "{}"),
        8 | 9 => result(id),
        10 => context("c"),
        _ => user("u"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Any log that our own rules let be written loads again, to the same history, from any
    /// point it was cut at; after the repair no turn is open.
    #[test]
    fn whatever_was_appended_loads(
        choices in proptest::collection::vec((0..12_u8, 0..6_u32), 0..60),
        cut in 0.0..1.0,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let session = Session::create(&Place::new(folder.path(), "/p")).unwrap();
        for (choice, number) in choices {
            // Most do not fit; those that do make the log.
            let _ = session.append(any_event(choice, number));
        }
        let path = session.path().unwrap().to_owned();
        let (entries, history) = (session.entries(), session.history());
        drop(session);
        let view = Session::read(&path).unwrap();
        prop_assert_eq!(&view.entries, &entries);
        prop_assert_eq!(&view.history, &history);

        let bytes = fs::read(&path).unwrap();
        let header = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        let kept = header + ((bytes.len() - header) as f64 * cut) as usize;
        fs::write(&path, &bytes[..kept]).unwrap();
        let loaded = Session::load(&path).unwrap();
        prop_assert_eq!(loaded.session.relations(|relations| relations.open_turn()), None);
        let after = loaded.session.entries();
        let whole = bytes[header..kept].iter().filter(|byte| **byte == b'\n').count();
        prop_assert_eq!(&after[..whole], &entries[..whole], "whole lines are kept");
        drop(loaded);
        prop_assert_eq!(Session::read(&path).unwrap().entries, after);
    }
}
