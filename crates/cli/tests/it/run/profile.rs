//! `--profile`: which description of the protocols is in force, for `run` and the `hooks` commands.

use serde_json::{Value, json};

use super::{ONE_COMMAND, did, play};
use crate::seamline::World;

/// A Codex hook with a matcher that is part of a tool's name, and a timeout under its old name.
fn codex(matcher: &str) -> World {
    let world = World::new();
    let command = "echo 'not on my watch' >&2; exit 2";
    let hook = json!({"type": "command", "command": command, "timeoutSec": 7});
    let groups = json!({"hooks": {"PreToolUse": [{"matcher": matcher, "hooks": [hook]}]}});
    world.write_home(".codex/hooks.json", &groups.to_string());
    world
}

const MODE: [&str; 2] = ["--permission-mode", "bypassPermissions"];
const SEEDS: [&str; 2] = ["--profile", "seeds"];

#[test]
fn a_run_goes_by_the_profile_it_is_given() {
    for (options, runs) in [
        (&[][..], true),
        (&SEEDS, false),
        (&["--profile", "measured"], true),
    ] {
        let world = codex("Bas");
        let said = play(&world, ONE_COMMAND, &[&MODE[..], options].concat());
        assert_eq!((said.code, did(&world)), (0, runs), "{options:?} {said:#?}");
        assert_eq!(said.stdout.contains("not on my watch"), !runs);
    }
}

#[test]
fn a_hook_can_be_fired_and_listed_by_a_profile() {
    let world = codex("Bas");
    let fire = |options: &[&str]| {
        let fire = [
            "hooks",
            "fire",
            "PreToolUse",
            "--dialect",
            "codex",
            "--tool",
            "Bash",
        ];
        world.seamline().args(fire).args(options).run().code
    };
    assert_eq!((fire(&[]), fire(&SEEDS)), (0, 2));

    let first = |options: &[&str]| -> Value {
        let list = ["hooks", "list", "--json"];
        let said = world.seamline().args(list).args(options).run().json();
        said["handlers"][0].clone()
    };
    let (measured, seeds) = (first(&[]), first(&SEEDS));
    assert_eq!(
        (&measured["reading"], &measured["timeout_s"]),
        (&json!("list"), &json!(600.0))
    );
    assert_eq!(
        (&seeds["reading"], &seeds["timeout_s"]),
        (&json!("regex"), &json!(7.0))
    );
}

#[test]
fn an_invalid_matcher_ends_the_run_or_costs_the_files_hooks() {
    let world = codex("[");
    let said = play(&world, ONE_COMMAND, &[&MODE[..], &SEEDS].concat());
    assert_eq!((said.code, did(&world)), (65, false), "{said:#?}");
    let words = "invalid codex regex matcher \"[\" on event \"PreToolUse\"";
    assert!(said.stderr.contains(words), "{said:#?}");

    let ignoring = [&MODE[..], &SEEDS, &["--ignore-broken-hooks"]].concat();
    let said = play(&world, ONE_COMMAND, &ignoring);
    assert_eq!((said.code, did(&world)), (0, true), "{said:#?}");
    assert_eq!(
        said.stderr.matches(words).count(),
        1,
        "one warning: {said:#?}"
    );
}

/// What stands in a settings file beside the hooks holds in every profile.
#[test]
fn permission_rules_hold_in_the_profile_too() {
    let world = World::new();
    let settings = json!({
        "permissions": {"deny": ["Bash(touch:*)"]},
        "PreToolUse": [{"hooks": [{"command": "true"}]}],
    });
    world.write_home(".claude/settings.json", &settings.to_string());
    let said = play(&world, ONE_COMMAND, &[&MODE[..], &SEEDS].concat());
    assert_eq!((said.code, did(&world)), (0, false), "{said:#?}");

    let mut broken = settings;
    broken["PreToolUse"][0]["matcher"] = json!("[");
    world.write_home(".claude/settings.json", &broken.to_string());
    let options = [&MODE[..], &SEEDS].concat();
    assert_eq!(play(&world, ONE_COMMAND, &options).code, 65);
    let ignoring = [&options[..], &["--ignore-broken-hooks"]].concat();
    let said = play(&world, ONE_COMMAND, &ignoring);
    assert_eq!((said.code, did(&world)), (0, false), "{said:#?}");
}
