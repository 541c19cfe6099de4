//! What firing an event costs: `cargo bench -p seamline-hooks`. Prints microseconds, minimum and
//! median over rounds. A report, not a test: nothing fails on a slow machine.
//!
//! Each figure stands beside the same commands started bare in the same process, with the same
//! payload on their standard input, all at once.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a measurement that cannot be set up shall fail"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use seamline_hooks::config::{Roots, load};
use seamline_hooks::engine::EngineParts;
use seamline_hooks::mcp::NoServers;
use seamline_hooks::merge::{Wish, merge};
use seamline_hooks::payload::Payload;
use seamline_hooks::runner::{Exec, Exit, Finished, Supervisor, shell};
use seamline_hooks::spill::SpillFolder;
use seamline_hooks::testing::FakeExec;
use seamline_hooks::trust::TrustState;
use seamline_hooks::{DialectId, Engine, Firing, codec};
use tokio::io::AsyncWriteExt as _;
use tokio_util::sync::CancellationToken;

const PAYLOAD: &str = r#"{"session_id":"s","cwd":"/","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t"}"#;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    for dialect in DialectId::ALL {
        for count in [1, 20] {
            runtime.block_on(fire(dialect, count));
        }
        runtime.block_on(fold(dialect, 500));
    }
}

/// Real processes, through the engine and bare; rounds take turns, so that both meet the same load.
async fn fire(dialect: DialectId, count: usize) {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(dialect, folder.path(), count, Arc::new(Supervisor::new()));
    let argv: Vec<Vec<String>> = (0..count).map(|at| argv(dialect, at)).collect();
    let (mut fired, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..300 / count.min(5) {
        let begun = Instant::now();
        let ran = engine.fire(firing(folder.path())).await;
        fired.push(begun.elapsed());
        assert_eq!(ran.trace.runs.len(), count);
        assert!(ran.trace.runs.iter().all(|run| run.exit == Exit::Code(0)));
        let begun = Instant::now();
        join_all(argv.iter().map(|argv| start(argv, folder.path()))).await;
        bare.push(begun.elapsed());
    }
    print(&format!("{dialect} {count} hooks, fired"), fired);
    print(&format!("{dialect} {count} hooks, bare"), bare);
    engine.dispose().await;
}

/// Nothing is started: which hooks fit, what their outputs say, and what it comes to.
async fn fold(dialect: DialectId, count: usize) {
    let folder = tempfile::tempdir().unwrap();
    let mut answer = Finished::new(Exit::Code(0));
    answer.stdout =
        br#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"seen"}}"#
            .to_vec();
    let fake = FakeExec::new();
    fake.otherwise(answer.clone());
    let engine = engine(dialect, folder.path(), count, Arc::new(fake));
    let table = engine.table();
    let row = table.event("PreToolUse").unwrap();
    let spill = SpillFolder::new(table.spill, folder.path());
    let (mut matched, mut read, mut merged) = (vec![], vec![], vec![]);
    let (mut both, mut all) = (vec![], vec![]);
    for _ in 0..200 {
        let firing_now = firing(folder.path());
        let begun = Instant::now();
        let prepared = engine.prepare(firing_now);
        let chosen = begun.elapsed();
        let handlers = &prepared.selection().run;
        assert_eq!(handlers.len(), count);
        let begun = Instant::now();
        let wishes: Vec<Wish> = handlers
            .iter()
            .enumerate()
            .map(|(finished, handler)| Wish {
                by: handler.key.clone(),
                finished,
                effect: codec::read(row, handler, &answer, &spill).effect,
            })
            .collect();
        read.push(begun.elapsed());
        let begun = Instant::now();
        let outcome = black_box(merge(table, &wishes));
        let folded = begun.elapsed();
        assert_eq!(outcome.contexts.len(), count);
        matched.push(chosen);
        merged.push(folded);
        both.push(chosen + folded);
        let begun = Instant::now();
        black_box(engine.fire(firing(folder.path())).await);
        all.push(begun.elapsed());
    }
    print(&format!("{dialect} {count} hooks, matched"), matched);
    print(&format!("{dialect} {count} hooks, outputs read"), read);
    print(&format!("{dialect} {count} hooks, merged"), merged);
    print(
        &format!("{dialect} {count} hooks, matched and merged"),
        both,
    );
    print(
        &format!("{dialect} {count} hooks, fired with a fake for processes"),
        all,
    );
}

fn command(at: usize) -> String {
    format!("true {at}")
}

fn argv(dialect: DialectId, at: usize) -> Vec<String> {
    match dialect {
        DialectId::Claude => shell::claude_argv(&command(at), None, None),
        DialectId::Codex => shell::codex_argv(&command(at), &shell::account_shell()),
    }
}

async fn start(argv: &[String], cwd: &Path) {
    let mut child = tokio::process::Command::new(&argv[0])
        .args(&argv[1..])
        .current_dir(cwd)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A hook that does not read its input may be gone before it is written.
    let _ = stdin.write_all(PAYLOAD.as_bytes()).await;
    drop(stdin);
    black_box(child.wait_with_output().await.unwrap());
}

fn engine(dialect: DialectId, root: &Path, count: usize, exec: Arc<dyn Exec>) -> Engine {
    let mut hooks = String::new();
    for at in 0..count {
        let comma = if at == 0 { "" } else { "," };
        let command = command(at);
        write!(
            hooks,
            r#"{comma}{{"type":"command","command":"{command}"}}"#
        )
        .unwrap();
    }
    let text =
        format!(r#"{{"hooks":{{"PreToolUse":[{{"matcher":"^B.*h$","hooks":[{hooks}]}}]}}}}"#);
    let (dir, name) = match dialect {
        DialectId::Claude => (".claude", "settings.json"),
        DialectId::Codex => (".codex", "hooks.json"),
    };
    fs::create_dir_all(root.join(dir)).unwrap();
    fs::write(root.join(dir).join(name), text).unwrap();
    let loaded = load(dialect, &Roots::new(root.join("home"), root));
    let trust: BTreeMap<_, _> = loaded
        .handlers
        .iter()
        .map(|handler| (handler.key.clone(), TrustState::Trusted))
        .collect();
    assert_eq!(trust.len(), count, "{:?}", loaded.diagnostics);
    Engine::new(EngineParts {
        loaded,
        trust,
        exec,
        mcp: Arc::new(NoServers),
        base_env: std::env::vars_os().collect(),
        project: root.to_path_buf(),
        home: root.join("home"),
        spill_dir: root.join("spill"),
    })
}

fn firing(cwd: &Path) -> Firing {
    Firing {
        event: "PreToolUse",
        payload: Payload::from_text(PAYLOAD).unwrap(),
        cwd: cwd.to_path_buf(),
        env: Vec::new(),
        signal: CancellationToken::new(),
        ran_elsewhere: Vec::new(),
    }
}

fn print(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let us = |time: Duration| time.as_secs_f64() * 1e6;
    let (min, median) = (us(times[0]), us(times[times.len() / 2]));
    println!("{what:58} {min:9.0} {median:9.0} us");
}
