//! Bad input gets a message that names the value and says what to do, and runs nothing.

use std::fs;

use crate::seamline::{Said, World};

/// A project whose only hook leaves a mark when it runs.
fn marked() -> World {
    let world = World::new();
    world.write_home(
        ".claude/settings.json",
        r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "touch \"$CLAUDE_PROJECT_DIR\"/ran"}]}]}}"#,
    );
    world
}

fn refused(world: &World, args: &[&str], code: i32, words: &[&str]) -> Said {
    let said = world.seamline().args(args).run();
    assert_eq!(said.code, code, "{args:?}: {said:#?}");
    assert_eq!(said.stdout, "", "{args:?}: a refusal is no result");
    for word in words {
        assert!(
            said.stderr.contains(word),
            "{args:?}: {word:?} is not in\n{}",
            said.stderr
        );
    }
    assert!(
        !world.project().join("ran").exists(),
        "{args:?}: a hook ran"
    );
    said
}

#[test]
fn the_mark_is_left_when_all_is_well() {
    let world = marked();
    let said = world.seamline().args(["hooks", "fire", "Stop"]).run();
    assert_eq!(said.code, 0, "{said:#?}");
    assert!(world.project().join("ran").exists());
}

#[test]
fn an_unknown_event_names_the_nearest() {
    let world = marked();
    refused(
        &world,
        &["hooks", "fire", "stop"],
        64,
        &["\"stop\"", "did you mean Stop?"],
    );
    refused(
        &world,
        &["hooks", "fire", "BeforeTool"],
        64,
        &["PreToolUse", "UserPromptSubmit"],
    );
    let wrong = ["hooks", "fire", "Setup", "--dialect", "codex"];
    refused(&world, &wrong, 64, &["--dialect claude"]);
}

#[test]
fn json_that_is_not_json_is_pointed_at() {
    let world = marked();
    let args = [
        "hooks",
        "fire",
        "PreToolUse",
        "--tool",
        "Bash",
        "--input",
        "{\"command\": oops}",
    ];
    let said = refused(&world, &args, 64, &["--input:1:13", "oops"]);
    assert!(
        said.stderr.contains('▲') || said.stderr.contains('╰'),
        "{}",
        said.stderr
    );
    for (input, place) in [
        ("", "--input:1:1"),
        ("{\"ä\": ü}", "--input:1:8"),
        ("{", "--input:1:"),
    ] {
        let args = [
            "hooks",
            "fire",
            "PreToolUse",
            "--tool",
            "Bash",
            "--input",
            input,
        ];
        refused(&world, &args, 64, &[place]);
    }
    world.write("payload.json", "{\n  \"a\": 1,\n}\n");
    let args = ["hooks", "fire", "Stop", "--payload", "payload.json"];
    refused(&world, &args, 64, &["--payload:3:1", "trailing comma"]);
    world.write("list.json", "[]");
    refused(
        &world,
        &["hooks", "fire", "Stop", "--payload", "list.json"],
        64,
        &["one JSON object"],
    );
}

#[test]
fn a_payload_of_another_event_is_refused() {
    let world = marked();
    world.write("payload.json", "{\"hook_event_name\": \"PreToolUse\"}");
    let args = ["hooks", "fire", "Stop", "--payload", "payload.json"];
    refused(&world, &args, 64, &["PreToolUse", "Stop"]);
}

#[test]
fn files_that_are_not_there_or_not_files_are_named() {
    let world = marked();
    fs::create_dir(world.project().join("folder")).unwrap();
    for file in ["nowhere.json", "folder"] {
        for option in ["--payload", "--hooks-config"] {
            refused(
                &world,
                &["hooks", "fire", "Stop", option, file],
                74,
                &["cannot read", file],
            );
        }
        refused(
            &world,
            &["hooks", "list", "--hooks-config", file],
            74,
            &["cannot read", file],
        );
    }
    refused(
        &world,
        &["-C", "nowhere", "hooks", "list"],
        74,
        &["cannot read nowhere"],
    );
    world.write("file", "");
    refused(
        &world,
        &["-C", "file", "hooks", "list"],
        64,
        &["file is not a folder"],
    );
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    let world = marked();
    for args in [
        &["hooks", "fire"][..],
        &["hooks", "fire", "PreToolUse", "--input", "{}"],
        &["hooks", "fire", "Stop", "--tool", "Bash"],
        &[
            "hooks",
            "fire",
            "PreToolUse",
            "--tool",
            "Bash",
            "--payload",
            "-",
        ],
        &["hooks", "fire", "Stop", "--set", "no-equals-sign"],
        &["hooks", "fire", "Stop", "--dialect", "gemini"],
        &["hooks", "trust", "key", "--all"],
        &["hooks", "trust", "--list", "--revoke", "key"],
        &["hook"],
        &[],
    ] {
        refused(&world, args, 64, &[]);
    }
}

#[test]
fn without_a_home_nothing_is_guessed() {
    let world = marked();
    for home in [None, Some(""), Some("relative/home")] {
        let command = world.seamline().without("HOME");
        let command = match home {
            Some(home) => command.env("HOME", home),
            None => command,
        };
        let said = command.args(["hooks", "list"]).run();
        assert_eq!(said.code, 64, "{home:?}: {said:#?}");
        assert!(
            said.stderr.contains("HOME is not set"),
            "{home:?}: {}",
            said.stderr
        );
    }
}

/// Help and version are results, and the exit code of clap's own errors would mean a denial.
#[test]
fn help_and_version_are_results() {
    let world = World::new();
    for args in [
        &["--help"][..],
        &["--version"],
        &["hooks", "fire", "--help"],
        &["help"],
    ] {
        let said = world.seamline().args(args).run();
        assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{args:?}");
        assert!(!said.stdout.is_empty());
    }
}
