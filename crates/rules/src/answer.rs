//! What a rule says about a call, and who is asking.

use std::fmt;

/// Whether a rule covers a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    /// It does.
    Yes,
    /// It does not.
    No,
    /// It cannot be told: the command does not parse, or the part that matters is known only
    /// when it runs.
    Unknown,
}

/// What the rule is used for. The same text reads differently in the four places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reading {
    /// The `if` of a hook handler (measured on Claude Code 2.1.332).
    Condition,
    /// An entry of `permissions.deny` (documented).
    Deny,
    /// An entry of `permissions.ask` (documented).
    Ask,
    /// An entry of `permissions.allow` (documented).
    Allow,
}

impl Reading {
    /// True for the readings that stop or question a call.
    #[must_use]
    pub fn restricts(self) -> bool {
        matches!(self, Self::Deny | Self::Ask)
    }
}

/// An answer with the reason for it, in one line for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The answer.
    pub answer: Answer,
    /// Why, for example "`git push` fits `git *`".
    pub why: String,
}

impl Verdict {
    pub(crate) fn yes(why: impl Into<String>) -> Self {
        Self {
            answer: Answer::Yes,
            why: why.into(),
        }
    }

    pub(crate) fn no(why: impl Into<String>) -> Self {
        Self {
            answer: Answer::No,
            why: why.into(),
        }
    }

    pub(crate) fn unknown(why: impl Into<String>) -> Self {
        Self {
            answer: Answer::Unknown,
            why: why.into(),
        }
    }

    /// Whether the rule takes effect: `Yes` always does, `No` never, and `Unknown` takes effect
    /// wherever doing nothing would be the risk, that is everywhere but in an allow rule.
    #[must_use]
    pub fn acts(&self, reading: Reading) -> bool {
        match self.answer {
            Answer::Yes => true,
            Answer::No => false,
            Answer::Unknown => reading != Reading::Allow,
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Unknown => "unknown",
        })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.answer, self.why)
    }
}
