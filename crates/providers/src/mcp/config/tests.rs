use std::time::Duration;

use super::*;

fn variable(name: &str) -> Option<String> {
    (name == "KEY").then(|| "k".to_owned())
}

fn project(text: &str) -> Configured {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(PROJECT_FILE), text).unwrap();
    read_project(folder.path(), &variable)
}

fn codex(text: &str) -> Configured {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("config.toml"), text).unwrap();
    read_codex(folder.path())
}

/// `line:column: words`, without the folder.
fn problems(configured: &Configured) -> Vec<String> {
    let lines = configured.problems.iter().map(|problem| {
        let (line, column) = (problem.place.line, problem.place.column);
        let server = problem.server.as_deref().unwrap_or("-");
        format!("{line}:{column} {server}: {}", problem.message)
    });
    lines.collect()
}

/// The files are optional.
#[test]
fn no_file_is_no_server() {
    let folder = tempfile::tempdir().unwrap();
    assert!(read_project(folder.path(), &variable).is_empty());
    assert!(read_codex(folder.path()).is_empty());
    assert!(codex("model = \"m\"\n").is_empty());
}

/// Everything that is documented of a process in `.mcp.json`, variables filled in where the client
/// fills them in.
#[test]
fn a_project_file_is_read() {
    let configured = project(
        r#"{"mcpServers": {
  "my-srv": {"type": "stdio", "command": "${NO:-python3}", "args": ["-u", "${KEY}"],
             "env": {"A": "${KEY}!", "B": "$KEY"}, "cwd": "sub", "description": 1},
  "bare": {"command": "s"}}}"#,
    );
    assert_eq!(problems(&configured), Vec::<String>::new());
    let [server, bare] = configured.servers.as_slice() else {
        panic!("{configured:?}");
    };
    assert_eq!(
        (server.name.as_str(), server.command.as_str()),
        ("my-srv", "python3")
    );
    assert_eq!(server.args, ["-u", "k"]);
    assert_eq!((server.place.line, server.place.column), (2, 3));
    assert_eq!(server.cwd.as_deref(), Some(Path::new("sub")));
    let env: Vec<_> = server
        .env
        .iter()
        .map(|(k, v)| (k.as_str(), v.as_str()))
        .collect();
    assert!(
        matches!(
            env[..],
            [("A", "k!"), ("B", "$KEY"), ("CLAUDE_PROJECT_DIR", _)]
        ),
        "{env:?}"
    );
    assert_eq!(
        (server.inherits.clone(), bare.args.len()),
        (Inherits::All, 0)
    );
    assert_eq!(
        (bare.startup_timeout, bare.call_timeout),
        (CLAUDE.startup, CLAUDE.call)
    );
}

