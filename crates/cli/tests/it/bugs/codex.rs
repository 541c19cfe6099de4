//! Reports about Codex, and about tools that read its hook files.

use std::fs;

use serde_json::{Value, json};

use crate::run::{hooks, logs, play};
use crate::seamline::{Said, World};

const BYPASS: [&str; 3] = ["--permission-mode", "bypassPermissions", "--ephemeral"];
const PATCH: &str = "*** Begin Patch\\n*** Add File: did\\n+x\\n*** End Patch";

/// The user's own hooks, which need nobody's agreement.
fn own(file: &Value) -> World {
    let world = World::new();
    world.write_home(".codex/hooks.json", &file.to_string());
    world
}

fn group(matcher: Option<&str>, command: &str) -> Value {
    let mut group = json!({ "hooks": [{ "type": "command", "command": command }] });
    if let Some(matcher) = matcher {
        group["matcher"] = json!(matcher);
    }
    group
}

fn pre_tool_use(matcher: Option<&str>, command: &str) -> Value {
    json!({ "hooks": { "PreToolUse": [group(matcher, command)] } })
}

fn fire(world: &World, args: &[&str]) -> Said {
    let options = ["--dialect", "codex", "--json"];
    let command = world.seamline().args(["hooks", "fire"]);
    command.args(args).args(options).run()
}

fn calls(tool: &str, input: &str) -> String {
    format!("[{{\"tool\": \"{tool}\", \"input\": {input}}}, {{\"text\": \"bye\"}}]")
}

fn left(world: &World, name: &str) -> bool {
    world.project().join(name).exists()
}

/// n8n-io/skills 50: connector tools have bare names; a pattern that wants `mcp__` does not fit them,
/// and the skip says which name it was held against.
#[test]
fn a_matcher_that_does_not_fit_says_the_name_it_was_held_against() {
    let world = own(&pre_tool_use(
        Some("^mcp__.*__get_node_types$"),
        "touch ran",
    ));
    let said = fire(&world, &["PreToolUse", "--tool", "_get_node_types"]);
    let skipped = said.json()["skipped"][0].to_string();
    assert!(!left(&world, "ran"), "{said:#?}");
    for words in ["matcher", "_get_node_types", "^mcp__"] {
        assert!(skipped.contains(words), "{words}: {skipped}");
    }
}

/// openai/codex 16732: a patch fires the event once, under its own name, with the patch as text.
#[test]
fn a_patch_is_one_event_under_its_own_name() {
    let world = own(&pre_tool_use(
        None,
        "cat >> \"$HOME/seen\"; echo >> \"$HOME/seen\"",
    ));
    let script = calls("apply_patch", &format!("{{\"command\": \"{PATCH}\"}}"));
    let said = play(&world, &script, &BYPASS);
    assert!(left(&world, "did"), "{said:#?}");
    let seen = fs::read_to_string(world.home().join("seen")).unwrap();
    let seen: Vec<Value> = seen
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(seen.len(), 1, "{seen:?}");
    assert_eq!(seen[0]["tool_name"], "apply_patch");
    let patch = seen[0]["tool_input"]["command"].as_str().unwrap();
    assert_eq!(patch, PATCH.replace("\\n", "\n"));
}

/// openai/codex 27833: a denial of a patch, in whatever way it is said, leaves the file as it was.
#[test]
fn a_denied_patch_touches_nothing() {
    let json = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no patches"}}"#;
    for command in [
        format!("echo '{json}'"),
        "echo 'no patches' >&2; exit 2".to_owned(),
        format!("echo '{json}'; echo 'no patches' >&2; exit 2"),
    ] {
        for matcher in ["apply_patch|Edit|Write", "Edit", "Write", "apply_patch"] {
            let world = own(&pre_tool_use(Some(matcher), &command));
            let script = calls("apply_patch", &format!("{{\"command\": \"{PATCH}\"}}"));
            let said = play(&world, &script, &BYPASS);
            assert!(!left(&world, "did"), "{matcher} {command}: {said:#?}");
            assert!(said.stdout.contains("no patches"), "{said:#?}");
        }
    }
}

