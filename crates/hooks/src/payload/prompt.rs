//! Facts of prompts.

use super::{Event, Facts};
use crate::dialect::DialectId;

/// Before a prompt enters the conversation.
#[derive(Debug, Clone)]
pub struct UserPromptSubmit<'a> {
    /// The prompt.
    pub prompt: &'a str,
}

impl Event for UserPromptSubmit<'_> {
    const NAME: &'static str = "UserPromptSubmit";

    fn facts(&self, _: DialectId, facts: &mut Facts) {
        facts.set("prompt", self.prompt);
    }
}
