//! Timeouts, cancellation and dropped futures: the whole group ends.

use crate::{AT_ONCE, LONG, PATIENT, alive, eventually, group_in, run, spec, text, written};
use rustix::process::test_kill_process;
use seamline_hooks::runner::{Exec, Exit, KillLadder, Spec, Supervisor};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A timeout that a test waits out. Scripts must have said their first word by then, on a busy
/// machine too.
const SOON: Duration = Duration::from_secs(2);

/// Writes its number to `pid` in the working folder, then does `then`.
fn marked(folder: &Path, then: &str) -> Spec {
    let command = format!("echo $$ > pid.tmp && mv pid.tmp pid; {then}");
    Spec {
        cwd: folder.to_owned(),
        ..spec(&command)
    }
}

#[tokio::test]
async fn a_timeout_ends_children_and_grandchildren() {
    for kill in [AT_ONCE, PATIENT] {
        let script = "echo $$; sleep 100 & sh -c 'sleep 100 & sleep 100' & wait";
        let finished = run(Spec {
            timeout: SOON,
            kill,
            ..spec(script)
        })
        .await;
        assert_eq!(finished.exit, Exit::TimedOut);
        let group = group_in(&text(&finished.stdout));
        assert!(!alive(group));
        assert!(test_kill_process(group).is_err(), "the leader is reaped");
    }
}

#[tokio::test]
async fn a_busy_loop_is_ended() {
    // B108.
    let finished = run(Spec {
        timeout: SOON,
        kill: PATIENT,
        ..spec("echo $$; while :; do :; done")
    });
    let finished = finished.await;
    assert_eq!(finished.exit, Exit::TimedOut);
    assert!(!alive(group_in(&text(&finished.stdout))));
}

#[tokio::test]
async fn who_ignores_term_gets_kill_after_the_grace() {
    let kill = KillLadder {
        term_grace: Some(Duration::from_millis(100)),
    };
    for script in [
        "echo $$; trap '' TERM; while :; do sleep 0.1; done",
        // B107: the hook itself obeys, its child does not.
        "echo $$; sh -c 'trap \"\" TERM; while :; do sleep 0.1; done' & wait",
    ] {
        let finished = run(Spec {
            timeout: SOON,
            kill,
            ..spec(script)
        })
        .await;
        assert_eq!(finished.exit, Exit::TimedOut);
        assert!(!alive(group_in(&text(&finished.stdout))), "{script}");
    }
}

#[tokio::test]
async fn a_group_that_keeps_forking_is_walked_until_nobody_is_left() {
    for kill in [
        AT_ONCE,
        KillLadder {
            term_grace: Some(Duration::from_millis(50)),
        },
    ] {
        let script = "echo $$; trap '' TERM; f() { sleep 0.01; sleep 9 & f; }; f & f & f";
        let finished = run(Spec {
            timeout: SOON,
            kill,
            ..spec(script)
        })
        .await;
        assert_eq!(finished.exit, Exit::TimedOut);
        assert!(!alive(group_in(&text(&finished.stdout))));
    }
}

#[tokio::test]
async fn last_words_of_a_term_handler_are_kept_but_it_still_timed_out() {
    let script = "trap 'echo last words; exit 0' TERM; while :; do sleep 0.05; done";
    let finished = run(Spec {
        timeout: SOON,
        kill: PATIENT,
        ..spec(script)
    })
    .await;
    assert_eq!(finished.exit, Exit::TimedOut);
    assert_eq!(text(&finished.stdout), "last words\n");
}

#[tokio::test]
async fn a_term_handler_that_says_more_than_a_pipe_holds_is_read() {
    let script = "trap 'head -c 300000 /dev/zero; exit 0' TERM; while :; do sleep 0.05; done";
    let finished = run(Spec {
        timeout: SOON,
        kill: PATIENT,
        ..spec(script)
    })
    .await;
    assert_eq!(
        (finished.exit, finished.stdout.len()),
        (Exit::TimedOut, 300_000)
    );
}

#[tokio::test]
async fn kill_at_once_runs_no_handler() {
    // Measured on Codex: a TERM trap does not run.
    let script = "trap 'echo last words; exit 0' TERM; while :; do sleep 0.05; done";
    let finished = run(Spec {
        timeout: SOON,
        ..spec(script)
    })
    .await;
    assert_eq!(
        (finished.exit, text(&finished.stdout)),
        (Exit::TimedOut, String::new())
    );
}

