//! Firing an event: who runs, who does not and why, and what comes of it.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot be set up shall fail"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use seamline_hooks::config::{Roots, load};
use seamline_hooks::engine::EngineParts;
use seamline_hooks::outcome::Decision;
use seamline_hooks::payload::Payload;
use seamline_hooks::runner::{Exit, Finished};
use seamline_hooks::testing::{FakeEvent, FakeExec};
use seamline_hooks::trace::RunStatus;
use seamline_hooks::trust::TrustState;
use seamline_hooks::{DialectId, Engine, Fired, Firing, SkipReason};
use tokio_util::sync::CancellationToken;

struct Bench {
    folder: tempfile::TempDir,
    exec: FakeExec,
    trust: TrustState,
    dialect: DialectId,
}

impl Bench {
    fn new(dialect: DialectId, hooks: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = match dialect {
            DialectId::Claude => ".claude/settings.json",
            DialectId::Codex => ".codex/hooks.json",
        };
        let path = folder.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("{{\"hooks\":{hooks}}}")).unwrap();
        let exec = FakeExec::new();
        exec.otherwise(Finished::new(Exit::Code(0)));
        Self {
            folder,
            exec,
            trust: TrustState::Trusted,
            dialect,
        }
    }

    fn engine(&self) -> Engine {
        let root = self.folder.path();
        let mut roots = Roots::new(root.join("home"), root);
        roots.system = root.join("etc");
        let loaded = load(self.dialect, &roots);
        assert_eq!(
            loaded.broken().count(),
            0,
            "the configuration of the test is sound"
        );
        let trust: BTreeMap<_, _> = loaded
            .handlers
            .iter()
            .map(|h| (h.key.clone(), self.trust))
            .collect();
        Engine::new(EngineParts {
            loaded,
            trust,
            exec: Arc::new(self.exec.clone()),
            mcp: Arc::new(seamline_hooks::mcp::NoServers),
            base_env: Vec::new(),
            project: root.to_path_buf(),
            home: root.join("home"),
            spill_dir: root.join("spill"),
        })
    }
}

fn firing(event: &'static str, payload: &str) -> Firing {
    Firing {
        event,
        payload: Payload::from_text(payload).unwrap(),
        cwd: Path::new("/").to_path_buf(),
        env: Vec::new(),
        signal: CancellationToken::new(),
        ran_elsewhere: Vec::new(),
    }
}

fn says(stdout: &str) -> Finished {
    Finished {
        stdout: stdout.as_bytes().to_vec(),
        ..Finished::new(Exit::Code(0))
    }
}

fn refuses(stderr: &str) -> Finished {
    Finished {
        stderr: stderr.as_bytes().to_vec(),
        ..Finished::new(Exit::Code(2))
    }
}

fn skips(fired: &Fired) -> Vec<(String, SkipReason)> {
    fired
        .trace
        .skipped
        .iter()
        .map(|skip| (skip.handler.action.summary(), skip.reason))
        .collect()
}

const BASH: &str = r#"{"tool_name":"Bash","tool_input":{"command":"ls"}}"#;

#[tokio::test]
async fn the_trace_names_every_handler_with_what_it_did_or_why_not() {
    let bench = Bench::new(
        DialectId::Claude,
        r#"{"PreToolUse":[
            {"matcher":"Bash","hooks":[{"type":"command","command":"runs"}]},
            {"matcher":"Read","hooks":[{"type":"command","command":"other tool"}]},
            {"hooks":[{"type":"http","url":"http://127.0.0.1/"}]}],
          "Stop":[{"hooks":[{"type":"command","command":"other event"}]}]}"#,
    );
    let fired = bench.engine().fire(firing("PreToolUse", BASH)).await;
    assert_eq!(bench.exec.commands(), ["runs"]);
    assert_eq!(fired.trace.runs.len(), 1);
    let skipped = skips(&fired);
    assert!(skipped.contains(&("other tool".into(), SkipReason::Matcher)));
    assert!(skipped.contains(&("http://127.0.0.1/".into(), SkipReason::Type)));
    assert!(skipped.contains(&("other event".into(), SkipReason::Event)));
    assert_eq!(skipped.len(), 3);
}

