//! The contract: which test holds each row, or why none does.
//!
//! `fixtures/contract/rows.md` lists the rows. Beside it stands one TOML file per part, which says of
//! each row either `tests = ["path/from/the/root.rs::name", …]` or `why = "…"`, a sentence that is
//! understood without the row's neighbours. [`check`] holds the two against each other and against
//! the sources: a test that is not there, a row that nobody knows and a row that nobody holds are
//! findings. The sentences are shown in `docs/why.md`.

mod mapping;
mod page;
mod rows;
mod source;

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

pub use mapping::{Held, Mapping};
pub use page::{END, START, page};
pub use rows::{Row, rows};
pub use source::Tests;

/// What became of the rows of one part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// Rows of the part.
    pub rows: usize,
    /// Rows with a test.
    pub tested: usize,
    /// Rows with a sentence.
    pub explained: usize,
}

/// The contract against the sources.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// By part.
    pub parts: BTreeMap<String, Count>,
    /// Rows that nobody holds, with their text.
    pub unmapped: Vec<(String, String)>,
    /// What is wrong with the mapping, in words.
    pub wrong: Vec<String>,
}

impl Report {
    /// Whether every row is held or explained, and nothing is wrong.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.unmapped.is_empty() && self.wrong.is_empty()
    }

    /// All parts together.
    #[must_use]
    pub fn total(&self) -> Count {
        let sum = |a: Count, b: &Count| Count {
            rows: a.rows + b.rows,
            tested: a.tested + b.tested,
            explained: a.explained + b.explained,
        };
        self.parts.values().fold(Count::default(), sum)
    }
}

/// The rows and the mapping of a workspace, as they are on the disk.
///
/// # Errors
/// When a file cannot be read, or is no TOML of the expected shape; the words name it.
pub fn read(root: &Path) -> Result<(Vec<Row>, Mapping), String> {
    let folder = root.join("crates/conformance/fixtures/contract");
    let path = folder.join("rows.md");
    let text =
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok((rows(&text), Mapping::read(&folder)?))
}

/// Holds the mapping against the rows and the sources below `root`.
#[must_use]
pub fn check(root: &Path, rows: &[Row], mapping: &Mapping) -> Report {
    let mut report = Report::default();
    let mut tests = Tests::below(root);
    for row in rows {
        let count = report.parts.entry(row.part().to_owned()).or_default();
        count.rows += 1;
        match mapping.of(&row.id) {
            Some(Held::By(names)) => {
                count.tested += 1;
                let missing = names.iter().filter_map(|name| tests.problem(name));
                let missing: Vec<_> = missing
                    .map(|problem| format!("{}: {problem}", row.id))
                    .collect();
                report.wrong.extend(missing);
            }
            Some(Held::Not(why)) => {
                count.explained += 1;
                report
                    .wrong
                    .extend(mapping::problem(why).map(|problem| format!("{}: {problem}", row.id)));
            }
            None => report.unmapped.push((row.id.clone(), row.text.clone())),
        }
    }
    let known = |id: &&String| rows.iter().any(|row| row.id == **id);
    let strangers = mapping.ids().filter(|id| !known(id));
    report
        .wrong
        .extend(strangers.map(|id| format!("{id}: there is no such row")));
    report
}
