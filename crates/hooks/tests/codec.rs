//! What an output means, event by event: rows measured on the real clients.

use std::path::PathBuf;

use seamline_hooks::codec::{self, Reading};
use seamline_hooks::handler::{CommandAction, OnFailure};
use seamline_hooks::outcome::Decision;
use seamline_hooks::runner::{Exit, Finished};
use seamline_hooks::spill::SpillFolder;
use seamline_hooks::trace::RunStatus;
use seamline_hooks::{Action, DialectId, Handler, HandlerKey, Layer};

fn handler(dialect: DialectId, event: &'static str, on_failure: OnFailure) -> Handler {
    let command = CommandAction {
        command: "hook".into(),
        args: None,
        shell: None,
        command_windows: None,
    };
    let mut handler = Handler::new(
        HandlerKey("h".into()),
        dialect,
        event,
        Layer::User,
        PathBuf::from("/h.json"),
        Action::Command(command),
    );
    handler.on_failure = on_failure;
    handler
}

fn read_with(
    dialect: DialectId,
    event: &str,
    on_failure: OnFailure,
    exit: Exit,
    stdout: &str,
    stderr: &str,
) -> Reading {
    let Some(row) = dialect.table().event(event) else {
        unreachable!("no event {event}")
    };
    let finished = Finished {
        stdout: stdout.as_bytes().to_vec(),
        stderr: stderr.as_bytes().to_vec(),
        ..Finished::new(exit)
    };
    let spill = SpillFolder::new(dialect.table().spill, "/nonexistent");
    codec::read(
        row,
        &handler(dialect, row.name, on_failure),
        &finished,
        &spill,
    )
}

fn read(dialect: DialectId, event: &str, code: i32, stdout: &str, stderr: &str) -> Reading {
    read_with(
        dialect,
        event,
        OnFailure::Continue,
        Exit::Code(code),
        stdout,
        stderr,
    )
}

/// `status decision [kind:text ...]`; the text of a failure is the product's own and left out.
fn short(reading: &Reading) -> String {
    let entries: Vec<String> = reading
        .entries
        .iter()
        .map(|entry| match entry.kind.as_str() {
            "error" => "error".to_owned(),
            kind => format!("{kind}:{}", entry.text),
        })
        .collect();
    let decision = reading.effect.decision.as_str();
    let halt = if reading.effect.halt.is_some() {
        " halt"
    } else {
        ""
    };
    format!(
        "{} {decision}{halt} [{}]",
        reading.status.as_str(),
        entries.join(" ")
    )
}

type Row = (&'static str, i32, &'static str, &'static str, &'static str);

