//! Calls that another call's tool made.

use super::*;

/// `event` as a nested one of the call `parent`.
fn inside(parent: &str, mut event: Event) -> Event {
    let of = Some(parent.to_owned());
    match &mut event {
        Event::ToolCall(call) => call.parent = of,
        Event::ToolResult(result) => result.parent = of,
        other => panic!("{other:?}"),
    }
    event
}

/// The call `a` runs; it made `x`, and that one made `y`.
fn two_deep() -> Vec<Event> {
    vec![
        turn(1),
        user("go"),
        StepStart(AT).into(),
        calls(&["a", "b"]),
        call("a", "{}"),
        inside("a", call("x", "{}")),
        inside("x", call("y", "{}")),
    ]
}

/// A nested call names a call that runs and is answered once, before the one that made it. The model
/// sees none of it.
#[test]
fn a_nested_call_lives_inside_the_one_that_made_it() {
    let upto = |count: usize| two_deep().into_iter().take(count).collect::<Vec<_>>();
    let answered = || {
        let answers = vec![inside("x", result("y")), inside("a", result("x"))];
        [two_deep(), answers].concat()
    };
    let cases = [
        (upto(4), inside("a", call("x", "{}")), "no call a runs"),
        (upto(5), inside("b", call("x", "{}")), "no call b runs"),
        (upto(5), inside("a", result("x")), "no nested call x of a"),
        (two_deep(), inside("a", call("x", "{}")), "x has no result"),
        (
            two_deep(),
            inside("b", result("x")),
            "no nested call x of b",
        ),
        (two_deep(), inside("a", result("x")), "nested call y has no"),
        (two_deep(), result("a"), "nested call x has no result yet"),
        (two_deep(), StepEnd(AT).into(), "without a result: a, b"),
        (
            answered(),
            inside("a", result("x")),
            "no nested call x of a",
        ),
        (answered(), inside("a", call("x", "{}")), ""),
        (answered(), result("a"), ""),
    ];
    for (events, event, expected) in cases {
        let session = Session::ephemeral("/project");
        append_all(&session, events);
        let (before, seen) = (session.entries(), session.history());
        let refused = session.append(event.clone()).err();
        let refused = refused.map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(
            refused.is_empty(),
            expected.is_empty(),
            "{event:?}: {refused}"
        );
        assert!(refused.contains(expected), "{event:?}: {refused}");
        if !refused.is_empty() {
            assert_eq!((session.entries(), session.history()), (before, seen));
        }
    }
    let session = Session::ephemeral("/project");
    append_all(&session, answered());
    let shapes: Vec<String> = session.history().iter().map(|m| shape(m)).collect();
    let model = r#"calls a {} b {"a": 1.50}"#;
    assert_eq!(shapes, ["user go", model]);
}

/// What was running inside a call is answered before it, innermost first.
#[test]
fn nested_calls_are_repaired_from_the_inside() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), two_deep());
    let loaded = Session::load(&path).unwrap();
    let entries = loaded.session.entries();
    let added = entries.iter().skip(two_deep().len());
    let added: Vec<String> = added
        .map(|entry| match &entry.event {
            Event::ToolResult(result) => {
                let code = &result.error.as_ref().unwrap().code;
                let parent = result.parent.as_deref().unwrap_or("-");
                format!("{} of {parent}: {code}", result.call_id)
            }
            other => other.kind().to_owned(),
        })
        .collect();
    assert_eq!(
        added,
        [
            "y of x: TOOL_OUTCOME_UNKNOWN",
            "x of a: TOOL_OUTCOME_UNKNOWN",
            "a of -: TOOL_OUTCOME_UNKNOWN",
            "b of -: TOOL_NOT_STARTED",
            "step/end",
            "turn/end",
        ]
    );
    drop(loaded);
    assert_eq!(Session::load(&path).unwrap().repaired_turn, None);
}
