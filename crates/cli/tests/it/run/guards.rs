//! No option lets through in silence what a hook denies or nobody has agreed to.

use serde_json::json;

use super::{ONE_COMMAND, did, hooks, logs, play, project};
use crate::seamline::{Said, World};

const MODES: [&str; 5] = [
    "default",
    "acceptEdits",
    "plan",
    "dontAsk",
    "bypassPermissions",
];
/// Options that have nothing to do with whether hooks are in force.
const BESIDE: [&[&str]; 6] = [
    &[],
    &["--ephemeral"],
    &["--json"],
    &["--debug-hooks", "seen"],
    &["--ignore-broken-hooks"],
    &["--hooks", "claude"],
];

/// A hook that refuses every call in its own words.
fn refusing() -> World {
    project(&[(
        "PreToolUse",
        "touch hook-ran; echo 'not on my watch' >&2; exit 2",
    )])
}

#[test]
fn a_denial_stands_in_every_mode_and_beside_every_option() {
    let modes = MODES.map(|mode| vec!["--permission-mode", mode]);
    let beside =
        BESIDE.map(|options| [options, &["--permission-mode", "bypassPermissions"]].concat());
    for options in modes.into_iter().chain(beside) {
        let world = refusing();
        let said = play(
            &world,
            ONE_COMMAND,
            &[&["--trust-project-hooks"], options.as_slice()].concat(),
        );
        assert_eq!(said.code, 0, "the turn goes on: {options:?} {said:#?}");
        assert!(!did(&world), "{options:?}: {said:#?}");
        assert!(
            said.stdout.contains("not on my watch"),
            "{options:?}: {said:#?}"
        );
    }
}

/// Without the hook the same command runs: the tests above and below can fail.
#[test]
fn hooks_that_are_off_are_named() {
    for (which, named) in [
        ("none", "1 hook of claude is off (--hooks none)"),
        ("codex", "1 hook of claude is off (--hooks codex)"),
    ] {
        for json in [&[][..], &["--json"]] {
            let world = refusing();
            let options = ["--permission-mode", "bypassPermissions", "--hooks", which];
            let said = play(&world, ONE_COMMAND, &[&options, json].concat());
            assert_eq!((said.code, did(&world)), (0, true), "{said:#?}");
            assert!(said.stdout.contains(named), "{said:#?}");
        }
    }
    let world = refusing();
    world.write(".codex/hooks.json", &hooks(&[("Stop", "true")]).to_string());
    let options = ["--trust-project-hooks", "--hooks", "claude"];
    let said = play(&world, ONE_COMMAND, &options);
    assert!(said.stdout.contains("1 hook of codex is off"), "{said:#?}");
    assert!(!did(&world));
}

/// Hooks of events that have no moment here are named before the first turn.
#[test]
fn hooks_that_wait_in_vain_are_named() {
    let world = project(&[("PreCompact", "exit 2"), ("Stop", "true")]);
    for json in [&[][..], &["--json"]] {
        let said = play(
            &world,
            ONE_COMMAND,
            &[&["--trust-project-hooks"], json].concat(),
        );
        let named = "1 hook of claude waits for events that do not happen here yet: PreCompact";
        assert!(said.stdout.contains(named), "{said:#?}");
    }
}

/// A patch is no way around hooks for Write: where Claude Code's are in force there is no such tool.
#[test]
fn no_patch_goes_around_claudes_hooks() {
    let script = r#"[
        {"tool": "apply_patch", "input": {"command": "*** Begin Patch\n*** Add File: did\n+x\n*** End Patch"}},
        {"text": "bye"}
    ]"#;
    let options = [
        "--trust-project-hooks",
        "--permission-mode",
        "bypassPermissions",
    ];
    let gated = project(&[("PreToolUse", "true")]);
    let said = play(&gated, script, &options);
    assert!(!did(&gated), "{said:#?}");
    assert!(said.stdout.contains("unknown tool"), "{said:#?}");

    let codex = World::new();
    let hook = [(
        "PreToolUse",
        "grep -q '\"tool_name\":\"apply_patch\"' && touch seen",
    )];
    codex.write(".codex/hooks.json", &hooks(&hook).to_string());
    let said = play(&codex, script, &options);
    assert!(did(&codex), "{said:#?}");
    assert!(codex.project().join("seen").exists(), "{said:#?}");
}

