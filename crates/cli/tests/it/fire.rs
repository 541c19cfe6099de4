//! `hooks fire`: what runs, what it prints, and its exit code.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::seamline::{Said, World};

/// A world whose own (user) configuration has these groups; own hooks need no trust.
fn claude(hooks: &Value) -> World {
    let world = World::new();
    world.write_home(
        ".claude/settings.json",
        &json!({ "hooks": hooks }).to_string(),
    );
    world
}

fn codex(hooks: &Value) -> World {
    let world = World::new();
    world.write_home(".codex/hooks.json", &json!({ "hooks": hooks }).to_string());
    world
}

/// One group with a command for every matcher.
fn group(command: &str) -> Value {
    json!([{ "hooks": [{ "type": "command", "command": command }] }])
}

fn fire(world: &World, args: &[&str]) -> Said {
    world.seamline().args(["hooks", "fire"]).args(args).run()
}

/// A command that prints JSON.
fn says(output: &Value) -> String {
    format!("echo '{output}'")
}

fn decides(decision: &str) -> String {
    says(&json!({ "hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": decision,
        "permissionDecisionReason": "because"
    } }))
}

#[test]
fn exit_codes_say_what_came_of_it() {
    for (command, code, decision) in [
        ("true".to_owned(), 0, "none"),
        (decides("allow"), 0, "allow"),
        ("echo no >&2; exit 2".to_owned(), 2, "deny"),
        (decides("deny"), 2, "deny"),
        (decides("defer"), 2, "defer"),
        (decides("ask"), 3, "ask"),
        (says(&json!({ "continue": false })), 2, "none"),
        ("exit 1".to_owned(), 1, "none"),
        ("kill -9 $$".to_owned(), 1, "none"),
    ] {
        let world = claude(&json!({ "PreToolUse": group(&command) }));
        let said = fire(&world, &["PreToolUse", "--json"]);
        assert_eq!(said.code, code, "{command}: {said:#?}");
        assert_eq!(said.json()["outcome"]["decision"], decision, "{command}");
    }
}

#[test]
fn a_refusal_outranks_a_question_and_a_question_outranks_a_failure() {
    let deny = "echo no >&2; exit 2";
    let ask = decides("ask");
    for (commands, code) in [
        (["exit 1", deny], 2),
        ([deny, "exit 1"], 2),
        ([&ask, deny], 2),
        ([&ask, "exit 1"], 3),
        (["exit 1", "true"], 1),
    ] {
        let hooks = commands.map(|c| json!({ "type": "command", "command": c }));
        let world = claude(&json!({ "PreToolUse": [{ "hooks": hooks }] }));
        assert_eq!(fire(&world, &["PreToolUse"]).code, code, "{commands:?}");
    }
}

#[test]
fn a_timeout_is_a_failure() {
    let slow = json!([{ "hooks": [{ "type": "command", "command": "sleep 60", "timeout": 1 }] }]);
    for world in [
        claude(&json!({ "Stop": slow })),
        codex(&json!({ "Stop": slow })),
    ] {
        let said = fire(&world, &["Stop"]);
        assert_eq!(said.code, 1, "{said:#?}");
        assert!(said.stdout.contains("timed out"), "{}", said.stdout);
    }
}

#[test]
fn exit_1_is_explained() {
    let world = claude(&json!({ "PreToolUse": group("echo no >&2; exit 1") }));
    let said = fire(&world, &["PreToolUse", "--json"]);
    let run = &said.json()["runs"][0];
    assert_eq!(run["exit_code"], 1);
    assert_eq!(run["stderr"], "no\n");
    let codes: Vec<&str> = run["notes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|n| n["code"].as_str().unwrap())
        .collect();
    assert!(codes.contains(&"exit-1-does-not-block"), "{codes:?}");
}

#[test]
fn a_decision_that_codex_loses_is_said_loudly() {
    let output = json!({ "hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": "deny"
    } });
    let world = codex(&json!({ "PreToolUse": group(&says(&output)) }));
    let said = fire(&world, &["PreToolUse"]);
    assert_eq!(said.code, 1, "{said:#?}");
    assert!(
        said.stdout
            .contains("without a non-empty permissionDecisionReason"),
        "{}",
        said.stdout
    );
    let said = fire(&world, &["PreToolUse", "--json"]);
    let notes = said.json()["runs"][0]["notes"].to_string();
    assert!(notes.contains("decision-lost"), "{notes}");
}

