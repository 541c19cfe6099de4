//! Which strings of the hooks reached the model.

use serde_json::json;

use super::Mismatch;
use super::words::Words;
use crate::case::Expect;
use crate::observed::Observed;

pub(super) fn compare(expect: &Expect, seen: &Observed) -> Vec<Mismatch> {
    let of_model = one("sees", expect.sees.as_ref(), seen.model.as_ref(), seen);
    let subagent = seen.subagent.as_ref();
    let of_subagent = one("sees_subagent", expect.sees_subagent.as_ref(), subagent, seen);
    of_model.into_iter().chain(of_subagent).collect()
}

/// The expected strings occur in this order, and nothing else that a hook said does.
fn one(
    key: &'static str,
    expected: Option<&Vec<String>>,
    told: Option<&Vec<String>>,
    seen: &Observed,
) -> Option<Mismatch> {
    let (expected, told) = (expected?, told?);
    let all = told.join("\n\u{0}\n");
    let mut last = 0;
    let in_order = expected.iter().all(|text| {
        let place = all.find(text.trim());
        let fits = place.is_some_and(|place| place >= last);
        last = place.unwrap_or(last);
        fits
    });
    let known: Vec<&String> = expected.iter().collect();
    let more: Vec<String> = Words::sayings(&seen.emitted)
        .into_iter()
        .filter(|text| occurs(&all, text.trim()))
        .filter(|text| !known.iter().any(|k| k.contains(text.trim()) || text.contains(k.trim())))
        .collect();
    if in_order && more.is_empty() {
        return None;
    }
    Some(Mismatch::new(key, expected.clone(), json!({"told": told, "unexpected": more})))
}

/// Whether a saying stands in the text as words of their own.
fn occurs(all: &str, saying: &str) -> bool {
    let bounded = |place: usize| {
        let before = all.get(..place).and_then(|text| text.chars().next_back());
        let after = all.get(place + saying.len()..).and_then(|text| text.chars().next());
        ![before, after].into_iter().flatten().any(char::is_alphanumeric)
    };
    all.match_indices(saying).any(|(place, _)| bounded(place))
}
