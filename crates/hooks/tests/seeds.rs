//! The profile `seeds`: matchers, output, merging and configuration as the commission has them.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot be set up shall fail"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use seamline_hooks::codec::{self, Reading};
use seamline_hooks::config::{Loaded, Roots, load};
use seamline_hooks::engine::EngineParts;
use seamline_hooks::handler::{Background, CommandAction};
use seamline_hooks::matcher::{Fit, Matcher, diagnose};
use seamline_hooks::merge::{Wish, merge};
use seamline_hooks::outcome::Decision;
use seamline_hooks::payload::Payload;
use seamline_hooks::runner::{Exit, Finished};
use seamline_hooks::spill::SpillFolder;
use seamline_hooks::testing::FakeExec;
use seamline_hooks::trace::RunStatus;
use seamline_hooks::trust::TrustState;
use seamline_hooks::{
    Action, DialectId, Engine, Firing, Handler, HandlerKey, Layer, Outcome, Profile, Severity,
};
use tokio_util::sync::CancellationToken;

fn handler(dialect: DialectId, event: &'static str) -> Handler {
    let action = Action::Command(CommandAction {
        command: "hook".into(),
        args: None,
        shell: None,
        command_windows: None,
    });
    let key = HandlerKey("h".into());
    let file = PathBuf::from("/h.json");
    let mut handler = Handler::new(key, dialect, event, Layer::User, file, action);
    handler.profile = Profile::Seeds;
    handler
}

fn read_exit(
    dialect: DialectId,
    event: &'static str,
    exit: Exit,
    stdout: &str,
    stderr: &str,
) -> Reading {
    let table = dialect.profile(Profile::Seeds);
    let finished = Finished {
        stdout: stdout.as_bytes().to_vec(),
        stderr: stderr.as_bytes().to_vec(),
        ..Finished::new(exit)
    };
    let spill = SpillFolder::new(table.spill, "/nonexistent");
    codec::read(
        table.event(event).unwrap(),
        &handler(dialect, event),
        &finished,
        &spill,
    )
}

fn read(dialect: DialectId, event: &'static str, code: i32, out: &str, err: &str) -> Reading {
    read_exit(dialect, event, Exit::Code(code), out, err)
}

/// PreToolUse with exit 0 and this output.
fn says(dialect: DialectId, stdout: &str) -> Reading {
    read(dialect, "PreToolUse", 0, stdout, "")
}

/// Nothing was decided, and nothing went wrong.
fn is_nothing(reading: &Reading) -> bool {
    let effect = &reading.effect;
    reading.status == RunStatus::Completed
        && (effect.decision, effect.contexts.len()) == (Decision::None, 0)
        && effect.input.is_none()
        && effect.halt.is_none()
        && effect.message.is_none()
}

// Matchers.

#[test]
fn codex_matchers_are_always_unanchored_regular_expressions() {
    let style = DialectId::Codex.profile(Profile::Seeds).matcher;
    for (matcher, name, fits) in [
        ("Bash", "Bash", true),
        ("Bash", "BashOutput", true),
        ("Edit|Write", "EditX", true),
        ("Edit|Write", "MultiWrite", true),
        ("Edit|Write", "Read", false),
        ("^Bash$", "Bash", true),
        ("^Bash$", "BashOutput", false),
        ("", "Bash", true),
        ("*", "Bash", true),
        ("(", "Bash", false),
    ] {
        let fit = Matcher::compile(style, Some(matcher)).fits(&[name]);
        assert_eq!(fit == Fit::Yes, fits, "{matcher:?} {name}");
    }
}

#[test]
fn claude_matchers_are_lists_or_expressions_as_measured() {
    let [seeds, measured] =
        [Profile::Seeds, Profile::Measured].map(|profile| DialectId::Claude.profile(profile));
    assert_eq!(seeds.matcher, measured.matcher);
}