/// Broken parts are named with place and value, cost their server and no other.
#[test]
fn what_is_wrong_in_a_project_file_has_a_place() {
    for (text, expected) in [
        (
            "{\n \"mcpServers\": {,}}",
            "2:17 -: Unexpected token in object",
        ),
        ("", "1:1 -: the file is empty"),
        ("[]", "1:1 -: expected an object `mcpServers`, found none"),
        (
            "{\"mcpServers\": [1]}",
            "1:16 -: expected an object `mcpServers`, found a list",
        ),
        (
            "{\"mcpServers\": {\"s\": 5}}",
            "1:22 s: expected an object, found 5",
        ),
        (
            "{\"mcpServers\": {\"s\": {}}}",
            "1:22 s: `command` is missing",
        ),
        (
            "{\"mcpServers\": {\"s\": {\"command\": \" \"}}}",
            "1:34 s: `command` is empty",
        ),
        (
            "{\"mcpServers\": {\"s\":\n{\"command\": [\"é\"]}}}",
            "2:13 s: `command`: expected a string, found a list",
        ),
        (
            "{\"mcpServers\": {\"s\": {\"command\": \"é\", \"args\": \"x\"}}}",
            "1:47 s: `args`: expected a list of strings, found \"x\"",
        ),
        (
            "{\"mcpServers\": {\"s\": {\"command\": \"c\", \"args\": [\"x\", 5]}}}",
            "1:53 s: `args`: expected a string in the list, found 5",
        ),
        (
            "{\"mcpServers\": {\"s\": {\"command\": \"c\", \"env\": {\"A\": true}}}}",
            "1:52 s: `env.A`: expected a string, found true",
        ),
        (
            "{\"mcpServers\": {\"s\": {\"command\": \"${NO}/x\"}}}",
            "1:34 s: `command`: the variable NO of \"${NO}/x\" is not set; set it, or write \
             ${NO:-default}",
        ),
    ] {
        let configured = project(text);
        assert_eq!(problems(&configured), [expected], "{text}");
        assert_eq!(configured.servers, [], "{text}");
        assert!(
            configured
                .problems
                .iter()
                .all(|p| p.kind == ProblemKind::Broken)
        );
    }
    let one_of_two = project(r#"{"mcpServers": {"bad": {}, "good": {"command": "c"}}}"#);
    assert_eq!(
        (one_of_two.servers.len(), one_of_two.problems.len()),
        (1, 1)
    );
    let shown = one_of_two.problems[0].to_string();
    assert!(
        shown.ends_with(".mcp.json:1:24: MCP server \"bad\": `command` is missing"),
        "{shown}"
    );
}

/// Servers at an address are fine and not supported, which is said.
#[test]
fn servers_at_an_address_are_not_supported() {
    for text in [
        r#"{"mcpServers": {"s": {"type": "http", "url": "http://h"}}}"#,
        r#"{"mcpServers": {"s": {"url": "http://h"}}}"#,
    ] {
        let configured = project(text);
        let kinds: Vec<_> = configured
            .problems
            .iter()
            .map(|problem| problem.kind)
            .collect();
        assert_eq!(kinds, [ProblemKind::Unsupported], "{text}");
    }
    let kinds = codex("[mcp_servers.s]\nurl = \"http://h\"\n").problems;
    assert_eq!(kinds.len(), 1);
}

/// Of a repeated name the last counts, as in every JSON reader of the clients.
#[test]
fn the_last_of_a_repeated_name_counts() {
    let configured = project(r#"{"mcpServers": {"s": {}, "s": {"command": "c"}}}"#);
    assert_eq!(
        (configured.servers.len(), configured.problems.len()),
        (1, 0)
    );
}

/// The documented keys of Codex.
#[test]
fn a_codex_table_is_read() {
    let configured = codex(
        "[mcp_servers.mem]\ncommand = \"python3\"\nargs = [\"s.py\"]\nenv_vars = [\"TOKEN\"]\n\
         startup_timeout_sec = 2.5\ntool_timeout_sec = 7\nenabled_tools = [\"a\", \"b\"]\n\
         disabled_tools = [\"b\"]\ndefault_tools_approval_mode = \"approve\"\n\
         [mcp_servers.mem.env]\nA = \"${KEY}\"\n\
         [mcp_servers.off]\ncommand = \"c\"\nenabled = false\n\
         [mcp_servers.\"my srv\"]\ncommand = \"c\"\nstartup_timeout_ms = 1500\n",
    );
    assert_eq!(problems(&configured), Vec::<String>::new());
    let [mem, other] = configured.servers.as_slice() else {
        panic!("{configured:?}");
    };
    assert_eq!(
        (mem.name.as_str(), mem.command.as_str()),
        ("mem", "python3")
    );
    assert_eq!(mem.startup_timeout, Duration::from_millis(2500));
    assert_eq!(mem.call_timeout, Duration::from_secs(7));
    assert_eq!(mem.env.get("A").map(String::as_str), Some("${KEY}"));
    assert!(mem.inherits.has("PATH") && mem.inherits.has("TOKEN") && !mem.inherits.has("SECRET"));
    assert!(mem.offered.has("a") && !mem.offered.has("b") && !mem.offered.has("c"));
    assert_eq!((mem.place.line, mem.place.column), (1, 14));
    assert_eq!(
        (other.name.as_str(), other.startup_timeout),
        ("my srv", Duration::from_millis(1500))
    );
    assert_eq!(other.call_timeout, CODEX.call);
}

/// Broken TOML, and values of the wrong type.
#[test]
fn what_is_wrong_in_a_codex_table_has_a_place() {
    for (text, expected) in [
        (
            "mcp_servers = 5\n",
            "1:15 -: expected a table `mcp_servers`, found 5",
        ),
        (
            "[mcp_servers.s]\nargs = []\n",
            "1:1 s: `command` is missing",
        ),
        (
            "[mcp_servers.s]\ncommand = \"c\"\ntool_timeout_sec = 0\n",
            "3:20 s: `tool_timeout_sec`: expected a number above 0, found 0",
        ),
        (
            "[mcp_servers.s]\ncommand = \"c\"\nenabled = \"no\"\n",
            "3:11 s: `enabled`: expected true or false, found \"no\"",
        ),
        (
            "[mcp_servers]\ns = { command = 1 }\n",
            "2:17 s: `command`: expected a string, found 1",
        ),
    ] {
        let configured = codex(text);
        assert_eq!(problems(&configured), [expected], "{text}");
        assert_eq!(configured.servers, [], "{text}");
    }
    let broken = codex("model = \"m\"\n[mcp_servers.s\n");
    assert_eq!(
        (broken.problems.len(), broken.problems[0].place.line),
        (1, 2)
    );
}

/// A file that cannot be read is not an absent one.
#[test]
fn a_file_that_cannot_be_read_is_a_problem() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(PROJECT_FILE)).unwrap();
    let configured = read_project(folder.path(), &variable);
    assert!(
        configured.problems[0].message.starts_with("cannot be read"),
        "{configured:?}"
    );
}

/// The environment of Claude Code sets how long its servers may take.
#[test]
fn the_clients_variables_set_the_times() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"{"mcpServers": {"s": {"command": "c"}}}"#;
    std::fs::write(folder.path().join(PROJECT_FILE), text).unwrap();
    let variable = |name: &str| match name {
        "MCP_TIMEOUT" => Some("1500".to_owned()),
        "MCP_TOOL_TIMEOUT" => Some("never".to_owned()),
        _ => None,
    };
    let configured = read_project(folder.path(), &variable);
    let times = |server: &ServerConfig| (server.startup_timeout, server.call_timeout);
    let times: Vec<_> = configured.servers.iter().map(times).collect();
    assert_eq!(times, [(Duration::from_millis(1500), CLAUDE.call)]);
}