const CLAUDE: &[Row] = &[
    ("PreToolUse", 0, "", "", "completed none []"),
    ("PreToolUse", 0, "plain words\n", "", "completed none []"),
    (
        "PreToolUse",
        0,
        "\u{feff} {\"decision\":\"block\",\"reason\":\"R\"}\n",
        "",
        "blocked deny [feedback:R]",
    ),
    (
        "PreToolUse",
        1,
        "{\"decision\":\"block\",\"reason\":\"R\"}",
        "",
        "blocked deny [feedback:R]",
    ),
    (
        "PreToolUse",
        0,
        "{\"decision\":\"block\",\"reason\":\"\"}",
        "",
        "blocked deny [feedback:Blocked by hook]",
    ),
    (
        "PreToolUse",
        0,
        "{\"decision\":\"deny\",\"reason\":\"R\"}",
        "",
        "failed none [error]",
    ),
    (
        "PreToolUse",
        0,
        "{\"decision\":\"block\",\"reason\":null}",
        "",
        "failed none [error]",
    ),
    (
        "PreToolUse",
        0,
        "{\"decision\":\"block\"} trailing",
        "",
        "completed none []",
    ),
    (
        "PreToolUse",
        0,
        "{\"decision\":\"block\",}",
        "",
        "failed none [error]",
    ),
    (
        "PreToolUse",
        0,
        "[{\"decision\":\"block\"}]",
        "",
        "completed none []",
    ),
    ("PreToolUse", 0, "{}\n{}", "", "completed none []"),
    (
        "PreToolUse",
        0,
        "{\"a\":1}\n{\"decision\":\"block\"}",
        "",
        "failed none [error]",
    ),
    (
        "PreToolUse",
        0,
        "{\"foo\":1,\"systemMessage\":\"S\"}",
        "",
        "completed none [warning:S]",
    ),
    ("PreToolUse", 2, "", "E\n", "blocked deny [feedback:E]"),
    (
        "PreToolUse",
        2,
        "",
        "",
        "blocked deny [feedback:No stderr output]",
    ),
    (
        "PreToolUse",
        2,
        "{\"decision\":\"deny\"}",
        "E",
        "blocked deny [feedback:E]",
    ),
    (
        "PreToolUse",
        2,
        "{\"decision\":\"block\",\"reason\":\"J\"}",
        "E",
        "blocked deny [feedback:J]",
    ),
    (
        "PreToolUse",
        2,
        "{\"continue\":false,\"stopReason\":\"SR\"}",
        "E",
        "stopped deny halt [stop:SR]",
    ),
    (
        "PreToolUse",
        0,
        "{\"continue\":false}",
        "",
        "stopped none halt [stop:Execution stopped by hook]",
    ),
    ("PreToolUse", 1, "out", "err\n", "failed none [error]"),
    ("PreToolUse", 127, "", "not found", "failed none [error]"),
    (
        "PreToolUse",
        0,
        "{\"decision\":\"approve\"}",
        "",
        "completed allow []",
    ),
    (
        "PreToolUse",
        0,
        "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"ask\"}}",
        "",
        "completed ask []",
    ),
    (
        "PreToolUse",
        0,
        "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"defer\"}}",
        "",
        "completed defer []",
    ),
    (
        "PreToolUse",
        0,
        "{\"hookSpecificOutput\":{\"hookEventName\":\"Stop\"}}",
        "",
        "failed none [error]",
    ),
    (
        "PreToolUse",
        0,
        "{\"hookSpecificOutput\":{\"permissionDecision\":\"deny\"}}",
        "",
        "failed none [error]",
    ),
    (
        "PreToolUse",
        2,
        "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"additionalContext\":\"C\"}}",
        "E",
        "blocked deny [feedback:E context:C]",
    ),
    (
        "PostToolUse",
        2,
        "{\"systemMessage\":\"S\"}",
        "E",
        "blocked block [feedback:E warning:S]",
    ),
    ("PostToolBatch", 2, "", "E", "stopped none halt [stop:E]"),
    (
        "UserPromptSubmit",
        0,
        "words\n",
        "",
        "completed none [context:words]",
    ),
    (
        "UserPromptSubmit",
        2,
        "{\"systemMessage\":\"S\"}",
        "E",
        "blocked block [feedback:E]",
    ),
    ("SessionStart", 2, "", "E", "failed none [error]"),
    (
        "SessionStart",
        0,
        "{\"decision\":\"block\",\"reason\":\"R\"}",
        "",
        "failed none [error]",
    ),
    (
        "SessionStart",
        0,
        "{\"continue\":false}",
        "",
        "completed none []",
    ),
    (
        "Stop",
        2,
        "{\"continue\":false,\"stopReason\":\"SR\"}",
        "E",
        "stopped block halt [feedback:E stop:SR]",
    ),
    (
        "Stop",
        2,
        "",
        "x: No such file or directory",
        "failed none [error]",
    ),
    ("TaskCreated", 2, "", "E", "blocked deny [feedback:E]"),
    (
        "TaskCreated",
        0,
        "{\"hookSpecificOutput\":{\"hookEventName\":\"TaskCreated\"}}",
        "",
        "failed none [error]",
    ),
    ("PermissionRequest", 2, "", "E", "failed none [error]"),
    (
        "PermissionRequest",
        0,
        "{\"hookSpecificOutput\":{\"hookEventName\":\"PermissionRequest\",\"decision\":{\"behavior\":\"deny\",\"message\":\"M\"}}}",
        "",
        "blocked deny [feedback:M]",
    ),
    (
        "WorktreeCreate",
        1,
        "/path",
        "E",
        "blocked deny [feedback:E]",
    ),
];

