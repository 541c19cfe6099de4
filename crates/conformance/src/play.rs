//! Plays a list of cases, several at once, and says what came of each.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use seamline_hooks::DialectId;
use serde_json::Value;
use tokio::sync::Semaphore;

use crate::case::{CaseLevel, Row};
use crate::compare::{Mismatch, compare};
use crate::level::Level;

/// How many cases run at once. A case waits for its processes most of its time.
const AT_ONCE: usize = 8;
/// No case takes this long; one that does is a failure and not a reason to wait.
const LONGEST: Duration = Duration::from_secs(60);

/// What came of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Result {
    /// Everything that is expected was seen.
    Passed,
    /// Something was not.
    Failed,
    /// There is nothing to compare.
    Skipped,
    /// It deviates on purpose.
    Documented,
}

impl Result {
    /// The word in reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Documented => "documented",
        }
    }
}

/// A case that was played.
#[derive(Debug, Clone)]
pub struct Played {
    /// Its name.
    pub id: String,
    /// The event under test.
    pub event: String,
    /// The level the case allows.
    pub level: CaseLevel,
    /// What came of it.
    pub result: Result,
    /// What differs.
    pub problems: Vec<Mismatch>,
}

/// Plays `rows` at one level. The results keep the order of the rows.
pub async fn play<L: Level + 'static>(
    level: Arc<L>,
    dialect: DialectId,
    rows: Vec<Row>,
    documented: &BTreeSet<String>,
) -> Vec<Played> {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let tasks: Vec<_> = rows
        .into_iter()
        .map(|row| {
            let settled = settled(&row, documented);
            let task = settled.is_none().then(|| {
                let (level, places) = (Arc::clone(&level), Arc::clone(&places));
                let row = row.clone();
                tokio::spawn(async move { problems(&*level, dialect, &row, &places).await })
            });
            (row, settled, task)
        })
        .collect();
    let mut all = Vec::with_capacity(tasks.len());
    for (row, settled, task) in tasks {
        let problems = match task {
            Some(task) => task
                .await
                .unwrap_or_else(|error| vec![unplayed(&error.to_string())]),
            None => Vec::new(),
        };
        let by_play = if problems.is_empty() {
            Result::Passed
        } else {
            Result::Failed
        };
        let result = settled.unwrap_or(by_play);
        all.push(Played {
            id: row.id,
            event: row.event,
            level: row.level,
            result,
            problems,
        });
    }
    all
}

/// The result of a case that is not played.
fn settled(row: &Row, documented: &BTreeSet<String>) -> Option<Result> {
    if row.level == CaseLevel::Skip {
        return Some(Result::Skipped);
    }
    documented.contains(&row.id).then_some(Result::Documented)
}

async fn problems<L: Level>(
    level: &L,
    dialect: DialectId,
    row: &Row,
    places: &Semaphore,
) -> Vec<Mismatch> {
    let case = match &row.case {
        Ok(case) => case,
        Err(why) => return vec![unplayed(why)],
    };
    let Ok(_place) = places.acquire().await else {
        return vec![unplayed("the runner is closing")];
    };
    match tokio::time::timeout(LONGEST, level.play(case)).await {
        Ok(Ok(seen)) => compare(dialect, case.expect(), &seen),
        Ok(Err(why)) => vec![unplayed(&why)],
        Err(_) => vec![unplayed("it took longer than a minute")],
    }
}

fn unplayed(why: &str) -> Mismatch {
    Mismatch {
        key: "play",
        expected: Value::Null,
        got: why.into(),
    }
}
