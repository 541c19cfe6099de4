//! Plays a list of cases, several at once, and says what came of each.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use seamline_hooks::DialectId;
use tokio::sync::Semaphore;

use crate::case::{Case, CaseLevel, Row};
use crate::compare::{Mismatch, compare};
use crate::level::{EngineLevel, Level, TurnLevel};

/// How many cases run at once. A case waits for its processes most of its time.
const AT_ONCE: usize = 16;
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
    /// What differs, level by level where it was played.
    pub at: Vec<At>,
    /// Why it was not played as whole turns, when that was asked for.
    pub held_back: Option<String>,
}

/// What differs at one level.
#[derive(Debug, Clone)]
pub struct At {
    /// The level's name.
    pub level: &'static str,
    /// What differs; nothing when the case passed here.
    pub problems: Vec<Mismatch>,
}

/// The levels to play at.
pub struct Levels {
    /// Through the hook engine.
    pub engine: Option<EngineLevel>,
    /// Through the harness.
    pub turn: Option<TurnLevel>,
}

/// Plays `rows`. The results keep the order of the rows.
pub async fn play(
    levels: Levels,
    dialect: DialectId,
    rows: Vec<Row>,
    documented: &BTreeSet<String>,
) -> Vec<Played> {
    let (levels, places) = (Arc::new(levels), Arc::new(Semaphore::new(AT_ONCE)));
    let tasks: Vec<_> = rows
        .into_iter()
        .map(|row| {
            let settled = settled(&row, documented);
            let task = settled.is_none().then(|| {
                let (levels, places) = (Arc::clone(&levels), Arc::clone(&places));
                let row = row.clone();
                tokio::spawn(async move { levels.play(dialect, &row, &places).await })
            });
            (row, settled, task)
        })
        .collect();
    let mut all = Vec::with_capacity(tasks.len());
    for (row, settled, task) in tasks {
        let (at, held_back) = match task {
            Some(task) => task
                .await
                .unwrap_or_else(|error| (unplayed(&error.to_string()), None)),
            None => (Vec::new(), None),
        };
        let by_play = match at.iter().all(|at| at.problems.is_empty()) {
            _ if at.is_empty() => Result::Skipped,
            true => Result::Passed,
            false => Result::Failed,
        };
        all.push(Played {
            id: row.id,
            event: row.event,
            level: row.level,
            result: settled.unwrap_or(by_play),
            at,
            held_back,
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

impl Levels {
    /// What differs at each level, and why the turn level was left out.
    async fn play(
        &self,
        dialect: DialectId,
        row: &Row,
        places: &Semaphore,
    ) -> (Vec<At>, Option<String>) {
        let case = match &row.case {
            Ok(case) => case,
            Err(why) => return (unplayed(why), None),
        };
        let Ok(_place) = places.acquire().await else {
            return (unplayed("the runner is closing"), None);
        };
        let mut at = Vec::new();
        if let Some(level) = &self.engine {
            at.push(play_at(level, dialect, case).await);
        }
        let Some(level) = &self.turn else {
            return (at, None);
        };
        if let Err(why) = level.plays(row) {
            return (at, Some(why));
        }
        at.push(play_at(level, dialect, case).await);
        (at, None)
    }
}

async fn play_at<L: Level>(level: &L, dialect: DialectId, case: &Case) -> At {
    let problems = match tokio::time::timeout(LONGEST, level.play(case)).await {
        Ok(Ok(seen)) => compare(dialect, case.expect(), &seen),
        Ok(Err(why)) => vec![Mismatch::play(&why)],
        Err(_) => vec![Mismatch::play("it took longer than a minute")],
    };
    At {
        level: level.name(),
        problems,
    }
}

fn unplayed(why: &str) -> Vec<At> {
    vec![At {
        level: "engine",
        problems: vec![Mismatch::play(why)],
    }]
}
