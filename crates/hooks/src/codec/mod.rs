//! Reads what a hook left behind: exit code, standard output, standard error.
//!
//! The two dialects read differently enough to deserve a file each: Codex refuses everything it
//! does not know and then goes on as if the hook had said nothing, Claude takes what fits. A third
//! file is for the profile `seeds`. All follow the event's row and both end in one [`Reading`]: how the run counts, the texts it left,
//! and what it wants to happen. Nothing is lost in silence: where an output that meant to decide
//! is dropped for a formality, the reading has a note that says so.

mod claude;
mod codex;
mod json;
mod lenient;

use std::sync::Arc;

use serde_json::value::RawValue;

use crate::dialect::{EventRow, OutputStyle};
use crate::handler::Handler;
use crate::outcome::Decision;
use crate::runner::{Exit, Finished};
use crate::spill::SpillFolder;
use crate::trace::{Entry, EntryKind, Note, RunStatus};

/// What one run wants to happen.
#[derive(Debug, Clone, Default)]
pub struct Effect {
    /// Its decision.
    pub decision: Decision,
    /// The words that go with it.
    pub reason: Option<String>,
    /// The rewritten input.
    pub input: Option<Arc<RawValue>>,
    /// Contexts for the model.
    pub contexts: Vec<String>,
    /// A message for the user.
    pub message: Option<String>,
    /// The run shall end, with these words for the user.
    pub halt: Option<Option<String>>,
    /// Codex PostToolUse: stands in for the tool's output.
    pub replaces_output: Option<String>,
    /// Fields of single events.
    pub fields: Fields,
}

/// Effects that only some events have; each as the hook wrote it.
#[derive(Debug, Clone, Default)]
pub struct Fields {
    /// `updatedToolOutput`.
    pub tool_output: Option<Arc<RawValue>>,
    /// `updatedMCPToolOutput`.
    pub mcp_output: Option<Arc<RawValue>>,
    /// `updatedPermissions` of a PermissionRequest decision.
    pub permission_updates: Option<Arc<RawValue>>,
    /// `interrupt` of a PermissionRequest decision.
    pub interrupt: bool,
    /// `initialUserMessage`.
    pub initial_user_message: Option<String>,
    /// `sessionTitle`.
    pub session_title: Option<String>,
    /// `watchPaths`.
    pub watch_paths: Vec<String>,
    /// `suppressOriginalPrompt`.
    pub suppress_original_prompt: bool,
    /// `retry`.
    pub retry: bool,
    /// `displayContent`.
    pub display: Option<String>,
    /// `action` and `content`.
    pub elicitation: Option<(String, Option<Arc<RawValue>>)>,
    /// The path a worktree hook printed.
    pub worktree_path: Option<String>,
    /// Compaction instructions a hook printed.
    pub instructions: Option<String>,
}

/// One run, read.
#[derive(Debug, Clone)]
pub struct Reading {
    /// How it counts.
    pub status: RunStatus,
    /// The texts it left.
    pub entries: Vec<Entry>,
    /// Remarks for its author.
    pub notes: Vec<Note>,
    /// What it wants.
    pub effect: Effect,
}

impl Reading {
    fn new(status: RunStatus) -> Self {
        Self {
            status,
            entries: Vec::new(),
            notes: Vec::new(),
            effect: Effect::default(),
        }
    }

    fn failed(text: impl Into<String>) -> Self {
        let mut reading = Self::new(RunStatus::Failed);
        reading.entry(EntryKind::Error, text);
        reading
    }

    fn entry(&mut self, kind: EntryKind, text: impl Into<String>) {
        self.entries.push(Entry {
            kind,
            text: text.into(),
        });
    }

    fn note(&mut self, code: &'static str, text: impl Into<String>) {
        self.notes.push(Note {
            code,
            text: text.into(),
        });
    }

    /// Says so where an output that is read as plain text wanted to decide something.
    fn note_plain_decision(&mut self, text: &str) {
        if means_to_decide(text) {
            self.note(
                "decision-lost",
                "the output reads like a decision but is not one JSON object on its own: it is \
                 taken as plain text and decides nothing",
            );
        }
    }
}

/// Reads one finished run of `handler` at the event of `row`.
#[must_use]
pub fn read(
    row: &EventRow,
    handler: &Handler,
    finished: &Finished,
    spill: &SpillFolder,
) -> Reading {
    let stdout = String::from_utf8_lossy(&finished.stdout);
    let stderr = String::from_utf8_lossy(&finished.stderr);
    let run = Output {
        row,
        handler,
        exit: &finished.exit,
        stdout: &stdout,
        stderr: &stderr,
        spill,
    };
    let mut reading = match handler.table().output {
        OutputStyle::Claude => claude::read(&run),
        OutputStyle::Codex => codex::read(&run),
        OutputStyle::Lenient => lenient::read(&run),
    };
    remark(&run, finished, &mut reading);
    reading
}

/// Everything a codec looks at.
struct Output<'a> {
    row: &'a EventRow,
    handler: &'a Handler,
    exit: &'a Exit,
    stdout: &'a str,
    stderr: &'a str,
    spill: &'a SpillFolder,
}

impl Output<'_> {
    /// Why the process has no exit code, in our words.
    fn abnormal_exit(&self, timeout: &str) -> Option<String> {
        match self.exit {
            Exit::Code(_) => None,
            Exit::Signal(n) => Some(format!("hook was killed by signal {n}")),
            Exit::TimedOut => Some(format!("hook timed out after {timeout}")),
            Exit::Cancelled => Some("hook was cancelled".to_owned()),
            Exit::SpawnFailed(why) => Some(format!("hook could not be started: {why}")),
            Exit::CallFailed(why) => Some(why.clone()),
        }
    }

    fn timeout_text(&self) -> String {
        format!("{}s", self.handler.time_limit().as_secs_f64())
    }
}

/// Remarks that do not depend on the dialect.
fn remark(run: &Output<'_>, finished: &Finished, reading: &mut Reading) {
    let gate = !matches!(
        run.row.exit2,
        crate::dialect::Refusal::Nothing | crate::dialect::Refusal::Recorded
    );
    if gate && *run.exit == Exit::Code(1) && reading.effect.decision == Decision::None {
        reading.note(
            "exit-1-does-not-block",
            "exit code 1 does not block; to block, exit with 2 and write the reason to stderr",
        );
    }
    if finished.stdin_unread > 0 {
        let unread = finished.stdin_unread;
        reading.note(
            "stdin-not-read",
            format!("the hook left {unread} bytes of its standard input unread"),
        );
    }
    if finished.pipe_held {
        reading.note(
            "pipe-held",
            "a process that the hook left behind still holds its output; what it writes is lost",
        );
    }
    if reading.status == RunStatus::Failed && means_to_decide(run.stdout) {
        reading.note(
            "decision-lost",
            "the output reads like a decision, and it was lost to a formality: it has no effect",
        );
    }
}

/// Whether an output that was not honoured looks as if it wanted to decide something.
fn means_to_decide(stdout: &str) -> bool {
    const WORDS: [&str; 5] = [
        "\"decision\"",
        "\"permissionDecision\"",
        "\"updatedInput\"",
        "\"block\"",
        "\"deny\"",
    ];
    WORDS.iter().any(|word| stdout.contains(word))
        || stdout.contains("\"continue\"") && stdout.contains("false")
}
