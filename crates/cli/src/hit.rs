//! What came of one firing, as commands show it.

use std::path::PathBuf;

use seamline_hooks::engine::BackgroundRun;
use seamline_hooks::payload::Payload;
use seamline_hooks::{DialectId, Fired};

/// One event, fired.
pub(crate) struct Hit {
    /// The protocol.
    pub dialect: DialectId,
    /// The event.
    pub event: &'static str,
    /// What the hooks read.
    pub payload: Payload,
    /// The outcome and the trace.
    pub fired: Fired,
    /// Hooks in background, once they have ended.
    pub background: Vec<BackgroundRun>,
    /// What hooks left in `CLAUDE_ENV_FILE`.
    pub environment: Option<String>,
    /// Where configuration was looked for, when there is none.
    pub looked_in: Vec<PathBuf>,
    /// Ctrl-C ended it.
    pub interrupted: bool,
}
