//! Compares what was seen with what a case expects, key by key, where the key is there.
//!
//! * Texts that come from a hook are compared character for character. Texts of the client's own
//!   (failures, warnings) are compared by their kind: there must be one, the wording is ours.
//!   A text is a hook's own when a hook of the case put it out, see `words`.
//! * Hooks of one round start at once, so a round is compared as a set.
//! * What a level cannot see is not compared.

mod fires;
mod runs;
mod sees;
mod tools;
mod words;

use seamline_hooks::DialectId;
use serde_json::{Map, Value, json};

use crate::case::Expect;
use crate::observed::Observed;

/// One difference.
#[derive(Debug, Clone, PartialEq)]
pub struct Mismatch {
    /// The key of `expect`, or `play` when the case could not be played as it should.
    pub key: &'static str,
    /// What the case expects.
    pub expected: Value,
    /// What was seen.
    pub got: Value,
}

impl Mismatch {
    fn new(key: &'static str, expected: impl Into<Value>, got: impl Into<Value>) -> Self {
        Self {
            key,
            expected: expected.into(),
            got: got.into(),
        }
    }
}

/// Compares. The order of the differences is the order of the keys in the description.
#[must_use]
pub fn compare(dialect: DialectId, expect: &Expect, seen: &Observed) -> Vec<Mismatch> {
    let expect = &expect.filled(&seen.names);
    let mut found: Vec<Mismatch> = Vec::new();
    let complaints = seen.complaints.iter();
    found.extend(complaints.map(|what| Mismatch::new("play", Value::Null, what.as_str())));
    found.extend(fires::compare(dialect, expect, seen));
    found.extend(runs::compare(dialect, expect, seen));
    found.extend(tools::compare(dialect, expect, seen));
    found.extend(prompts(expect, seen));
    found.extend(turns(expect, seen));
    found.extend(numbers(expect, seen));
    found.extend(sees::compare(expect, seen));
    found.extend(lists(expect, seen));
    found
}

fn word(entered: bool) -> &'static str {
    if entered { "entered" } else { "rejected" }
}

fn prompts(expect: &Expect, seen: &Observed) -> Vec<Mismatch> {
    let got: Vec<&str> = seen.prompts.iter().map(|entered| word(*entered)).collect();
    let mut found = Vec::new();
    if let (Some(first), Some(expected)) = (got.first(), &expect.prompt)
        && first != expected
    {
        found.push(Mismatch::new("prompt", expected.as_str(), *first));
    }
    if let Some(expected) = expect.prompts.as_ref().filter(|_| !got.is_empty())
        && got != *expected
    {
        found.push(Mismatch::new("prompts", expected.clone(), json!(got)));
    }
    found
}

fn turns(expect: &Expect, seen: &Observed) -> Vec<Mismatch> {
    let mut found = Vec::new();
    // An error of the model is no outcome of a hook.
    let expected = expect.turn.as_deref().filter(|turn| *turn != "error");
    if let (Some(expected), Some(got)) = (expected, seen.turn)
        && expected != got
    {
        found.push(Mismatch::new("turn", expected, got));
    }
    if let (Some(expected), Some(got)) = (&expect.turns, &seen.turns)
        && expected != got
    {
        found.push(Mismatch::new("turns", expected.clone(), json!(got)));
    }
    found
}

fn numbers(expect: &Expect, seen: &Observed) -> Vec<Mismatch> {
    let pairs = [
        ("model_requests", expect.model_requests, seen.model_requests),
        (
            "approvals_asked",
            expect.approvals_asked,
            seen.approvals_asked,
        ),
        (
            "discovery_warnings",
            expect.discovery_warnings,
            seen.warnings,
        ),
    ];
    let both = pairs
        .into_iter()
        .filter_map(|(key, expected, got)| Some((key, expected?, got?)));
    both.filter(|(_, expected, got)| expected != got)
        .map(|(key, expected, got)| Mismatch::new(key, expected, got))
        .collect()
}

/// What discovery lists: entry by entry, and of each entry the keys that are expected.
fn lists(expect: &Expect, seen: &Observed) -> Vec<Mismatch> {
    let (Some(expected), Some(got)) = (&expect.discovers, &seen.listed) else {
        return Vec::new();
    };
    let same = |(expected, got): (&Map<String, Value>, &Map<String, Value>)| {
        expected
            .iter()
            .all(|(key, value)| got.get(key) == Some(value))
    };
    if expected.len() == got.len() && expected.iter().zip(got).all(same) {
        return Vec::new();
    }
    vec![Mismatch::new("discovers", json!(expected), json!(got))]
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