const CODEX: &[Row] = &[
    ("PreToolUse", 0, "", "ignored", "completed none []"),
    (
        "PreToolUse",
        0,
        "log\n{\"systemMessage\":\"S\"}",
        "",
        "completed none []",
    ),
    (
        "PreToolUse",
        0,
        "\n {\"systemMessage\":\"S\"}\n",
        "",
        "completed none [warning:S]",
    ),
    (
        "PreToolUse",
        0,
        "{\"decision\":\"block\",\"reason\":\" R \"}",
        "",
        "blocked deny [feedback:R]",
    ),
    (
        "PreToolUse",
        0,
        "{\"decision\":\"block\"}",
        "",
        "failed none [error]",
    ),
    (
        "PreToolUse",
        0,
        "{\"decision\":\"block\",\"reason\":\"R\",\"extra\":1}",
        "",
        "failed none [error]",
    ),
    (
        "PreToolUse",
        0,
        "{\"decision\":\"block\",\"reason\":\"R\",\"continue\":false}",
        "",
        "failed none [error]",
    ),
    (
        "PreToolUse",
        0,
        "{\"decision\":null,\"reason\":null}",
        "",
        "completed none []",
    ),
    (
        "PreToolUse",
        0,
        "{\"hookSpecificOutput\":null}",
        "",
        "completed none []",
    ),
    (
        "PreToolUse",
        0,
        "{\"hookSpecificOutput\":{\"hookEventName\":\"Stop\",\"additionalContext\":\" C \"}}",
        "",
        "completed none [context: C ]",
    ),
    (
        "PreToolUse",
        0,
        "{\"hookSpecificOutput\":{\"hookEventName\":\"Foo\"}}",
        "",
        "failed none [error]",
    ),
    (
        "PreToolUse",
        0,
        "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"allow\"}}",
        "",
        "failed none [error]",
    ),
    (
        "PreToolUse",
        0,
        "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"R\",\"updatedInput\":{}}}",
        "",
        "failed none [error]",
    ),
    (
        "PreToolUse",
        2,
        "{\"systemMessage\":\"S\"}",
        " no \n",
        "blocked deny [feedback:no]",
    ),
    ("PreToolUse", 2, "reason", "", "failed none [error]"),
    (
        "PreToolUse",
        1,
        "{\"decision\":\"block\",\"reason\":\"R\"}",
        "E",
        "failed none [error]",
    ),
    (
        "PostToolUse",
        0,
        "{\"decision\":\"block\",\"reason\":\" R \"}",
        "",
        "blocked block [feedback: R ]",
    ),
    (
        "PostToolUse",
        0,
        "{\"continue\":false,\"stopReason\":\"S\",\"decision\":\"block\",\"reason\":\"R\"}",
        "",
        "stopped block [stop:S]",
    ),
    (
        "PostToolUse",
        0,
        "{\"suppressOutput\":true}",
        "",
        "failed none [error]",
    ),
    (
        "UserPromptSubmit",
        0,
        " text \n",
        "",
        "completed none [context:text]",
    ),
    (
        "UserPromptSubmit",
        0,
        "{\"continue\":false}",
        "",
        "stopped none halt []",
    ),
    (
        "SessionStart",
        0,
        "{\"decision\":\"block\",\"reason\":\"R\"}",
        "",
        "failed none [error]",
    ),
    ("SessionStart", 2, "", "E", "failed none [error]"),
    ("Stop", 0, "text", "", "failed none [error]"),
    (
        "Stop",
        0,
        "{\"hookSpecificOutput\":null}",
        "",
        "failed none [error]",
    ),
    ("Stop", 2, "", " go on \n", "blocked block [feedback:go on]"),
    (
        "PermissionRequest",
        0,
        "{\"hookSpecificOutput\":{\"hookEventName\":\"PermissionRequest\",\"decision\":{\"behavior\":\"allow\",\"message\":\"M\"}}}",
        "",
        "completed allow []",
    ),
    (
        "PermissionRequest",
        0,
        "{\"hookSpecificOutput\":{\"hookEventName\":\"PermissionRequest\",\"decision\":{\"behavior\":\"allow\",\"updatedInput\":{}}}}",
        "",
        "failed none [error]",
    ),
    (
        "PreCompact",
        0,
        "{\"continue\":false}",
        "",
        "stopped none halt [stop:PreCompact hook stopped execution]",
    ),
    (
        "PreModelRequest",
        0,
        "{\"decision\":\"block\"}",
        "",
        "completed none []",
    ),
    ("PreModelRequest", 3, "", "", "failed none []"),
    (
        "Interrupt",
        0,
        "{\"decision\":null}",
        "",
        "failed none [error]",
    ),
    (
        "Interrupt",
        0,
        "{\"systemMessage\":\"S\"}",
        "",
        "completed none [warning:S]",
    ),
    ("SessionEnd", 0, "{\"anything\":1}", "", "completed none []"),
];

