//! Input, output and exit code.

use crate::{LONG, alive, group_in, run, spec, text};
use seamline_hooks::runner::{Exec, Exit, Spec, Supervisor};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const MEGABYTE: usize = 1 << 20;

fn with_stdin(command: &str, stdin: Vec<u8>) -> Spec {
    Spec {
        stdin: stdin.into(),
        ..spec(command)
    }
}

#[tokio::test]
async fn output_and_code_are_kept_apart() {
    let finished = run(spec("printf out; printf err >&2; exit 7")).await;
    assert_eq!(finished.exit, Exit::Code(7));
    assert_eq!(
        (text(&finished.stdout), text(&finished.stderr)),
        ("out".into(), "err".into())
    );
    assert!(!finished.pipe_held && !finished.stdout_truncated && !finished.stderr_truncated);
}

#[tokio::test]
async fn output_is_bytes_not_text() {
    assert_eq!(run(spec(r"printf '\000\377\n'")).await.stdout, b"\0\xff\n");
}

#[tokio::test]
async fn an_empty_command_is_one_that_does_nothing() {
    let finished = run(spec("")).await;
    assert_eq!(finished.exit, Exit::Code(0));
    assert!(finished.stdout.is_empty());
}

#[tokio::test]
async fn a_signal_that_was_not_ours_is_told_by_its_number() {
    for (name, number) in [("KILL", 9), ("TERM", 15), ("SEGV", 11)] {
        let finished = run(spec(&format!("kill -{name} $$"))).await;
        assert_eq!(finished.exit, Exit::Signal(number));
    }
}

#[tokio::test]
async fn children_die_of_a_broken_pipe_as_usual() {
    // Rust programs ignore SIGPIPE; a hook must not inherit that, or `yes | head` complains.
    let finished = run(spec("yes | head -n 1")).await;
    assert_eq!(
        (text(&finished.stdout), text(&finished.stderr)),
        ("y\n".into(), String::new())
    );
}

#[tokio::test]
async fn input_arrives_whole_at_any_size() {
    for size in [0, 1, 4096, 65_536, 65_537, MEGABYTE] {
        let bytes: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
        let finished = run(with_stdin("cat", bytes.clone())).await;
        assert_eq!(finished.stdin_unread, 0, "{size}");
        assert!(finished.stdout == bytes, "{size}");
    }
}

#[tokio::test]
async fn input_that_nobody_reads_is_counted_and_hangs_nothing() {
    for size in [3, 65_536, MEGABYTE] {
        let finished = run(with_stdin("exit 3", vec![b'x'; size])).await;
        assert_eq!(
            (finished.exit, finished.stdin_unread),
            (Exit::Code(3), size)
        );
    }
}

#[tokio::test]
async fn input_that_is_read_in_part_is_counted_to_the_byte() {
    let mut bytes = b"first line\n".to_vec();
    bytes.extend(vec![b'x'; MEGABYTE]);
    // A shell's `read` takes byte by byte, so it takes exactly the line.
    let finished = run(with_stdin("read line; echo \"$line\"", bytes)).await;
    assert_eq!(text(&finished.stdout), "first line\n");
    assert_eq!(finished.stdin_unread, MEGABYTE);
}

#[tokio::test]
async fn a_child_may_close_its_input_and_go_on() {
    let finished = run(with_stdin(
        "exec <&-; echo done; exit 4",
        vec![b'x'; MEGABYTE],
    ))
    .await;
    assert_eq!(
        (finished.exit, finished.stdin_unread),
        (Exit::Code(4), MEGABYTE)
    );
    assert_eq!(text(&finished.stdout), "done\n");
}

#[tokio::test]
async fn a_child_that_never_reads_and_never_ends_is_ended_by_the_timeout() {
    let timeout = Duration::from_secs(2);
    let finished = run(Spec {
        timeout,
        ..with_stdin("echo $$; exec sleep 100", vec![b'x'; MEGABYTE])
    })
    .await;
    assert_eq!(
        (finished.exit, finished.stdin_unread),
        (Exit::TimedOut, MEGABYTE)
    );
    assert!(!alive(group_in(&text(&finished.stdout))));
}

#[tokio::test]
async fn forty_megabytes_of_output_are_no_deadlock() {
    let finished = run(spec("head -c 41943040 /dev/zero")).await;
    assert_eq!(
        (finished.exit, finished.stdout.len()),
        (Exit::Code(0), 40 * MEGABYTE)
    );
    assert!(!finished.stdout_truncated);
}

#[tokio::test]
async fn both_streams_may_be_flooded_while_input_waits() {
    let flood = "head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2; wc -c";
    let finished = run(with_stdin(flood, vec![b'x'; MEGABYTE])).await;
    assert!(text(&finished.stdout).trim_start_matches('\0').trim() == "1048576");
    assert_eq!(finished.stderr.len(), 3_000_000);
}