/// Codex reports the exit code of a failed hook and not what it wrote.
#[test]
fn what_a_failed_hook_wrote_is_shown_once() {
    let broken = group("echo words of the hook >&2; exit 3");
    for world in [
        claude(&json!({ "PreToolUse": broken })),
        codex(&json!({ "PreToolUse": broken })),
    ] {
        let said = fire(&world, &["PreToolUse"]);
        let (runs, _) = said.stdout.split_once("outcome").unwrap();
        let (_, entries) = runs.split_once("exit 3").unwrap();
        let lines: Vec<&str> = entries.lines().skip(1).collect();
        let told = lines
            .iter()
            .filter(|line| line.contains("words of the hook"))
            .count();
        assert_eq!(told, 1, "{}", said.stdout);
    }
}

#[test]
fn the_json_object_has_the_documented_keys() {
    let world = claude(&json!({
        "PreToolUse": [
            { "matcher": "Bash", "hooks": [{ "type": "command", "command": "echo no >&2; exit 2" }] },
            { "matcher": "Edit", "hooks": [{ "type": "command", "command": "true" }] }
        ],
        "Stop": group("true")
    }));
    let object = fire(&world, &["PreToolUse", "--json"]).json();
    let keys = |value: &Value| {
        value
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(
        keys(&object),
        [
            "version",
            "dialect",
            "event",
            "payload",
            "runs",
            "background",
            "skipped",
            "outcome",
            "environment"
        ]
    );
    assert_eq!(
        (&object["version"], &object["dialect"]),
        (&json!(1), &json!("claude"))
    );
    let handler = [
        "key", "source", "line", "event", "matcher", "type", "command",
    ];
    let run = &object["runs"][0];
    assert_eq!(
        keys(run),
        [
            "handler",
            "status",
            "exit_code",
            "entries",
            "notes",
            "duration_ms",
            "stdout",
            "stderr"
        ]
    );
    assert_eq!(keys(&run["handler"]), handler);
    assert_eq!(run["status"], "blocked");
    assert_eq!(keys(&run["entries"][0]), ["kind", "text"]);
    let reasons: Vec<&Value> = object["skipped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|skip| &skip["reason"])
        .collect();
    assert_eq!(
        reasons,
        ["matcher", "event"],
        "every handler is accounted for"
    );
    assert_eq!(keys(&object["skipped"][0]), ["handler", "reason", "detail"]);
    assert_eq!(keys(&object["skipped"][0]["handler"]), handler);
    assert_eq!(
        keys(&object["outcome"]),
        [
            "decision", "reason", "input", "input_by", "contexts", "notices", "halt", "extras"
        ]
    );
}

#[test]
fn effects_are_in_the_outcome_with_whose_they_are() {
    let output = json!({
        "systemMessage": "for you",
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": "allow",
            "updatedInput": { "command": "echo 1.50" }, "additionalContext": "for the model"
        }
    });
    let world = claude(&json!({ "PreToolUse": group(&says(&output)) }));
    let said = fire(&world, &["PreToolUse", "--json"]);
    let outcome = &said.json()["outcome"];
    let key = world
        .home()
        .join(".claude/settings.json:pre_tool_use:0:0")
        .display()
        .to_string();
    assert_eq!(outcome["input"], json!({ "command": "echo 1.50" }));
    assert_eq!(outcome["input_by"], key);
    assert_eq!(
        outcome["contexts"],
        json!([{ "by": key, "text": "for the model" }])
    );
    assert_eq!(
        outcome["notices"],
        json!([{ "by": key, "kind": "system", "text": "for you" }])
    );
}

#[test]
fn set_overrides_a_key_where_it_stands() {
    let world = claude(&json!({ "PreToolUse": group("cat > \"$CLAUDE_PROJECT_DIR\"/seen") }));
    let args = [
        "PreToolUse",
        "--set",
        "tool_input.command=ls",
        "--set",
        "session_id=7",
    ];
    let said = fire(&world, &args);
    assert_eq!(said.code, 0, "{said:#?}");
    let seen = fs::read_to_string(world.project().join("seen")).unwrap();
    assert!(seen.starts_with("{\"session_id\":7,"), "{seen}");
    assert!(
        seen.contains("\"tool_input\":{\"command\":\"ls\"}"),
        "{seen}"
    );
    assert!(
        seen.ends_with("}\n"),
        "Claude's payload ends with a newline"
    );
}

#[test]
fn a_payload_file_reaches_the_hook_byte_for_byte() {
    let world = codex(&json!({ "Stop": group("cat > seen") }));
    let text = "{\"hook_event_name\": \"Stop\", \"n\": 1.50, \"big\": 12345678901234567890123}";
    world.write("payload.json", &format!("{text}\n"));
    let seen = world.project().join("seen");
    for from in ["payload.json", "-"] {
        let command = world
            .seamline()
            .args(["hooks", "fire", "Stop", "--payload", from]);
        let said = command.run_with(text);
        assert_eq!(said.code, 0, "{said:#?}");
        assert_eq!(fs::read_to_string(&seen).unwrap(), text, "{from}");
        fs::remove_file(&seen).unwrap();
    }
}

#[test]
fn hooks_of_a_project_run_only_when_trusted() {
    let world = World::new();
    let hooks = json!({ "hooks": { "PreToolUse": [
        { "matcher": "Bash", "hooks": [{ "type": "command", "command": "touch ran" }] }
    ] } });
    world.write(".claude/settings.json", &hooks.to_string());
    let ran = world.project().join("ran");

    let said = fire(&world, &["PreToolUse"]);
    assert_eq!((said.code, said.stdout.as_str()), (77, ""), "{said:#?}");
    assert!(
        said.stderr
            .contains(".claude/settings.json:1  PreToolUse  touch ran"),
        "{}",
        said.stderr
    );
    assert!(!ran.exists());

    let said = fire(&world, &["PreToolUse", "--tool", "Read"]);
    assert_eq!(
        said.code, 0,
        "what does not match needs no trust: {said:#?}"
    );

    let said = fire(&world, &["PreToolUse", "--trust-project-hooks"]);
    assert_eq!(said.code, 0, "{said:#?}");
    assert!(ran.exists());
    assert_eq!(
        fire(&world, &["PreToolUse"]).code,
        77,
        "the flag trusts this once"
    );
}

#[test]
fn a_broken_configuration_stops_everything_unless_ignored() {
    let world = claude(&json!({ "Stop": group("touch ran"), "Stopp": group("true") }));
    world.write(".codex/hooks.json", "{ oops");
    let ran = world.project().join("ran");

    let said = fire(&world, &["Stop", "--trust-project-hooks"]);
    assert_eq!((said.code, said.stdout.as_str()), (65, ""), "{said:#?}");
    assert!(
        said.stderr.contains(".codex/hooks.json:1:3"),
        "{}",
        said.stderr
    );
    assert!(
        said.stderr.contains("--ignore-broken-hooks"),
        "{}",
        said.stderr
    );
    assert!(!ran.exists());

    let said = fire(
        &world,
        &["Stop", "--trust-project-hooks", "--ignore-broken-hooks"],
    );
    assert_eq!(said.code, 0, "{said:#?}");
    assert!(ran.exists());
}

#[test]
fn two_protocols_fire_one_after_the_other() {
    let world = claude(&json!({ "Stop": group("echo claude >> order") }));
    let hooks = json!({ "hooks": { "Stop": group("echo codex >> order; echo no >&2; exit 2") } });
    world.write_home(".codex/hooks.json", &hooks.to_string());
    let said = fire(&world, &["Stop", "--json"]);
    assert_eq!(said.code, 2, "the codes are taken over both: {said:#?}");
    let dialects: Vec<Value> = said
        .json()
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["dialect"].clone())
        .collect();
    assert_eq!(dialects, ["claude", "codex"]);
    let order = fs::read_to_string(world.project().join("order")).unwrap();
    assert_eq!(order, "claude\ncodex\n");

    let one = fire(&world, &["Stop", "--json", "--dialect", "claude"]);
    assert_eq!((one.code, &one.json()["dialect"]), (0, &json!("claude")));
    let only = fire(&world, &["PreModelRequest", "--json"]);
    assert_eq!(
        only.json()["dialect"],
        "codex",
        "Claude Code has no such event"
    );
}

