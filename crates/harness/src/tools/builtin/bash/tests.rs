//! Real commands.

use std::time::Instant;

use seamline_seams::Signal;

use super::*;
use crate::tools::Workspace;

struct Bench {
    folder: tempfile::TempDir,
    workspace: Workspace,
    signal: Signal,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::new(folder.path().canonicalize().unwrap());
        Self {
            folder,
            workspace,
            signal: Signal::new(),
        }
    }

    async fn run(&self, command: &str) -> Result<BashValue, ToolError> {
        self.args(BashArgs {
            command: command.to_owned(),
            ..BashArgs::default()
        })
        .await
    }

    async fn args(&self, args: BashArgs) -> Result<BashValue, ToolError> {
        let context = ToolContext::new(self.workspace.clone(), self.signal.clone());
        Tool::run(&Bash, args, context).await
    }

    async fn limited(&self, command: &str, millis: u64) -> Result<BashValue, ToolError> {
        let (command, timeout) = (command.to_owned(), Some(millis));
        self.args(BashArgs {
            command,
            timeout,
            ..BashArgs::default()
        })
        .await
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// Polls until `condition` holds; a minute is never.
async fn until(condition: impl Fn() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "it never happens"
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Whether a process runs. Where process 1 reaps late, a dead one stays visible for a while; on
/// Linux `/proc` tells.
fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    let state = stat.rsplit_once(") ").map(|(_, fields)| fields);
    if state.is_some_and(|state| state.starts_with(['Z', 'X'])) {
        return false;
    }
    let pid = rustix::process::Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    rustix::process::test_kill_process(pid).is_ok()
}

/// Output without its last line breaks, both streams, nothing on standard input.
#[tokio::test]
async fn output() {
    let bench = Bench::new();
    let value = bench
        .run("cat; echo out; echo; echo err >&2; printf 'a\\n\\n'")
        .await
        .unwrap();
    assert_eq!(
        (value.stdout.as_str(), value.stderr.as_str()),
        ("out\n\na", "err")
    );
    assert!(!value.interrupted && !value.is_image && !value.no_output_expected);
    assert_eq!(
        Bash.render(&BashArgs::default(), &value).to_text(),
        "out\n\na\nerr"
    );
    let value = bench.run("mkdir x").await.unwrap();
    assert!(value.no_output_expected);
    let shown = Bash.render(&BashArgs::default(), &value).to_text();
    assert_eq!(shown, "(Bash completed with no output)");
}

/// A failure says its code first, then what the command said.
#[tokio::test]
async fn failures() {
    let bench = Bench::new();
    for (command, expected) in [
        ("exit 3", "Exit code 3"),
        ("echo out; echo err >&2; exit 4", "Exit code 4\nout\nerr"),
        ("kill -9 $$", "Killed by signal 9"),
    ] {
        let error = bench.run(command).await.unwrap_err();
        assert_eq!(error.message, expected);
        assert_eq!(error.content.unwrap().to_text(), expected, "no prefix");
    }
    let error = bench.run("if").await.unwrap_err();
    assert!(error.message.starts_with("Exit code 2\n"), "{error}");
    let background = BashArgs {
        run_in_background: true,
        ..BashArgs::default()
    };
    let error = bench.args(background).await.unwrap_err();
    assert!(
        error.message.contains("run_in_background is not supported"),
        "{error}"
    );
}

/// The current directory follows `cd`, also when the command fails, but not out of a subshell.
#[tokio::test]
async fn the_directory_is_followed() {
    let bench = Bench::new();
    let project = bench.workspace.project().to_owned();
    std::fs::create_dir_all(bench.path("a b'c/d")).unwrap();
    bench.run("cd \"a b'c\"").await.unwrap();
    assert_eq!(bench.workspace.cwd(), project.join("a b'c"));
    bench.run("cd d; exit 1").await.unwrap_err();
    assert_eq!(bench.workspace.cwd(), project.join("a b'c/d"));
    bench.run("(cd /); true").await.unwrap();
    assert_eq!(
        bench.run("pwd").await.unwrap().stdout,
        project.join("a b'c/d").to_str().unwrap()
    );
    std::fs::remove_dir(bench.path("a b'c/d")).unwrap();
    let error = bench.run("pwd").await.unwrap_err();
    assert!(
        error
            .message
            .contains("is gone. The next command starts in"),
        "{error}"
    );
    assert_eq!(
        bench.run("pwd").await.unwrap().stdout,
        project.to_str().unwrap()
    );
}

/// Commands see the environment that session start asked for.
#[tokio::test]
async fn the_environment_is_extended() {
    let bench = Bench::new();
    bench
        .workspace
        .extend_env([("SEAMLINE_TEST".to_owned(), "two words".to_owned())]);
    assert_eq!(
        bench.run("echo \"$SEAMLINE_TEST\"").await.unwrap().stdout,
        "two words"
    );
}

/// When time is up the whole group ends, also those who ignore being asked to.
#[tokio::test]
async fn time_is_up() {
    let bench = Bench::new();
    let error = bench
        .limited(
            "trap '' TERM; (trap '' TERM; echo $BASHPID > child; sleep 600) & wait",
            300,
        )
        .await
        .unwrap_err();
    assert!(
        error
            .message
            .starts_with("The command timed out after 300 ms"),
        "{error}"
    );
    let child = std::fs::read_to_string(bench.path("child")).unwrap();
    until(|| !is_alive(&child)).await;
}

/// A cancelled command is ended with its children; what it had said is there.
#[tokio::test]
async fn cancelled() {
    let bench = Bench::new();
    let command = "echo said; sleep 600 & echo $! > child; mv child ready; wait";
    let ready = bench.path("ready");
    let cancel = async {
        until(|| ready.exists()).await;
        bench.signal.cancel();
    };
    let (value, ()) = tokio::join!(bench.run(command), cancel);
    let value = value.unwrap();
    assert_eq!((value.stdout.as_str(), value.interrupted), ("said", true));
    let child = std::fs::read_to_string(ready).unwrap();
    until(|| !is_alive(&child)).await;
}

/// What a command leaves in the background goes on, is not waited for, and is spoken of when it
/// holds the output.
#[tokio::test]
async fn background_work_is_left_alone() {
    let bench = Bench::new();
    let value = bench
        .run("sleep 600 & echo $! > child; echo said")
        .await
        .unwrap();
    assert_eq!(value.stdout, "said");
    assert!(
        value
            .stderr
            .contains("a background process still holds the output"),
        "{value:?}"
    );
    let child = std::fs::read_to_string(bench.path("child")).unwrap();
    assert!(is_alive(&child));
    let quiet = "kill $(cat child); sleep 600 >/dev/null 2>&1 & echo $! > child";
    assert_eq!(bench.run(quiet).await.unwrap().stderr, "");
    bench.run("kill $(cat child)").await.unwrap();
}

/// A call whose future is dropped leaves no process behind.
#[tokio::test]
async fn dropped() {
    let bench = Bench::new();
    let ready = bench.path("ready");
    let command = "sleep 600 & echo $! > child; mv child ready; wait";
    let race = async {
        tokio::select! {
            _ = bench.run(command) => panic!("it ended"),
            () = until(|| ready.exists()) => {}
        }
    };
    race.await;
    let child = std::fs::read_to_string(ready).unwrap();
    until(|| !is_alive(&child)).await;
}
