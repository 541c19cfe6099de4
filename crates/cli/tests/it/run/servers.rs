//! MCP servers in a run and under `hooks fire`: whose are started, and what hooks make of them.

use std::process::Stdio;

use serde_json::{Value, json};

use super::{ONE_COMMAND, did, hooks, play};
use crate::fire::{signal, wait_for};
use crate::seamline::{Said, World};

const ECHO: &str = "- {tool: mcp__my-srv__echo, input: {say: hello}}\n- All done.\n";
const TRUST: &str = "--trust-project-hooks";
const BYPASS: [&str; 2] = ["--permission-mode", "bypassPermissions"];

/// The test server of the client's own tests.
fn script() -> String {
    let script = crate::root().join("crates/providers/tests/mcp/server.py");
    script.display().to_string()
}

/// A project that brings a server, which leaves the file `log` where it is started.
fn with_project_server(world: &World, name: &str) {
    let log = world.project().join("log").display().to_string();
    let server = json!({ "command": "python3", "args": [script(), "starts", log] });
    world.write(
        ".mcp.json",
        &json!({ "mcpServers": { name: server } }).to_string(),
    );
}

/// A server of the user's own.
fn with_own_server(world: &World, name: &str, odd: &str) {
    let text = format!(
        "[mcp_servers.{name}]\ncommand = \"python3\"\nargs = [{:?}, {odd:?}]\n",
        script()
    );
    world.write_home(".codex/config.toml", &text);
}

/// A hook of the user's own that asks a server before each call, and repeats its answer.
fn with_asking_hook(world: &World, server: &str, more: &Value) {
    let answer = json!({ "hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": "deny",
        "permissionDecisionReason": "${tool_name} is not for you",
    } });
    let mut handler = json!({ "type": "mcp_tool", "server": server, "tool": "echo",
        "input": answer });
    let object = handler.as_object_mut().unwrap();
    object.extend(more.as_object().unwrap().clone());
    let groups = json!({ "hooks": { "PreToolUse": [{ "hooks": [handler] }] } });
    world.write_home(".codex/hooks.json", &groups.to_string());
}

fn started(world: &World) -> bool {
    world.project().join("log").exists()
}

fn fire(world: &World, options: &[&str]) -> Said {
    let fire = [
        "hooks",
        "fire",
        "PreToolUse",
        "--dialect",
        "codex",
        "--tool",
        "Bash",
    ];
    world.seamline().args(fire).args(options).run()
}