#[test]
fn outputs_mean_what_they_mean_at_home() {
    for (dialect, rows) in [(DialectId::Claude, CLAUDE), (DialectId::Codex, CODEX)] {
        for (event, code, stdout, stderr, expected) in rows {
            let reading = read(dialect, event, *code, stdout, stderr);
            assert_eq!(
                short(&reading),
                *expected,
                "{dialect} {event} exit {code} stdout {stdout:?} stderr {stderr:?}"
            );
        }
    }
}

#[test]
fn a_decision_that_is_lost_to_a_formality_is_said_to_be_lost() {
    let cases = [
        (
            DialectId::Codex,
            "{\"decision\":\"block\",\"reason\":\"R\",\"extra\":1}",
        ),
        (DialectId::Codex, "{\"decision\":\"block\"}"),
        (
            DialectId::Claude,
            "{\"decision\":\"deny\",\"reason\":\"R\"}",
        ),
        (DialectId::Claude, "{\"decision\":\"block\"} trailing"),
        (DialectId::Claude, "log line\n{\"decision\":\"block\"}"),
    ];
    for (dialect, stdout) in cases {
        let reading = read(dialect, "PreToolUse", 0, stdout, "");
        let codes: Vec<_> = reading.notes.iter().map(|note| note.code).collect();
        assert!(
            codes.contains(&"decision-lost"),
            "{dialect} {stdout}: {codes:?}"
        );
    }
}

#[test]
fn exit_1_at_a_gate_is_said_not_to_block() {
    for dialect in DialectId::ALL {
        let reading = read(dialect, "PreToolUse", 1, "", "no");
        assert!(
            reading
                .notes
                .iter()
                .any(|note| note.code == "exit-1-does-not-block")
        );
    }
    let reading = read(
        DialectId::Claude,
        "PreToolUse",
        1,
        "{\"decision\":\"block\"}",
        "",
    );
    assert_eq!(reading.notes, [], "a JSON decision counts on any exit code");
}

#[test]
fn a_fail_closed_handler_refuses_whenever_its_run_fails() {
    let exits = [
        Exit::Code(1),
        Exit::Signal(9),
        Exit::TimedOut,
        Exit::SpawnFailed("no such program".into()),
    ];
    for dialect in DialectId::ALL {
        for exit in &exits {
            let reading = read_with(
                dialect,
                "PreToolUse",
                OnFailure::Block,
                exit.clone(),
                "",
                "words",
            );
            assert_eq!(
                reading.effect.decision,
                Decision::Deny,
                "{dialect} {exit:?}"
            );
            assert_eq!(reading.status, RunStatus::Blocked, "{dialect} {exit:?}");
        }
        let reading = read_with(
            dialect,
            "PreToolUse",
            OnFailure::Block,
            Exit::Code(0),
            "{bad}",
            "",
        );
        assert_eq!(
            reading.effect.decision,
            Decision::Deny,
            "{dialect} bad output"
        );
    }
    let stop = read_with(
        DialectId::Claude,
        "Stop",
        OnFailure::Block,
        Exit::Code(1),
        "",
        "",
    );
    assert_eq!(
        stop.effect.decision,
        Decision::None,
        "no effect at Stop (measured)"
    );
}

#[test]
fn a_rewritten_input_keeps_its_exact_text() {
    let stdout = "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\
                  \"permissionDecision\":\"allow\",\
                  \"updatedInput\":{\"n\":1.0,\"big\":123456789012345678901234567890}}}";
    for dialect in DialectId::ALL {
        let reading = read(dialect, "PreToolUse", 0, stdout, "");
        let input = reading.effect.input.map(|raw| raw.get().to_owned());
        assert_eq!(
            input.as_deref(),
            Some("{\"n\":1.0,\"big\":123456789012345678901234567890}"),
            "{dialect}"
        );
    }
}

proptest::proptest! {
    /// No output whatever makes a reader panic, and exit 2 at a gate of Claude always refuses.
    #[test]
    fn no_output_can_break_a_reader(stdout in ".{0,64}", stderr in ".{0,16}", code in -1i32..4) {
        for dialect in DialectId::ALL {
            for row in dialect.table().events {
                let reading = read(dialect, row.name, code, &stdout, &stderr);
                if dialect == DialectId::Claude && row.name == "PreToolUse" && code == 2 {
                    proptest::prop_assert_eq!(reading.effect.decision, Decision::Deny);
                }
            }
        }
    }
}