#[tokio::test]
async fn nothing_that_is_not_trusted_runs_and_the_trace_says_so() {
    let hooks = r#"{"PreToolUse":[{"hooks":[{"type":"command","command":"x"}]}]}"#;
    for (trust, runs) in [
        (TrustState::Untrusted, 0),
        (TrustState::Modified, 0),
        (TrustState::Trusted, 1),
        (TrustState::Own, 1),
        (TrustState::Managed, 1),
    ] {
        for dialect in DialectId::ALL {
            let mut bench = Bench::new(dialect, hooks);
            bench.trust = trust;
            let fired = bench.engine().fire(firing("PreToolUse", BASH)).await;
            assert_eq!(bench.exec.commands().len(), runs, "{dialect} {trust:?}");
            let untrusted = skips(&fired)
                .iter()
                .any(|(_, why)| *why == SkipReason::Trust);
            assert_eq!(untrusted, runs == 0, "{dialect} {trust:?}");
        }
    }
}

#[tokio::test]
async fn all_handlers_start_before_the_first_is_awaited_and_a_fast_denial_cuts_nobody_short() {
    let hooks = r#"{"PreToolUse":[{"hooks":[
        {"type":"command","command":"deny"},{"type":"command","command":"slow"}]}]}"#;
    for dialect in DialectId::ALL {
        let bench = Bench::new(dialect, hooks);
        bench.exec.on("deny", refuses("no"));
        bench.exec.hold("slow");
        let engine = Arc::new(bench.engine());
        let firing_engine = Arc::clone(&engine);
        let task =
            tokio::spawn(async move { firing_engine.fire(firing("PreToolUse", BASH)).await });
        bench.exec.started(2).await;
        bench.exec.release("slow");
        let fired = task.await.unwrap();
        assert_eq!(fired.outcome.decision, Decision::Deny, "{dialect}");
        assert_eq!(fired.outcome.reason.as_deref(), Some("no"));
        assert_eq!(
            fired.trace.runs.len(),
            2,
            "{dialect}: the slow one ran to its end"
        );
        assert_eq!(fired.trace.runs[1].status, RunStatus::Completed);
    }
}

#[tokio::test]
async fn equal_commands_run_once_in_claude_with_the_options_of_the_last_and_each_in_codex() {
    let hooks = r#"{"PreToolUse":[
        {"matcher":"Bash","hooks":[{"type":"command","command":"same","timeout":1}]},
        {"hooks":[{"type":"command","command":"same","timeout":20}]}]}"#;
    let claude = Bench::new(DialectId::Claude, hooks);
    let fired = claude.engine().fire(firing("PreToolUse", BASH)).await;
    assert_eq!(skips(&fired), [("same".into(), SkipReason::Duplicate)]);
    let timeouts: Vec<_> = claude
        .exec
        .specs()
        .iter()
        .map(|spec| spec.timeout.as_secs())
        .collect();
    assert_eq!(timeouts, [20]);
    let codex = Bench::new(DialectId::Codex, hooks);
    codex.engine().fire(firing("PreToolUse", BASH)).await;
    assert_eq!(codex.exec.commands(), ["same", "same"]);
}

#[tokio::test]
async fn a_command_that_runs_in_the_other_dialect_is_a_duplicate_here() {
    let hooks = r#"{"PreToolUse":[{"hooks":[{"type":"command","command":"shared"}]}]}"#;
    let bench = Bench::new(DialectId::Codex, hooks);
    let mut firing = firing("PreToolUse", BASH);
    firing.ran_elsewhere = vec![(
        "shared".into(),
        seamline_hooks::HandlerKey("claude:0".into()),
    )];
    let fired = bench.engine().fire(firing).await;
    assert_eq!(bench.exec.commands().len(), 0);
    assert_eq!(skips(&fired), [("shared".into(), SkipReason::Duplicate)]);
}

#[tokio::test]
async fn the_first_permission_decision_wins_and_ends_the_slower_hooks() {
    let hooks = r#"{"PermissionRequest":[{"hooks":[
        {"type":"command","command":"slow"},{"type":"command","command":"fast"}]}]}"#;
    let decision = |behavior: &str| {
        says(&format!(
            r#"{{"hookSpecificOutput":{{"hookEventName":"PermissionRequest",
               "decision":{{"behavior":"{behavior}"}}}}}}"#
        ))
    };
    let bench = Bench::new(DialectId::Claude, hooks);
    bench.exec.on("slow", decision("deny"));
    bench.exec.on("fast", decision("allow"));
    bench.exec.hold("slow");
    let fired = bench.engine().fire(firing("PermissionRequest", BASH)).await;
    assert_eq!(fired.outcome.decision, Decision::Allow);
    assert_eq!(fired.trace.runs[0].status, RunStatus::Cancelled);
    assert!(
        bench
            .exec
            .events()
            .contains(&FakeEvent::Cancelled("slow".into()))
    );
}

