//! Fires one event: selects handlers, runs them at once, reads their output, folds it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::config::Loaded;
use crate::handler::HandlerKey;
use crate::outcome::Outcome;
use crate::payload::Payload;
use crate::runner::Exec;
use crate::trace::Trace;
use crate::trust::TrustState;

/// What an engine is made of.
pub struct EngineParts {
    /// The configuration.
    pub loaded: Loaded,
    /// Trust per handler; a handler that is not named here is untrusted.
    pub trust: BTreeMap<HandlerKey, TrustState>,
    /// Starts the processes.
    pub exec: Arc<dyn Exec>,
    /// The environment every child starts from (the agent's own, usually).
    pub base_env: Vec<(OsString, OsString)>,
    /// The project root: `CLAUDE_PROJECT_DIR` and the anchor of `if` path rules.
    pub project: PathBuf,
    /// The user's home folder, anchor of `~/` in `if` path rules.
    pub home: PathBuf,
    /// Where outputs too long for the model are kept whole.
    pub spill_dir: PathBuf,
}

/// One dialect's hooks, ready to fire.
pub struct Engine {
    parts: EngineParts,
}

/// One event to fire.
#[derive(Debug, Clone)]
pub struct Firing {
    /// The event's name as the dialect spells it.
    pub event: &'static str,
    /// What every hook reads.
    pub payload: Payload,
    /// The folder hooks run in: the session's current one.
    pub cwd: PathBuf,
    /// Variables that belong to this firing (`CLAUDE_EFFORT`, `CLAUDE_ENV_FILE`, ...).
    pub env: Vec<(String, String)>,
    /// Ends the hooks of this firing.
    pub signal: CancellationToken,
}

/// What came of it.
#[derive(Debug, Clone)]
pub struct Fired {
    /// The merged outcome.
    pub outcome: Outcome,
    /// Every handler.
    pub trace: Trace,
}

impl Engine {
    /// Prepares the handlers: matchers are compiled, conditions parsed, duplicates found.
    #[must_use]
    pub fn new(parts: EngineParts) -> Self {
        Self { parts }
    }

    /// What was loaded.
    #[must_use]
    pub fn loaded(&self) -> &Loaded {
        &self.parts.loaded
    }
}