/// A server's tools are the agent's, and hooks of both protocols see its calls in their own words.
#[test]
fn a_tool_of_a_server_is_called_and_hooks_see_it() {
    let world = World::new();
    with_project_server(&world, "my-srv");
    for (file, event) in [
        (".claude/settings.json", "claude"),
        (".codex/hooks.json", "codex"),
    ] {
        let command = format!("cat > seen-{event}");
        world.write(file, &hooks(&[("PostToolUse", &command)]).to_string());
    }
    let said = play(&world, ECHO, &[&[TRUST], &BYPASS[..]].concat());
    assert_eq!(said.code, 0, "{said:#?}");
    assert!(said.stdout.contains(r#"{"say": "hello"}"#), "{said:#?}");
    let seen = |event: &str| -> Value {
        let text = std::fs::read_to_string(world.project().join(format!("seen-{event}")));
        serde_json::from_str(&text.unwrap()).unwrap()
    };
    let blocks = json!([{ "type": "text", "text": r#"{"say": "hello"}"# }]);
    let (claude, codex) = (seen("claude"), seen("codex"));
    assert_eq!(claude["tool_name"], "mcp__my-srv__echo");
    assert_eq!(claude["tool_response"], blocks);
    assert_eq!(codex["tool_name"], "mcp__my_srv__echo");
    assert_eq!(codex["tool_response"], json!({ "content": blocks }));
    assert_eq!(codex["tool_input"], json!({ "say": "hello" }));
}

/// A program that a project brings is not started before somebody agreed to it, and its name is
/// said aloud; the run goes on without it.
#[test]
fn servers_of_a_project_nobody_agreed_to_are_not_started() {
    for json in [&[][..], &["--json"]] {
        let world = World::new();
        with_project_server(&world, "my-srv");
        let said = play(&world, ECHO, &[&BYPASS, json].concat());
        assert_eq!((said.code, started(&world)), (0, false), "{said:#?}");
        let words = "1 MCP server of the project (.mcp.json) is not started, since it is not \
                     trusted: my-srv";
        assert!(said.stdout.contains(words), "{said:#?}");
        assert!(!said.stdout.contains(r#"{"say": "hello"}"#), "{said:#?}");
    }
}

/// The user's own servers need nobody's word. A project can put none in the place of one.
#[test]
fn a_project_cannot_take_the_name_of_the_users_server() {
    let world = World::new();
    with_own_server(&world, "my-srv", "");
    with_project_server(&world, "my-srv");
    let said = play(&world, ECHO, &[&[TRUST], &BYPASS[..]].concat());
    assert!(said.stdout.contains(r#"{"say": "hello"}"#), "{said:#?}");
    assert!(!started(&world), "{said:#?}");
    let words = "MCP server my-srv of .mcp.json:1 is not started: your own has its name";
    assert!(said.stdout.contains(words), "{said:#?}");
}

/// A hook may ask a server instead of a process, and what it answers counts.
#[test]
fn a_hook_asks_a_server_and_its_denial_counts() {
    let world = World::new();
    with_own_server(&world, "guard", "");
    with_asking_hook(&world, "guard", &json!({}));
    let said = play(&world, ONE_COMMAND, &BYPASS);
    assert_eq!((said.code, did(&world)), (0, false), "{said:#?}");
    assert!(said.stdout.contains("Bash is not for you"), "{said:#?}");
    let said = fire(&world, &[]);
    assert_eq!(said.code, 2, "{said:#?}");
    assert!(
        said.stdout.contains("reason: Bash is not for you"),
        "{said:#?}"
    );
}

/// A gate whose server is not there never passes in silence: the failure is shown with the reason,
/// and one that fails closed refuses.
#[test]
fn a_gate_without_its_server_says_so() {
    let closed = json!({ "onFailure": "block" });
    for (server, words) in [
        ("nosuch", "unknown MCP server 'nosuch'"),
        (
            "brought",
            "MCP server 'brought' is not started: it comes with the project",
        ),
        ("broken", "; its last words: not today"),
    ] {
        let world = World::new();
        with_project_server(&world, "brought");
        with_own_server(&world, "broken", "exits");
        with_asking_hook(&world, server, &json!({}));
        let said = play(&world, ONE_COMMAND, &BYPASS);
        assert!(
            did(&world) && said.stdout.contains(words),
            "{server}: {said:#?}"
        );
        let said = fire(&world, &[]);
        assert_eq!(said.code, 1, "{server}: {said:#?}");
        assert!(said.stdout.contains(words), "{server}: {said:#?}");

        with_asking_hook(&world, server, &closed);
        std::fs::remove_file(world.project().join("did")).unwrap();
        let said = play(&world, ONE_COMMAND, &BYPASS);
        assert!(
            !did(&world) && said.stdout.contains(words),
            "{server}: {said:#?}"
        );
        assert_eq!(fire(&world, &[]).code, 2, "{server}");
        assert!(!started(&world));
    }
}

/// `hooks fire` starts the servers its hooks ask, on the project's word only when told to.
#[test]
fn fire_starts_what_its_hooks_ask() {
    let world = World::new();
    with_project_server(&world, "brought");
    with_asking_hook(&world, "brought", &json!({}));
    let said = fire(&world, &[]);
    assert!(
        said.stderr.contains("(.mcp.json) is not started"),
        "{said:#?}"
    );
    let said = fire(&world, &[TRUST]);
    assert_eq!((said.code, started(&world)), (2, true), "{said:#?}");
    let unasked = World::new();
    with_project_server(&unasked, "brought");
    let said = fire(&unasked, &[TRUST]);
    assert_eq!((said.code, started(&unasked)), (0, false), "{said:#?}");
    assert_eq!(said.stderr, "");
}

/// A broken file ends the run before anything is started, with its place; the option for that goes
/// on without it.
#[test]
fn a_broken_server_file_ends_the_run() {
    let world = World::new();
    world.write(".mcp.json", "{\"mcpServers\":\n {\"s\": {\"command\": 5}}}");
    let said = play(&world, ONE_COMMAND, &[&[TRUST], &BYPASS[..]].concat());
    assert_eq!((said.code, did(&world)), (65, false), "{said:#?}");
    for words in [
        ".mcp.json:2:20",
        "MCP server \"s\": `command`: expected a string, found 5",
    ] {
        assert!(said.stderr.contains(words), "{said:#?}");
    }
    let options = [&[TRUST, "--ignore-broken-hooks"], &BYPASS[..]].concat();
    let said = play(&world, ONE_COMMAND, &options);
    assert_eq!((said.code, did(&world)), (0, true), "{said:#?}");
    assert!(said.stderr.contains(".mcp.json:2:20"), "{said:#?}");
}

/// A server that does not start costs its own tools: it is named, and the run goes on.
#[test]
fn a_server_that_does_not_start_is_named() {
    let world = World::new();
    world.write_home(
        ".codex/config.toml",
        "[mcp_servers.gone]\ncommand = \"/no/such\"\n",
    );
    let said = play(&world, ONE_COMMAND, &BYPASS);
    assert_eq!((said.code, did(&world)), (0, true), "{said:#?}");
    assert!(
        said.stdout
            .contains("MCP server 'gone' (/no/such) could not be started"),
        "{said:#?}"
    );
}

/// When the run is over, nothing of its servers runs.
#[test]
fn nothing_of_a_server_outlives_the_run() {
    let world = World::new();
    let pid = world.project().join("pid");
    let server = json!({ "command": "python3", "args": [script(), "child", pid] });
    world.write(
        ".mcp.json",
        &json!({ "mcpServers": { "s": server } }).to_string(),
    );
    let said = play(&world, "- All done.\n", &[TRUST]);
    assert_eq!(said.code, 0, "{said:#?}");
    let pid = std::fs::read_to_string(pid).unwrap().parse().unwrap();
    wait_for(|| (!runs(pid)).then_some(()));
}

/// A request to end that comes while servers start ends them, whatever they make of it.
#[test]
fn a_run_that_is_ended_while_servers_start_ends_them() {
    let world = World::new();
    let server = json!({ "command": "sh", "args": ["-c", "echo $$ > pid; exec sleep 600"] });
    world.write(
        ".mcp.json",
        &json!({ "mcpServers": { "s": server } }).to_string(),
    );
    let script = world.write_home("script.yaml", "- All done.\n");
    let model = format!("scripted:{}", script.display());
    let mut command = world
        .seamline()
        .args(["run", "--model", &model, TRUST, "Go on."])
        .0;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let pid = wait_for(|| {
        let text = std::fs::read_to_string(world.project().join("pid")).ok()?;
        text.trim().parse::<u32>().ok()
    });
    assert!(signal(child.id(), "-INT"));
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!runs(pid));
}

/// Whether a process is there and no zombie that somebody is slow to reap.
fn runs(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().unwrap_or_default();
    signal(pid, "-0") && !state.trim_start().starts_with('Z')
}