#[test]
fn the_diagnostic_names_the_mode_and_the_pattern() {
    for (dialect, mode) in [
        (DialectId::Claude, "claude-code"),
        (DialectId::Codex, "codex"),
    ] {
        let table = dialect.profile(Profile::Seeds);
        for fine in ["", "*", "Bash", "Edit|Write", "mcp__.*", "^Bash$"] {
            assert_eq!(diagnose(table, fine), None, "{dialect} {fine:?}");
        }
        let wanted = format!("invalid {mode} regex matcher \"[\"");
        assert_eq!(diagnose(table, "["), Some(wanted));
    }
}

// Output.

#[test]
fn exit_2_refuses_with_standard_error_or_without_words() {
    for dialect in DialectId::ALL {
        let reading = read(dialect, "PreToolUse", 2, "", "  not today \n");
        assert_eq!(reading.effect.decision, Decision::Deny, "{dialect}");
        assert_eq!(reading.effect.reason.as_deref(), Some("not today"));
        let silent = read(dialect, "PreToolUse", 2, "", " \n");
        assert_eq!(silent.effect.decision, Decision::Deny, "{dialect}");
        assert_eq!(silent.effect.reason, None);
        assert_eq!(silent.status, RunStatus::Blocked);
    }
}

#[test]
fn exit_2_ignores_standard_output() {
    let allow = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse",
        "permissionDecision":"allow","additionalContext":"C"},"systemMessage":"M"}"#;
    for dialect in DialectId::ALL {
        let reading = read(dialect, "PreToolUse", 2, allow, "no");
        let effect = &reading.effect;
        assert_eq!(
            (effect.decision, effect.reason.as_deref()),
            (Decision::Deny, Some("no"))
        );
        assert_eq!((effect.contexts.len(), &effect.message), (0, &None));
        let silent = read(dialect, "PreToolUse", 2, r#"{"reason":"R"}"#, "");
        assert_eq!(silent.effect.reason, None, "{dialect}");
    }
}

#[test]
fn any_other_end_decides_nothing_and_is_a_failure_with_its_words() {
    let block = r#"{"decision":"block","reason":"R"}"#;
    for dialect in DialectId::ALL {
        for exit in [
            Exit::Code(1),
            Exit::Code(127),
            Exit::Signal(9),
            Exit::TimedOut,
            Exit::SpawnFailed("gone".into()),
        ] {
            let reading = read_exit(dialect, "PreToolUse", exit.clone(), block, "oops");
            assert_eq!(reading.effect.decision, Decision::None, "{exit:?}");
            assert_eq!(reading.status, RunStatus::Failed, "{exit:?}");
            assert_eq!(reading.entries[0].text, "oops", "{exit:?}");
        }
    }
}

