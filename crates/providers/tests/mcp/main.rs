//! Real servers: what becomes of calls to sound ones and to odd ones.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot be set up shall fail"
)]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::{Pid, test_kill_process};
use seamline_harness::mcp::{Answer, McpError, McpRequest, McpResult, McpServers as _};
use seamline_providers::mcp::config::{Configured, read_codex, read_project};
use seamline_providers::mcp::{Servers, ServersBuilder};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Far longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/server.py")
}

struct Bench {
    folder: TempDir,
    servers: Servers,
}

/// Servers of a project, each `name` with the arguments of the test server.
fn bench(servers: &[(&str, &[&str])]) -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let entry = |(name, args): &(&str, &[&str])| {
        let file = script().display().to_string();
        let own = args
            .iter()
            .map(|arg| arg.replace("FOLDER", folder.path().to_str().unwrap()));
        let args: Vec<String> = [file].into_iter().chain(own).collect();
        (
            (*name).to_owned(),
            json!({"command": "python3", "args": args}),
        )
    };
    let all: serde_json::Map<_, _> = servers.iter().map(entry).collect();
    let text = json!({ "mcpServers": all }).to_string();
    std::fs::write(folder.path().join(".mcp.json"), text).unwrap();
    let configured = read_project(folder.path(), &|_| None);
    let servers = built(&configured, folder.path());
    Bench { folder, servers }
}

fn built(configured: &Configured, folder: &Path) -> Servers {
    assert_eq!(configured.problems, []);
    let mut builder = ServersBuilder::default();
    let env: Vec<_> = std::env::vars_os().collect();
    builder.add(configured, folder, &env);
    builder.build()
}

/// One server, and a config.toml that gives its calls little time, and its start `startup` seconds.
fn hasty(odd: &str, startup: &str) -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "[mcp_servers.odd]\ncommand = \"python3\"\nargs = [{:?}, {odd:?}]\n\
         startup_timeout_sec = {startup}\ntool_timeout_sec = 0.2\n",
        script().display().to_string()
    );
    std::fs::write(folder.path().join("config.toml"), text).unwrap();
    let servers = built(&read_codex(folder.path()), folder.path());
    Bench { folder, servers }
}

impl Bench {
    /// Every call ends.
    async fn call(&self, server: &str, tool: &str, arguments: Value) -> Answer {
        let Value::Object(arguments) = arguments else {
            panic!("arguments are an object");
        };
        let request = McpRequest {
            server: server.to_owned(),
            tool: tool.to_owned(),
            arguments,
        };
        let call = self.servers.call(request, CancellationToken::new());
        tokio::time::timeout(PATIENCE, call).await.unwrap()
    }

    async fn says(&self, tool: &str, arguments: Value) -> String {
        let result = self.call("s", tool, arguments).await.unwrap();
        result.first_text().unwrap().to_owned()
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }
}

fn why(answer: Answer) -> String {
    match answer {
        Err(McpError::Failed(why)) => why,
        other => panic!("no failure: {other:?}"),
    }
}

/// A sound server: its tools are listed, page after page, calls bring what it said, errors it
/// reports are results, and errors of the protocol are failures with its words.
#[tokio::test]
async fn a_sound_server_is_listed_and_called() {
    let bench = bench(&[("s", &[])]);
    assert_eq!(bench.servers.start().await, Vec::<String>::new());
    let tools = bench.servers.tools();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    let all = [
        "echo",
        "boom",
        "structured",
        "env",
        "die",
        "never",
        "cancelled",
    ];
    assert_eq!(names, all);
    assert_eq!(tools[0].description, "does echo");
    assert_eq!(
        bench.says("echo", json!({"b": [1.5], "a": null})).await,
        r#"{"a": null, "b": [1.5]}"#
    );
    let block = |text: &str| vec![json!({"type": "text", "text": text})];
    let boom = bench.call("s", "boom", json!({})).await.unwrap();
    let failed = McpResult {
        content: block("it failed"),
        structured: None,
        is_error: true,
    };
    assert_eq!(boom, failed);
    let structured = bench.call("s", "structured", json!({})).await.unwrap();
    assert_eq!(structured.structured, Some(json!({"k": 1})));
    let words = why(bench.call("s", "nope", json!({})).await);
    assert!(
        words.contains("MCP server 's' (python3") && words.contains("no tool nope"),
        "{words}"
    );
    let unknown = bench.call("other", "echo", json!({})).await;
    assert_eq!(unknown, Err(McpError::UnknownServer("other".to_owned())));
    bench.servers.close().await;
}