/// Deny and ask rules of any file hold, whatever the mode, the hooks and the other options.
#[test]
fn deny_and_ask_rules_stand_beside_every_option() {
    let file = |list: &str| json!({"permissions": {list: ["Bash(touch *)"]}}).to_string();
    let allows = hooks(&[(
        "PreToolUse",
        "echo '{\"hookSpecificOutput\": {\"hookEventName\": \"PreToolUse\", \"permissionDecision\": \"allow\"}}'",
    )]);
    for list in ["deny", "ask"] {
        for which in ["auto", "none", "codex", "claude"] {
            for own in [true, false] {
                let world = World::new();
                world.write(".claude/settings.local.json", &allows.to_string());
                match own {
                    true => world.write_home(".claude/settings.json", &file(list)),
                    false => world.write(".claude/settings.json", &file(list)),
                };
                let mode = ["--permission-mode", "bypassPermissions"];
                let options = ["--hooks", which, "--trust-project-hooks"];
                let said = play(
                    &world,
                    ONE_COMMAND,
                    &[mode, [options[0], options[1]]].concat(),
                );
                let refused = said.code == 77 && matches!(which, "auto" | "claude");
                assert!(refused || said.code == 0, "{list} {which} {own}: {said:#?}");
                let said = play(&world, ONE_COMMAND, &[&mode[..], &options].concat());
                let named = "the rule `Bash(touch *)` (";
                assert_eq!(
                    (said.code, did(&world)),
                    (0, false),
                    "{list} {which} {own}: {said:#?}"
                );
                assert!(
                    said.stdout.contains(named),
                    "{list} {which} {own}: {said:#?}"
                );
            }
        }
    }
    let world = World::new();
    world.write(".claude/settings.json", &file("deny"));
    let other = world.write_home("other.json", "{}");
    let options = ["--permission-mode", "bypassPermissions", "--hooks-config"];
    let options = [&options[..], &[other.to_str().unwrap()]].concat();
    let said = play(&world, ONE_COMMAND, &options);
    assert_eq!((said.code, did(&world)), (0, false), "{said:#?}");
}

/// A repository does not agree to its own commands; the user's own allow rules count.
#[test]
fn allow_rules_of_an_untrusted_project_are_left_out() {
    let rules = json!({"permissions": {"allow": ["Bash(touch *)"]}}).to_string();
    let world = World::new();
    world.write(".claude/settings.json", &rules);
    let said = play(&world, ONE_COMMAND, &[]);
    assert_eq!((said.code, did(&world)), (0, false), "{said:#?}");
    let named = "1 allow rule of the project (.claude/settings.json) left out";
    assert!(said.stdout.contains(named), "{said:#?}");
    let said = play(&world, ONE_COMMAND, &["--trust-project-hooks"]);
    assert_eq!((said.code, did(&world)), (0, true), "{said:#?}");
    assert!(!said.stdout.contains("left out"), "{said:#?}");

    let world = World::new();
    world.write_home(".claude/settings.json", &rules);
    let said = play(&world, ONE_COMMAND, &[]);
    assert_eq!((said.code, did(&world)), (0, true), "{said:#?}");
}

/// A rule that is dropped gates nothing: the run does not begin, whatever hooks are wanted.
#[test]
fn a_rule_that_cannot_be_read_ends_the_run() {
    for text in [
        "{\"permissions\": {\n  \"deny\": [\"Bash(touch\"]}}",
        "{\"permissions\": {\n  \"deny\": \"Bash\"}}",
    ] {
        for which in ["auto", "none", "codex", "claude"] {
            let world = World::new();
            world.write(".claude/settings.json", text);
            let options = ["--permission-mode", "bypassPermissions", "--hooks", which];
            let said = play(&world, ONE_COMMAND, &options);
            refused(&world, &said, 65, ".claude/settings.json:2:");
            let ignoring = [&options[..], &["--ignore-broken-hooks"]].concat();
            let said = play(&world, ONE_COMMAND, &ignoring);
            assert_eq!((said.code, did(&world)), (0, true), "{which}: {said:#?}");
            assert!(
                said.stderr.contains(".claude/settings.json:2:"),
                "{which}: {said:#?}"
            );
        }
    }
}

/// What stands in `permissions` and does nothing is said before the first turn.
#[test]
fn settings_that_do_nothing_are_named() {
    let world = World::new();
    let text = "{\"permissions\": {\n  \"defaultMode\": \"plan\",\n  \"deny\": [\"Bahs\"]}}";
    world.write(".claude/settings.json", text);
    for json in [&[][..], &["--json"]] {
        let said = play(&world, "- Done.", json);
        for named in [
            "settings.json:2:3: `permissions.defaultMode`",
            "settings.json:3:12: the rule `Bahs`",
        ] {
            assert!(said.stdout.contains(named), "{named}: {said:#?}");
        }
    }
}

#[test]
fn bypass_can_be_forbidden() {
    let world = World::new();
    let text = json!({"permissions": {"disableBypassPermissionsMode": "disable"}});
    world.write_home(".claude/settings.json", &text.to_string());
    let said = play(
        &world,
        ONE_COMMAND,
        &["--permission-mode", "bypassPermissions"],
    );
    refused(&world, &said, 64, "forbidden by ~/.claude/settings.json:1:");
    let said = play(&world, "- Done.", &[]);
    assert_eq!(said.code, 0, "{said:#?}");
}

/// In a rehearsal rules are about the copy that is worked in.
#[test]
fn rules_hold_in_a_rehearsal() {
    let world = World::new();
    world.write(
        ".claude/settings.json",
        r#"{"permissions": {"deny": ["Edit(/**)"]}}"#,
    );
    world.write("a.py", "x = 1\n");
    let mode = ["--permission-mode", "acceptEdits"];
    let rehearsal = ["run", "--model", "rehearsal", "Go on."];
    let said = world.seamline().args(rehearsal).args(mode).run();
    assert!(
        said.stdout
            .contains("denied by the rule `Edit(/**)` (.claude/settings.json:1:"),
        "{said:#?}"
    );
}

