//! What the supervisor promises, with real processes.
//!
//! Scripts print `$$` where a test asks later whether their process group still has members: the
//! shell leads the group, so that number is the group's too.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests"
)]

mod ending;
mod laws;
mod left_behind;
mod output;
mod starting;
mod together;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, test_kill_process_group};
use seamline_hooks::runner::{Exec, Finished, KillLadder, Spec, Supervisor, shell};
use tokio_util::sync::CancellationToken;

/// Longer than anything here takes; a test that reaches it has failed.
const LONG: Duration = Duration::from_secs(60);

/// TERM first; KILL only after longer than a test may take.
const PATIENT: KillLadder = KillLadder {
    term_grace: Some(LONG),
};

const AT_ONCE: KillLadder = KillLadder { term_grace: None };

fn spec(command: &str) -> Spec {
    Spec {
        argv: shell::claude_argv(command, None, None),
        cwd: std::env::temp_dir(),
        env: vec![("PATH".into(), std::env::var_os("PATH").unwrap())],
        stdin: Arc::from(&b"{}\n"[..]),
        timeout: LONG,
        kill: AT_ONCE,
        drain: Duration::from_millis(100),
    }
}

async fn run(spec: Spec) -> Finished {
    Supervisor::new().run(spec, CancellationToken::new()).await
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The group whose number is the first word of `text`.
fn group_in(text: &str) -> Pid {
    Pid::from_raw(text.split_whitespace().next().unwrap().parse().unwrap()).unwrap()
}

/// Whether the group has a member that runs. Where process 1 reaps late, dead members stay visible
/// for a while; on Linux `/proc` tells them apart. A member is printed, for the test that fails.
fn alive(group: Pid) -> bool {
    if test_kill_process_group(group).is_err() {
        return false;
    }
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return true;
    };
    processes.flatten().any(|entry| {
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let Some((_, fields)) = stat.rsplit_once(')') else {
            return false;
        };
        let fields: Vec<_> = fields.split_whitespace().collect();
        let member = fields[2] == group.as_raw_nonzero().to_string();
        if member {
            println!("{group:?} has {stat}");
        }
        member && !matches!(fields[0], "Z" | "X")
    })
}

/// Polls until `condition` holds.
async fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + LONG;
    while !condition() {
        assert!(Instant::now() < deadline, "never: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The text of a file that a script writes in one piece (`echo > x.tmp && mv x.tmp x`).
async fn written(file: &Path) -> String {
    eventually("the script writes its file", || file.exists()).await;
    std::fs::read_to_string(file).unwrap()
}