#[test]
fn top_level_words_are_approve_and_block() {
    for dialect in DialectId::ALL {
        for (word, decision) in [
            ("approve", Decision::Allow),
            ("block", Decision::Deny),
            ("allow", Decision::None),
            ("deny", Decision::None),
            ("ask", Decision::None),
            ("perhaps", Decision::None),
        ] {
            let reading = says(dialect, &format!(r#"{{"decision":"{word}","reason":"R"}}"#));
            assert_eq!(reading.effect.decision, decision, "{dialect} {word}");
            let reason = (decision == Decision::Deny).then_some("R");
            assert_eq!(reading.effect.reason.as_deref(), reason, "{dialect} {word}");
        }
    }
}

#[test]
fn universal_fields_are_read() {
    let out = r#"{"continue":false,"stopReason":"S","systemMessage":"M"}"#;
    for dialect in DialectId::ALL {
        let reading = says(dialect, out);
        assert_eq!(reading.effect.halt, Some(Some("S".into())), "{dialect}");
        assert_eq!(reading.effect.message.as_deref(), Some("M"));
        assert_eq!(says(dialect, r#"{"continue":true}"#).effect.halt, None);
        assert_eq!(
            says(dialect, r#"{"continue":false}"#).effect.halt,
            Some(None)
        );
    }
}

fn specific(name: &str, fields: &str) -> String {
    format!(r#"{{"decision":"approve","reason":"top","hookSpecificOutput":{{{name}{fields}}}}}"#)
}

const HERE: &str = r#""hookEventName":"PreToolUse","#;

#[test]
fn a_permission_decision_beats_the_top_level_one_and_so_does_its_reason() {
    let deny = r#""permissionDecision":"deny","permissionDecisionReason":"R""#;
    for dialect in DialectId::ALL {
        let effect = says(dialect, &specific(HERE, deny)).effect;
        assert_eq!(
            (effect.decision, effect.reason.as_deref()),
            (Decision::Deny, Some("R"))
        );
        for (word, decision) in [("allow", Decision::Allow), ("ask", Decision::Ask)] {
            let fields = format!(r#""permissionDecision":"{word}""#);
            let effect = says(dialect, &specific(HERE, &fields)).effect;
            assert_eq!(effect.decision, decision, "{dialect}");
        }
        let unknown = r#""permissionDecision":"perhaps""#;
        let effect = says(dialect, &specific(HERE, unknown)).effect;
        assert_eq!(effect.decision, Decision::Allow, "the top-level one stays");
    }
}

#[test]
fn a_context_and_an_input_are_read() {
    let fields = r#""additionalContext":"C","updatedInput":{"command":"ls"}"#;
    for dialect in DialectId::ALL {
        let effect = says(dialect, &specific(HERE, fields)).effect;
        assert_eq!(effect.contexts, ["C"], "{dialect}");
        assert_eq!(effect.input.unwrap().get(), r#"{"command":"ls"}"#);
        let wrong = specific(HERE, r#""additionalContext":7,"updatedInput":"ls""#);
        let effect = says(dialect, &wrong).effect;
        assert_eq!((effect.contexts.len(), effect.input.is_none()), (0, true));
    }
}

/// The block of another event, or of none, is passed over; what stands beside it counts.
#[test]
fn a_block_for_another_event_loses_its_own_fields_only() {
    let fields = r#""permissionDecision":"deny","additionalContext":"C","updatedInput":{}"#;
    for dialect in DialectId::ALL {
        for (name, named) in [
            (r#""hookEventName":"PostToolUse","#, "PostToolUse"),
            ("", "no event"),
        ] {
            let text = specific(name, fields).replacen('{', r#"{"continue":false,"#, 1);
            let reading = says(dialect, &text);
            let effect = &reading.effect;
            assert_eq!(
                effect.decision,
                Decision::Allow,
                "{dialect}: the top-level one"
            );
            assert_eq!(effect.halt, Some(None));
            assert_eq!((effect.contexts.len(), effect.input.is_none()), (0, true));
            assert!(reading.notes[0].text.contains(named), "{:?}", reading.notes);
        }
        let effect = says(dialect, &specific(HERE, fields)).effect;
        assert_eq!(
            (effect.decision, effect.contexts.len()),
            (Decision::Deny, 1)
        );
    }
}

#[test]
fn what_is_no_object_is_text_and_never_an_error() {
    for dialect in DialectId::ALL {
        for stdout in [
            "",
            "  \n",
            "plain",
            "{\"decision\":",
            "{",
            "[1,2]",
            "[\"block\"]",
            "true",
        ] {
            assert!(is_nothing(&says(dialect, stdout)), "{dialect} {stdout:?}");
        }
        let wrong = r#"{"continue":"no","reason":5,"decision":["block"],"systemMessage":{},
            "hookSpecificOutput":"x","unknown":1}"#;
        assert!(is_nothing(&says(dialect, wrong)), "{dialect}");
    }
}

#[test]
fn plain_text_is_context_where_the_event_says_so_on_exit_0_only() {
    for event in ["SessionStart", "UserPromptSubmit"] {
        let read = |code, out: &str| read(DialectId::Codex, event, code, out, "").effect.contexts;
        assert_eq!(read(0, " the map \n"), ["the map"]);
        assert!(read(0, "{ not JSON").is_empty(), "{event}");
        assert!(read(1, "the map").is_empty(), "{event}");
        assert!(read(2, "the map").is_empty(), "{event}");
    }
    let post = read(DialectId::Codex, "PostToolUse", 0, "prose", "");
    assert!(is_nothing(&post));
}

#[test]
fn on_failure_block_makes_a_failed_run_refuse() {
    let table = DialectId::Claude.profile(Profile::Seeds);
    let mut handler = handler(DialectId::Claude, "PreToolUse");
    handler.on_failure = seamline_hooks::handler::OnFailure::Block;
    let row = table.event("PreToolUse").unwrap();
    let spill = SpillFolder::new(table.spill, "/nonexistent");
    for exit in [Exit::Code(1), Exit::TimedOut, Exit::SpawnFailed("x".into())] {
        let effect = codec::read(row, &handler, &Finished::new(exit), &spill).effect;
        assert_eq!(effect.decision, Decision::Deny);
        assert!(effect.reason.unwrap().contains("onFailure"));
    }
}

// Merging.

/// What PreToolUse hooks with these outputs come to together.
fn together(dialect: DialectId, outputs: &[(i32, &str, &str)]) -> Outcome {
    let wishes: Vec<Wish> = outputs
        .iter()
        .enumerate()
        .map(|(index, (code, stdout, stderr))| Wish {
            by: HandlerKey(index.to_string()),
            finished: outputs.len() - index,
            effect: read(dialect, "PreToolUse", *code, stdout, stderr).effect,
        })
        .collect();
    merge(dialect.profile(Profile::Seeds), &wishes)
}

const ALLOW: (i32, &str, &str) = (0, r#"{"decision":"approve","reason":"fine"}"#, "");
const ASK: (i32, &str, &str) = (
    0,
    r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask",
        "permissionDecisionReason":"sure?"}}"#,
    "",
);
const DENY: (i32, &str, &str) = (2, "", "no");
const SILENT: (i32, &str, &str) = (0, "", "");

#[test]
fn the_strictest_decision_wins_in_any_order() {
    for dialect in DialectId::ALL {
        for (outputs, decision) in [
            (vec![], Decision::None),
            (vec![SILENT, SILENT], Decision::None),
            (vec![ALLOW], Decision::Allow),
            (vec![ASK, ALLOW], Decision::Ask),
            (vec![ALLOW, ASK], Decision::Ask),
            (vec![DENY, ASK, ALLOW], Decision::Deny),
            (vec![ALLOW, DENY, ASK], Decision::Deny),
            (vec![ASK, ALLOW, DENY], Decision::Deny),
        ] {
            let outcome = together(dialect, &outputs);
            assert_eq!(outcome.decision, decision, "{dialect} {outputs:?}");
        }
    }
}

#[test]
fn nothing_in_gives_nothing() {
    let outcome = together(DialectId::Claude, &[]);
    assert_eq!((outcome.decision, outcome.reason), (Decision::None, None));
    assert!(outcome.halt.is_none() && outcome.contexts.is_empty() && outcome.notices.is_empty());
}

#[test]
fn reasons_of_the_winning_kind_are_joined_by_a_blank_line_in_configured_order() {
    for dialect in DialectId::ALL {
        let outcome = together(dialect, &[(2, "", "one"), ASK, (2, "", ""), (2, "", "two")]);
        assert_eq!(outcome.reason.as_deref(), Some("one\n\ntwo"), "{dialect}");
        assert_eq!(outcome.reasons.len(), 1, "one voice");
        let asked = together(dialect, &[ASK, ALLOW]);
        assert_eq!(asked.reason.as_deref(), Some("sure?"));
    }
}

#[test]
fn the_reason_of_an_allowance_is_not_surfaced() {
    for dialect in DialectId::ALL {
        let outcome = together(dialect, &[ALLOW, SILENT]);
        assert_eq!(
            (outcome.reason, outcome.reasons.len()),
            (None, 0),
            "{dialect}"
        );
    }
}

#[test]
fn the_first_stop_counts_with_its_own_reason() {
    let stop = |reason: &str| format!(r#"{{"continue":false{reason}}}"#);
    let (first, second) = (
        stop(r#","stopReason":"one""#),
        stop(r#","stopReason":"two""#),
    );
    let (bare, on) = (stop(""), r#"{"continue":true}"#);
    for dialect in DialectId::ALL {
        for (outputs, wanted) in [
            (vec![first.as_str(), &second], Some(Some("one"))),
            (vec![&bare, &second], Some(None)),
            (vec![on, &first], Some(Some("one"))),
            (vec![on, on], None),
        ] {
            let outputs: Vec<_> = outputs.iter().map(|out| (0, *out, "")).collect();
            let halt = together(dialect, &outputs).halt;
            let halt = halt.as_ref().map(|halt| halt.reason.as_deref());
            assert_eq!(halt, wanted, "{dialect} {outputs:?}");
        }
    }
}

#[test]
fn contexts_and_messages_keep_the_configured_order_without_empty_ones() {
    let out = |text: &str| {
        format!(
            r#"{{"systemMessage":"{text}","hookSpecificOutput":{{"hookEventName":"PreToolUse",
                "additionalContext":"{text}"}}}}"#
        )
    };
    let outputs = ["one", "", "two"].map(out);
    for dialect in DialectId::ALL {
        let outputs: Vec<_> = outputs.iter().map(|out| (0, out.as_str(), "")).collect();
        let outcome = together(dialect, &outputs);
        let contexts: Vec<_> = outcome
            .contexts
            .iter()
            .map(|by| by.value.as_str())
            .collect();
        assert_eq!(contexts, ["one", "two"], "{dialect}");
        let notices = outcome.notices.iter().map(|by| by.value.text.as_str());
        assert_eq!(notices.collect::<Vec<_>>(), ["one", "two"], "{dialect}");
    }
}

// Configuration.

fn file(dialect: DialectId) -> &'static str {
    match dialect {
        DialectId::Claude => ".claude/settings.json",
        DialectId::Codex => ".codex/hooks.json",
    }
}

/// What a project's file gives in the profile.
fn loaded(dialect: DialectId, text: &str) -> Loaded {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join(file(dialect));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    let mut roots = Roots::new(root.path().join("home"), root.path());
    roots.system = root.path().join("etc");
    roots.profile = Profile::Seeds;
    load(dialect, &roots)
}

/// `event command matcher` of each handler.
fn listed(loaded: &Loaded) -> Vec<String> {
    let line = |handler: &Handler| {
        let matcher = handler.matcher.as_deref().unwrap_or("-");
        format!("{} {} {matcher}", handler.event, handler.action.summary())
    };
    loaded.handlers.iter().map(line).collect()
}

#[test]
fn a_bare_map_of_events_is_a_configuration_too() {
    let bare = r#"{"PreToolUse":[{"matcher":"Bash","hooks":[{"command":"a"}]}]}"#;
    for dialect in DialectId::ALL {
        let wrapped = format!(r#"{{"hooks":{bare}}}"#);
        for text in [bare, &wrapped] {
            let loaded = loaded(dialect, text);
            assert_eq!(listed(&loaded), ["PreToolUse a Bash"], "{dialect}");
            assert_eq!(loaded.broken().count(), 0);
        }
    }
}

#[test]
fn a_handler_without_a_type_is_a_command_and_other_types_are_skipped_with_a_warning() {
    let text = r#"{"Stop":[{"hooks":[{"type":"prompt","prompt":"p"},{"command":"a"},
        {"type":"command","command":"b"}]}]}"#;
    for dialect in DialectId::ALL {
        let loaded = loaded(dialect, text);
        assert_eq!(listed(&loaded), ["Stop a -", "Stop b -"], "{dialect}");
        let found = &loaded.diagnostics[0];
        assert_eq!(
            (loaded.diagnostics.len(), found.severity),
            (1, Severity::Warning)
        );
        let wanted = "skipping unsupported \"prompt\" on Stop (only command hooks run)";
        assert_eq!(found.message, wanted);
    }
}

#[test]
fn codex_skips_async_hooks_and_claude_runs_them() {
    let text = r#"{"Stop":[{"hooks":[{"command":"a","async":true},{"command":"b"}]}]}"#;
    let codex = loaded(DialectId::Codex, text);
    assert_eq!(listed(&codex), ["Stop b -"]);
    let said = &codex.diagnostics[0].message;
    assert_eq!(
        said,
        "skipping unsupported \"async hook\" on Stop (only sync command hooks run)"
    );
    let claude = loaded(DialectId::Claude, text);
    let background: Vec<_> = claude.handlers.iter().map(|h| h.background).collect();
    assert_eq!(background, [Background::Async, Background::No]);
}

#[test]
fn what_is_malformed_is_passed_over() {
    let text = r#"{"Stop":"x","PreToolUse":[7,{"hooks":"x"},{"hooks":[]},{},
        {"hooks":[7,{"command":5},{"type":"command"},{"command":"a"}]}]}"#;
    for dialect in DialectId::ALL {
        let found = loaded(dialect, text);
        assert_eq!(listed(&found), ["PreToolUse a -"], "{dialect}");
        assert_eq!(found.diagnostics, []);
        for root in ["null", "[]", "[{\"PreToolUse\":1}]", "\"x\"", "7"] {
            let found = loaded(dialect, root);
            assert_eq!(
                (found.handlers.len(), found.diagnostics.len()),
                (0, 0),
                "{root}"
            );
        }
    }
}

#[test]
fn a_matcher_that_matches_all_is_none_and_others_stay() {
    for dialect in DialectId::ALL {
        for (matcher, kept) in [("", "-"), ("*", "-"), ("Edit|Write", "Edit|Write")] {
            let text = format!(
                r#"{{"PreToolUse":[{{"matcher":"{matcher}","hooks":[{{"command":"a"}}]}}]}}"#
            );
            assert_eq!(
                listed(&loaded(dialect, &text)),
                [format!("PreToolUse a {kept}")]
            );
        }
    }
}

#[test]
fn an_invalid_matcher_rejects_the_file_and_names_pattern_and_event() {
    let text = r#"{"Stop":[{"hooks":[{"command":"a"}]}],
        "PreToolUse":[{"matcher":"[","hooks":[{"command":"b"}]}]}"#;
    for (dialect, mode) in [
        (DialectId::Claude, "claude-code"),
        (DialectId::Codex, "codex"),
    ] {
        let loaded = loaded(dialect, text);
        assert_eq!(loaded.handlers.len(), 0, "{dialect}");
        assert!(
            loaded.configures_hooks(),
            "{dialect}: they are lost, not absent"
        );
        let said: Vec<_> = loaded
            .broken()
            .map(|found| found.message.as_str())
            .collect();
        let wanted = format!(
            "invalid {mode} regex matcher \"[\" on event \"PreToolUse\"; no hooks are registered"
        );
        assert_eq!(said, [wanted]);
    }
}

/// Where a matcher is ignored, where the event is unknown, and where nothing of its group runs.
#[test]
fn an_invalid_matcher_that_nothing_uses_costs_nothing() {
    for dialect in DialectId::ALL {
        for group in [
            r#""UserPromptSubmit":[{"matcher":"[","hooks":[{"command":"a"}]}]"#,
            r#""Stop":[{"matcher":"[","hooks":[{"command":"a"}]}]"#,
            r#""Nothing":[{"matcher":"[","hooks":[{"command":"x"}]}],"Stop":[{"hooks":[{"command":"a"}]}]"#,
            r#""PreToolUse":[{"matcher":"[","hooks":[{"type":"prompt"}]}],"Stop":[{"hooks":[{"command":"a"}]}]"#,
        ] {
            let loaded = loaded(dialect, &format!("{{{group}}}"));
            assert_eq!(loaded.broken().count(), 0, "{dialect} {group}");
            assert_eq!(loaded.handlers.len(), 1, "{dialect} {group}");
            assert_eq!(loaded.handlers[0].matcher, None);
        }
    }
}

#[test]
fn timeouts_are_seconds_under_each_name_that_the_dialect_has() {
    let seconds = |dialect, keys: &str| {
        let text = format!(r#"{{"Stop":[{{"hooks":[{{"command":"a",{keys}}}]}}]}}"#);
        loaded(dialect, &text).handlers[0].timeout
    };
    for dialect in DialectId::ALL {
        assert_eq!(
            seconds(dialect, r#""timeout":7"#),
            Some(Duration::from_secs(7))
        );
        assert_eq!(seconds(dialect, r#""timeout":"7""#), None);
    }
    let of = |keys| seconds(DialectId::Codex, keys);
    assert_eq!(of(r#""timeoutSec":9"#), Some(Duration::from_secs(9)));
    assert_eq!(
        of(r#""timeoutSec":9,"timeout":7"#),
        Some(Duration::from_secs(7))
    );
    assert_eq!(seconds(DialectId::Claude, r#""timeoutSec":9"#), None);
}

/// What the commission does not mention keeps its meaning: a fail-closed gate stays one.
#[test]
fn the_other_fields_of_a_handler_are_read() {
    let text = r#"{"PreToolUse":[{"hooks":[{"command":"a","if":"Bash(git:*)","onFailure":"block",
        "args":["x"],"shell":"bash","statusMessage":"S","additionalContextLimit":9}]}]}"#;
    let claude = &loaded(DialectId::Claude, text).handlers[0];
    assert_eq!(claude.condition.as_deref(), Some("Bash(git:*)"));
    assert_eq!(claude.on_failure, seamline_hooks::handler::OnFailure::Block);
    assert_eq!(claude.status_message.as_deref(), Some("S"));
    assert_eq!(claude.action.summary(), "a x");
    let codex = &loaded(DialectId::Codex, text).handlers[0];
    assert_eq!((codex.context_limit, &codex.condition), (Some(9), &None));
    assert_eq!(codex.action.summary(), "a");
}

/// Placeholders of Claude's commands are filled in, all of them; Codex's are left to the shell.
#[tokio::test]
async fn a_handler_gets_its_time_and_claude_fills_in_its_project_everywhere() {
    let command = "${CLAUDE_PROJECT_DIR}/a ${CLAUDE_PROJECT_DIR} ${OTHER}";
    for (dialect, wanted) in [
        (DialectId::Claude, "/p/a /p ${OTHER}"),
        (DialectId::Codex, command),
    ] {
        let text = format!(
            r#"{{"PreToolUse":[{{"hooks":[{{"command":"{command}","timeout":3}},{{"command":"b"}}]}}]}}"#
        );
        let loaded = loaded(dialect, &text);
        let exec = FakeExec::new();
        exec.otherwise(Finished::new(Exit::Code(0)));
        let handlers = loaded.handlers.iter();
        let trust: BTreeMap<_, _> = handlers
            .map(|handler| (handler.key.clone(), TrustState::Trusted))
            .collect();
        let engine = Engine::new(EngineParts {
            loaded,
            trust,
            exec: Arc::new(exec.clone()),
            mcp: Arc::new(seamline_hooks::mcp::NoServers),
            base_env: Vec::new(),
            project: PathBuf::from("/p"),
            home: PathBuf::from("/h"),
            spill_dir: PathBuf::from("/nonexistent"),
        });
        engine
            .fire(Firing {
                event: "PreToolUse",
                payload: Payload::from_text(r#"{"tool_name":"Bash","tool_input":{}}"#).unwrap(),
                cwd: Path::new("/").to_path_buf(),
                env: Vec::new(),
                signal: CancellationToken::new(),
                ran_elsewhere: Vec::new(),
            })
            .await;
        let specs = exec.specs();
        let times: Vec<_> = specs.iter().map(|spec| spec.timeout.as_secs()).collect();
        assert_eq!(times, [3, 600], "{dialect}");
        assert!(
            specs[0].argv.iter().any(|word| word == wanted),
            "{:?}",
            specs[0].argv
        );
    }
}