#[tokio::test]
async fn a_flood_of_errors_with_closed_output_is_read() {
    let finished = run(spec("exec >&-; head -c 3000000 /dev/zero >&2; exit 5")).await;
    assert_eq!(
        (finished.exit, finished.stderr.len()),
        (Exit::Code(5), 3_000_000)
    );
    assert!(finished.stdout.is_empty());
}

#[tokio::test]
async fn output_beyond_the_cap_is_dropped_and_said() {
    let supervisor = Supervisor::new().with_output_cap(1000);
    for (size, truncated) in [(999, false), (1000, false), (1001, true), (3_000_000, true)] {
        let command = format!("head -c {size} /dev/zero; echo end >&2");
        let finished = supervisor
            .run(spec(&command), CancellationToken::new())
            .await;
        assert_eq!(
            (finished.exit, finished.stdout.len()),
            (Exit::Code(0), size.min(1000))
        );
        assert_eq!(
            (finished.stdout_truncated, finished.stderr_truncated),
            (truncated, false)
        );
        assert_eq!(text(&finished.stderr), "end\n");
    }
}

#[tokio::test]
async fn a_process_left_behind_with_the_pipe_delays_by_the_drain_time_only() {
    let supervisor = Supervisor::new();
    let finished = supervisor
        .run(
            spec("sleep 100 & echo hi; exit 6"),
            CancellationToken::new(),
        )
        .await;
    assert_eq!((finished.exit, finished.pipe_held), (Exit::Code(6), true));
    assert_eq!(text(&finished.stdout), "hi\n");
    supervisor.quiesce().await;
}

#[tokio::test]
async fn the_drain_time_starts_again_with_each_byte() {
    // Twice the drain time in all, an eighth of it between two bytes. A machine that stands still
    // for a second may cut one attempt short; a clock that does not start again cuts them all.
    let script = "(for n in 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6; do sleep 0.125; echo $n; done) &";
    for _ in 0..5 {
        let drain = Duration::from_secs(1);
        let finished = run(Spec {
            drain,
            ..spec(script)
        })
        .await;
        if !finished.pipe_held {
            assert_eq!(text(&finished.stdout).lines().count(), 16);
            return;
        }
    }
    panic!("every attempt was cut short");
}

#[tokio::test]
async fn a_drain_time_without_end_waits_for_the_pipe_to_close() {
    // Both clients do (measured): 2.5 s and 5 s.
    let finished = run(Spec {
        drain: Duration::MAX,
        ..spec("(sleep 0.5; echo late) & exit 0")
    })
    .await;
    assert_eq!(
        (text(&finished.stdout), finished.pipe_held),
        ("late\n".into(), false)
    );
}

#[tokio::test]
async fn what_was_written_before_the_exit_is_kept_without_any_drain_time() {
    let supervisor = Supervisor::new();
    for _ in 0..20 {
        let spec = Spec {
            drain: Duration::ZERO,
            ..spec("sleep 100 & head -c 60000 /dev/zero")
        };
        let finished = supervisor.run(spec, CancellationToken::new()).await;
        assert_eq!((finished.stdout.len(), finished.pipe_held), (60_000, true));
    }
    assert_eq!(supervisor.quiesce().await.ended, 20);
}

#[tokio::test]
async fn the_timeout_also_ends_a_drain_and_whoever_holds_the_pipe() {
    // Measured on Codex: "timed out", and the output is lost though the hook itself had exited.
    let timeout = Duration::from_secs(2);
    let finished = run(Spec {
        timeout,
        drain: LONG,
        ..spec("echo $$; sleep 100 & exit 0")
    })
    .await;
    assert_eq!((finished.exit, finished.pipe_held), (Exit::TimedOut, false));
    assert!(!alive(group_in(&text(&finished.stdout))));
}

#[tokio::test]
async fn a_background_command_does_not_keep_the_run() {
    // B116: `long &` with its output elsewhere.
    let supervisor = Supervisor::new();
    let command = "sleep 100 >/dev/null 2>&1 &";
    let finished = supervisor
        .run(
            Spec {
                drain: LONG,
                ..spec(command)
            },
            CancellationToken::new(),
        )
        .await;
    assert_eq!((finished.exit, finished.pipe_held), (Exit::Code(0), false));
    supervisor.quiesce().await;
}

#[tokio::test]
async fn input_is_shared_not_copied() {
    let stdin: Arc<[u8]> = vec![b'x'; 10].into();
    let spec = Spec {
        stdin: Arc::clone(&stdin),
        ..spec("cat")
    };
    assert_eq!(run(spec).await.stdout, *stdin);
    assert_eq!(Arc::strong_count(&stdin), 1, "a finished run keeps nothing");
}