/// openai/codex 26751: a tool called by another spelling of its name either meets the same gate or
/// does not run at all.
#[test]
fn no_spelling_of_a_tool_goes_around_its_gate() {
    let refuses = pre_tool_use(Some("^(apply_patch|Bash)$"), "echo no >&2; exit 2");
    for (tool, input) in [
        (
            "functions.apply_patch",
            format!("{{\"command\": \"{PATCH}\"}}"),
        ),
        ("functions.apply_patch", format!("\"{PATCH}\"")),
        ("apply_patch", format!("\"{PATCH}\"")),
        ("functions.Bash", "{\"command\": \"touch did\"}".to_owned()),
        ("bash", "{\"command\": \"touch did\"}".to_owned()),
    ] {
        let world = own(&refuses);
        let said = play(&world, &calls(tool, &input), &BYPASS);
        assert!(!left(&world, "did"), "{tool} {input}: {said:#?}");
    }
}

/// destructive_command_guard 125: each way to run a shell command is `Bash` to hooks, and none passes
/// them by: not a call of a program that the model wrote either.
#[test]
fn no_way_to_a_shell_skips_the_gate() {
    let refuses = pre_tool_use(Some("Bash"), "echo 'not on my watch' >&2; exit 2");
    let world = own(&refuses);
    let said = play(
        &world,
        &calls("Bash", "{\"command\": \"touch did\"}"),
        &BYPASS,
    );
    assert!(!left(&world, "did"), "{said:#?}");
    assert!(said.stdout.contains("not on my watch"), "{said:#?}");
    let world = own(&refuses);
    let program = "{\"code\": \"await tools.Bash({command: 'touch did'})\"}";
    let options = [&BYPASS[..], &["--code-mode", "beside"]].concat();
    let said = play(&world, &calls("run_code", program), &options);
    assert!(!left(&world, "did"), "{said:#?}");
    assert!(said.stdout.contains("not on my watch"), "{said:#?}");
}

/// skill-hook-authoring 23: `*` is every tool in the client of today (measured on 0.171.0), and so are
/// `.*`, the empty text and no matcher.
#[test]
fn four_ways_to_say_every_tool() {
    for matcher in [Some("*"), Some(".*"), Some(""), None] {
        let world = own(&pre_tool_use(matcher, "touch ran"));
        let said = fire(&world, &["PreToolUse", "--tool", "Bash"]);
        assert!(left(&world, "ran"), "{matcher:?}: {said:#?}");
    }
}

/// openai/codex 30835: an event in the wrong case is named with the right one beside it, and takes
/// nothing from its neighbours.
#[test]
fn an_event_in_the_wrong_case_is_named_and_its_neighbour_fires() {
    let world = own(&json!({ "hooks": {
        "preToolUse": [group(None, "touch wrong")],
        "PreToolUse": [group(None, "touch right")],
    } }));
    let list = world.seamline().args(["hooks", "list"]).run();
    for words in ["preToolUse", "did you mean `PreToolUse`"] {
        assert!(list.stdout.contains(words), "{words}: {list:#?}");
    }
    let said = fire(&world, &["PreToolUse"]);
    let ran = (left(&world, "wrong"), left(&world, "right"));
    assert_eq!(ran, (false, true), "{said:#?}");
}

/// openai/codex 19199: a `config.toml` with features and a `hooks.json` are both read.
#[test]
fn features_beside_a_hook_file_are_no_contradiction() {
    let world = own(&pre_tool_use(None, "touch ran"));
    world.write_home(".codex/config.toml", "[features]\nhooks = true\n");
    let said = fire(&world, &["PreToolUse"]);
    assert_eq!((said.code, left(&world, "ran")), (0, true), "{said:#?}");
    world.write_home(".codex/config.toml", "[features]\nhooks = false\n");
    fs::remove_file(world.project().join("ran")).unwrap();
    let said = fire(&world, &["PreToolUse"]);
    assert!(!left(&world, "ran"), "{said:#?}");
}

