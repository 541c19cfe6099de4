//! Reports that concern both clients. Those about trust are held elsewhere:
//!
//! | report | rule | test |
//! |---|---|---|
//! | devthrottle 3292 | an edited hook is modified and does not run | `trust::a_changed_command_is_not_trusted` |
//! | crucible 604, bagidea-office 39 | a hook whose script was edited is modified | `trust::a_changed_script_is_not_trusted` |
//! | claw-code 3301 | hooks nobody agreed to run in no mode | `run::guards::nothing_runs_before_somebody_agreed` |

use serde_json::{Value, json};

use crate::seamline::{Said, World};

const FILES: [(&str, &str); 2] = [
    ("claude", ".claude/settings.json"),
    ("codex", ".codex/hooks.json"),
];

fn group(matcher: &str, command: &str) -> Value {
    json!({ "matcher": matcher, "hooks": [{ "type": "command", "command": command }] })
}

fn fire(world: &World, dialect: &str, event: &str, tool: &str) -> Said {
    let command = world.seamline().args(["hooks", "fire", event]);
    command
        .args(["--dialect", dialect, "--tool", tool, "--json"])
        .run()
}

/// vscode 332988 and symposium 188: a matcher is held against the tool's name, exactly where it is a plain
/// name and as a pattern where it is one.
#[test]
fn a_matcher_is_held_against_the_tools_name() {
    for (dialect, file) in FILES {
        for (event, matcher, tool, fits) in [
            ("PostToolUse", "Read", "Read", true),
            ("PostToolUse", "Read", "Glob", false),
            ("PreToolUse", "^Bash$", "Bash", true),
            ("PreToolUse", "^Bash$", "BashOutput", false),
            ("PreToolUse", "Bash", "BashOutput", false),
            ("PreToolUse", "mcp__.*", "Bash", false),
            ("PreToolUse", "mcp__.*", "mcp__a__b", true),
        ] {
            let world = World::new();
            let hooks = json!({ "hooks": { event: [group(matcher, "touch ran")] } });
            world.write_home(file, &hooks.to_string());
            let said = fire(&world, dialect, event, tool);
            let ran = world.project().join("ran").exists();
            assert_eq!(ran, fits, "{dialect} {matcher} on {tool}: {said:#?}");
        }
    }
}

/// deja-vu 1262: trust is of each hook. One that was edited is modified and named; the hook beside it stays
/// trusted and needs no second yes.
#[test]
fn an_edited_hook_costs_its_neighbour_nothing() {
    for (dialect, file) in FILES {
        let world = World::new();
        let write = |second: &str| {
            let groups = [group("Bash", "touch first"), group("Bash", second)];
            let hooks = json!({ "hooks": { "PreToolUse": groups } });
            world.write(file, &hooks.to_string());
        };
        write("touch second");
        let trusted = world.seamline().args(["hooks", "trust", "--all"]).run();
        assert_eq!(trusted.code, 0, "{trusted:#?}");
        write("touch other");
        let list = world.seamline().args(["hooks", "list", "--json"]).run();
        let handlers = list.json()["handlers"].as_array().unwrap().clone();
        let states = handlers
            .iter()
            .map(|it| it["trust"].as_str().unwrap_or_default());
        assert_eq!(states.collect::<Vec<_>>(), ["trusted", "modified"]);
        let said = fire(&world, dialect, "PreToolUse", "Bash");
        assert_eq!(said.code, 77, "{dialect}: {said:#?}");
        let named = |command: &str| said.stderr.contains(command);
        assert!(named("touch other") && !named("touch first"), "{said:#?}");
        let again = ["hooks", "trust", "pre_tool_use:1:0"];
        assert_eq!(world.seamline().args(again).run().code, 0);
        let said = fire(&world, dialect, "PreToolUse", "Bash");
        let there = |name: &str| world.project().join(name).exists();
        let ran = (there("first"), there("second"), there("other"));
        assert_eq!(ran, (true, false, true), "{dialect}: {said:#?}");
    }
}
