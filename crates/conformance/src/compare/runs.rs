//! How each run ended, and the texts it left.

use seamline_hooks::DialectId;
use serde_json::{Value, json};

use super::Mismatch;
use super::words::Words;
use crate::case::{Expect, ExpectedRun};
use crate::observed::{Observed, SeenRun};

/// In Codex the list is complete for each event that reports runs. In Claude a run whose outcome
/// could not be seen is missing, so the expected runs of a handler must be found among its runs
/// in order.
pub(super) fn compare(dialect: DialectId, expect: &Expect, seen: &Observed) -> Vec<Mismatch> {
    let Some(expected) = &expect.runs else {
        return Vec::new();
    };
    let words = Words::of(&seen.emitted);
    match dialect {
        DialectId::Codex => complete(expected, seen, &words),
        DialectId::Claude => among(expected, seen, &words),
    }
}

fn all(seen: &Observed) -> impl Iterator<Item = &SeenRun> {
    seen.rounds.iter().flat_map(|round| &round.runs)
}

fn complete(expected: &[ExpectedRun], seen: &Observed, words: &Words) -> Vec<Mismatch> {
    let reported = |run: &&SeenRun| run.event != "SessionEnd";
    let mut events: Vec<&str> = expected.iter().map(|run| run.event.as_str()).collect();
    events.extend(all(seen).filter(reported).map(|run| run.event.as_str()));
    events.sort_unstable();
    events.dedup();
    let mut found = Vec::new();
    for event in events {
        let mut got = all(seen).filter(|run| run.event == event);
        for want in expected.iter().filter(|run| run.event == event) {
            let run = got.next();
            if !run.is_some_and(|run| fits(want, run, words, true)) {
                found.push(Mismatch::new("runs", wanted(want), run.map_or(Value::Null, shown)));
            }
        }
        found.extend(got.map(|run| Mismatch::new("runs", Value::Null, shown(run))));
    }
    found
}

fn among(expected: &[ExpectedRun], seen: &Observed, words: &Words) -> Vec<Mismatch> {
    let background: Vec<&String> = seen.rounds.iter().flat_map(|r| &r.background).collect();
    let mut found = Vec::new();
    // Runs of the same handler are matched in order, so each keeps its own place.
    let mut places: Vec<(&ExpectedRun, usize)> = Vec::new();
    for want in expected {
        if want.hook.as_ref().is_some_and(|hook| background.contains(&hook)) {
            continue;
        }
        let runs: Vec<&SeenRun> = all(seen).filter(|run| is_of(want, run)).collect();
        let before = places.iter().rev().find(|(other, _)| {
            other.hook == want.hook && other.event == want.event
        });
        let from = before.map_or(0, |(_, place)| place + 1);
        let place = runs.iter().skip(from).position(|run| fits(want, run, words, false));
        match place {
            Some(place) => places.push((want, from + place)),
            None => {
                let rest = runs.iter().skip(from).map(|run| shown(run)).collect::<Vec<_>>();
                found.push(Mismatch::new("runs", wanted(want), rest));
            }
        }
    }
    found
}

fn is_of(want: &ExpectedRun, run: &SeenRun) -> bool {
    run.event == want.event && want.hook.as_ref().is_none_or(|hook| run.names.contains(hook))
}

fn fits(want: &ExpectedRun, run: &SeenRun, words: &Words, in_order: bool) -> bool {
    let fits = |(kind, text): &(String, Option<String>), got: &(String, String)| {
        *kind == got.0 && words.agree(text.as_deref(), &got.1)
    };
    if !is_of(want, run) || want.status != run.status || want.entries.len() != run.entries.len() {
        return false;
    }
    if in_order {
        return want.entries.iter().zip(&run.entries).all(|(want, got)| fits(want, got));
    }
    let mut rest: Vec<&(String, String)> = run.entries.iter().collect();
    want.entries.iter().all(|want| {
        let place = rest.iter().position(|got| fits(want, got));
        place.map(|place| rest.swap_remove(place)).is_some()
    })
}

fn wanted(run: &ExpectedRun) -> Value {
    json!({"hook": run.hook, "event": run.event, "status": run.status, "entries": run.entries})
}

fn shown(run: &SeenRun) -> Value {
    json!({"hook": run.names.first(), "event": run.event, "status": run.status,
        "entries": run.entries})
}