#[tokio::test]
async fn a_background_handler_is_not_awaited_and_what_it_says_comes_later() {
    let hooks = r#"{"PreToolUse":[{"hooks":[
        {"type":"command","command":"later","async":true}]}]}"#;
    for dialect in DialectId::ALL {
        let bench = Bench::new(dialect, hooks);
        bench.exec.hold("later");
        bench.exec.on(
            "later",
            says(
                r#"{"systemMessage":"S","hookSpecificOutput":{"hookEventName":"PreToolUse",
                   "additionalContext":"C"}}"#,
            ),
        );
        let engine = bench.engine();
        let fired = engine.fire(firing("PreToolUse", BASH)).await;
        assert_eq!(fired.trace.started.len(), 1, "{dialect}");
        assert_eq!(fired.trace.runs.len(), 0, "{dialect}");
        assert!(engine.take_background().is_empty());
        bench.exec.release("later");
        engine.background_ended().await;
        let ended = engine.take_background();
        assert_eq!(ended.len(), 1);
        assert_eq!(
            (ended[0].contexts.clone(), ended[0].message.clone()),
            (vec!["C".into()], Some("S".into()))
        );
    }
}

#[tokio::test]
async fn a_dispose_ends_what_runs_and_returns_when_nothing_does() {
    let hooks = r#"{"PreToolUse":[{"hooks":[{"type":"command","command":"held"},
        {"type":"command","command":"later","async":true}]}]}"#;
    let bench = Bench::new(DialectId::Claude, hooks);
    bench.exec.hold("held");
    bench.exec.hold("later");
    let engine = Arc::new(bench.engine());
    let firing_engine = Arc::clone(&engine);
    let task = tokio::spawn(async move { firing_engine.fire(firing("PreToolUse", BASH)).await });
    bench.exec.started(2).await;
    engine.dispose().await;
    let fired = task.await.unwrap();
    assert_eq!(fired.trace.runs[0].status, RunStatus::Cancelled);
    let events = bench.exec.events();
    for command in ["held", "later"] {
        let ended = [
            FakeEvent::Cancelled(command.into()),
            FakeEvent::Dropped(command.into()),
        ];
        assert!(
            events.iter().any(|event| ended.contains(event)),
            "{command} was ended"
        );
    }
}

#[tokio::test]
async fn a_matcher_is_ignored_where_the_event_has_no_subject() {
    let hooks = r#"{"Stop":[{"matcher":"nonsense","hooks":[{"type":"command","command":"x"}]}]}"#;
    for dialect in DialectId::ALL {
        let bench = Bench::new(dialect, hooks);
        bench
            .engine()
            .fire(firing("Stop", r#"{"stop_hook_active":false}"#))
            .await;
        assert_eq!(bench.exec.commands(), ["x"], "{dialect}");
    }
}

#[tokio::test]
async fn every_failed_run_leaves_a_notice_that_names_file_line_and_cause() {
    let hooks = r#"{"PreToolUse":[{"hooks":[{"type":"command","command":"fails"}]}]}"#;
    for dialect in DialectId::ALL {
        let bench = Bench::new(dialect, hooks);
        bench.exec.on(
            "fails",
            Finished {
                stderr: b"boom\nmore".to_vec(),
                ..Finished::new(Exit::Code(3))
            },
        );
        let fired = bench.engine().fire(firing("PreToolUse", BASH)).await;
        assert_eq!(
            fired.outcome.decision,
            Decision::None,
            "{dialect}: both clients fail open"
        );
        let text = &fired.outcome.notices[0].value.text;
        assert!(
            text.contains("PreToolUse hook") && text.contains(".json:1 failed"),
            "{text}"
        );
    }
}

#[tokio::test]
async fn the_payload_reaches_the_hook_with_the_newline_of_its_dialect() {
    let hooks = r#"{"PreToolUse":[{"hooks":[{"type":"command","command":"x"}]}]}"#;
    for (dialect, end) in [(DialectId::Claude, "}\n"), (DialectId::Codex, "}")] {
        let bench = Bench::new(dialect, hooks);
        bench.engine().fire(firing("PreToolUse", BASH)).await;
        let stdin = bench.exec.specs()[0].stdin.to_vec();
        assert!(
            String::from_utf8(stdin).unwrap().ends_with(end),
            "{dialect}"
        );
    }
}
