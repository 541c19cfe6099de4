use std::path::Path;

use seamline_hooks::Decision;

use super::*;
use crate::bench::Bench;
use crate::case::Received;
use crate::moments::Verdict;

fn received(hook: &str, stdin: Value) -> Received {
    let Value::Object(stdin) = stdin else {
        panic!("an object")
    };
    Received {
        hook: hook.into(),
        stdin,
    }
}

fn pre(id: &str, command: &str) -> Value {
    json!({"hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": command}, "tool_use_id": id})
}

fn case(script: Value, payloads: Vec<Received>) -> ClaudeCase {
    let Value::Array(turns) = script else {
        panic!("a list")
    };
    ClaudeCase {
        mode: "print".into(),
        permission_mode: Some("bypassPermissions".into()),
        prompts: vec!["@@main go".into()],
        scripts: [("main".to_owned(), turns)].into(),
        payload_in: payloads,
        ..ClaudeCase::default()
    }
}

fn bash(id: &str, command: &str) -> Value {
    json!({"tool": "Bash", "input": {"command": command}, "id": id})
}

/// Notes `event:id` of every moment, and answers one event as told.
#[derive(Default)]
struct Notebook {
    heard: Vec<String>,
    answer: Option<(&'static str, Verdict)>,
    deaf_to: &'static str,
}

impl Fire for Notebook {
    fn listens(&self, event: &str) -> bool {
        event != self.deaf_to
    }

