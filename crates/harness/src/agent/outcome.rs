//! What a prompt came to.

use uuid::Uuid;

use crate::model::Usage;
use crate::session::event::{AbortCause, TurnEndReason};

/// How a turn ended, and with what.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TurnOutcome {
    /// The turn; `None` when the prompt was dropped before its turn opened.
    pub turn: Option<(u32, Uuid)>,
    /// How it ended.
    pub end: TurnEndReason,
    /// The texts of the model's last message that has any, as the user was shown them.
    pub text: Option<String>,
    /// Token counts of all requests of the turn, added up.
    pub usage: Usage,
    /// How many requests the turn made.
    pub requests: u32,
}

impl TurnOutcome {
    pub(super) fn dropped(cause: AbortCause) -> Self {
        Self {
            turn: None,
            end: TurnEndReason::Aborted { cause },
            text: None,
            usage: Usage::default(),
            requests: 0,
        }
    }
}