#[tokio::test]
async fn a_stopped_hook_times_out_and_acts_on_term() {
    // B105. A stopped process takes TERM only after CONT; without it this would last a minute and
    // end by KILL, without the words.
    let script = "trap 'echo termed; exit 0' TERM; kill -STOP $$; echo resumed";
    let finished = run(Spec {
        timeout: SOON,
        kill: PATIENT,
        ..spec(script)
    })
    .await;
    assert_eq!(finished.exit, Exit::TimedOut);
    assert!(text(&finished.stdout).contains("termed"));
    let finished = run(Spec {
        timeout: SOON,
        ..spec("echo $$; kill -STOP $$")
    })
    .await;
    assert_eq!(finished.exit, Exit::TimedOut);
    assert!(!alive(group_in(&text(&finished.stdout))));
}

#[tokio::test]
async fn a_cancelled_signal_ends_the_group() {
    for kill in [AT_ONCE, PATIENT] {
        let folder = tempfile::tempdir().unwrap();
        let signal = CancellationToken::new();
        let spec = Spec {
            kill,
            ..marked(folder.path(), "sleep 100 & sleep 100")
        };
        let running = tokio::spawn(Supervisor::new().run(spec, signal.clone()));
        let group = group_in(&written(&folder.path().join("pid")).await);
        assert!(alive(group));
        signal.cancel();
        assert_eq!(running.await.unwrap().exit, Exit::Cancelled);
        assert!(!alive(group));
    }
}

#[tokio::test]
async fn a_cancelled_signal_starts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let signal = CancellationToken::new();
    signal.cancel();
    let finished = Supervisor::new()
        .run(marked(folder.path(), ""), signal)
        .await;
    assert_eq!(finished.exit, Exit::Cancelled);
    assert!(!folder.path().join("pid").exists());
}

#[tokio::test]
async fn nothing_happens_before_the_first_poll() {
    let folder = tempfile::tempdir().unwrap();
    let supervisor = Supervisor::new();
    drop(supervisor.run(marked(folder.path(), ""), CancellationToken::new()));
    supervisor.quiesce().await;
    assert!(!folder.path().join("pid").exists());
}

#[tokio::test]
async fn a_dropped_future_ends_the_group_and_quiesce_waits_for_that() {
    let stubborn = KillLadder {
        term_grace: Some(Duration::from_millis(200)),
    };
    for (kill, script) in [
        (AT_ONCE, "sleep 100 & sleep 100"),
        (PATIENT, "sleep 100 & sleep 100"),
        (stubborn, "trap '' TERM; while :; do sleep 0.1; done"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let supervisor = Supervisor::new();
        let spec = Spec {
            kill,
            ..marked(folder.path(), script)
        };
        let running = tokio::spawn(supervisor.run(spec, CancellationToken::new()));
        let group = group_in(&written(&folder.path().join("pid")).await);
        running.abort();
        assert!(running.await.is_err());
        supervisor.quiesce().await;
        assert!(!alive(group), "{script}");
    }
}

#[tokio::test]
async fn a_future_dropped_while_the_process_starts_leaves_nothing() {
    let supervisor = Supervisor::new();
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..50 {
        let mut running = supervisor.run(
            marked(folder.path(), "echo $$ >> all; exec sleep 100"),
            CancellationToken::new(),
        );
        assert!(futures_util::poll!(&mut running).is_pending());
        tokio::task::yield_now().await;
        drop(running);
    }
    supervisor.quiesce().await;
    let all = std::fs::read_to_string(folder.path().join("all")).unwrap_or_default();
    assert!(all.lines().all(|line| !alive(group_in(line))));
}

#[tokio::test]
async fn a_run_cancelled_while_its_process_starts_ends_when_the_process_has_ended() {
    let supervisor = Supervisor::new();
    let folder = tempfile::tempdir().unwrap();
    for patience in 0..100 {
        let signal = CancellationToken::new();
        let spec = marked(folder.path(), "echo $$ >> all; exec sleep 100");
        let running = tokio::spawn(supervisor.run(spec, signal.clone()));
        for _ in 0..patience * 10 {
            tokio::task::yield_now().await;
        }
        signal.cancel();
        assert_eq!(running.await.unwrap().exit, Exit::Cancelled);
        let all = std::fs::read_to_string(folder.path().join("all")).unwrap_or_default();
        assert!(all.lines().last().is_none_or(|line| !alive(group_in(line))));
    }
}

#[tokio::test]
async fn the_timeout_holds_for_a_future_that_nobody_polls() {
    let supervisor = Supervisor::new();
    let spec = Spec {
        timeout: SOON,
        ..spec("echo $$; sleep 100")
    };
    let mut running = supervisor.run(spec, CancellationToken::new());
    assert!(futures_util::poll!(&mut running).is_pending());
    supervisor.quiesce().await;
    let finished = running.await;
    assert_eq!(finished.exit, Exit::TimedOut);
    assert!(!alive(group_in(&text(&finished.stdout))));
}

#[tokio::test]
async fn no_duration_is_too_long() {
    // Claude's timer overflows at 99999999 s and cancels the hook at once.
    for seconds in [99_999_999, u64::MAX] {
        let huge = Duration::new(seconds, 999_999_999);
        let kill = KillLadder {
            term_grace: Some(huge),
        };
        let finished = run(Spec {
            timeout: huge,
            drain: huge,
            kill,
            ..spec("echo ok")
        })
        .await;
        assert_eq!(
            (finished.exit, text(&finished.stdout)),
            (Exit::Code(0), "ok\n".into())
        );
    }
}

#[tokio::test]
async fn a_timeout_before_the_start_starts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let finished = run(Spec {
        timeout: Duration::ZERO,
        ..marked(folder.path(), "sleep 100")
    })
    .await;
    assert_eq!(finished.exit, Exit::TimedOut);
}

