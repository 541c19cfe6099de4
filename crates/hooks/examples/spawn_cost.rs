//! What the supervisor adds to a bare start of a process.
//!
//! ```text
//! cargo run --release -p seamline-hooks --example spawn_cost [-- ROUNDS [PROGRAM [BALLAST_MB]]]
//! ```
//!
//! *Bare* is the standard library in the same process: start and wait, one after the other for
//! one, all started and then all waited for by two threads for twenty. *Piped* is bare with three
//! pipes, a payload written and both outputs read to their end, which is the least any runner has
//! to do. The ballast fills memory first: a start that copies the address space (see the module
//! `runner`) shows at once.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use seamline_hooks::runner::{Exec, KillLadder, Spec, Supervisor};
use tokio_util::sync::CancellationToken;

const AT_ONCE: usize = 20;
const PAYLOAD: usize = 1024;

fn main() {
    let mut args = std::env::args().skip(1);
    let rounds = args
        .next()
        .and_then(|text| text.parse().ok())
        .unwrap_or(500_usize);
    let program = args.next().unwrap_or_else(|| "/usr/bin/true".to_owned());
    let megabytes = args
        .next()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0_usize);
    let ballast = vec![1_u8; megabytes << 20];
    println!(
        "{program}, {rounds} rounds, {} MB ballast",
        ballast.len() >> 20
    );
    let runtimes = [
        (
            "current_thread",
            tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build(),
        ),
        ("multi_thread(2)", {
            tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
        }),
    ];
    for (name, runtime) in runtimes {
        match runtime {
            Ok(runtime) => compare(name, &runtime, &program, rounds),
            Err(error) => println!("{name}: {error}"),
        }
    }
}

/// Measures everything in turns, so that a busy moment of the machine hits all alike.
fn compare(name: &str, runtime: &tokio::runtime::Runtime, program: &str, rounds: usize) {
    let supervisor = Supervisor::new();
    let stdin: Arc<[u8]> = vec![b' '; PAYLOAD].into();
    let spec = Spec {
        argv: vec![program.to_owned()],
        cwd: "/".into(),
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        stdin,
        timeout: Duration::from_secs(60),
        kill: KillLadder { term_grace: None },
        drain: Duration::from_millis(100),
    };
    // Inside a task, as the engine calls it; what the task itself costs is not ours.
    let timed = |count: usize| {
        let runs: Vec<_> = (0..count)
            .map(|_| supervisor.run(spec.clone(), CancellationToken::new()))
            .collect();
        runtime.block_on(async {
            let task = tokio::spawn(async move {
                let start = Instant::now();
                join_all(runs).await;
                start.elapsed()
            });
            task.await.ok()
        })
    };
    let mut table = [
        ("bare, one", Vec::new()),
        ("piped, one", Vec::new()),
        ("ours, one", Vec::new()),
        ("bare, twenty", Vec::new()),
        ("piped, twenty", Vec::new()),
        ("ours, twenty", Vec::new()),
    ];
    for round in 0..rounds {
        for (row, (_, times)) in table.iter_mut().enumerate() {
            if row >= 3 && round % 5 != 0 {
                continue;
            }
            let took = match row {
                0 => watch(|| bare(program, 1)),
                1 => watch(|| piped(program, 1)),
                2 => timed(1),
                3 => watch(|| bare(program, AT_ONCE)),
                4 => watch(|| piped(program, AT_ONCE)),
                _ => timed(AT_ONCE),
            };
            times.extend(took);
        }
    }
    println!(
        "\n{name}\n{:16} {:>9} {:>9} {:>9}",
        "", "min us", "p50 us", "p90 us"
    );
    for (row, times) in &mut table {
        times.sort_unstable();
        let at = |part: usize| {
            times
                .get(times.len() * part / 100)
                .map_or(0, Duration::as_micros)
        };
        println!("{row:16} {:>9} {:>9} {:>9}", at(0), at(50), at(90));
    }
}

fn watch(work: impl FnOnce() -> bool) -> Option<Duration> {
    let start = Instant::now();
    work().then(|| start.elapsed())
}

fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command
        .process_group(0)
        .current_dir("/")
        .env_clear()
        .env("PATH", "/usr/bin:/bin");
    command
}

/// Start and wait, nothing else; many are shared by two threads.
fn bare(program: &str, count: usize) -> bool {
    let some = |count: usize| {
        let children: Vec<_> = (0..count)
            .map(|_| {
                command(program)
                    .stdin(Stdio::null())
                    .stdout(Stdio::null())
                    .spawn()
            })
            .collect();
        children
            .into_iter()
            .flatten()
            .all(|mut child| child.wait().is_ok())
    };
    shared(count, some)
}

/// Start, write, read both outputs, wait.
fn piped(program: &str, count: usize) -> bool {
    let some = |count: usize| {
        let children: Vec<_> = (0..count)
            .map(|_| {
                let mut command = command(program);
                command
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped());
                command.spawn().inspect(|child| {
                    // A child that exits without reading is no error.
                    let _ = child
                        .stdin
                        .as_ref()
                        .map(|mut pipe| pipe.write_all(&[b' '; PAYLOAD]));
                })
            })
            .collect();
        children.into_iter().flatten().all(|mut child| {
            let mut text = Vec::new();
            child.stdin = None;
            let out = child
                .stdout
                .take()
                .map(|mut pipe| pipe.read_to_end(&mut text));
            let err = child
                .stderr
                .take()
                .map(|mut pipe| pipe.read_to_end(&mut text));
            out.is_some() && err.is_some() && child.wait().is_ok()
        })
    };
    shared(count, some)
}

fn shared(count: usize, some: impl Fn(usize) -> bool + Sync) -> bool {
    if count == 1 {
        return some(1);
    }
    std::thread::scope(|scope| {
        let other = scope.spawn(|| some(count / 2));
        some(count - count / 2) && other.join().unwrap_or(false)
    })
}
