use std::path::Path;

use super::*;
use crate::bench::Bench;
use crate::case::{Case, read};

/// Notes every moment and answers as told: a verdict for the n-th moment of an event.
#[derive(Default)]
struct Notebook {
    moments: Vec<Moment>,
    answers: Vec<(&'static str, usize, Verdict)>,
}

impl Fire for Notebook {
    fn listens(&self, _event: &str) -> bool {
        true
    }

    async fn fire(&mut self, moment: Moment) -> Result<Verdict, String> {
        let before = self
            .moments
            .iter()
            .filter(|m| m.event == moment.event)
            .count();
        let answer = self
            .answers
            .iter()
            .find(|(event, n, _)| (*event, *n) == (&*moment.event, before));
        let verdict = answer
            .map(|(_, _, verdict)| verdict.clone())
            .unwrap_or_default();
        self.moments.push(moment);
        Ok(verdict)
    }
}

fn deciding(decision: Decision) -> Verdict {
    Verdict {
        decision,
        ..Verdict::default()
    }
}

fn halting() -> Verdict {
    Verdict {
        halted: true,
        ..Verdict::default()
    }
}

fn stage(case: &CodexCase) -> Stage {
    let bench = Bench::new(Path::new("/bin/true")).unwrap();
    Stage::codex(case, &bench).unwrap()
}

/// The events of a case, and what became of its calls and prompts.
fn played(case: &CodexCase, answers: Vec<(&'static str, usize, Verdict)>) -> (Vec<String>, Walked) {
    let mut notebook = Notebook {
        answers,
        ..Notebook::default()
    };
    let stage = stage(case);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let walked = runtime.block_on(walk(case, &stage, &mut notebook)).unwrap();
    let shown = |moment: Moment| match moment.event.as_str() {
        "PreModelRequest" | "PostModelRequest" => None,
        _ => Some(moment.event),
    };
    (
        notebook.moments.into_iter().filter_map(shown).collect(),
        walked,
    )
}

fn shell_case(approval: &str) -> CodexCase {
    let args = json!({"cmd": "touch x", "sandbox_permissions": "require_escalated"});
    CodexCase {
        script: vec![
            json!({"call": "exec_command", "args": args, "id": "c"}),
            json!({"text": "bye"}),
        ],
        prompts: vec!["hello".into()],
        approval: approval.into(),
        ..CodexCase::default()
    }
}

#[test]
fn a_plain_turn_has_its_moments_in_order() {
    let (events, walked) = played(&shell_case("on-request"), Vec::new());
    assert_eq!(
        events,
        [
            "SessionStart",
            "UserPromptSubmit",
            "PreToolUse",
            "PermissionRequest",
            "PostToolUse",
            "Stop",
            "SessionEnd"
        ]
    );
    assert_eq!(walked.prompts, [true]);
    assert_eq!(walked.calls[0].input, Some(json!({"command": "touch x"})));
}

#[test]
fn a_denied_call_is_neither_asked_about_nor_run() {
    let deny = vec![("PreToolUse", 0, deciding(Decision::Deny))];
    let (events, walked) = played(&shell_case("on-request"), deny);
    assert!(
        !events
            .iter()
            .any(|e| e == "PermissionRequest" || e == "PostToolUse")
    );
    let call = &walked.calls[0];
    assert_eq!(
        (call.ran, call.denied, &call.input),
        (Some(false), Some(true), &None)
    );
}

#[test]
fn a_denied_permission_is_a_denied_call_and_silence_leaves_it_to_the_client() {
    let deny = vec![("PermissionRequest", 0, deciding(Decision::Deny))];
    let (_, walked) = played(&shell_case("on-request"), deny);
    assert_eq!(walked.calls[0].denied, Some(true));
    let mut case = shell_case("on-request");
    case.approve = "decline".into();
    assert_eq!(played(&case, Vec::new()).1.calls[0].denied, Some(true));
    let allow = vec![("PermissionRequest", 0, deciding(Decision::Allow))];
    assert_eq!(played(&case, allow).1.calls[0].ran, Some(true));
}

#[test]
fn later_hooks_read_the_rewritten_input() {
    let mut notebook = Notebook::default();
    let input = Some(json!({"command": "true"}));
    notebook.answers.push((
        "PreToolUse",
        0,
        Verdict {
            input,
            ..Verdict::default()
        },
    ));
    let case = shell_case("on-request");
    let stage = stage(&case);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime
        .block_on(walk(&case, &stage, &mut notebook))
        .unwrap();
    for event in ["PermissionRequest", "PostToolUse"] {
        let moment = notebook.moments.iter().find(|m| m.event == event).unwrap();
        assert_eq!(moment.payload["tool_input"]["command"], "true", "{event}");
    }
}

#[test]
fn an_input_without_a_command_is_not_run() {
    let input = Some(json!("echo"));
    let rewrite = vec![(
        "PreToolUse",
        0,
        Verdict {
            input,
            ..Verdict::default()
        },
    )];
    let (events, walked) = played(&shell_case("never"), rewrite);
    assert_eq!(walked.calls[0].ran, Some(false));
    assert!(!events.contains(&"PostToolUse".to_owned()));
}

#[test]
fn a_rejected_prompt_asks_no_model_and_stops_nothing() {
    for verdict in [deciding(Decision::Block), halting()] {
        let (events, walked) = played(&shell_case("never"), vec![("UserPromptSubmit", 0, verdict)]);
        assert_eq!(events, ["SessionStart", "UserPromptSubmit", "SessionEnd"]);
        assert_eq!(walked.prompts, [false]);
    }
}

#[test]
fn a_halt_at_the_start_keeps_only_the_first_prompt_out() {
    let mut case = shell_case("never");
    case.prompts.push("again".into());
    let (events, walked) = played(&case, vec![("SessionStart", 0, halting())]);
    assert_eq!(walked.prompts, [false, true]);
    assert_eq!(
        events
            .iter()
            .filter(|event| *event == "SessionStart")
            .count(),
        1
    );
}

#[test]
fn a_blocked_stop_is_followed_by_another_one_that_says_so() {
    let mut notebook = Notebook::default();
    notebook
        .answers
        .push(("Stop", 0, deciding(Decision::Block)));
    let case = CodexCase {
        prompts: vec!["p".into()],
        ..CodexCase::default()
    };
    let stage = stage(&case);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime
        .block_on(walk(&case, &stage, &mut notebook))
        .unwrap();
    let stops = notebook.moments.iter().filter(|m| m.event == "Stop");
    let active: Vec<_> = stops
        .map(|m| m.payload["stop_hook_active"].clone())
        .collect();
    assert_eq!(active, [json!(false), json!(true)]);
}

#[test]
fn an_interrupt_ends_the_turn_without_a_stop() {
    let text = |method: &str, text: &str| json!(["request", method, {"input": [{"type": "text", "text": text}]}]);
    let case = CodexCase {
        steps: vec![
            text("turn/start", "a"),
            json!(["sleep", 1]),
            text("turn/interrupt", ""),
            json!(["wait", "turn/completed"]),
            text("turn/start", "b"),
        ],
        ..CodexCase::default()
    };
    let (events, walked) = played(&case, Vec::new());
    let rest = ["Interrupt", "UserPromptSubmit", "Stop", "SessionEnd"];
    assert_eq!(events[2..], rest);
    assert_eq!(walked.prompts, [true, true]);
    let unknown = CodexCase {
        steps: vec![text("thread/dream", "")],
        ..CodexCase::default()
    };
    let stage = stage(&unknown);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let error = runtime
        .block_on(walk(&unknown, &stage, &mut Notebook::default()))
        .unwrap_err();
    assert!(error.contains("thread/dream"));
}

#[test]
fn a_request_that_fails_ends_its_turn_without_a_stop() {
    let case = CodexCase {
        script: vec![json!({"status": 500}), json!({"text": "b"})],
        prompts: vec!["a".into(), "b".into()],
        ..CodexCase::default()
    };
    let (events, walked) = played(&case, Vec::new());
    assert_eq!(events.iter().filter(|event| *event == "Stop").count(), 1);
    assert_eq!(walked.prompts, [true, true]);
}

#[test]
fn each_thread_starts_a_session_and_ends_one() {
    let start = json!(["request", "turn/start", {"input": [{"text": "p"}]}]);
    let clear = json!(["request", "thread/start", {"sessionStartSource": "clear"}]);
    let fork = json!(["request", "thread/fork", {}]);
    let case = CodexCase {
        steps: vec![start.clone(), clear, start.clone(), fork, start],
        ..CodexCase::default()
    };
    let mut notebook = Notebook::default();
    let stage = stage(&case);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime
        .block_on(walk(&case, &stage, &mut notebook))
        .unwrap();
    let starts = notebook
        .moments
        .iter()
        .filter(|m| m.event == "SessionStart");
    let sources: Vec<_> = starts.filter_map(|m| m.text("source")).collect();
    assert_eq!(sources, ["startup", "clear", "fork"]);
    let ends = notebook.moments.iter().filter(|m| m.event == "SessionEnd");
    assert_eq!(ends.count(), 3);
}

#[test]
fn hooks_hear_nothing_of_calls_that_no_tool_takes() {
    let mut case = shell_case("never");
    case.script[0] = json!([
        {"call": "nope", "args": {}, "id": "1"},
        {"call": "exec_command", "args": "{not json", "id": "2"},
        {"custom": "apply_patch", "input": "garbage", "id": "3"},
    ]);
    let (events, walked) = played(&case, Vec::new());
    assert_eq!(
        events,
        ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"]
    );
    assert!(walked.calls.iter().all(|call| call.ran == Some(false)));
}

#[test]
fn a_compaction_that_goes_on_starts_the_session_again() {
    let start = json!(["request", "turn/start", {"input": [{"text": "p"}]}]);
    let compact = json!(["request", "thread/compact/start", {}]);
    let case = CodexCase {
        steps: vec![start.clone(), compact, start],
        ..CodexCase::default()
    };
    let (events, _) = played(&case, Vec::new());
    let starts = |events: &[String]| events.iter().filter(|e| *e == "SessionStart").count();
    assert_eq!(starts(&events), 2);
    let (events, _) = played(&case, vec![("PreCompact", 0, halting())]);
    assert_eq!(starts(&events), 1);
    assert!(!events.contains(&"PostCompact".to_owned()));
}

/// The payloads we build are the measured ones: same keys in the same order, and the same values
/// except those that differ at each run.
#[test]
fn the_first_payload_of_each_imported_row_is_the_measured_one() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/codex/cases.jsonl");
    let rows = read(DialectId::Codex, &file).unwrap();
    let stage = stage(&CodexCase::default());
    let mut compared = 0;
    for row in rows {
        let Ok(Case::Codex(case)) = row.case else {
            panic!("{}", row.id)
        };
        let Some(measured) = case.payload_in.clone().filter(|p| p.contains_key("cwd")) else {
            continue;
        };
        let event = measured["hook_event_name"].as_str().unwrap();
        let mut notebook = Notebook::default();
        if case.hooks_json["PreToolUse"]
            .to_string()
            .contains("updatedInput")
        {
            continue; // What its later hooks read depends on the rewrite.
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime
            .block_on(walk(&case, &stage, &mut notebook))
            .unwrap();
        let moment = notebook.moments.iter().find(|moment| moment.event == event);
        let built = &moment
            .unwrap_or_else(|| panic!("{}: no {event}", row.id))
            .payload;
        let keys = |map: &Map<String, Value>| map.keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(built), keys(&measured), "{}", row.id);
        for (key, value) in &measured {
            let stays = !value.to_string().contains("$UUID") && key != "model";
            let filled = stage.names.fill_value(value);
            assert!(
                !stays || built[key] == filled,
                "{} {key}: {}",
                row.id,
                built[key]
            );
        }
        compared += 1;
    }
    assert!(compared > 500, "{compared}");
}
