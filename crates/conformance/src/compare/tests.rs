use super::*;
use crate::moments::CallFate;
use crate::observed::{Round, Said, SeenRun};

fn expect(value: Value) -> Expect {
    serde_json::from_value(value).unwrap()
}

fn run(name: &str, event: &str, status: &str, entries: &[(&str, &str)]) -> SeenRun {
    let entries = entries
        .iter()
        .map(|(k, t)| ((*k).to_owned(), (*t).to_owned()))
        .collect();
    let (names, event) = (vec![name.to_owned()], event.to_owned());
    SeenRun {
        names,
        event,
        status: status.to_owned(),
        entries,
    }
}

fn round(event: &str, runs: Vec<SeenRun>) -> Round {
    let fired = runs.iter().map(|run| run.names[0].clone()).collect();
    Round {
        event: event.to_owned(),
        fired,
        runs,
        ..Round::default()
    }
}

fn said(text: &str) -> Said {
    Said {
        text: text.to_owned(),
        certain: true,
    }
}

/// The keys that differ.
fn keys(dialect: DialectId, expected: Value, seen: &Observed) -> Vec<&'static str> {
    compare(dialect, &expect(expected), seen)
        .into_iter()
        .map(|m| m.key)
        .collect()
}

fn with_runs(runs: Vec<SeenRun>, scripted: &[&str]) -> Observed {
    Observed {
        rounds: vec![round("Stop", runs)],
        scripted: scripted.iter().map(|text| (*text).to_owned()).collect(),
        ..Observed::default()
    }
}

const BOTH: [DialectId; 2] = DialectId::ALL;

#[test]
fn an_absent_key_and_an_unseen_part_are_not_compared() {
    let seen = with_runs(vec![run("Stop/0/0", "Stop", "failed", &[])], &[]);
    assert!(keys(DialectId::Claude, json!({}), &seen).is_empty());
    let expected = json!({"model_requests": 2, "sees": ["x"], "turns": ["completed"],
        "tool": {"id": "t", "ran": true}, "prompt": "entered"});
    assert!(keys(DialectId::Claude, expected, &seen).is_empty());
}

#[test]
fn fires_are_counted_and_a_round_is_a_set() {
    let seen = with_runs(
        vec![
            run("Stop/0/1", "Stop", "completed", &[]),
            run("Stop/0/0", "Stop", "completed", &[]),
        ],
        &[],
    );
    for dialect in BOTH {
        assert!(keys(dialect, json!({"fires": ["Stop/0/0", "Stop/0/1"]}), &seen).is_empty());
        for wrong in [
            json!(["Stop/0/0"]),
            json!(["Stop/0/0", "Stop/0/0"]),
            json!([]),
        ] {
            assert_eq!(keys(dialect, json!({"fires": wrong}), &seen), ["fires"]);
        }
    }
}

#[test]
fn rounds_of_codex_come_in_order() {
    let of = |name: &str| round("Stop", vec![run(name, "Stop", "completed", &[])]);
    let seen = Observed {
        rounds: vec![of("Stop/1/0"), of("Stop/0/0")],
        ..Observed::default()
    };
    let expected = json!({"fires": ["Stop/0/0", "Stop/1/0"]});
    assert_eq!(keys(DialectId::Codex, expected, &seen), ["fires"]);
}

#[test]
fn a_codex_list_shorter_than_its_runs_names_only_some() {
    let run = |name: &str| run(name, "PreToolUse", "completed", &[]);
    let seen = Observed {
        rounds: vec![round(
            "PreToolUse",
            vec![run("PreToolUse/0/0"), run("PreToolUse/1/0")],
        )],
        ..Observed::default()
    };
    let one = json!({"event": "PreToolUse", "status": "completed", "entries": []});
    let expected = json!({"fires": ["PreToolUse/1/0"], "runs": [one, one]});
    assert!(keys(DialectId::Codex, expected, &seen).is_empty());
    let expected = json!({"fires": ["PreToolUse/2/0"], "runs": [one, one]});
    assert_eq!(keys(DialectId::Codex, expected, &seen), ["fires"]);
}

