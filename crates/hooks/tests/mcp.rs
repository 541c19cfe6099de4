//! Handlers that ask an MCP server, through the whole engine.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot be set up shall fail"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use seamline_hooks::config::{Roots, load};
use seamline_hooks::engine::EngineParts;
use seamline_hooks::mcp::{McpAnswer, McpCall, McpCaller, McpFailure, NoServers};
use seamline_hooks::payload::Payload;
use seamline_hooks::runner::{BoxFuture, Exit};
use seamline_hooks::testing::FakeExec;
use seamline_hooks::trace::EntryKind;
use seamline_hooks::trust::TrustState;
use seamline_hooks::{Decision, DialectId, Engine, Fired, Firing, Run, RunStatus};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Answers by the name of the tool, and keeps what it was asked.
#[derive(Default)]
struct Server {
    calls: Mutex<Vec<McpCall>>,
    /// The signal of a call that is never answered.
    waiting: Mutex<Option<CancellationToken>>,
}

impl McpCaller for Server {
    fn call(
        &self,
        call: McpCall,
        signal: CancellationToken,
    ) -> BoxFuture<Result<McpAnswer, McpFailure>> {
        self.calls.lock().unwrap().push(call.clone());
        let text = |text: &str, is_error| {
            let text = Some(text.to_owned());
            Ok(McpAnswer { text, is_error })
        };
        let answer = match (call.server.as_str(), call.tool.as_str()) {
            ("mem", "deny") => text(
                r#"{"hookSpecificOutput": {"hookEventName": "PreToolUse",
                    "permissionDecision": "deny", "permissionDecisionReason": "no"}}"#,
                false,
            ),
            ("mem", "plain") => text("just text", false),
            ("mem", "empty") => text("{}", false),
            ("mem", "silent") => Ok(McpAnswer::default()),
            ("mem", "boom") => text("it failed", true),
            ("mem", "never") => {
                *self.waiting.lock().unwrap() = Some(signal);
                return Box::pin(std::future::pending());
            }
            ("mem", _) => Err(McpFailure::Failed("MCP server 'mem' (x) has ended".into())),
            (server, _) => Err(McpFailure::UnknownServer(server.to_owned())),
        };
        Box::pin(async move { answer })
    }
}

struct Bench {
    engine: Engine,
    server: Arc<Server>,
    _folder: tempfile::TempDir,
}

const CODEX: DialectId = DialectId::Codex;
const CLAUDE: DialectId = DialectId::Claude;

fn bench(dialect: DialectId, event: &str, handlers: &Value) -> Bench {
    let server = Arc::new(Server::default());
    with(
        dialect,
        event,
        handlers,
        Arc::clone(&server) as Arc<dyn McpCaller>,
        server,
    )
}

fn with(
    dialect: DialectId,
    event: &str,
    handlers: &Value,
    mcp: Arc<dyn McpCaller>,
    server: Arc<Server>,
) -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let file = match dialect {
        DialectId::Claude => root.join(".claude/settings.json"),
        DialectId::Codex => root.join(".codex/hooks.json"),
    };
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let hooks = json!({ "hooks": { event: [{ "hooks": handlers }] } });
    std::fs::write(file, hooks.to_string()).unwrap();
    let loaded = load(dialect, &Roots::new(root.join("home"), root));
    assert_eq!(loaded.broken().count(), 0, "{:?}", loaded.diagnostics);
    let keys = loaded.handlers.iter().map(|handler| handler.key.clone());
    let trust: BTreeMap<_, _> = keys.map(|key| (key, TrustState::Trusted)).collect();
    let engine = Engine::new(EngineParts {
        loaded,
        trust,
        exec: Arc::new(FakeExec::new()),
        mcp,
        base_env: Vec::new(),
        project: root.to_path_buf(),
        home: root.join("home"),
        spill_dir: root.join("spill"),
    });
    Bench {
        engine,
        server,
        _folder: folder,
    }
}

fn firing(event: &'static str) -> Firing {
    let payload = json!({
        "session_id": "s", "hook_event_name": event, "tool_name": "Bash",
        "tool_input": {"command": "echo hi"},
    });
    Firing {
        event,
        payload: Payload::from_text(payload.to_string()).unwrap(),
        cwd: Path::new("/").to_path_buf(),
        env: Vec::new(),
        signal: CancellationToken::new(),
        ran_elsewhere: Vec::new(),
    }
}

