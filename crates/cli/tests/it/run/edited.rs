//! Hook files that are edited while a run is at work.

use std::fs;

use seamline_hooks::DialectId;

use super::{did, hooks};
use crate::seamline::{Said, World};

const TRUST: &str = "--trust-project-hooks";
const REFUSE: &str = "echo 'not here' >&2; exit 2";

fn file(dialect: DialectId) -> &'static str {
    match dialect {
        DialectId::Claude => ".claude/settings.json",
        DialectId::Codex => ".codex/hooks.json",
    }
}

/// Each command runs in a call of its own; then `touch did`.
fn commands(commands: &[String]) -> String {
    let calls = commands.iter().map(|command| {
        let command = serde_json::to_string(command).unwrap();
        format!("- {{tool: Bash, input: {{command: {command}}}}}\n")
    });
    let calls: String = calls.collect();
    format!("{calls}- {{tool: Bash, input: {{command: touch did}}}}\n- All done.\n")
}

/// A world whose project has a hook that does nothing, and, aside, a file with a gate.
fn world(dialect: DialectId) -> World {
    let world = World::new();
    world.write(file(dialect), &hooks(&[("Stop", "true")]).to_string());
    world.write("gate.json", &hooks(&[("PreToolUse", REFUSE)]).to_string());
    world
}

/// Plays a script for the model in a mode that asks for nothing.
fn play(world: &World, script: &str, options: &[&str]) -> Said {
    let free = ["--permission-mode", "bypassPermissions"];
    super::play(world, script, &[&free, options].concat())
}

fn put_up(world: &World, dialect: DialectId, options: &[&str]) -> Said {
    let script = commands(&[format!("cp gate.json {}", file(dialect))]);
    play(world, &script, options)
}

/// A hook that an agent writes into the project does not run, whatever the run was given for those
/// that were there: nobody has agreed to it. What was in force stays, and it is said why.
#[test]
fn what_nobody_has_agreed_to_does_not_run() {
    for dialect in DialectId::ALL {
        let world = world(dialect);
        let said = put_up(&world, dialect, &[TRUST]);
        assert_eq!(said.code, 0, "{said:#?}");
        assert!(did(&world), "{said:#?}");
        let text = format!("{}{}", said.stdout, said.stderr);
        for words in [
            "stay as they were: nobody has agreed to PreToolUse",
            &format!("({}:1)", file(dialect)),
            "seamline hooks trust",
        ] {
            assert!(text.contains(words), "{words} in {text}");
        }
    }
}

/// Once somebody agrees, while the run goes on, the edit takes effect at the next event.
#[test]
fn what_is_trusted_during_the_run_takes_effect() {
    for dialect in DialectId::ALL {
        let world = world(dialect);
        let agree = format!("{} hooks trust --all", env!("CARGO_BIN_EXE_seamline"));
        let script = commands(&[format!("cp gate.json {}", file(dialect)), agree]);
        let said = play(&world, &script, &[TRUST]);
        assert!(!did(&world), "{said:#?}");
        let text = format!("{}{}", said.stdout, said.stderr);
        assert!(text.contains("new: PreToolUse"), "{text}");
        assert!(text.contains("not here"), "{text}");
    }
}

/// A user's own file needs no agreement.
#[test]
fn a_users_own_edit_takes_effect() {
    for dialect in DialectId::ALL {
        let world = World::new();
        let own = world.write_home(file(dialect), &hooks(&[("Stop", "true")]).to_string());
        world.write("gate.json", &hooks(&[("PreToolUse", REFUSE)]).to_string());
        let script = commands(&[format!("cp gate.json {}", own.display())]);
        let said = play(&world, &script, &[]);
        assert!(!did(&world), "{said:#?}");
    }
}

/// An edit that breaks a file takes no gate away, and its place is named.
#[test]
fn a_file_that_is_broken_by_an_edit_takes_nothing_away() {
    for dialect in DialectId::ALL {
        let world = World::new();
        let gate = "read line; case $line in *did*) echo no >&2; exit 2;; esac";
        world.write(file(dialect), &hooks(&[("PreToolUse", gate)]).to_string());
        let script = commands(&[format!("echo '{{' > {}", file(dialect))]);
        let said = play(&world, &script, &[TRUST]);
        assert!(!did(&world), "{said:#?}");
        let text = format!("{}{}", said.stdout, said.stderr);
        assert!(
            text.contains(&format!("stay as they were: {}:", file(dialect))),
            "{text}"
        );
    }
}

/// A gate that is taken out of its file is gone, and that is said.
#[test]
fn a_gate_that_is_taken_away_is_named() {
    let world = World::new();
    let both = hooks(&[("Stop", "true"), ("PreToolUse", "exit 0")]);
    world.write(file(DialectId::Codex), &both.to_string());
    let one = hooks(&[("Stop", "true")]);
    world.write("one.json", &one.to_string());
    let script = commands(&[format!("cp one.json {}", file(DialectId::Codex))]);
    let said = play(&world, &script, &[TRUST]);
    assert!(did(&world), "{said:#?}");
    let text = format!("{}{}", said.stdout, said.stderr);
    assert!(
        text.contains("1 in force, gone: PreToolUse exit 0"),
        "{text}"
    );
}

/// Variables of the project are part of what was agreed to: new ones need a new agreement.
#[test]
fn new_variables_of_a_project_need_an_agreement() {
    let world = World::new();
    let mut settings = hooks(&[("PreToolUse", "test \"$WORD\" != new || touch changed")]);
    world.write(file(DialectId::Claude), &settings.to_string());
    settings["env"] = serde_json::json!({ "WORD": "new" });
    world.write("new.json", &settings.to_string());
    let script = commands(&[format!("cp new.json {}", file(DialectId::Claude))]);
    let said = play(&world, &script, &[TRUST]);
    assert!(did(&world), "{said:#?}");
    assert!(!world.project().join("changed").exists(), "{said:#?}");
    let text = format!("{}{}", said.stdout, said.stderr);
    assert!(
        text.contains("stay as they were: nobody has agreed"),
        "{text}"
    );
}

/// A rehearsal runs the hooks it began with; its copy's files are edited there only.
#[test]
fn a_rehearsal_runs_what_it_began_with() {
    let world = World::new();
    let edit = hooks(&[("SessionStart", "cp gate.json .claude/settings.json")]);
    let path = world.write(file(DialectId::Claude), &edit.to_string());
    world.write("gate.json", &hooks(&[("PreToolUse", REFUSE)]).to_string());
    let command = world
        .seamline()
        .args(["run", "--model", "rehearsal", TRUST, "Go on."]);
    let said = command.run();
    let text = format!("{}{}", said.stdout, said.stderr);
    assert!(text.contains("a rehearsal runs no others"), "{text}");
    assert!(!text.contains("denied: not here"), "{text}");
    assert_eq!(fs::read_to_string(path).unwrap(), edit.to_string());
}