/// tempest 87: one entry of Codex's trust is written without a change to any other line, whatever the
/// line ends, and what is written is TOML.
#[test]
fn an_entry_of_codexs_trust_is_written_without_a_change_to_its_neighbours() {
    for end in ["\n", "\r\n"] {
        let world = World::new();
        world.write(".codex/hooks.json", &hooks(&[("Stop", "true")]).to_string());
        let before = [
            "# kept",
            "[hooks.state.\"/a/hooks.json:stop:0:0\"]",
            "trusted_hash = \"sha256:1\"",
            "[hooks.state.\"/b/hooks.json:stop:0:0\"]",
            "trusted_hash   =   'sha256:2' # kept too",
            "[tui]",
            "theme = \"x\"",
        ]
        .map(|line| format!("{line}{end}"));
        world.write_home(".codex/config.toml", &before.concat());
        let trust = ["hooks", "trust", "--all", "--codex"];
        for _ in 0..2 {
            let said = world.seamline().args(trust).run();
            assert_eq!(said.code, 0, "{said:#?}");
            let after = fs::read_to_string(world.home().join(".codex/config.toml")).unwrap();
            for line in &before {
                assert!(after.contains(line), "{line:?} is not in {after:?}");
            }
            let table: toml_edit::DocumentMut = after.parse().unwrap();
            let state = table["hooks"]["state"].as_table_like().unwrap();
            assert_eq!(state.len(), 3, "{after}");
        }
    }
}

/// openai/codex 46210 and 35306: a project's hooks that nobody agreed to are named with file and reason
/// before anything runs; once they are agreed to, the missed SessionStart can be fired.
#[test]
fn hooks_nobody_agreed_to_are_named_before_the_first_turn() {
    let world = World::new();
    let file = "[[hooks.SessionStart]]\n[[hooks.SessionStart.hooks]]\n\
                type = \"command\"\ncommand = \"touch ran\"\n";
    world.write(".codex/config.toml", file);
    let script = calls("Bash", "{\"command\": \"touch did\"}");
    let said = play(&world, &script, &BYPASS);
    assert_eq!(said.code, 77, "{said:#?}");
    let done = (left(&world, "ran"), left(&world, "did"));
    assert_eq!(done, (false, false), "{said:#?}");
    for words in [
        ".codex/config.toml:",
        "SessionStart",
        "untrusted",
        "hooks trust",
    ] {
        assert!(said.stderr.contains(words), "{words}: {said:#?}");
    }
    let trusted = world.seamline().args(["hooks", "trust", "--all"]).run();
    assert_eq!(trusted.code, 0, "{trusted:#?}");
    let said = fire(&world, &["SessionStart"]);
    assert_eq!((said.code, left(&world, "ran")), (0, true), "{said:#?}");
    world.write(".codex/config.toml", &file.replace("touch", "touch also"));
    let said = play(&world, &script, &BYPASS);
    assert_eq!(said.code, 77, "{said:#?}");
    assert!(said.stderr.contains("modified"), "{said:#?}");
}

/// openai/codex 32491: trust that Codex itself has written is enough, without a prompt or an option.
#[test]
fn trust_that_codex_wrote_is_honoured_without_an_option() {
    let world = World::new();
    world.write(
        ".codex/hooks.json",
        &hooks(&[("Stop", "touch ran")]).to_string(),
    );
    let trust = ["hooks", "trust", "--all", "--codex"];
    assert_eq!(world.seamline().args(trust).run().code, 0);
    // What is left is Codex's own file.
    let _ = fs::remove_dir_all(world.state());
    let said = play(&world, "- Done.\n", &BYPASS);
    assert_eq!((said.code, left(&world, "ran")), (0, true), "{said:#?}");
}

/// agmsg 1015: a line before the JSON makes the whole output something else; it is never taken half, and
/// the lost decision is reported.
#[test]
fn a_line_before_the_json_is_reported_and_decides_nothing() {
    let blocks = r#"echo hello; echo '{"decision":"block","reason":"no"}'"#;
    for event in ["PreToolUse", "PermissionRequest", "PostToolUse", "Stop"] {
        let world = own(&hooks(&[(event, blocks)]));
        let object = fire(&world, &[event]).json();
        assert_eq!(object["outcome"]["decision"], "none", "{object}");
        let notes = object["runs"][0]["notes"].to_string();
        assert!(notes.contains("decision-lost"), "{object}");
    }
    let world = own(&hooks(&[("UserPromptSubmit", blocks)]));
    let object = fire(&world, &["UserPromptSubmit"]).json();
    assert_eq!(object["outcome"]["decision"], "none", "{object}");
    let notes = object["runs"][0]["notes"].to_string();
    assert!(notes.contains("decision-lost"), "{object}");
    let said = play(&world, "- Done.\n", &BYPASS);
    assert!(said.stdout.contains("reads like a decision"), "{said:#?}");
}

