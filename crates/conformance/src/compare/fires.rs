//! Which handlers ran.

use seamline_hooks::DialectId;
use serde_json::json;

use super::Mismatch;
use crate::case::Expect;
use crate::observed::Observed;

/// All of them together as a multiset, then round by round where names say their event.
///
/// A Codex row with more runs than fires lists only the handlers that left a word; then those
/// must be among the ones that ran.
pub(super) fn compare(dialect: DialectId, expect: &Expect, seen: &Observed) -> Option<Mismatch> {
    let expected = expect.fires.as_ref()?;
    let got: Vec<String> = match &seen.wrote {
        Some(words) => words.clone(),
        None => seen
            .rounds
            .iter()
            .flat_map(|round| round.fired.clone())
            .collect(),
    };
    let partial = expect
        .runs
        .as_ref()
        .is_some_and(|runs| runs.len() > expected.len());
    let partial = partial && dialect == DialectId::Codex && seen.wrote.is_none();
    let missing = beyond(&got, expected);
    let extra = beyond(expected, &got);
    if !missing.is_empty() || !extra.is_empty() && !partial {
        let got = json!({"missing": missing, "unexpected": extra, "all": got});
        return Some(Mismatch::new("fires", expected.clone(), got));
    }
    // What several hooks write at once comes in any order. Claude's names say no event; there,
    // each round was compared with the payloads when it was played.
    if seen.wrote.is_some() || partial || dialect == DialectId::Claude {
        return None;
    }
    let mut events = seen.rounds.iter().map(|round| round.event.as_str());
    let agree = events.all(|event| rounds_agree(event, expected, seen));
    (!agree).then(|| Mismatch::new("fires", expected.clone(), json!({"all": got})))
}

/// Whether the rounds of one event had the expected handlers, each round as a set.
fn rounds_agree(event: &str, expected: &[String], seen: &Observed) -> bool {
    let of_event = |name: &&String| name.split('/').next() == Some(event);
    let mut expected = expected.iter().filter(of_event);
    let mut rounds = seen.rounds.iter().filter(|round| round.event == event);
    rounds.all(|round| {
        let part: Vec<String> = expected.by_ref().take(round.fired.len()).cloned().collect();
        beyond(&part, &round.fired).is_empty() && part.len() == round.fired.len()
    })
}

/// What is in `all` beyond `known`, each name counted.
fn beyond(known: &[String], all: &[String]) -> Vec<String> {
    let mut known: Vec<&String> = known.iter().collect();
    let mut rest = Vec::new();
    for name in all {
        match known.iter().position(|k| *k == name) {
            Some(place) => {
                known.swap_remove(place);
            }
            None => rest.push(name.clone()),
        }
    }
    rest
}
