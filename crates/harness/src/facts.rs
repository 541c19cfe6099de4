//! The facts that go with every moment someone may interfere in.

use std::path::PathBuf;

use uuid::Uuid;

use crate::permission::Mode;
use crate::session::SessionId;

/// Where a session stands at one moment. A snapshot: it does not change under its reader.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Facts {
    /// The session.
    pub session: SessionId,
    /// Its log file; `None` when it is ephemeral.
    pub log: Option<PathBuf>,
    /// The project directory, absolute. Fixed for a session.
    pub project: PathBuf,
    /// The current directory, absolute. Follows `cd` of the Bash tool.
    pub cwd: PathBuf,
    /// The permission mode in force.
    pub mode: Mode,
    /// The model's name.
    pub model: String,
    /// The open turn; `None` between turns.
    pub turn: Option<TurnFacts>,
}

/// The turn a moment belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnFacts {
    /// Its number in the log.
    pub number: u32,
    /// Its own id.
    pub id: Uuid,
    /// The step that was last opened in it; 0 before the first.
    pub step: u32,
}

impl Facts {
    /// The facts of a call that belongs to no agent: a fresh session id, no log, no turn.
    pub fn outside(project: impl Into<PathBuf>) -> Self {
        let project = project.into();
        Self {
            session: SessionId::new(),
            log: None,
            cwd: project.clone(),
            project,
            mode: Mode::Default,
            model: String::new(),
            turn: None,
        }
    }
}
