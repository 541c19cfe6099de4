//! What the client does, and what the scripted model answers.

use regex::Regex;
use serde_json::Value;

use crate::case::CodexCase;

/// What the client does.
#[derive(Debug, PartialEq)]
pub(super) enum Act {
    /// A prompt, and what happens while it is answered.
    Turn { text: String, during: Vec<During> },
    /// The conversation is compacted.
    Compact,
    /// Another thread, with the source of its session.
    Thread(&'static str),
}

/// What the client does while a turn runs.
#[derive(Debug, PartialEq)]
pub(super) enum During {
    Interrupt,
    Steer(String),
}

pub(super) fn acts(case: &CodexCase) -> Result<Vec<Act>, String> {
    if case.steps.is_empty() {
        let turn = |text: &String| Act::Turn {
            text: text.clone(),
            during: Vec::new(),
        };
        return Ok(case.prompts.iter().map(turn).collect());
    }
    let mut acts = Vec::new();
    for step in &case.steps {
        let word = |n: usize| step.get(n).and_then(Value::as_str).unwrap_or("");
        let text = || {
            step.pointer("/2/input/0/text")
                .and_then(Value::as_str)
                .unwrap_or("")
        };
        match (word(0), word(1), acts.last_mut()) {
            ("sleep" | "wait", ..) => {}
            ("request", "turn/start", _) => {
                acts.push(Act::Turn {
                    text: text().to_owned(),
                    during: Vec::new(),
                });
            }
            ("request", "thread/compact/start", _) => acts.push(Act::Compact),
            ("request", "thread/start", _) => {
                let source = step
                    .pointer("/2/sessionStartSource")
                    .and_then(Value::as_str);
                let clear = source == Some("clear");
                acts.push(Act::Thread(if clear { "clear" } else { "startup" }));
            }
            ("request", "thread/resume", _) => acts.push(Act::Thread("resume")),
            ("request", "thread/fork", _) => acts.push(Act::Thread("fork")),
            ("request", "turn/interrupt", Some(Act::Turn { during, .. })) => {
                during.push(During::Interrupt);
            }
            ("request", "turn/steer", Some(Act::Turn { during, .. })) => {
                during.push(During::Steer(text().to_owned()));
            }
            (kind, what, _) => {
                return Err(format!("the runner does not know the step {kind} {what}"));
            }
        }
    }
    Ok(acts)
}

/// One turn of the scripted model: the first unused one that fits answers a request.
pub(super) struct ModelTurn {
    pub(super) items: Vec<Value>,
    fits: Option<Regex>,
    not: Option<Regex>,
    /// The request is answered with an error, or its stream is cut.
    pub(super) fails: bool,
    pub(super) used: bool,
}

impl ModelTurn {
    pub(super) fn new(turn: &Value) -> Result<Self, String> {
        let items = match (turn, turn.get("items")) {
            (Value::Array(items), _) | (_, Some(Value::Array(items))) => items.clone(),
            _ => vec![turn.clone()],
        };
        let pattern = |key: &str| match turn.get(key).and_then(Value::as_str) {
            Some(text) => Regex::new(text)
                .map(Some)
                .map_err(|e| format!("script.{key}: {e}")),
            None => Ok(None),
        };
        Ok(Self {
            items,
            fits: pattern("match")?,
            not: pattern("not_match")?,
            fails: turn.get("status").is_some() || turn.get("cut").is_some(),
            used: false,
        })
    }

    pub(super) fn answers(&self, sent: &str) -> bool {
        !self.used
            && self.fits.as_ref().is_none_or(|p| p.is_match(sent))
            && !self.not.as_ref().is_some_and(|p| p.is_match(sent))
    }
}

/// The last call of the script that polls a process.
pub(super) fn last_poll(case: &CodexCase) -> Option<String> {
    let turns = case
        .script
        .iter()
        .filter_map(|turn| ModelTurn::new(turn).ok());
    let items: Vec<Value> = turns.flat_map(|turn| turn.items).collect();
    let polls = items.iter().filter(|item| item["call"] == "write_stdin");
    polls
        .filter_map(|item| item["id"].as_str())
        .next_back()
        .map(str::to_owned)
}
