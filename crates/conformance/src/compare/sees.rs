//! Which strings of the hooks reached the model.

use serde_json::json;

use super::Mismatch;
use super::words::Words;
use crate::case::Expect;
use crate::observed::{Observed, Said};

/// A client's record of what the model saw does not always tell a subagent's model from its
/// parent's (Codex), so a text for a subagent may have been seen there.
pub(super) fn compare(expect: &Expect, seen: &Observed) -> Vec<Mismatch> {
    let apart = expect.sees_subagent.is_some();
    let maybe = seen.subagent.iter().flatten().filter(|_| !apart);
    let maybe = maybe.map(|said| Said {
        certain: false,
        ..said.clone()
    });
    let model = seen
        .model
        .clone()
        .map(|model| model.into_iter().chain(maybe).collect());
    let of_model = one("sees", expect.sees.as_ref(), model.as_ref(), seen);
    let subagent = seen.subagent.as_ref();
    let of_subagent = one(
        "sees_subagent",
        expect.sees_subagent.as_ref(),
        subagent,
        seen,
    );
    of_model.into_iter().chain(of_subagent).collect()
}

/// The expected strings occur in this order, and nothing else that a hook was told to say does.
fn one(
    key: &'static str,
    expected: Option<&Vec<String>>,
    told: Option<&Vec<Said>>,
    seen: &Observed,
) -> Option<Mismatch> {
    let (expected, told) = (expected?, told?);
    let more: Vec<String> = Words::sayings(seen)
        .into_iter()
        .filter(|text| certain_texts(told).any(|told| occurs(told, text.trim())))
        .filter(|text| {
            !expected
                .iter()
                .any(|k| k.contains(text.trim()) || text.contains(k.trim()))
        })
        .collect();
    if in_order(expected, told) && more.is_empty() {
        return None;
    }
    let told: Vec<&str> = told.iter().map(|said| said.text.as_str()).collect();
    Some(Mismatch::new(
        key,
        expected.clone(),
        json!({"told": told, "unexpected": more}),
    ))
}

fn certain_texts(told: &[Said]) -> impl Iterator<Item = &str> {
    told.iter()
        .filter(|said| said.certain)
        .map(|said| said.text.as_str())
}

/// Whether the strings occur, by their first occurrence in this order. Where a text came from
/// background its place says nothing.
fn in_order(expected: &[String], told: &[Said]) -> bool {
    let all: Vec<&str> = told.iter().map(|said| said.text.as_str()).collect();
    let all = all.join("\n\u{0}\n");
    let ordered = told.iter().all(|said| said.certain);
    let places: Option<Vec<usize>> = expected.iter().map(|text| all.find(text.trim())).collect();
    places.is_some_and(|places| !ordered || places.is_sorted())
}

/// Whether a saying stands in the text as words of their own.
fn occurs(all: &str, saying: &str) -> bool {
    let bounded = |place: usize| {
        let before = all.get(..place).and_then(|text| text.chars().next_back());
        let after = all
            .get(place + saying.len()..)
            .and_then(|text| text.chars().next());
        ![before, after]
            .into_iter()
            .flatten()
            .any(char::is_alphanumeric)
    };
    all.match_indices(saying).any(|(place, _)| bounded(place))
}