fn asks(tool: &str) -> Value {
    json!({ "type": "mcp_tool", "server": "mem", "tool": tool })
}

fn fail_closed(tool: &str) -> Value {
    json!({ "type": "mcp_tool", "server": "mem", "tool": tool, "onFailure": "block" })
}

fn only(fired: &Fired) -> &Run {
    let [run] = fired.trace.runs.as_slice() else {
        panic!("one run: {:?}", fired.trace);
    };
    run
}

async fn fire(dialect: DialectId, event: &'static str, handler: Value) -> (Fired, Bench) {
    let bench = bench(dialect, event, &json!([handler]));
    (bench.engine.fire(firing(event)).await, bench)
}

/// The first text of the answer decides as standard output would, under the rules of the event.
#[tokio::test]
async fn an_answer_is_read_like_standard_output() {
    for (event, tool, status, decision, contexts) in [
        ("PreToolUse", "deny", RunStatus::Blocked, Decision::Deny, 0),
        (
            "PreToolUse",
            "plain",
            RunStatus::Completed,
            Decision::None,
            0,
        ),
        (
            "PreToolUse",
            "empty",
            RunStatus::Completed,
            Decision::None,
            0,
        ),
        (
            "PreToolUse",
            "silent",
            RunStatus::Completed,
            Decision::None,
            0,
        ),
        (
            "UserPromptSubmit",
            "plain",
            RunStatus::Completed,
            Decision::None,
            1,
        ),
        ("Stop", "plain", RunStatus::Failed, Decision::None, 0),
    ] {
        let (fired, _bench) = fire(CODEX, event, asks(tool)).await;
        let run = only(&fired);
        assert_eq!(
            (run.status, run.exit.clone()),
            (status, Exit::Code(0)),
            "{event} {tool}"
        );
        assert_eq!(fired.outcome.decision, decision, "{event} {tool}");
        assert_eq!(fired.outcome.contexts.len(), contexts, "{event} {tool}");
    }
}

/// A call that cannot be made, and a tool that reports an error, are runs that failed, with the
/// client's words where they were measured; the user hears of them and the action goes on.
#[tokio::test]
async fn a_call_without_an_answer_is_a_run_that_failed() {
    let elsewhere = json!({ "type": "mcp_tool", "server": "nosuch", "tool": "t" });
    let missing = json!({ "type": "mcp_tool", "server": "mem", "tool": "empty",
        "input": { "a": "${nope}" } });
    for (handler, words) in [
        (asks("boom"), "MCP tool returned an error: it failed"),
        (asks("gone"), "MCP server 'mem' (x) has ended"),
        (elsewhere, "unknown MCP server 'nosuch'"),
        (missing, "hook input placeholder `${nope}` was not found"),
    ] {
        let (fired, _bench) = fire(CODEX, "PreToolUse", handler).await;
        let run = only(&fired);
        assert_eq!(run.status, RunStatus::Failed, "{words}");
        let [entry] = run.entries.as_slice() else {
            panic!("{:?}", run.entries);
        };
        assert_eq!((entry.kind, entry.text.as_str()), (EntryKind::Error, words));
        assert_eq!(fired.outcome.decision, Decision::None);
        let notices = &fired.outcome.notices;
        assert!(
            notices.iter().any(|by| by.value.text.contains(words)),
            "{notices:?}"
        );
    }
}

/// `onFailure: "block"` makes every one of these refuse, in both protocols.
#[tokio::test]
async fn a_gate_that_fails_closed_refuses() {
    for dialect in [CODEX, CLAUDE] {
        for tool in ["boom", "gone"] {
            let (fired, _bench) = fire(dialect, "PreToolUse", fail_closed(tool)).await;
            assert_eq!(fired.outcome.decision, Decision::Deny, "{dialect} {tool}");
        }
        for tool in ["empty", "silent"] {
            let (fired, _bench) = fire(dialect, "PreToolUse", fail_closed(tool)).await;
            assert_eq!(fired.outcome.decision, Decision::None, "{dialect} {tool}");
        }
    }
}

