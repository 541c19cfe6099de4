//! Facts of sessions.

use super::{Event, Facts};
use crate::dialect::DialectId;

/// A session starts.
#[derive(Debug, Clone)]
pub struct SessionStart<'a> {
    /// `startup`, `resume`, `clear`, `compact` or `fork`.
    pub source: &'a str,
}

impl Event for SessionStart<'_> {
    const NAME: &'static str = "SessionStart";

    fn facts(&self, _: DialectId, facts: &mut Facts) {
        facts.set("source", self.source);
    }
}

/// A session ends.
#[derive(Debug, Clone)]
pub struct SessionEnd<'a> {
    /// Claude: `clear`, `resume`, `logout`, `prompt_input_exit` or `other`. Codex: always `other`.
    pub reason: &'a str,
}

impl Event for SessionEnd<'_> {
    const NAME: &'static str = "SessionEnd";

    fn facts(&self, _: DialectId, facts: &mut Facts) {
        facts.set("reason", self.reason);
    }
}
