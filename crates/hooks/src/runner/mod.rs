//! Runs one process per command handler.
//!
//! A [`Spec`] says what to start, an [`Exec`] starts it, a [`Finished`] says what came of it. The
//! engine knows processes by these three only; [`Supervisor`] is the [`Exec`] that has real ones,
//! [`crate::testing::FakeExec`] one that has none.
//!
//! One run goes through four steps, and all of them share one time limit:
//!
//! ```text
//! wait for a start slot -> start (off the runtime's threads) -> feed, read, wait for the exit
//!                                                            -> drain what others still write
//! ```
//!
//! Three rules hold on every path:
//!
//! * **The unit is the process group.** Every process leads a group of its own. A timeout, a
//!   cancelled signal or a dropped future ends the group, not only the process that was started.
//! * **An end is not an end before it was seen.** Ending a group is repeated until the kernel says
//!   that nobody is left, and every process that was started is reaped.
//! * **What failed is data.** A program that does not exist, a folder that is gone, an input
//!   nobody read: each is a field of [`Finished`], never an error.
//!
//! What is deliberately absent: code that runs between fork and exec (`pre_exec`, user and group
//! ids). It would make the standard library copy our whole address space for each start, which
//! costs about 50 ms per GB of our own memory. A session of its own (`setsid`), which both clients
//! give their hooks, is not to be had without it, so hooks run in a process group instead.

mod exit_watch;
mod group;
mod launch;
mod run;
mod streams;
mod supervisor;

pub mod shell;

use std::ffi::OsString;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

pub use streams::OUTPUT_CAP;
pub use supervisor::{Supervisor, Swept};

/// What to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// Program and arguments; a program without a `/` is looked up in the `PATH` of `env`, a
    /// relative one is relative to `cwd`.
    pub argv: Vec<String>,
    /// Folder to run in.
    pub cwd: PathBuf,
    /// The whole environment of the child; nothing else is inherited. Of two entries with one name
    /// the later counts.
    pub env: Vec<(OsString, OsString)>,
    /// Standard input, newline included where the dialect has one.
    pub stdin: Arc<[u8]>,
    /// Time for start, input, output and exit together. Waiting for one of our own start slots is
    /// not counted. Any length is fine (Claude's own timer overflows at 99999999 s and cancels the
    /// hook at once).
    pub timeout: Duration,
    /// How it is ended.
    pub kill: KillLadder,
    /// How long to read output after the process itself has exited while someone else still holds
    /// the pipe; the clock restarts with each byte. The timeout still holds: when it comes first,
    /// the run timed out and what was left behind is ended (measured on Codex, which waits for the
    /// pipe to close up to the timeout and then drops the output).
    pub drain: Duration,
}

/// How a process group is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KillLadder {
    /// TERM first and KILL after this long; `None` sends KILL at once. A stopped process acts on
    /// TERM only when it goes on, so CONT follows the TERM.
    pub term_grace: Option<Duration>,
}

/// How the process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By a signal that was not ours.
    Signal(i32),
    /// It took longer than its timeout and was ended.
    TimedOut,
    /// Its firing was cancelled and it was ended.
    Cancelled,
    /// It could not be started; the words say why, with the program and the folder.
    SpawnFailed(String),
    /// It is a call to a tool of an MCP server ([`crate::mcp`]) that was not answered, or with an
    /// error; the words say why. One that was answered counts as code 0.
    CallFailed(String),
}

/// What came of it.
#[derive(Debug, Clone)]
pub struct Finished {
    /// How it ended.
    pub exit: Exit,
    /// What it wrote to standard output. Kept after a timeout too, for the trace; both clients
    /// ignore it then.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error.
    pub stderr: Vec<u8>,
    /// It wrote more than [`OUTPUT_CAP`] bytes to standard output, and the rest was read and
    /// dropped.
    pub stdout_truncated: bool,
    /// The same for standard error.
    pub stderr_truncated: bool,
    /// From the start to the end of its output.
    pub duration: Duration,
    /// The part of `duration` that the call which starts the process took. A slow one is our
    /// machine's fault, not the hook's.
    pub spawned_after: Duration,
    /// Bytes of standard input that it never took, whether it closed its end, exited or was
    /// ended.
    pub stdin_unread: usize,
    /// A process it left behind still held a pipe when the drain time was over.
    pub pipe_held: bool,
}

impl Finished {
    /// An end without output that took no time.
    #[must_use]
    pub fn new(exit: Exit) -> Self {
        Self {
            exit,
            stdout: Vec::new(),
            stderr: Vec::new(),
            stdout_truncated: false,
            stderr_truncated: false,
            duration: Duration::ZERO,
            spawned_after: Duration::ZERO,
            stdin_unread: 0,
            pipe_held: false,
        }
    }
}

/// A future that owns what it needs.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send + 'static>>;

/// Starts processes. The engine knows no other way.
pub trait Exec: Send + Sync + 'static {
    /// Runs one process to its end. When `signal` is cancelled or the future is dropped, the
    /// process and all of its group are ended.
    fn run(&self, spec: Spec, signal: CancellationToken) -> BoxFuture<Finished>;
}
