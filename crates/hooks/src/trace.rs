//! What every configured handler did at one firing, or why it did nothing.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::handler::Handler;
use crate::outcome::Decision;
use crate::runner::Exit;

/// How a run ended, in the words both clients use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunStatus {
    /// It ran and objected to nothing.
    Completed,
    /// It blocked or denied.
    Blocked,
    /// It failed: bad exit code, bad output, timeout of Codex.
    Failed,
    /// It asked to end the run.
    Stopped,
    /// It was ended from outside: timeout of Claude, a cancelled turn, a disposed engine.
    Cancelled,
}

impl RunStatus {
    /// The word in lists and JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Blocked => "blocked",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What kind of text a run left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// The hook's `systemMessage`.
    Warning,
    /// The hook's `stopReason`.
    Stop,
    /// A reason for the model.
    Feedback,
    /// Context for the model.
    Context,
    /// What went wrong with the run.
    Error,
}

impl EntryKind {
    /// The word in lists and JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Stop => "stop",
            Self::Feedback => "feedback",
            Self::Context => "context",
            Self::Error => "error",
        }
    }
}

/// One text of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its kind.
    pub kind: EntryKind,
    /// Its words.
    pub text: String,
}

/// A remark that helps the author of the hook; stable `code`s are for `--json` and tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Kebab-case name: `exit-1-does-not-block`, `stdin-not-read`, `decision-lost`, ...
    pub code: &'static str,
    /// The remark.
    pub text: String,
}

/// One handler that ran.
#[derive(Debug, Clone)]
pub struct Run {
    /// The handler.
    pub handler: Arc<Handler>,
    /// How it ended.
    pub status: RunStatus,
    /// What it decided by itself, before the others were heard.
    pub decision: Decision,
    /// How the process ended.
    pub exit: Exit,
    /// Its texts, in the order the protocol reports them.
    pub entries: Vec<Entry>,
    /// Remarks.
    pub notes: Vec<Note>,
    /// Wall time from start to the end of its output.
    pub duration: Duration,
    /// Its place among the runs of this firing by time of completion, from 0.
    pub finished: usize,
    /// Bytes of standard output, kept for `--debug-hooks`.
    pub stdout: Vec<u8>,
    /// Bytes of standard error.
    pub stderr: Vec<u8>,
    /// Program and arguments as started.
    pub argv: Vec<String>,
    /// Folder it ran in.
    pub cwd: PathBuf,
}

impl Run {
    /// The exit code, if the process ended by itself.
    #[must_use]
    pub fn exit_code(&self) -> Option<i32> {
        match self.exit {
            Exit::Code(code) => Some(code),
            _ => None,
        }
    }
}

/// Why a handler did not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SkipReason {
    /// It belongs to another event.
    Event,
    /// Its matcher does not fit.
    Matcher,
    /// Its matcher is not a valid pattern, and so never fits.
    InvalidMatcher,
    /// Its `if` condition does not hold.
    Condition,
    /// Its content is not trusted, or was changed since.
    Trust,
    /// Another handler with the same command runs in its place.
    Duplicate,
    /// Handlers of this type do not run here.
    Type,
    /// A setting turns it off.
    Disabled,
}

impl SkipReason {
    /// The word in lists and JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Matcher => "matcher",
            Self::InvalidMatcher => "invalid-matcher",
            Self::Condition => "condition",
            Self::Trust => "trust",
            Self::Duplicate => "duplicate",
            Self::Type => "type",
            Self::Disabled => "disabled",
        }
    }
}

/// One handler that did not run.
#[derive(Debug, Clone)]
pub struct Skip {
    /// The handler.
    pub handler: Arc<Handler>,
    /// Why, as a word.
    pub reason: SkipReason,
    /// Why, in full: the values that were compared.
    pub detail: String,
}

/// Every configured handler at one firing.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    /// Those that ran, in configured order.
    pub runs: Vec<Run>,
    /// Those that did not, in configured order.
    pub skipped: Vec<Skip>,
    /// Handlers in background, started and not awaited, in configured order.
    pub started: Vec<Arc<Handler>>,
}
