//! Finds and reads hook configurations.
//!
//! [`load`] reads every layer of one dialect below explicit [`Roots`], so that no test touches
//! the real home folder. It never fails: what could not be read is a [`Diagnostic`], what stays in
//! force is a list of handlers in run order. Refusing to start on a broken file is the command's
//! policy, not the loader's.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::diagnostic::Diagnostic;
use crate::dialect::DialectId;
use crate::handler::{Handler, HandlerKey, Layer};

/// Where the layers live.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots {
    /// The user's home folder (`~/.claude/settings.json`).
    pub home: PathBuf,
    /// Codex's home (`$CODEX_HOME`, by default `~/.codex`).
    pub codex_home: PathBuf,
    /// The session's start folder; Claude's project layer lives here and only here.
    pub project: PathBuf,
    /// A file that replaces discovery (`--hooks-config`), never managed layers.
    pub explicit: Option<PathBuf>,
}

impl Roots {
    /// The usual places below a home folder and a project folder.
    #[must_use]
    pub fn new(home: impl Into<PathBuf>, project: impl Into<PathBuf>) -> Self {
        let home = home.into();
        Self {
            codex_home: home.join(".codex"),
            home,
            project: project.into(),
            explicit: None,
        }
    }
}

/// What became of one file that was looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileState {
    /// Not there; nothing is wrong with that.
    Absent,
    /// Read, all of it or the part that stays in force.
    Loaded,
    /// The real client would drop the whole file, and so did we.
    Broken,
}

/// One file that was looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFile {
    /// Its path.
    pub path: PathBuf,
    /// Its layer.
    pub layer: Layer,
    /// What became of it.
    pub state: FileState,
}

/// One entry of Codex's own `[hooks.state]`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CodexState {
    /// `trusted_hash`, as written.
    pub trusted_hash: Option<String>,
    /// `enabled`.
    pub enabled: Option<bool>,
}

/// Everything that was read for one dialect.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The dialect.
    pub dialect: DialectId,
    /// Handlers in run order.
    pub handlers: Vec<Handler>,
    /// Findings, in reading order.
    pub diagnostics: Vec<Diagnostic>,
    /// Files that were looked for.
    pub files: Vec<ConfigFile>,
    /// Claude's settings `env`, nearest layer last applied.
    pub env: BTreeMap<String, String>,
    /// Codex's trust entries from the user's own configuration.
    pub codex_state: BTreeMap<HandlerKey, CodexState>,
}

impl Loaded {
    /// Whether any file of this dialect is there, broken ones included.
    #[must_use]
    pub fn any_file(&self) -> bool {
        self.files.iter().any(|f| f.state != FileState::Absent)
    }
}
