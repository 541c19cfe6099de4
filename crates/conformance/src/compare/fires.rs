//! Which handlers ran.

use seamline_hooks::DialectId;
use serde_json::json;

use super::Mismatch;
use crate::case::Expect;
use crate::observed::Observed;

/// All of them together as a multiset, then round by round where names say their event.
pub(super) fn compare(dialect: DialectId, expect: &Expect, seen: &Observed) -> Option<Mismatch> {
    let expected = expect.fires.as_ref()?;
    let got: Vec<String> = match &seen.wrote {
        Some(words) => words.clone(),
        None => seen.rounds.iter().flat_map(|round| round.fired.clone()).collect(),
    };
    let differs = || Some(Mismatch::new("fires", expected.clone(), json!(got)));
    if sorted(expected) != sorted(&got) {
        return differs();
    }
    // What several hooks write at once comes in any order. Claude's names say no event; there,
    // each round was compared with the payloads when it was played.
    if seen.wrote.is_some() || dialect == DialectId::Claude {
        return None;
    }
    let events: Vec<&str> = seen.rounds.iter().map(|round| round.event.as_str()).collect();
    if events.iter().all(|event| rounds_agree(event, expected, seen)) { None } else { differs() }
}

/// Whether the rounds of one event had the expected handlers, each round as a set.
fn rounds_agree(event: &str, expected: &[String], seen: &Observed) -> bool {
    let of_event = |name: &&String| name.split('/').next() == Some(event);
    let mut expected = expected.iter().filter(of_event);
    let mut rounds = seen.rounds.iter().filter(|round| round.event == event);
    rounds.all(|round| {
        let part: Vec<String> = expected.by_ref().take(round.fired.len()).cloned().collect();
        sorted(&part) == sorted(&round.fired)
    })
}

fn sorted(names: &[String]) -> Vec<&String> {
    let mut names: Vec<&String> = names.iter().collect();
    names.sort();
    names
}