#[test]
fn a_named_file_takes_the_place_of_the_others_and_says_so() {
    let world = refusing();
    let file = world.write_home(
        "other.json",
        &hooks(&[("Stop", "touch stopped")]).to_string(),
    );
    let options = ["--hooks-config", file.to_str().unwrap()];
    let said = play(&world, ONE_COMMAND, &options);
    assert_eq!(said.code, 0, "{said:#?}");
    assert!(world.project().join("stopped").exists(), "it is in force");
    assert!(said.stdout.contains("hook files are not read"), "{said:#?}");

    let both = [&options[..], &["--hooks", "none"]].concat();
    let said = play(&world, ONE_COMMAND, &both);
    assert_eq!((said.code, said.stdout.as_str()), (64, ""), "{said:#?}");
    let said = play(&world, ONE_COMMAND, &["--hooks-config", "nowhere.json"]);
    assert_eq!(said.code, 74, "{said:#?}");
}

fn refused(world: &World, said: &Said, code: i32, words: &str) {
    assert_eq!((said.code, said.stdout.as_str()), (code, ""), "{said:#?}");
    assert!(said.stderr.contains(words), "{words}: {said:#?}");
    assert!(!world.project().join("hook-ran").exists(), "{said:#?}");
    assert!(!did(world), "{said:#?}");
    assert!(logs(&world.state()).is_empty(), "nothing was begun");
}

#[test]
fn nothing_runs_before_somebody_agreed() {
    let modes = MODES.map(|mode| vec!["--permission-mode", mode]);
    for options in modes.into_iter().chain(BESIDE.map(<[&str]>::to_vec)) {
        let world = refusing();
        let said = play(&world, ONE_COMMAND, &options);
        refused(
            &world,
            &said,
            77,
            ".claude/settings.json:1  PreToolUse  untrusted  touch",
        );
        assert!(
            said.stderr.contains("seamline hooks trust --all"),
            "{said:#?}"
        );
    }
    let world = refusing();
    let rehearsal = ["run", "--model", "rehearsal", "Go on."];
    let said = world.seamline().args(rehearsal).run();
    refused(&world, &said, 77, "untrusted");
}

#[test]
fn what_changed_after_it_was_agreed_to_does_not_run() {
    let world = project(&[("PreToolUse", "sh hooks/guard.sh")]);
    world.write("hooks/guard.sh", "echo 'not on my watch' >&2; exit 2\n");
    let trusted = world.seamline().args(["hooks", "trust", "--all"]).run();
    assert_eq!(trusted.code, 0, "{trusted:#?}");
    let options = ["--permission-mode", "bypassPermissions", "--ephemeral"];
    let said = play(&world, ONE_COMMAND, &options);
    assert_eq!((said.code, did(&world)), (0, false), "{said:#?}");
    world.write("hooks/guard.sh", "touch hook-ran\n");
    let said = play(&world, ONE_COMMAND, &options);
    refused(&world, &said, 77, "modified");
}

#[test]
fn a_broken_file_ends_the_run_before_anything_starts() {
    let world = World::new();
    world.write(".claude/settings.json", "{ oops");
    let own = hooks(&[("PreToolUse", "echo 'not on my watch' >&2; exit 2")]);
    world.write_home(".claude/settings.json", &own.to_string());
    let mode = ["--permission-mode", "bypassPermissions"];
    let said = play(&world, ONE_COMMAND, &mode);
    refused(&world, &said, 65, ".claude/settings.json:1:3");

    let ignoring = [&mode[..], &["--ignore-broken-hooks"]].concat();
    let said = play(&world, ONE_COMMAND, &ignoring);
    assert_eq!((said.code, did(&world)), (0, false), "{said:#?}");
    assert!(
        said.stderr.contains(".claude/settings.json:1:3"),
        "{said:#?}"
    );
    assert!(said.stdout.contains("not on my watch"), "{said:#?}");
}

/// With `PATH` a project could choose what the user's own hooks run.
#[test]
fn variables_of_an_untrusted_project_are_left_out() {
    let world = World::new();
    let mut own = hooks(&[("Stop", "echo \"[$OWN$THEIRS]\" > seen")]);
    own["env"] = json!({ "OWN": "own" });
    world.write_home(".claude/settings.json", &own.to_string());
    let theirs = json!({ "env": { "THEIRS": "+theirs" } });
    world.write(".claude/settings.json", &theirs.to_string());
    let seen = || std::fs::read_to_string(world.project().join("seen")).unwrap();

    let said = play(&world, "- Done.", &[]);
    assert_eq!((said.code, seen().as_str()), (0, "[own]\n"), "{said:#?}");
    assert!(
        said.stdout.contains("`env` of the project is left out"),
        "{said:#?}"
    );

    let said = play(&world, "- Done.", &["--trust-project-hooks"]);
    assert_eq!((said.code, seen().as_str()), (0, "[own+theirs]\n"));
    assert!(!said.stdout.contains("left out"), "{said:#?}");
}