/// openai/codex 19385: context of a PreToolUse hook reaches the model (0.171.0 takes it).
#[test]
fn context_of_a_gate_reaches_the_model() {
    let output = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"mind the gap"}}"#;
    let world = own(&pre_tool_use(None, &format!("echo '{output}'")));
    let script = calls("Bash", "{\"command\": \"touch did\"}");
    let options = ["--permission-mode", "bypassPermissions"];
    let said = play(&world, &script, &options);
    assert!(left(&world, "did"), "{said:#?}");
    let log = logs(&world.state());
    let text = fs::read_to_string(&log[0]).unwrap();
    assert!(text.contains("mind the gap"), "{text}");
}

/// openai/codex 37937 and 33992: a Stop hook that refuses once gets one more step, and one that always
/// refuses ends at the cap that was configured, which is said.
#[test]
fn a_stop_hook_continues_the_turn_and_a_cap_ends_it() {
    let once =
        r#"[ -e asked ] || { touch asked; echo '{"decision":"block","reason":"run the tests"}'; }"#;
    let world = own(&hooks(&[("Stop", once)]));
    let said = play(&world, "- First.\n- Second.\n", &BYPASS);
    assert_eq!(said.code, 0, "{said:#?}");
    assert!(said.stdout.contains("Second."), "{said:#?}");
    let always = r#"echo x >> "$HOME/asked"; echo '{"decision":"block","reason":"more"}'"#;
    let world = own(&hooks(&[("Stop", always)]));
    world.write_home(
        ".config/seamline/config.toml",
        "[hooks.codex]\nstop_cap = 2\n",
    );
    let script = "- One.\n- Two.\n- Three.\n- Four.\n- Five.\n";
    let said = play(&world, script, &BYPASS);
    let asked = fs::read_to_string(world.home().join("asked")).unwrap();
    assert_eq!(asked.lines().count(), 3, "{said:#?}");
    assert!(!said.stdout.contains("Four."), "{said:#?}");
    assert!(said.stdout.contains("`stop_cap`"), "{said:#?}");
}

/// openai/codex 42279: no hook waits for a login shell's start-up files.
#[test]
fn a_hook_does_not_wait_for_a_login_shell() {
    let world = own(&hooks(&[("Stop", "touch ran")]));
    for name in [
        ".profile",
        ".bash_profile",
        ".bashrc",
        ".zshrc",
        ".zprofile",
    ] {
        world.write_home(name, "touch login\n");
    }
    let said = play(&world, "- Done.\n", &BYPASS);
    let done = (left(&world, "ran"), left(&world, "login"));
    assert_eq!(done, (true, false), "{said:#?}");
}

/// openai/codex 41979 and lazycodex 133: a gate that crashes, takes too long or says what cannot be read
/// lets the call run as at home, and each time the user hears which hook it was and why. With
/// `onFailure: "block"` it refuses instead.
#[test]
fn a_gate_that_fails_is_named_and_can_be_made_to_refuse() {
    for (command, why) in [
        ("kill -SEGV $$", "signal 11"),
        ("sleep 30", "timed out after 1s"),
        ("echo '{\"decision\": deny'", "invalid"),
    ] {
        let mut file = pre_tool_use(Some("Bash"), command);
        let handler = &mut file["hooks"]["PreToolUse"][0]["hooks"][0];
        handler["timeout"] = json!(1);
        let script = calls("Bash", "{\"command\": \"touch did\"}");
        let world = own(&file);
        let said = play(&world, &script, &BYPASS);
        assert!(left(&world, "did"), "{command}: {said:#?}");
        for words in ["PreToolUse", "hooks.json:1", why] {
            assert!(said.stdout.contains(words), "{command}, {words}: {said:#?}");
        }
        file["hooks"]["PreToolUse"][0]["hooks"][0]["onFailure"] = json!("block");
        let world = own(&file);
        let said = play(&world, &script, &BYPASS);
        assert!(!left(&world, "did"), "{command}: {said:#?}");
    }
}

/// directive 2779: a hook that exits with 0 and says nothing has decided nothing, fail-closed or not.
#[test]
fn silence_is_no_failure() {
    let mut file = pre_tool_use(Some("Bash"), "true");
    file["hooks"]["PreToolUse"][0]["hooks"][0]["onFailure"] = json!("block");
    let world = own(&file);
    let script = calls("Bash", "{\"command\": \"touch did\"}");
    let said = play(&world, &script, &BYPASS);
    assert!(left(&world, "did"), "{said:#?}");
}
