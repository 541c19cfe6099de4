//! The `if` of a hook handler.

use std::path::PathBuf;

use crate::answer::{Answer, Reading, Verdict};
use crate::call::Call;
use crate::error::RuleError;
use crate::rule::Rule;

/// An `if` as written, which always has an answer.
///
/// Measured on Claude Code 2.1.332: the empty text always passes; a text that is not a rule never
/// does (and the client says nothing about it, so [`Condition::problem`] is there to be shown).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition(Kind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Always,
    Rule(Box<Rule>),
    Broken(RuleError),
}

impl Condition {
    /// Reads the text of an `if`.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        if text.is_empty() {
            return Self(Kind::Always);
        }
        Self(Rule::parse(text).map_or_else(Kind::Broken, |rule| Kind::Rule(Box::new(rule))))
    }

    /// Sets where `/path` patterns start; see [`Rule::rooted_at`].
    #[must_use]
    pub fn rooted_at(self, base: impl Into<PathBuf>) -> Self {
        match self.0 {
            Kind::Rule(rule) => Self(Kind::Rule(Box::new(rule.rooted_at(base)))),
            other => Self(other),
        }
    }

    /// What is wrong with the text, if it is not a rule.
    #[must_use]
    pub fn problem(&self) -> Option<&RuleError> {
        match &self.0 {
            Kind::Broken(error) => Some(error),
            _ => None,
        }
    }

    /// The rule, if the text is one.
    #[must_use]
    pub fn rule(&self) -> Option<&Rule> {
        match &self.0 {
            Kind::Rule(rule) => Some(rule),
            _ => None,
        }
    }

    /// What the condition says of a call.
    #[must_use]
    pub fn verdict(&self, call: &Call<'_>) -> Verdict {
        match &self.0 {
            Kind::Always => Verdict::yes("an empty condition always passes"),
            Kind::Rule(rule) => rule.verdict(Reading::Condition, call),
            Kind::Broken(error) => Verdict {
                answer: Answer::No,
                why: error.to_string(),
            },
        }
    }

    /// Whether the handler runs: for `Yes`, and for `Unknown` too.
    #[must_use]
    pub fn passes(&self, call: &Call<'_>) -> bool {
        self.verdict(call).acts(Reading::Condition)
    }
}
