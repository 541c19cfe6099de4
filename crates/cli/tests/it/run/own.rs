//! seamline's own configuration: what it sets, and what is said when it cannot.

use seamline_hooks::DialectId;
use serde_json::Value;

use super::{ONE_COMMAND, did, hooks, log, play};
use crate::seamline::{Said, World};

const OWN: &str = ".config/seamline/config.toml";
const PROJECT: &str = ".seamline/config.toml";
const TRUST: &str = "--trust-project-hooks";
const BYPASS: [&str; 2] = ["--permission-mode", "bypassPermissions"];
const REFUSE: &str = "echo 'not here' >&2; exit 2";

fn world(own: &str) -> World {
    let world = World::new();
    world.write_home(OWN, own);
    world
}

fn user_file(dialect: DialectId) -> &'static str {
    match dialect {
        DialectId::Claude => ".claude/settings.json",
        DialectId::Codex => ".codex/hooks.json",
    }
}

fn run(world: &World, options: &[&str]) -> Said {
    play(world, ONE_COMMAND, &[&BYPASS, options].concat())
}

/// A bad value ends the command with its place, the value and what is known, before anything is run.
#[test]
fn a_bad_value_is_an_error_with_its_place() {
    for (text, at, says) in [
        ("[hooks.codex]\nstop_cap = -1\n", "2:12", "-1"),
        ("[hooks.codex]\nstop_cap = \"many\"\n", "2:12", "many"),
        (
            "[hooks.claude]\ndefault_timeout = 0\n",
            "2:19",
            "seconds above 0",
        ),
        ("[hooks.claude]\ndefault_timeout = \"1m\"\n", "2:19", "1m"),
        (
            "[hooks.claude]\ndefault_timeout = inf\n",
            "2:19",
            "seconds above 0",
        ),
        ("[hooks.codex]\nstderr_summary = 0\n", "2:18", "from 1"),
        ("[hooks.codex]\nstderr_summary = 1.5\n", "2:18", "1.5"),
        (
            "[hooks.codex]\nmodel = \" \"\n",
            "2:9",
            "the name of a model",
        ),
        ("[hooks.codex]\nmodel = 5\n", "2:9", "5"),
        ("[hooks.codex]\nconfig = \"x.json\"\n", "2:10", "x.json"),
        ("[hooks.codex]\nconfig = [\"a\"]\n", "2:10", "expected"),
        ("[hooks.codex]\nstop_caps = 3\n", "2:1", "stop_caps"),
        ("[hooks.cursor]\n", "1:8", "cursor"),
        ("[hook.codex]\n", "1:2", "hook"),
        ("[hooks.codex\n", "1:13", ""),
    ] {
        let world = world(text);
        world.write(
            ".codex/hooks.json",
            &hooks(&[("SessionStart", "touch ran")]).to_string(),
        );
        for command in [
            &["hooks", "list"][..],
            &["hooks", "fire", "SessionStart", TRUST],
            &["hooks", "trust", "--all"],
            &[
                "run",
                "--model",
                "rehearsal",
                TRUST,
                "--ignore-broken-hooks",
                "Go on.",
            ],
        ] {
            let said = world.seamline().args(command).run();
            assert_eq!(said.code, 65, "{text}: {said:#?}");
            assert!(said.stdout.is_empty(), "{text}: {said:#?}");
            for words in [&format!("~/{OWN}:{at}"), says, "stop_cap"] {
                assert!(said.stderr.contains(words), "{text}: {words} in {said:#?}");
            }
        }
        assert!(!world.project().join("ran").exists(), "{text}");
    }
}

/// A file of the user's choice takes the place of those that are looked for, for its protocol alone.
/// What an organisation manages stays.
#[test]
fn a_named_file_replaces_discovery_and_no_managed_layer() {
    let gate = |word: &str| hooks(&[("PreToolUse", &format!("touch {word}"))]).to_string();
    for dialect in DialectId::ALL {
        let world = world(&format!("[hooks.{dialect}]\nconfig = \"~/chosen.json\"\n"));
        world.write_home("chosen.json", &gate("chosen"));
        for dialect in DialectId::ALL {
            world.write_home(user_file(dialect), &gate(&format!("usual-{dialect}")));
        }
        world.write_system("hooks.json", &gate("managed"));
        let said = run(&world, &[]);
        let ran = |word: &str| world.project().join(word).exists();
        assert!(did(&world) && ran("chosen") && ran("managed"), "{said:#?}");
        for other in DialectId::ALL {
            assert_eq!(
                ran(&format!("usual-{other}")),
                other != dialect,
                "{said:#?}"
            );
        }
        let words = format!("hooks of {dialect} are read from ~/chosen.json");
        assert!(said.stdout.contains(&words), "{said:#?}");
        let listed = world
            .seamline()
            .args(["hooks", "list", "--json"])
            .run()
            .json();
        let listed = listed["handlers"].as_array().unwrap();
        let explicit = listed.iter().filter(|it| it["layer"] == "explicit");
        assert_eq!(explicit.count(), 1, "{listed:#?}");
    }
}

