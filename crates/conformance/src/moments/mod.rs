//! The moments of a case at which hooks fire, and what each hook reads.
//!
//! A case says what the user typed and what the scripted model answered. From that, the moments
//! follow: a prompt is submitted, the model is asked, its calls are proposed and run, the turn is
//! about to end. Which of them come to pass depends on the hooks' answers, so a builder plays the
//! case against something that fires ([`Fire`]) and looks at each [`Verdict`]. It decides nothing
//! itself: a denied call is not run, a blocked stop is followed by another model turn, and that is
//! all it knows of outcomes.

mod claude;
mod codex;

use std::future::Future;

use seamline_hooks::{Decision, DialectId};
use serde_json::{Map, Value};

pub use claude::{ClaudeMoments, Group, groups};
pub use codex::{ModelTurn, walk};

/// One moment: an event and what hooks read.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// The event's name.
    pub event: String,
    /// The payload, its keys in order.
    pub payload: Map<String, Value>,
    /// The recorders that are known to have read it, when that is known.
    pub readers: Option<Vec<String>>,
}

impl Moment {
    /// A string field of the payload.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<&str> {
        self.payload.get(key)?.as_str()
    }
}

/// What the hooks of one moment said together, as far as the way of the turn depends on it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verdict {
    /// The decision.
    pub decision: Decision,
    /// Whether the run ends.
    pub halted: bool,
    /// The rewritten input.
    pub input: Option<Value>,
    /// Names of the hooks that fired, as `fires` names them.
    pub fired: Vec<String>,
}

impl Verdict {
    /// Whether the thing that was asked about must not happen.
    #[must_use]
    pub fn refuses(&self) -> bool {
        self.halted || matches!(self.decision, Decision::Deny | Decision::Block)
    }
}

/// Fires the hooks of a moment.
pub trait Fire: Send {
    /// Whether anything is configured for an event; other moments need not be built.
    fn listens(&self, event: &str) -> bool;

    /// The model is asked. Only builders that know when it is say so.
    fn requested(&mut self) {}

    /// Fires, and waits for the hooks that are waited for. The error says why the moment could
    /// not be played at all.
    fn fire(&mut self, moment: Moment) -> impl Future<Output = Result<Verdict, String>> + Send;
}

/// What became of a tool call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CallFate {
    /// The model's id for it.
    pub id: Option<String>,
    /// Name as hooks see it.
    pub name: String,
    /// Whether it ran; `None` when that was not settled by hooks.
    pub ran: Option<bool>,
    /// Whether it was denied; `None` when that was not settled by hooks.
    pub denied: Option<bool>,
    /// The input it ran with.
    pub input: Option<Value>,
    /// Names of the PreToolUse hooks that ran for it, when they are known.
    pub pre: Option<Vec<String>>,
}

/// What became of the prompts and calls of a case.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Walked {
    /// Whether each prompt entered.
    pub prompts: Vec<bool>,
    /// The calls, in the script's order.
    pub calls: Vec<CallFate>,
}

/// Puts `values` in the order of the event's payload. Keys without a value are left out when the
/// event's table says that they may be absent.
///
/// # Errors
/// Names an event that the dialect does not have, and a key that has no value.
fn in_order(
    dialect: DialectId,
    event: &str,
    values: &Map<String, Value>,
) -> Result<Moment, String> {
    let row = dialect
        .table()
        .event(event)
        .ok_or_else(|| format!("{dialect} has no {event}"))?;
    let mut payload = Map::new();
    for key in row.keys {
        let name = key.trim_end_matches('?');
        match values.get(name) {
            Some(value) => {
                payload.insert(name.to_owned(), value.clone());
            }
            None if key.ends_with('?') => {}
            None => return Err(format!("the runner has no value for {event}.{name}")),
        }
    }
    Ok(Moment {
        event: event.to_owned(),
        payload,
        readers: None,
    })
}
