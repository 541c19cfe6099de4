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
    let rules = Rules {
        dialect,
        words: Words::of(seen),
        sees: expect.sees.as_deref(),
    };
    match dialect {
        DialectId::Codex => complete(expected, seen, &rules),
        DialectId::Claude => among(expected, seen, &rules),
    }
}

struct Rules<'a> {
    dialect: DialectId,
    words: Words,
    sees: Option<&'a [String]>,
}

fn all(seen: &Observed) -> impl Iterator<Item = &SeenRun> {
    seen.rounds.iter().flat_map(|round| &round.runs)
}

fn complete(expected: &[ExpectedRun], seen: &Observed, rules: &Rules<'_>) -> Vec<Mismatch> {
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
            if !run.is_some_and(|run| rules.fits(want, run)) {
                found.push(Mismatch::new(
                    "runs",
                    wanted(want),
                    run.map_or(Value::Null, shown),
                ));
            }
        }
        found.extend(got.map(|run| Mismatch::new("runs", Value::Null, shown(run))));
    }
    found
}

fn among(expected: &[ExpectedRun], seen: &Observed, rules: &Rules<'_>) -> Vec<Mismatch> {
    let background: Vec<&String> = seen.rounds.iter().flat_map(|r| &r.background).collect();
    let mut found = Vec::new();
    // Runs of the same handler are matched in order, so each keeps its own place.
    let mut places: Vec<(&ExpectedRun, usize)> = Vec::new();
    for want in expected {
        if want
            .hook
            .as_ref()
            .is_some_and(|hook| background.contains(&hook))
        {
            continue;
        }
        let runs: Vec<&SeenRun> = all(seen).filter(|run| is_of(want, run)).collect();
        let same = |other: &ExpectedRun| other.hook == want.hook && other.event == want.event;
        let before = places.iter().rev().find(|(other, _)| same(other));
        let from = before.map_or(0, |(_, place)| place + 1);
        let place = runs.iter().skip(from).position(|run| rules.fits(want, run));
        match place {
            Some(place) => places.push((want, from + place)),
            None => {
                let rest = runs
                    .iter()
                    .skip(from)
                    .map(|run| shown(run))
                    .collect::<Vec<_>>();
                found.push(Mismatch::new("runs", wanted(want), rest));
            }
        }
    }
    found
}

fn is_of(want: &ExpectedRun, run: &SeenRun) -> bool {
    run.event == want.event
        && want
            .hook
            .as_ref()
            .is_none_or(|hook| run.names.contains(hook))
}

type Entry = (String, String);

impl Rules<'_> {
    fn fits(&self, want: &ExpectedRun, run: &SeenRun) -> bool {
        if !is_of(want, run) || !self.status_fits(want, run) {
            return false;
        }
        match self.dialect {
            DialectId::Codex => {
                let pairs = want.entries.iter().zip(&run.entries);
                want.entries.len() == run.entries.len()
                    && pairs
                        .into_iter()
                        .all(|(want, got)| self.entry_fits(want, got))
            }
            DialectId::Claude => self.same_set(want, run),
        }
    }

    /// The first decision about a permission ends the other hooks; whether one of them was done
    /// by then is a race.
    fn status_fits(&self, want: &ExpectedRun, run: &SeenRun) -> bool {
        let raced = self.dialect == DialectId::Claude
            && want.event == "PermissionRequest"
            && (want.status.as_str(), run.status.as_str()) == ("completed", "cancelled");
        want.status == run.status || raced && want.entries.is_empty()
    }

    fn same_set(&self, want: &ExpectedRun, run: &SeenRun) -> bool {
        let mut rest: Vec<&Entry> = run.entries.iter().collect();
        let all_there = want.entries.iter().all(|want| {
            let place = rest.iter().position(|got| self.entry_fits(want, got));
            place.map(|place| rest.swap_remove(place)).is_some()
        });
        all_there && (run.status != want.status || rest.iter().all(|got| self.is_unrecorded(got)))
    }

    fn entry_fits(&self, want: &(String, Option<String>), got: &Entry) -> bool {
        // A failure without words of the hook shows some of the client's.
        let wordless = want.0 == "error" && want.1.as_deref().is_some_and(|t| t.trim().is_empty());
        want.0 == got.0 && (wordless || self.words.agree(want.1.as_deref(), &got.1))
    }

    /// Claude's record has plain output as a context only when the model read it as it was: not
    /// when it was too long, or when the prompt was kept out.
    fn is_unrecorded(&self, got: &Entry) -> bool {
        let read = |sees: &[String]| sees.iter().any(|text| got.1.contains(text.trim()));
        got.0 == "context" && !self.sees.is_some_and(read)
    }
}

fn wanted(run: &ExpectedRun) -> Value {
    json!({"hook": run.hook, "event": run.event, "status": run.status, "entries": run.entries})
}

fn shown(run: &SeenRun) -> Value {
    json!({"hook": run.names.first(), "event": run.event, "status": run.status,
        "entries": run.entries})
}