/// A server runs in the project with the variables of its entry, and knows the project.
#[tokio::test]
async fn a_server_gets_its_variables_and_the_project() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().canonicalize().unwrap();
    let text = json!({"mcpServers": {"s": {"command": "python3", "args": [script()],
        "env": {"OURS": "${ASKED:-none} ${GIVEN}"}}}});
    std::fs::write(project.join(".mcp.json"), text.to_string()).unwrap();
    let given = |name: &str| (name == "GIVEN").then(|| "yes".to_owned());
    let servers = built(&read_project(&project, &given), &project);
    let bench = Bench { folder, servers };
    let said = bench
        .says("env", json!({"names": ["OURS", "CLAUDE_PROJECT_DIR"]}))
        .await;
    let said: Value = serde_json::from_str(&said).unwrap();
    let project = project.to_str().unwrap();
    let expected = json!({"OURS": "none yes", "CLAUDE_PROJECT_DIR": project, "cwd": project});
    assert_eq!(said, expected);
    bench.servers.close().await;
}

/// Codex's servers inherit the variables it names, no others.
#[tokio::test]
async fn a_codex_server_inherits_only_what_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "[mcp_servers.s]\ncommand = \"python3\"\nargs = [{:?}]\nenv_vars = [\"NAMED\"]\n\
         [mcp_servers.s.env]\nOWN = \"o\"\n",
        script().display().to_string()
    );
    std::fs::write(folder.path().join("config.toml"), text).unwrap();
    let mut builder = ServersBuilder::default();
    let mut env: Vec<_> = std::env::vars_os().collect();
    for name in ["NAMED", "SECRET"] {
        env.push((name.into(), "x".into()));
    }
    builder.add(&read_codex(folder.path()), folder.path(), &env);
    let bench = Bench {
        folder,
        servers: builder.build(),
    };
    let said = bench
        .says("env", json!({"names": ["OWN", "NAMED", "SECRET"]}))
        .await;
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(
        (&said["OWN"], &said["NAMED"], &said["SECRET"]),
        (&json!("o"), &json!("x"), &Value::Null)
    );
    bench.servers.close().await;
}

/// A server that does not come up costs its own calls only: each failure names the server, its
/// command and, where it said something, its last words.
#[tokio::test]
async fn a_server_that_does_not_come_up_fails_its_calls() {
    for (odd, startup, words) in [
        (
            "exits",
            "20",
            "ended before it was up; its last words: not today",
        ),
        ("mute", "0.3", "was not up within 0.3 s"),
        ("listless", "20", "lost them"),
    ] {
        let bench = hasty(odd, startup);
        let said = why(bench.call("odd", "echo", json!({})).await);
        assert!(
            said.contains("MCP server 'odd' (python3 ") && said.contains(words),
            "{said}"
        );
        assert_eq!(
            bench.servers.start().await,
            [said],
            "{odd}: it is not started twice"
        );
        assert_eq!(bench.servers.tools(), []);
        bench.servers.close().await;
    }
}

/// One that talks nonsense is one that does not come up.
#[tokio::test]
async fn a_server_that_answers_garbage_fails_its_calls() {
    let bench = hasty("garbage", "20");
    let said = why(bench.call("odd", "echo", json!({})).await);
    assert!(said.contains("MCP server 'odd' (python3 "), "{said}");
    bench.servers.close().await;
}

/// A server without tools is up, and has none.
#[tokio::test]
async fn a_server_without_tools_is_up() {
    let bench = hasty("toolless", "20");
    assert_eq!(bench.servers.start().await, Vec::<String>::new());
    assert_eq!(bench.servers.tools(), []);
    bench.servers.close().await;
}

/// A program that is not there is named; the other servers are up all the same.
#[tokio::test]
async fn a_program_that_is_not_there_costs_no_other_server() {
    let folder = tempfile::tempdir().unwrap();
    let text = json!({"mcpServers": {
        "gone": {"command": "/no/such/program"},
        "lost": {"command": "python3", "cwd": "/no/such/folder"},
        "s": {"command": "python3", "args": [script()]},
    }});
    std::fs::write(folder.path().join(".mcp.json"), text.to_string()).unwrap();
    let servers = built(&read_project(folder.path(), &|_| None), folder.path());
    let failed = servers.start().await;
    assert_eq!(failed.len(), 2, "{failed:?}");
    assert!(
        failed[0].contains("'gone' (/no/such/program) could not be started"),
        "{failed:?}"
    );
    assert!(failed[1].contains("/no/such/folder"), "{failed:?}");
    assert!(!servers.tools().is_empty());
    servers.close().await;
}

/// A server that dies while it is asked fails that call and those after it, and says its last words.
#[tokio::test]
async fn a_server_that_dies_fails_this_call_and_the_next() {
    let bench = bench(&[("s", &[])]);
    let first = why(bench.call("s", "die", json!({})).await);
    assert!(
        first.contains("has ended; its last words: this is the end"),
        "{first}"
    );
    assert_eq!(why(bench.call("s", "echo", json!({})).await), first);
    bench.servers.close().await;
}

