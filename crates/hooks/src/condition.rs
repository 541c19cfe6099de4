//! A handler's `if`: one permission rule that the tool call must meet.

use std::path::Path;

use crate::payload::Payload;

/// A parsed condition.
pub struct Condition {
    written: String,
}

impl Condition {
    /// Reads a condition; `None` when it is not a rule.
    #[must_use]
    pub fn parse(written: &str) -> Option<Self> {
        Some(Self {
            written: written.to_owned(),
        })
    }

    /// Whether the call in `payload` meets it.
    ///
    /// # Errors
    /// When it does not: the words that say why.
    pub fn holds(
        &self,
        _payload: &Payload,
        _cwd: &Path,
        _project: &Path,
        _home: &Path,
    ) -> Result<(), String> {
        Err(format!(
            "conditions such as {} are not read yet",
            self.written
        ))
    }
}