#[test]
fn a_start_that_waits_for_a_thread_times_out_and_never_happens_later() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .max_blocking_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    runtime.block_on(async {
        let (release, held) = std::sync::mpsc::channel::<()>();
        let occupied = tokio::task::spawn_blocking(move || held.recv());
        let supervisor = Supervisor::new();
        let spec = Spec {
            timeout: SOON,
            ..marked(folder.path(), "")
        };
        let finished = supervisor.run(spec, CancellationToken::new()).await;
        assert_eq!(finished.exit, Exit::TimedOut);
        drop(release);
        assert!(occupied.await.unwrap().is_err());
        supervisor.quiesce().await;
        assert!(!folder.path().join("pid").exists());
    });
}

#[test]
fn a_runtime_that_is_shut_down_takes_its_processes_along() {
    let folder = tempfile::tempdir().unwrap();
    let supervisor = Arc::new(Supervisor::new());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let spec = Spec {
        kill: PATIENT,
        ..marked(folder.path(), "trap '' TERM; sleep 100 & sleep 100")
    };
    runtime.spawn(supervisor.run(spec, CancellationToken::new()));
    let group = group_in(&runtime.block_on(written(&folder.path().join("pid"))));
    drop(runtime);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        eventually("the group is gone", || !alive(group)).await;
        supervisor.quiesce().await;
    });
}

#[test]
fn a_runtime_that_is_shut_down_during_a_start_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let supervisor = Arc::new(Supervisor::new());
    for patience in 0..60 {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let spec = marked(folder.path(), "echo $$ >> all; exec sleep 100");
            tokio::spawn(supervisor.run(spec, CancellationToken::new()));
            for _ in 0..patience * 10 {
                tokio::task::yield_now().await;
            }
        });
        drop(runtime);
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(supervisor.quiesce());
    let all = std::fs::read_to_string(folder.path().join("all")).unwrap_or_default();
    assert!(all.lines().all(|line| !alive(group_in(line))));
}

#[tokio::test]
async fn shutdown_cancels_what_runs_and_refuses_what_comes() {
    let folder = tempfile::tempdir().unwrap();
    let supervisor = Arc::new(Supervisor::new());
    let spec = Spec {
        timeout: LONG,
        ..marked(folder.path(), "sleep 100")
    };
    let running = tokio::spawn(supervisor.run(spec.clone(), CancellationToken::new()));
    let group = group_in(&written(&folder.path().join("pid")).await);
    let swept = supervisor.shutdown().await;
    assert!(!alive(group));
    assert_eq!(
        (swept.ended, swept.stuck),
        (0, 0),
        "a run in progress was not left behind"
    );
    assert_eq!(running.await.unwrap().exit, Exit::Cancelled);
    let refused = supervisor.run(spec, CancellationToken::new()).await;
    assert_eq!(refused.exit, Exit::Cancelled);
}
