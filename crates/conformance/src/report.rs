//! The report of a run, for people and as JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use seamline_hooks::DialectId;
use serde_json::{Value, json};

use crate::case::CaseLevel;
use crate::play::{Played, Result};

/// A value longer than this is cut in the report for people.
const LONGEST_VALUE: usize = 600;

/// How many cases passed, of those that count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Score {
    /// Passed.
    pub passed: usize,
    /// Passed and failed.
    pub total: usize,
}

impl Score {
    fn add(&mut self, result: Result) {
        self.passed += usize::from(result == Result::Passed);
        self.total += usize::from(matches!(result, Result::Passed | Result::Failed));
    }
}

/// The score of all cases.
#[must_use]
pub fn score(played: &[Played]) -> Score {
    scores(played, |_| String::new())
        .into_values()
        .next()
        .unwrap_or_default()
}

/// Scores of the groups that `key` makes.
pub fn scores(played: &[Played], key: impl Fn(&Played) -> String) -> BTreeMap<String, Score> {
    let mut scores: BTreeMap<String, Score> = BTreeMap::new();
    for one in played {
        scores.entry(key(one)).or_default().add(one.result);
    }
    scores.retain(|_, score| score.total > 0);
    scores
}

/// `codex: P of T passed (D documented)`.
#[must_use]
pub fn last_line(dialect: DialectId, played: &[Played]) -> String {
    let Score { passed, total } = score(played);
    let documented = played
        .iter()
        .filter(|one| one.result == Result::Documented)
        .count();
    format!("{dialect}: {passed} of {total} passed ({documented} documented)")
}

/// Failures with expected and got, scores by event and by level, and the last line.
#[must_use]
pub fn text(dialect: DialectId, played: &[Played]) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    for one in played.iter().filter(|one| one.result == Result::Failed) {
        let _ = writeln!(
            out,
            "FAILED {} ({}, {})",
            one.id,
            one.event,
            one.level.as_str()
        );
        for at in &one.at {
            for problem in &at.problems {
                let name = format!("{} {}", at.level, problem.key);
                let _ = writeln!(out, "  {name}: expected {}", shown(&problem.expected));
                let _ = writeln!(
                    out,
                    "  {:1$}  got      {2}",
                    "",
                    name.len(),
                    shown(&problem.got)
                );
            }
        }
    }
    for (name, Score { passed, total }) in scores(played, |one| one.event.clone()) {
        let _ = writeln!(out, "{name:24} {passed:5} of {total}");
    }
    for (name, Score { passed, total }) in level_scores(played) {
        let _ = writeln!(out, "level {name:18} {passed:5} of {total}");
    }
    out.push_str(&held_back(played));
    let _ = writeln!(out, "{}", last_line(dialect, played));
    out
}

/// Scores of the levels: a case counts at each level at which it was played.
fn level_scores(played: &[Played]) -> BTreeMap<&'static str, Score> {
    let mut scores: BTreeMap<&'static str, Score> = BTreeMap::new();
    for at in played.iter().flat_map(|one| &one.at) {
        let passed = at.problems.is_empty();
        let result = if passed {
            Result::Passed
        } else {
            Result::Failed
        };
        scores.entry(at.level).or_default().add(result);
    }
    scores
}

/// How many turns were played at engine level only, and what they need.
fn held_back(played: &[Played]) -> String {
    let turns = played.iter().filter(|one| one.level == CaseLevel::Turn);
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for why in turns.filter_map(|one| one.held_back.as_deref()) {
        *reasons.entry(why).or_default() += 1;
    }
    let all: usize = reasons.values().sum();
    if all == 0 {
        return String::new();
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let reasons: Vec<_> = reasons
        .iter()
        .map(|(why, count)| format!("{why} {count}"))
        .collect();
    format!("{all} turns at engine level only: {}\n", reasons.join(", "))
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(LONGEST_VALUE) {
        Some((end, _)) => format!("{}… ({} bytes)", text.get(..end).unwrap_or(""), text.len()),
        None => text,
    }
}

/// One object with the scores and the result of each case.
#[must_use]
pub fn json(dialect: DialectId, played: &[Played]) -> Value {
    let table = |scores: BTreeMap<String, Score>| -> Value {
        let row =
            |(name, s): (String, Score)| (name, json!({"passed": s.passed, "total": s.total}));
        Value::Object(scores.into_iter().map(row).collect())
    };
    let Score { passed, total } = score(played);
    let cases: Vec<Value> = played.iter().map(case_json).collect();
    json!({
        "dialect": dialect.as_str(),
        "passed": passed,
        "total": total,
        "documented": played.iter().filter(|one| one.result == Result::Documented).count(),
        "events": table(scores(played, |one| one.event.clone())),
        "levels": table(level_scores(played).into_iter().map(|(k, s)| (k.to_owned(), s)).collect()),
        "cases": cases,
    })
}

fn case_json(one: &Played) -> Value {
    let problems: Vec<Value> = one
        .at
        .iter()
        .flat_map(|at| at.problems.iter().map(move |problem| (at.level, problem)))
        .map(|(level, p)| json!({"at": level, "key": p.key, "expected": p.expected, "got": p.got}))
        .collect();
    let played_at: Vec<&str> = one.at.iter().map(|at| at.level).collect();
    json!({"id": one.id, "event": one.event, "level": one.level.as_str(),
        "result": one.result.as_str(), "played_at": played_at, "needs": one.held_back,
        "problems": problems})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Mismatch;
    use crate::play::At;

    fn played(id: &str, result: Result) -> Played {
        let problem = Mismatch {
            key: "fires",
            expected: json!(["A"]),
            got: json!([]),
        };
        let problems = if result == Result::Failed {
            vec![problem]
        } else {
            Vec::new()
        };
        let at = match result {
            Result::Passed | Result::Failed => vec![At {
                level: "engine",
                problems,
            }],
            _ => Vec::new(),
        };
        Played {
            id: id.to_owned(),
            event: "Stop".to_owned(),
            level: CaseLevel::Turn,
            result,
            at,
            held_back: Some("tool Task".to_owned()),
        }
    }

    #[test]
    fn skipped_and_documented_cases_are_in_neither_number() {
        let all = [
            Result::Passed,
            Result::Failed,
            Result::Skipped,
            Result::Documented,
        ];
        let all: Vec<_> = all.into_iter().map(|result| played("x", result)).collect();
        assert_eq!(
            last_line(DialectId::Codex, &all),
            "codex: 1 of 2 passed (1 documented)"
        );
        let value = json(DialectId::Codex, &all);
        assert_eq!(value["events"]["Stop"], json!({"passed": 1, "total": 2}));
        assert_eq!(value["cases"][1]["problems"][0]["key"], "fires");
    }

    #[test]
    fn the_report_ends_with_the_last_line_and_shows_both_sides() {
        let text = text(DialectId::Claude, &[played("d-x", Result::Failed)]);
        assert!(text.contains("FAILED d-x (Stop, turn)"));
        assert!(text.contains("expected [\"A\"]") && text.contains("got      []"));
        assert!(text.contains("1 turns at engine level only: tool Task 1\n"));
        assert!(text.ends_with("claude: 0 of 1 passed (0 documented)\n"));
    }
}