/// Claude Code takes plain text of a fail-closed tool for a failure, except where plain text is the
/// answer; Codex passes over it (the first measured).
#[tokio::test]
async fn plain_text_of_a_fail_closed_tool() {
    for (dialect, event, refused) in [
        (CLAUDE, "PreToolUse", true),
        (CLAUDE, "PreCompact", false),
        (CODEX, "PreToolUse", false),
    ] {
        let (fired, _bench) = fire(dialect, event, fail_closed("plain")).await;
        let decided = fired.outcome.decision != Decision::None;
        assert_eq!(decided, refused, "{dialect} {event}: {:?}", fired.outcome);
    }
}

/// Without servers a gate does not pass in silence: its run fails and says why.
#[tokio::test]
async fn without_servers_every_call_fails_and_says_so() {
    for (handler, decision) in [
        (asks("deny"), Decision::None),
        (fail_closed("deny"), Decision::Deny),
    ] {
        let server = Arc::new(Server::default());
        let bench = with(
            CODEX,
            "PreToolUse",
            &json!([handler]),
            Arc::new(NoServers),
            server,
        );
        let fired = bench.engine.fire(firing("PreToolUse")).await;
        assert!(matches!(&only(&fired).exit, Exit::CallFailed(why) if why.contains("'mem'")));
        assert_eq!(fired.outcome.decision, decision);
    }
}

/// The arguments are `input` with its placeholders filled; without it `{}`, never the payload.
#[tokio::test]
async fn arguments_come_from_input_alone() {
    let with_input = json!({ "type": "mcp_tool", "server": "mem", "tool": "empty",
        "input": { "c": "${tool_input.command}", "o": ["${tool_input}"] } });
    let (_, filled) = fire(CODEX, "PreToolUse", with_input).await;
    let (_, bare) = fire(CODEX, "PreToolUse", asks("empty")).await;
    let arguments = |bench: &Bench| {
        let calls = bench.server.calls.lock().unwrap();
        calls
            .iter()
            .map(|call| Value::from(call.arguments.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        arguments(&filled),
        [json!({ "c": "echo hi", "o": [{ "command": "echo hi" }] })]
    );
    assert_eq!(arguments(&bare), [json!({})]);
}

/// A server that never answers costs the handler its timeout, and learns that nobody waits.
#[tokio::test]
async fn a_call_that_is_not_answered_times_out() {
    let handler = json!({ "type": "mcp_tool", "server": "mem", "tool": "never", "timeout": 0.01 });
    let (fired, bench) = fire(CLAUDE, "PreToolUse", handler).await;
    assert_eq!(only(&fired).exit, Exit::TimedOut);
    let waiting = bench.server.waiting.lock().unwrap().clone();
    assert!(waiting.is_some_and(|signal| signal.is_cancelled()));
}

/// A firing that is cancelled ends its calls.
#[tokio::test]
async fn a_cancelled_firing_ends_its_calls() {
    let bench = bench(CODEX, "PreToolUse", &json!([asks("never")]));
    let firing = firing("PreToolUse");
    let signal = firing.signal.clone();
    let fired = bench.engine.fire(firing);
    let cancel = async {
        while bench.server.waiting.lock().unwrap().is_none() {
            tokio::task::yield_now().await;
        }
        signal.cancel();
    };
    let (fired, ()) = tokio::join!(fired, cancel);
    assert_eq!(only(&fired).status, RunStatus::Cancelled);
}

/// Claude Code runs one of several equal handlers; two that ask with different input are not equal.
#[tokio::test]
async fn handlers_with_different_input_are_different() {
    let with_input = |n: u8| json!({ "type": "mcp_tool", "server": "mem", "tool": "empty", "input": { "n": n } });
    let handlers = json!([with_input(1), with_input(2), with_input(2)]);
    let bench = bench(CLAUDE, "PreToolUse", &handlers);
    let fired = bench.engine.fire(firing("PreToolUse")).await;
    assert_eq!((fired.trace.runs.len(), fired.trace.skipped.len()), (2, 1));
}

/// Codex does not ask MCP servers when a session ends (measured): the handler is left out with a
/// warning.
#[tokio::test]
async fn a_session_that_ends_asks_nobody() {
    let (fired, bench) = fire(CODEX, "SessionEnd", asks("empty")).await;
    assert!(fired.trace.runs.is_empty());
    assert!(bench.server.calls.lock().unwrap().is_empty());
    let in_force = bench.engine.in_force();
    let warned = &in_force.loaded().diagnostics;
    assert!(
        warned.iter().any(|found| found.code == "skipped-handler"),
        "{warned:?}"
    );
}