#[test]
fn texts_of_hooks_are_compared_char_for_char_and_those_of_the_client_by_kind() {
    let seen = with_runs(
        vec![run(
            "A",
            "Stop",
            "blocked",
            &[("feedback", "R"), ("error", "our words")],
        )],
        &["{\"reason\": \"R\", \"note\": \" R\"}"],
    );
    let expected = |entries: Value| json!({"runs": [{"hook": "A", "event": "Stop", "status": "blocked", "entries": entries}]});
    for dialect in BOTH {
        let fine = json!([["feedback", "R"], ["error", "their words"]]);
        assert!(keys(dialect, expected(fine), &seen).is_empty());
        let wordless = json!([["feedback", null], ["error", ""]]);
        assert!(keys(dialect, expected(wordless), &seen).is_empty());
        for wrong in [
            json!([["feedback", " R"], ["error", "x"]]),
            json!([["stop", "R"], ["error", "x"]]),
            json!([["feedback", "R"]]),
            json!([["feedback", "R"], ["error", "x"], ["context", null]]),
        ] {
            assert_eq!(
                keys(dialect, expected(wrong.clone()), &seen),
                ["runs"],
                "{wrong}"
            );
        }
    }
}

#[test]
fn the_status_of_a_run_counts() {
    let seen = with_runs(vec![run("A", "Stop", "completed", &[])], &[]);
    let wrong =
        json!({"runs": [{"hook": "A", "event": "Stop", "status": "failed", "entries": []}]});
    for dialect in BOTH {
        assert_eq!(keys(dialect, wrong.clone(), &seen), ["runs"]);
    }
}

#[test]
fn codex_reports_every_run_and_claude_those_that_show() {
    let runs = || {
        vec![
            run("A", "Stop", "blocked", &[]),
            run("A", "Stop", "completed", &[]),
        ]
    };
    let seen = with_runs(runs(), &[]);
    let last =
        json!({"runs": [{"hook": "A", "event": "Stop", "status": "completed", "entries": []}]});
    assert!(keys(DialectId::Claude, last.clone(), &seen).is_empty());
    assert!(!keys(DialectId::Codex, last, &seen).is_empty());
    let turned = json!({"runs": [
        {"hook": "A", "event": "Stop", "status": "completed", "entries": []},
        {"hook": "A", "event": "Stop", "status": "blocked", "entries": []}]});
    assert_eq!(keys(DialectId::Claude, turned, &seen), ["runs"], "in order");
}

#[test]
fn entries_are_a_set_in_claude_and_a_list_in_codex() {
    let entries = [("warning", "W"), ("feedback", "F")];
    let seen = with_runs(vec![run("A", "Stop", "blocked", &entries)], &["W", "F"]);
    let turned = json!({"runs": [{"hook": "A", "event": "Stop", "status": "blocked",
        "entries": [["feedback", "F"], ["warning", "W"]]}]});
    assert!(keys(DialectId::Claude, turned.clone(), &seen).is_empty());
    assert_eq!(keys(DialectId::Codex, turned, &seen), ["runs"]);
}

#[test]
fn a_context_the_model_did_not_read_may_be_missing_from_claudes_record() {
    let seen = with_runs(
        vec![run("A", "Stop", "completed", &[("context", "C")])],
        &["C"],
    );
    let expected = |sees: Value| {
        json!({"sees": sees, "runs": [{"hook": "A", "event": "Stop", "status": "completed",
            "entries": []}]})
    };
    assert!(keys(DialectId::Claude, expected(json!([])), &seen).is_empty());
    assert_eq!(
        keys(DialectId::Claude, expected(json!(["C"])), &seen),
        ["runs"]
    );
    assert!(!keys(DialectId::Codex, expected(json!([])), &seen).is_empty());
}

#[test]
fn runs_in_background_have_no_outcome_to_compare() {
    let mut seen = with_runs(Vec::new(), &[]);
    seen.rounds[0].background = vec!["A".into()];
    let expected = json!({"runs": [{"hook": "A", "event": "Stop", "status": "cancelled",
        "entries": [["error", null]]}]});
    assert!(keys(DialectId::Claude, expected, &seen).is_empty());
}

fn call(ran: bool, denied: bool, input: Value) -> Observed {
    let fate = CallFate {
        id: Some("t".into()),
        name: "Bash".into(),
        ran: Some(ran),
        denied: Some(denied),
        input: Some(input),
        pre: Some(vec!["B".into(), "A".into()]),
    };
    Observed {
        calls: Some(vec![fate]),
        ..Observed::default()
    }
}

