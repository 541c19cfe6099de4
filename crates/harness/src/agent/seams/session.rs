//! The seams of a session: its beginning, its end, and what changes around it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use seamline_seams::{Context, Notice, Signal, Source};

use crate::facts::Facts;
use crate::session::event::StartSource;

/// `agent.session_start`: a process takes up a session.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SessionStartEvent {
    /// Where the session stands; no turn is open.
    pub facts: Arc<Facts>,
    /// Why it is taken up.
    pub source: StartSource,
    /// Cancelled when the wait for the contributors is, and when the agent closes.
    pub signal: Signal,
}

/// What a contributor gives a session on its way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionStartContribution {
    /// Text for the model, before the first prompt.
    pub contexts: Vec<Context>,
    /// Text for the user.
    pub notices: Vec<Notice>,
    /// A message the first turn opens with. The model answers it first; the prompt joins after that
    /// step.
    pub first_message: Option<FirstMessage>,
    /// A name for the session.
    pub title: Option<SessionName>,
    /// Environment of the commands that tools run from here on.
    pub environment: BTreeMap<String, String>,
}

/// A message a session opens with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstMessage {
    /// The text.
    pub text: String,
    /// Who wrote it.
    pub source: Source,
}

/// A name for a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionName {
    /// The name.
    pub title: String,
    /// Who gave it.
    pub source: Source,
}

/// `agent.session_end`: the agent is being closed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SessionEndEvent {
    /// Where the session stands; no turn is open.
    pub facts: Arc<Facts>,
    /// The reason the host gave, in its own words.
    pub reason: String,
}

/// `agent.changed`: something around the session changed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Changed {
    /// Where the session stands, after the change.
    pub facts: Arc<Facts>,
    /// What changed.
    pub change: Change,
    /// The turn's signal.
    pub signal: Signal,
}

/// A change of a session's surroundings.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// The current directory.
    Cwd {
        /// Where it was.
        old: PathBuf,
        /// Where it is.
        new: PathBuf,
    },
}
