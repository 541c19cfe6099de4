//! The report of a run, for people and as JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use seamline_hooks::DialectId;
use serde_json::{Value, json};

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
    for one in played.iter().filter(|one| one.result == Result::Failed) {
        // Writing to a string does not fail.
        let _ = writeln!(
            out,
            "FAILED {} ({}, {})",
            one.id,
            one.event,
            one.level.as_str()
        );
        for problem in &one.problems {
            let _ = writeln!(
                out,
                "  {}: expected {}",
                problem.key,
                shown(&problem.expected)
            );
            let _ = writeln!(
                out,
                "  {:1$}  got      {2}",
                "",
                problem.key.len(),
                shown(&problem.got)
            );
        }
    }
    let by_event = scores(played, |one| one.event.clone());
    let by_level = scores(played, |one| format!("level {}", one.level.as_str()));
    for (name, Score { passed, total }) in by_event.iter().chain(&by_level) {
        let _ = writeln!(out, "{name:24} {passed:5} of {total}");
    }
    let _ = writeln!(out, "{}", last_line(dialect, played));
    out
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
        "levels": table(scores(played, |one| one.level.as_str().to_owned())),
        "cases": cases,
    })
}

fn case_json(one: &Played) -> Value {
    let problems: Vec<Value> = one
        .problems
        .iter()
        .map(|p| json!({"key": p.key, "expected": p.expected, "got": p.got}))
        .collect();
    json!({"id": one.id, "event": one.event, "level": one.level.as_str(),
        "result": one.result.as_str(), "problems": problems})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::CaseLevel;
    use crate::compare::Mismatch;

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
        let (event, level) = ("Stop".to_owned(), CaseLevel::Turn);
        Played {
            id: id.to_owned(),
            event,
            level,
            result,
            problems,
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
        assert!(text.ends_with("claude: 0 of 1 passed (0 documented)\n"));
    }
}
