//! Runs one process per command handler.

pub mod shell;

use std::ffi::OsString;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// What to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// Program and arguments; the first is looked up in `PATH` or relative to `cwd`.
    pub argv: Vec<String>,
    /// Folder to run in.
    pub cwd: PathBuf,
    /// The whole environment of the child; nothing else is inherited.
    pub env: Vec<(OsString, OsString)>,
    /// Standard input, newline included where the dialect has one.
    pub stdin: Arc<[u8]>,
    /// Time for start, input, output and exit together.
    pub timeout: Duration,
    /// How it is ended.
    pub kill: KillLadder,
    /// How long to read output after the process itself has exited while someone else still holds
    /// the pipe; the clock restarts with each byte.
    pub drain: Duration,
}

/// How a process group is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KillLadder {
    /// TERM first and KILL after this long; `None` sends KILL at once.
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
    /// It could not be started; the words say why.
    SpawnFailed(String),
}

/// What came of it.
#[derive(Debug, Clone)]
pub struct Finished {
    /// How it ended.
    pub exit: Exit,
    /// What it wrote to standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error.
    pub stderr: Vec<u8>,
    /// From the start to the end of its output.
    pub duration: Duration,
    /// Bytes of standard input that it never took.
    pub stdin_unread: usize,
    /// A process it left behind still held a pipe when the drain time was over.
    pub pipe_held: bool,
}

/// A future that owns what it needs.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send + 'static>>;

/// Starts processes. The engine knows no other way.
pub trait Exec: Send + Sync + 'static {
    /// Runs one process to its end. When `signal` is cancelled or the future is dropped, the
    /// process and all of its group are ended.
    fn run(&self, spec: Spec, signal: CancellationToken) -> BoxFuture<Finished>;
}