/// A named file that is not there, or that is broken, is never no hooks.
#[test]
fn a_named_file_that_cannot_be_read_ends_the_run() {
    for text in [None, Some("{")] {
        let world = world("[hooks.codex]\nconfig = \"~/chosen.json\"\n");
        if let Some(text) = text {
            world.write_home("chosen.json", text);
        }
        let said = run(&world, &[]);
        assert_eq!((said.code, did(&world)), (65, false), "{said:#?}");
        assert!(said.stderr.contains("~/chosen.json"), "{said:#?}");
    }
}

/// A denial that stands in the permission rules of the usual files is not lost with their hooks.
#[test]
fn permission_rules_of_the_usual_files_stay() {
    let world = world("[hooks.claude]\nconfig = \"~/chosen.json\"\n");
    world.write_home("chosen.json", &hooks(&[("PreToolUse", "true")]).to_string());
    let rules = r#"{"permissions": {"deny": ["Bash(touch *)"]}}"#;
    world.write_home(".claude/settings.json", rules);
    let said = run(&world, &[]);
    assert!(!did(&world), "{said:#?}");
}

/// Payloads name the model that is configured, in a run and under `hooks fire`.
#[test]
fn payloads_name_the_configured_model() {
    let world = world("[hooks.codex]\nmodel = \"gpt-5\"\n");
    let keep = hooks(&[("PreToolUse", "cat > payload.json")]);
    world.write_home(".codex/hooks.json", &keep.to_string());
    let payload = || -> Value {
        let text = std::fs::read_to_string(world.project().join("payload.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    run(&world, &[]);
    assert_eq!(payload()["model"], "gpt-5");
    world.seamline().args(["hooks", "fire", "PreToolUse"]).run();
    assert_eq!(payload()["model"], "gpt-5");
    let set = ["hooks", "fire", "PreToolUse", "--set", "model=other"];
    world.seamline().args(set).run();
    assert_eq!(payload()["model"], "other");
}

/// The default timeout is that of hooks which set none, and no part of what was agreed to.
#[test]
fn the_default_timeout_is_for_hooks_that_set_none() {
    for dialect in DialectId::ALL {
        let world = World::new();
        let slow = hooks(&[("PreToolUse", "sleep 600")]);
        world.write(user_file(dialect), &slow.to_string());
        let agreed = world.seamline().args(["hooks", "trust", "--all"]).run();
        assert_eq!(agreed.code, 0, "{agreed:#?}");
        world.write_home(OWN, &format!("[hooks.{dialect}]\ndefault_timeout = 0.2\n"));
        let said = run(&world, &[]);
        assert_eq!((said.code, did(&world)), (0, true), "{said:#?}");
        assert!(said.stdout.contains("timed out after 0.2s"), "{said:#?}");
        let listed = world
            .seamline()
            .args(["hooks", "list", "--json"])
            .run()
            .json();
        let handler = &listed["handlers"][0];
        assert_eq!(handler["timeout_s"], 0.2, "{listed:#?}");
        assert_eq!(handler["timeout_is_default"], true, "{listed:#?}");
    }
}

/// The log keeps as much of a hook's standard error as is wanted, 500 characters by default.
#[test]
fn the_log_keeps_as_much_of_standard_error_as_is_wanted() {
    for (own, longest) in [("", 500), ("[hooks.codex]\nstderr_summary = 20\n", 20)] {
        let world = world(own);
        let noisy = hooks(&[("PreToolUse", "printf 'a%.0s' $(seq 900) >&2")]);
        world.write_home(".codex/hooks.json", &noisy.to_string());
        run(&world, &[]);
        let text = std::fs::read_to_string(log(&world)).unwrap();
        let longest_run = text.split(|c| c != 'a').map(str::len).max().unwrap();
        assert!(
            longest_run <= longest && longest_run + 5 > longest,
            "{longest_run}"
        );
    }
}

/// The cap of continuations is configured; the environment's switch for Claude's is nearer.
#[test]
fn the_stop_cap_is_configured() {
    for dialect in DialectId::ALL {
        let world = world(&format!("[hooks.{dialect}]\nstop_cap = 2\n"));
        let again = hooks(&[("Stop", "echo x >> asked; echo again >&2; exit 2")]);
        world.write_home(user_file(dialect), &again.to_string());
        let script = "- One.\n- Two.\n- Three.\n- Four.\n- Five.\n";
        let said = play(&world, script, &[]);
        let asked = std::fs::read_to_string(world.project().join("asked")).unwrap();
        assert_eq!(asked.lines().count(), 3, "{said:#?}");
    }
}

/// What a project's file says could take the user's hooks away: it counts with the project's hooks, on
/// the command line's word, and is named otherwise.
#[test]
fn a_projects_options_count_with_its_trust() {
    let world = World::new();
    world.write_home(
        ".codex/hooks.json",
        &hooks(&[("PreToolUse", REFUSE)]).to_string(),
    );
    world.write(PROJECT, "[hooks.codex]\nconfig = \"none.json\"\n");
    world.write("none.json", r#"{"hooks": {}}"#);
    let said = run(&world, &[]);
    assert!(!did(&world), "{said:#?}");
    assert!(
        said.stdout
            .contains("[hooks] of .seamline/config.toml is left out"),
        "{said:#?}"
    );
    let said = run(&world, &[TRUST]);
    assert!(did(&world), "{said:#?}");
    assert!(
        said.stdout
            .contains("hooks of codex are read from none.json"),
        "{said:#?}"
    );
    world.write(PROJECT, "[hooks.codex]\nstop_cap = true\n");
    let said = run(&world, &[]);
    assert_eq!(said.code, 65, "{said:#?}");
    assert!(
        said.stderr.contains(".seamline/config.toml:2:12"),
        "{said:#?}"
    );
}

/// `--hooks-config` is nearer than what is configured.
#[test]
fn the_command_line_is_nearer() {
    let world = world("[hooks.codex]\nconfig = \"~/chosen.json\"\n");
    world.write_home(
        "chosen.json",
        &hooks(&[("PreToolUse", "touch chosen")]).to_string(),
    );
    let named = hooks(&[("PreToolUse", "touch named")]);
    let named = world.write_home("codex.json", &named.to_string());
    run(&world, &["--hooks-config", &named.display().to_string()]);
    assert!(world.project().join("named").exists());
    assert!(!world.project().join("chosen").exists());
}

/// Servers of seamline's own file are the user's: their tools are the agent's, and their names go first.
#[test]
fn servers_of_the_own_file_are_started() {
    let script = crate::root().join("crates/providers/tests/mcp/server.py");
    let server = |file: &str, log: &str| {
        let (script, log) = (script.display().to_string(), format!("{log}.log"));
        let args = format!("args = [{script:?}, \"starts\", {log:?}]");
        let world_file = format!("[mcp_servers.srv]\ncommand = \"python3\"\n{args}\n");
        (file.to_owned(), world_file)
    };
    let world = World::new();
    for (file, text) in [server(OWN, "own"), server(".codex/config.toml", "codex")] {
        world.write_home(&file, &text);
    }
    let (file, text) = server(PROJECT, "project");
    world.write(&file, &text);
    let echo = "- {tool: mcp__srv__echo, input: {say: hello}}\n- All done.\n";
    let said = play(&world, echo, &BYPASS);
    assert!(said.stdout.contains(r#"{"say": "hello"}"#), "{said:#?}");
    let started = ["own", "codex", "project"]
        .map(|name| world.project().join(format!("{name}.log")).exists());
    assert_eq!(started, [true, false, false], "{said:#?}");
    for words in [
        "MCP server srv of ~/.codex/config.toml:1 is not started: seamline's own configuration has its name",
        "1 MCP server of the project (.seamline/config.toml) is not started",
    ] {
        assert!(said.stdout.contains(words), "{words} in {said:#?}");
    }
}