    async fn fire(&mut self, moment: Moment) -> Result<Verdict, String> {
        let id = moment.text("tool_use_id").unwrap_or("").to_owned();
        self.heard.push(
            format!("{}:{id}", moment.event)
                .trim_end_matches(':')
                .to_owned(),
        );
        let answer = self.answer.iter().find(|(event, _)| *event == moment.event);
        Ok(answer
            .map(|(_, verdict)| verdict.clone())
            .unwrap_or_default())
    }
}

fn play(case: &ClaudeCase, mut notebook: Notebook) -> (Vec<String>, Walked) {
    let bench = Bench::new(Path::new("/bin/true")).unwrap();
    let stage = Stage::claude(case, &bench).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let moments = ClaudeMoments::new(case, &stage);
    let walked = runtime.block_on(moments.play(&mut notebook)).unwrap();
    (notebook.heard, walked)
}

#[test]
fn payloads_of_one_call_are_one_firing_even_apart() {
    let all = [
        received("A", pre("t1", "x")),
        received("A", pre("t2", "x")),
        received("B", pre("t1", "x")),
        received("A", pre("t1", "x")),
    ];
    let groups = groups(&all);
    assert_eq!(groups.len(), 2);
    assert_eq!(groups[0].hooks, ["A", "B", "A"]);
}

#[test]
fn the_same_hook_reads_the_same_text_twice_in_two_firings() {
    let stop = json!({"hook_event_name": "Stop", "stop_hook_active": true});
    let all = [
        received("A", stop.clone()),
        received("B", stop.clone()),
        received("A", stop),
    ];
    let groups = groups(&all);
    let hooks: Vec<_> = groups.into_iter().map(|group| group.hooks).collect();
    assert_eq!(hooks, [vec!["A", "B"], vec!["A"]]);
}

#[test]
fn a_call_that_returns_in_another_turn_is_another_firing() {
    let end = json!({"hook_event_name": "SessionEnd"});
    let all = [
        received("A", pre("t1", "x")),
        received("E", end),
        received("A", pre("t1", "x")),
    ];
    assert_eq!(groups(&all).len(), 3);
}

#[test]
fn moments_at_which_nothing_was_seen_are_played_where_the_script_shows_them() {
    let script = json!([[bash("t1", "a"), bash("t2", "b")], "bye"]);
    let seen = vec![received("A", pre("t2", "b"))];
    let (heard, walked) = play(&case(script, seen), Notebook::default());
    assert_eq!(
        heard,
        [
            "SessionStart",
            "UserPromptSubmit",
            "PreToolUse:t1",
            "PostToolUse:t1",
            "PreToolUse:t2",
            "PostToolUse:t2",
            "PostToolBatch",
            "Stop",
            "SessionEnd"
        ]
    );
    assert_eq!(walked.calls.len(), 2);
    assert_eq!(walked.prompts, [true]);
}

#[test]
fn an_event_that_was_seen_is_played_as_often_as_it_was_seen() {
    let start = json!({"hook_event_name": "Stop", "stop_hook_active": false});
    let script = json!([bash("t1", "a"), "bye"]);
    let (heard, _) = play(
        &case(script, vec![received("S", start)]),
        Notebook::default(),
    );
    assert_eq!(heard.iter().filter(|event| *event == "Stop").count(), 1);
}

#[test]
fn parallel_calls_may_be_seen_in_any_order() {
    let script = json!([[bash("t1", "a"), bash("t2", "b")], "bye"]);
    let seen = vec![received("A", pre("t2", "b")), received("A", pre("t1", "a"))];
    let (heard, _) = play(&case(script, seen), Notebook::default());
    let calls: Vec<_> = heard
        .iter()
        .filter(|event| event.starts_with("PreToolUse"))
        .collect();
    assert_eq!(calls, ["PreToolUse:t2", "PreToolUse:t1"]);
}

#[test]
fn nothing_unseen_is_played_after_a_refusal() {
    let script = json!([bash("t1", "a"), "bye"]);
    let halted = Verdict {
        halted: true,
        ..Verdict::default()
    };
    let block = Verdict {
        decision: Decision::Block,
        ..Verdict::default()
    };
    for verdict in [halted, block] {
        let answer = Some(("UserPromptSubmit", verdict));
        let notebook = Notebook {
            answer,
            ..Notebook::default()
        };
        let (heard, walked) = play(&case(script.clone(), Vec::new()), notebook);
        assert_eq!(heard, ["SessionStart", "UserPromptSubmit", "SessionEnd"]);
        assert_eq!(walked.prompts, [false]);
    }
    let deny = Verdict {
        decision: Decision::Deny,
        ..Verdict::default()
    };
    let notebook = Notebook {
        answer: Some(("PreToolUse", deny)),
        ..Notebook::default()
    };
    let (heard, walked) = play(&case(script, Vec::new()), notebook);
    assert!(!heard.iter().any(|event| event.starts_with("PostToolUse")));
    assert_eq!(
        (walked.calls[0].ran, walked.calls[0].denied),
        (Some(false), Some(true))
    );
}

#[test]
fn calls_that_no_tool_takes_are_not_played() {
    let script = json!([
        [{"tool": "Bash", "input": {"cmd": "x"}, "id": "t1"}, {"tool": "Nope", "input": {}, "id": "t2"}],
        {"error": 500},
        "never"
    ]);
    let (heard, _) = play(&case(script, Vec::new()), Notebook::default());
    assert_eq!(
        heard,
        [
            "SessionStart",
            "UserPromptSubmit",
            "PostToolBatch",
            "SessionEnd"
        ]
    );
}

#[test]
fn a_client_that_did_not_start_has_no_moments() {
    let mut case = case(json!([bash("t1", "a")]), Vec::new());
    case.expect.model_requests = Some(0);
    assert!(play(&case, Notebook::default()).0.is_empty());
    case.expect.prompt = Some("rejected".into());
    assert_eq!(play(&case, Notebook::default()).0.len(), 3);
}

#[test]
fn events_nobody_listens_to_are_not_built() {
    let notebook = Notebook {
        deaf_to: "Stop",
        ..Notebook::default()
    };
    let (heard, _) = play(&case(json!(["bye"]), Vec::new()), notebook);
    assert!(!heard.contains(&"Stop".to_owned()));
}

#[test]
fn a_cut_input_is_taken_from_the_script() {
    let cut = received("A", pre("t1", "long…$CUT"));
    let (_, walked) = play(
        &case(json!([bash("t1", "long and whole")]), vec![cut]),
        Notebook::default(),
    );
    assert_eq!(
        walked.calls[0].input,
        Some(json!({"command": "long and whole"}))
    );
}

#[test]
fn what_hooks_leave_open_is_settled_only_where_nobody_can_be_asked() {
    let ask = || Notebook {
        answer: Some((
            "PreToolUse",
            Verdict {
                decision: Decision::Ask,
                ..Verdict::default()
            },
        )),
        ..Notebook::default()
    };
    let mut case = case(
        json!([bash("t1", "a")]),
        vec![received("A", pre("t1", "a"))],
    );
    assert_eq!(play(&case, ask()).1.calls[0].denied, Some(true));
    case.cli_args = vec!["--permission-prompt-tool".into(), "x".into()];
    assert_eq!(play(&case, ask()).1.calls[0].denied, None);
    assert_eq!(play(&case, Notebook::default()).1.calls[0].ran, Some(true));
    case.permission_mode = Some("default".into());
    assert_eq!(play(&case, Notebook::default()).1.calls[0].ran, None);
}
