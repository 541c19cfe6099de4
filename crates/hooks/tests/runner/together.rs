//! Many at once: starts are limited, running processes are not.

use crate::{run, spec};
use futures_util::future::join_all;
use rustix::process::{Resource, getrlimit, setrlimit};
use seamline_hooks::runner::{Exec, Exit, Spec, Supervisor};
use tokio_util::sync::CancellationToken;

/// Four descriptors per process are more than macOS gives by default.
fn allow_many_descriptors() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit
        .maximum
        .map_or(Some(8192), |most| Some(most.min(8192)));
    setrlimit(Resource::Nofile, limit).unwrap();
}

#[tokio::test]
async fn two_hooks_may_wait_for_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let wait = |mine: &str, other: &str| {
        let command = format!(": > {mine}; until [ -e {other} ]; do sleep 0.02; done");
        run(Spec {
            cwd: folder.path().to_owned(),
            ..spec(&command)
        })
    };
    let (a, b) = tokio::join!(wait("a", "b"), wait("b", "a"));
    assert_eq!((a.exit, b.exit), (Exit::Code(0), Exit::Code(0)));
}

#[tokio::test]
async fn two_hundred_run_at_once_and_all_wait_for_the_last() {
    allow_many_descriptors();
    let folder = tempfile::tempdir().unwrap();
    let supervisor = Supervisor::new();
    let runs = (1..=200).map(|number| {
        let command = match number {
            200 => ": > go".to_owned(),
            _ => format!("until [ -e go ]; do sleep 0.5; done; exit $(({number} % 100))"),
        };
        let spec = Spec {
            cwd: folder.path().to_owned(),
            ..spec(&command)
        };
        supervisor.run(spec, CancellationToken::new())
    });
    for (index, finished) in join_all(runs).await.into_iter().enumerate() {
        let expected = i32::try_from(index + 1).unwrap() % 100;
        assert_eq!(finished.exit, Exit::Code(expected));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn outputs_of_many_do_not_mix() {
    let supervisor = Supervisor::new();
    let runs = (0..60).map(|number| {
        let spec = Spec {
            stdin: vec![number; 100_000].into(),
            ..spec("cat")
        };
        supervisor.run(spec, CancellationToken::new())
    });
    for (number, finished) in (0..60).zip(join_all(runs).await) {
        assert!(finished.stdout == vec![number; 100_000]);
        assert_eq!(finished.stdin_unread, 0);
    }
}
