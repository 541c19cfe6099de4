//! The permission modes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How much is allowed without asking. The names are Claude Code's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// Reading inside the project is free; edits and commands are asked for.
    #[default]
    Default,
    /// As `default`, but edits inside the project are free too.
    AcceptEdits,
    /// Nothing with side effects runs.
    Plan,
    /// As `default`, but what would be asked is denied.
    DontAsk,
    /// Everything is free, except what a rule, a guard or a policy denies or asks for.
    BypassPermissions,
}

impl Mode {
    /// All modes, in the order of the documentation.
    pub const ALL: [Self; 5] = [
        Self::Default,
        Self::AcceptEdits,
        Self::Plan,
        Self::DontAsk,
        Self::BypassPermissions,
    ];

    /// The mode's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::Plan => "plan",
            Self::DontAsk => "dontAsk",
            Self::BypassPermissions => "bypassPermissions",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that is no permission mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no permission mode; use default, acceptEdits, plan, dontAsk or bypassPermissions"
)]
pub struct UnknownMode(pub String);

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|mode| mode.as_str() == word);
        found.ok_or_else(|| UnknownMode(word.to_owned()))
    }
}