#[test]
fn a_call_is_compared_by_fate_input_and_hooks() {
    let seen = call(true, false, json!({"command": "x", "n": 1}));
    let fine = json!({"tool": {"id": "t", "name": "Bash", "ran": true, "denied": false,
        "input": {"n": 1, "command": "x"}, "pre": ["A", "B"]}});
    assert!(keys(DialectId::Claude, fine, &seen).is_empty());
    for wrong in [
        json!({"id": "t", "ran": false}),
        json!({"id": "t", "denied": true}),
        json!({"id": "t", "ran": true, "input": {"command": "x"}}),
        json!({"id": "t", "pre": ["A"]}),
    ] {
        assert_eq!(
            keys(DialectId::Claude, json!({"tool": wrong}), &seen),
            ["tool"]
        );
    }
}

#[test]
fn of_a_part_only_the_given_keys_are_compared() {
    let seen = call(true, false, json!({"command": "x", "n": 1}));
    let part = |part: Value| json!({"tools": [{"id": "t", "ran": true, "input": part, "input_is_part": true}]});
    assert!(keys(DialectId::Claude, part(json!({"n": 1})), &seen).is_empty());
    assert_eq!(
        keys(DialectId::Claude, part(json!({"n": 2})), &seen),
        ["tool"]
    );
}

#[test]
fn prompts_turns_and_numbers_are_compared_when_both_are_there() {
    let seen = Observed {
        prompts: vec![true, false],
        turn: Some("stopped"),
        model_requests: Some(2),
        warnings: Some(1),
        ..Observed::default()
    };
    let wrong = json!({"prompt": "rejected", "prompts": ["entered", "entered"],
        "turn": "completed", "model_requests": 3, "discovery_warnings": 0});
    let keys_found = keys(DialectId::Claude, wrong, &seen);
    assert_eq!(
        keys_found,
        [
            "prompt",
            "prompts",
            "turn",
            "model_requests",
            "discovery_warnings"
        ]
    );
    let fine = json!({"prompt": "entered", "prompts": ["entered", "rejected"], "turn": "stopped"});
    assert!(keys(DialectId::Claude, fine, &seen).is_empty());
}

#[test]
fn what_the_model_sees_comes_in_order_and_nothing_else_does() {
    let seen = Observed {
        model: Some(vec![said("hook says: A"), said("B")]),
        scripted: vec![
            "{\"reason\": \"A\", \"decision\": \"B\"}".into(),
            "B".into(),
        ],
        ..Observed::default()
    };
    assert!(keys(DialectId::Claude, json!({"sees": ["A", "B"]}), &seen).is_empty());
    for wrong in [json!(["B", "A"]), json!(["A"]), json!(["A", "B", "C"])] {
        assert_eq!(
            keys(DialectId::Claude, json!({"sees": wrong}), &seen),
            ["sees"]
        );
    }
}

#[test]
fn an_uncertain_text_may_be_seen_or_not() {
    let late = Said {
        text: "A".into(),
        certain: false,
    };
    let seen = Observed {
        model: Some(vec![late]),
        scripted: vec!["A".into()],
        ..Observed::default()
    };
    assert!(keys(DialectId::Claude, json!({"sees": ["A"]}), &seen).is_empty());
    assert!(keys(DialectId::Claude, json!({"sees": []}), &seen).is_empty());
}

#[test]
fn a_saying_counts_only_as_words_of_its_own() {
    let seen = Observed {
        model: Some(vec![said("REASON")]),
        scripted: vec!["R".into(), "REASON".into()],
        ..Observed::default()
    };
    assert!(keys(DialectId::Claude, json!({"sees": ["REASON"]}), &seen).is_empty());
}

#[test]
fn lists_are_compared_entry_by_entry_on_the_expected_keys() {
    let entry = json!({"event": "Stop", "timeout": 5, "command": "x"});
    let Value::Object(listed) = entry else {
        panic!("an object")
    };
    let seen = Observed {
        listed: Some(vec![listed]),
        ..Observed::default()
    };
    let fine = json!({"discovers": [{"event": "Stop", "timeout": 5}]});
    assert!(keys(DialectId::Codex, fine, &seen).is_empty());
    for wrong in [json!([]), json!([{"timeout": 6}]), json!([{"more": 1}])] {
        assert_eq!(
            keys(DialectId::Codex, json!({"discovers": wrong}), &seen),
            ["discovers"]
        );
    }
}

#[test]
fn a_complaint_fails_the_case() {
    let seen = Observed {
        complaints: vec!["x".into()],
        ..Observed::default()
    };
    assert_eq!(keys(DialectId::Codex, json!({}), &seen), ["play"]);
}