/// A call that is not answered ends with its time, the server hears of it and can be asked again.
#[tokio::test]
async fn a_call_that_is_not_answered_ends() {
    let bench = hasty("", "20");
    let said = why(bench.call("odd", "never", json!({})).await);
    assert!(said.contains("did not answer within 0.2 s"), "{said}");
    let heard = bench.call("odd", "cancelled", json!({})).await.unwrap();
    assert_ne!(heard.first_text(), Some("[]"));
    bench.servers.close().await;
}

/// A call whose signal is cancelled ends at once, and the server hears of it.
#[tokio::test]
async fn a_cancelled_call_ends_and_the_server_hears_of_it() {
    let bench = bench(&[("s", &[])]);
    bench.servers.start().await;
    let signal = CancellationToken::new();
    let request = McpRequest {
        server: "s".to_owned(),
        tool: "never".to_owned(),
        arguments: serde_json::Map::new(),
    };
    let call = tokio::spawn(bench.servers.call(request, signal.clone()));
    bench.says("echo", json!({})).await;
    signal.cancel();
    assert!(call.await.unwrap().is_err());
    let deadline = Instant::now() + PATIENCE;
    while bench.says("cancelled", json!({})).await == "[]" {
        assert!(Instant::now() < deadline, "the server never heard of it");
    }
    bench.servers.close().await;
}

/// A server is started once, however many ask it at once, and not at all before it is needed.
#[tokio::test]
async fn a_server_is_started_once_and_when_it_is_needed() {
    let bench = bench(&[
        ("s", &["starts", "FOLDER/log"]),
        ("t", &["starts", "FOLDER/other"]),
    ]);
    assert_eq!(bench.read("log"), "");
    let calls = (0..4).map(|_| bench.says("echo", json!({})));
    futures_util::future::join_all(calls).await;
    assert_eq!(
        (bench.read("log"), bench.read("other")),
        ("started\n".to_owned(), String::new())
    );
    bench.servers.close().await;
    assert!(why(bench.call("t", "echo", json!({})).await).contains("the session has ended"));
    assert_eq!(bench.read("other"), "");
}

/// Closing ends the servers and what they started, one that hears neither the end of its input nor
/// TERM included.
#[tokio::test]
async fn closing_ends_servers_and_their_children() {
    let bench = bench(&[("s", &["child", "FOLDER/pid"]), ("t", &["stays"])]);
    assert_eq!(bench.servers.start().await, Vec::<String>::new());
    let pid = Pid::from_raw(bench.read("pid").parse().unwrap()).unwrap();
    assert!(test_kill_process(pid).is_ok());
    tokio::time::timeout(PATIENCE, bench.servers.close())
        .await
        .unwrap();
    until_gone(pid).await;
}

/// Servers that nobody closed are ended when the last who knows them is gone.
#[tokio::test]
async fn dropping_the_servers_ends_them() {
    let bench = bench(&[("s", &["child", "FOLDER/pid"])]);
    assert_eq!(bench.servers.start().await, Vec::<String>::new());
    let pid = Pid::from_raw(bench.read("pid").parse().unwrap()).unwrap();
    drop(bench);
    until_gone(pid).await;
}

/// Until nothing of a process runs. Whoever inherited it may be slow to reap.
async fn until_gone(pid: Pid) {
    let deadline = Instant::now() + PATIENCE;
    let stat = format!("/proc/{}/stat", pid.as_raw_nonzero());
    let is_zombie = || {
        let stat = std::fs::read_to_string(&stat).unwrap_or_default();
        stat.rsplit(')')
            .next()
            .is_some_and(|rest| rest.trim_start().starts_with('Z'))
    };
    while test_kill_process(pid).is_ok() && !is_zombie() {
        assert!(Instant::now() < deadline, "{pid:?} still runs");
        tokio::task::yield_now().await;
    }
}

/// Of several servers with one name the first is asked; what is refused says why.
#[tokio::test]
async fn the_first_of_a_name_counts() {
    let bench = bench(&[("s", &[])]);
    let mut builder = ServersBuilder::default();
    builder.refuse("s", "not this one");
    let configured = read_project(bench.folder.path(), &|_| None);
    builder.add(&configured, bench.folder.path(), &[]);
    let names: Vec<_> = builder
        .shadowed()
        .iter()
        .map(|config| config.name.as_str())
        .collect();
    assert_eq!(names, ["s"]);
    let bench = Bench {
        servers: builder.build(),
        ..bench
    };
    assert!(bench.servers.is_empty());
    assert_eq!(
        why(bench.call("s", "echo", json!({})).await),
        "not this one"
    );
}