#[test]
fn without_any_configuration_it_says_where_it_looked() {
    let world = World::new();
    let said = fire(&world, &["Stop"]);
    assert_eq!(said.code, 0);
    let out = &said.stdout;
    assert!(out.contains("no hooks are configured; looked in"), "{out}");
    assert!(
        out.contains("~/.claude/settings.json") && out.contains("payload"),
        "{out}"
    );
}

#[test]
fn handlers_of_other_events_are_only_counted() {
    let world = claude(&json!({
        "PreToolUse": group("true"), "Stop": group("echo other"), "SessionEnd": group("echo other")
    }));
    let said = fire(&world, &["PreToolUse"]);
    assert!(
        said.stdout.contains("2 handlers of other events"),
        "{}",
        said.stdout
    );
    assert!(!said.stdout.contains("echo other"), "{}", said.stdout);
}

#[test]
fn background_hooks_are_waited_for_and_shown() {
    let hook =
        json!([{ "hooks": [{ "type": "command", "command": "echo later", "async": true }] }]);
    let world = claude(&json!({ "UserPromptSubmit": hook }));
    let said = fire(&world, &["UserPromptSubmit", "--json"]);
    let object = said.json();
    assert_eq!(
        (said.code, object["runs"].as_array().unwrap().len()),
        (0, 0),
        "{said:#?}"
    );
    assert_eq!(object["background"][0]["stdout"], "later\n");
    assert!(
        fire(&world, &["UserPromptSubmit"])
            .stdout
            .contains("runs in background")
    );
}

#[test]
fn variables_for_later_commands_are_shown() {
    let world =
        claude(&json!({ "SessionStart": group("echo 'export A=1' >> \"$CLAUDE_ENV_FILE\"") }));
    let said = fire(&world, &["SessionStart", "--json"]);
    assert_eq!(said.json()["environment"], "export A=1\n", "{said:#?}");
}

#[test]
fn hooks_run_in_the_folder_the_payload_names_if_it_is_there() {
    let world = claude(&json!({ "Stop": group("pwd") }));
    fs::create_dir(world.project().join("sub")).unwrap();
    let sub = world.project().join("sub").display().to_string();
    for (cwd, folder) in [
        (sub.as_str(), &sub),
        ("/nowhere/at/all", &world.project().display().to_string()),
    ] {
        let said = fire(&world, &["Stop", "--json", "--set", &format!("cwd={cwd}")]);
        assert_eq!(
            said.json()["runs"][0]["stdout"],
            format!("{folder}\n"),
            "{cwd}"
        );
    }
}

#[test]
fn a_tool_that_the_protocol_does_not_have_is_remarked_on() {
    let world = codex(&json!({ "PreToolUse": group("true") }));
    let said = fire(&world, &["PreToolUse", "--tool", "Write"]);
    assert_eq!(said.code, 0);
    assert!(
        said.stderr.contains("did you mean apply_patch?"),
        "{}",
        said.stderr
    );
    let said = fire(&world, &["PreToolUse", "--tool", "mcp__notes__find"]);
    assert_eq!(said.stderr, "");
}

/// Colours are for terminals; a pipe gets plain text.
#[test]
fn a_pipe_gets_no_colours() {
    let world = claude(&json!({ "Stop": group("exit 1") }));
    let said = fire(&world, &["Stop"]);
    assert!(
        !said.stdout.contains('\u{1b}') && !said.stderr.contains('\u{1b}'),
        "{said:?}"
    );
}

#[test]
fn ctrl_c_and_term_end_the_hooks_too() {
    for which in ["-INT", "-TERM"] {
        ends_its_hooks(which);
    }
}

fn ends_its_hooks(which: &str) {
    let world = claude(&json!({ "Stop": group("echo $$ > pid; exec sleep 600") }));
    let mut command = world.seamline().args(["hooks", "fire", "Stop"]).0;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let pid = wait_for(|| {
        let text = fs::read_to_string(world.project().join("pid")).ok()?;
        text.trim().parse::<u32>().ok()
    });
    assert!(signal(pid, "-0"), "the hook runs");
    assert!(signal(child.id(), which));
    assert_eq!(child.wait().unwrap().code(), Some(130), "{which}");
    wait_for(|| (!signal(pid, "-0")).then_some(()));
}

/// Sends a signal by `kill`; whether there was such a process. `-0` only looks.
pub(crate) fn signal(pid: u32, which: &str) -> bool {
    let pid = pid.to_string();
    let mut kill = Command::new("kill");
    let kill = kill.args([which, &pid]).stderr(Stdio::null());
    kill.status().unwrap().success()
}

/// With `PATH` a project could choose what the user's own hooks run.
#[test]
fn variables_of_an_untrusted_project_are_left_out() {
    let world = World::new();
    let own = json!({
        "env": { "OWN": "own" }, "hooks": { "Stop": group("echo \"[$OWN$THEIRS]\"") }
    });
    world.write_home(".claude/settings.json", &own.to_string());
    let theirs = json!({ "env": { "THEIRS": "+theirs" }, "hooks": { "Setup": group("true") } });
    world.write(".claude/settings.json", &theirs.to_string());
    let stdout = |said: &Said| said.json()["runs"][0]["stdout"].clone();

    let said = fire(&world, &["Stop", "--json"]);
    assert_eq!(stdout(&said), "[own]\n", "{said:#?}");
    assert!(
        said.stderr.contains("`env` of the project is left out"),
        "{}",
        said.stderr
    );

    let said = fire(&world, &["Stop", "--json", "--trust-project-hooks"]);
    assert_eq!(
        (stdout(&said), said.stderr.as_str()),
        (json!("[own+theirs]\n"), "")
    );

    assert_eq!(
        world
            .seamline()
            .args(["hooks", "trust", "--all"])
            .run()
            .code,
        0
    );
    let said = fire(&world, &["Stop", "--json"]);
    assert_eq!(
        (stdout(&said), said.stderr.as_str()),
        (json!("[own+theirs]\n"), "")
    );
}

/// Polls until there is a value; fails after half a minute.
pub(crate) fn wait_for<T>(mut value: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(value) = value() {
            return value;
        }
        assert!(Instant::now() < deadline, "waited in vain");
        thread::sleep(Duration::from_millis(5));
    }
}
