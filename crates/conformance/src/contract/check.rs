//! Holds rows and mapping against each other and against the sources.

use std::collections::BTreeMap;
use std::path::Path;

use super::mapping::{self, Line, Mapping};
use super::rows::{self, Row};
use super::tests_of::{Tests, tests_of};

/// A row and what is said of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapped {
    /// The row.
    pub row: Row,
    /// `None` when nothing is said.
    pub line: Option<Line>,
}

/// The numbers of one part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// All its rows.
    pub rows: usize,
    /// Rows with a test.
    pub tested: usize,
    /// Rows with a sentence and no test.
    pub explained: usize,
    /// Rows with neither.
    pub unmapped: usize,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// Every row, in the order of the page.
    pub rows: Vec<Mapped>,
    /// Mistakes: unknown rows, tests that are not there, sentences that are none.
    pub wrong: Vec<String>,
}

impl Check {
    /// Rows of which nothing is said.
    pub fn unmapped(&self) -> impl Iterator<Item = &Row> {
        let rows = self.rows.iter();
        rows.filter(|mapped| mapped.line.is_none())
            .map(|mapped| &mapped.row)
    }

    /// Whether every row is mapped and nothing is wrong.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.wrong.is_empty() && self.unmapped().next().is_none()
    }

    /// The numbers of every part.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<char, Count> {
        let mut counts: BTreeMap<char, Count> = BTreeMap::new();
        for mapped in &self.rows {
            let count = counts.entry(mapped.row.part()).or_default();
            count.rows += 1;
            match &mapped.line {
                None => count.unmapped += 1,
                Some(line) if line.tests.is_empty() => count.explained += 1,
                Some(_) => count.tested += 1,
            }
        }
        counts
    }
}

/// Checks the contract of a repository.
///
/// # Errors
/// When the page or the folder of the mapping cannot be read.
pub fn check(repository: &Path) -> std::io::Result<Check> {
    let folder = repository.join("crates/conformance/fixtures/contract");
    let rows = rows::read(&std::fs::read_to_string(folder.join("rows.md"))?);
    let (mapping, mut wrong) = mapping::read(&folder)?;
    let mut sources = Sources::new(repository);
    wrong.extend(strangers(&rows, &mapping));
    for (id, line) in &mapping {
        wrong.extend(
            mistakes(line, &mut sources)
                .into_iter()
                .map(|why| format!("{id}: {why}")),
        );
    }
    let with_line = |row: Row| Mapped {
        line: mapping.get(&row.id).cloned(),
        row,
    };
    Ok(Check {
        rows: rows.into_iter().map(with_line).collect(),
        wrong,
    })
}

fn strangers(rows: &[Row], mapping: &Mapping) -> Vec<String> {
    let known = |id: &str| rows.iter().any(|row| row.id == id);
    let strangers = mapping.keys().filter(|id| !known(id));
    strangers
        .map(|id| format!("{id}: is no row of the contract"))
        .collect()
}

fn mistakes(line: &Line, sources: &mut Sources<'_>) -> Vec<String> {
    let mut wrong: Vec<String> = line
        .tests
        .iter()
        .filter_map(|test| sources.miss(test))
        .collect();
    match &line.why {
        None if line.tests.is_empty() => wrong.push("has neither a test nor a sentence".into()),
        Some(why) if !is_sentence(why) => {
            wrong.push(format!("{why:?} is no full sentence on one line"));
        }
        _ => {}
    }
    wrong
}

/// Begins like one, ends like one, and has at least five words.
fn is_sentence(text: &str) -> bool {
    let starts = text.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit() || c == '`');
    starts && text.ends_with('.') && !text.contains('\n') && text.split_whitespace().count() >= 5
}

/// The test files that were read so far.
struct Sources<'a> {
    repository: &'a Path,
    read: BTreeMap<String, Result<Tests, String>>,
}

impl<'a> Sources<'a> {
    fn new(repository: &'a Path) -> Self {
        Self {
            repository,
            read: BTreeMap::new(),
        }
    }

    /// Why a test does not count.
    fn miss(&mut self, test: &str) -> Option<String> {
        let Some((file, name)) = test.split_once("::") else {
            return Some(format!(
                "{test:?} is not of the form `path/of/file.rs::name`"
            ));
        };
        let path = self.repository.join(file);
        let tests = self.read.entry(file.to_owned()).or_insert_with(|| {
            let source = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
            tests_of(&source)
        });
        match tests {
            Err(why) => Some(format!("{file}: {why}")),
            Ok(tests) => match tests.get(name) {
                Some(true) => None,
                Some(false) => Some(format!("{file}: the test `{name}` is ignored")),
                None => Some(format!("{file}: has no test `{name}`")),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository(mapping: &str) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("crates/conformance/fixtures/contract");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("rows.md"), "## A. Part\nA01. one. A02. two.\n").unwrap();
        std::fs::write(folder.join("A.toml"), mapping).unwrap();
        let source = "#[test]\nfn there() {}\n#[test]\n#[ignore]\nfn asleep() {}\n";
        std::fs::write(root.path().join("t.rs"), source).unwrap();
        root
    }

    fn checked(mapping: &str) -> Check {
        check(repository(mapping).path()).unwrap()
    }

    #[test]
    fn a_row_needs_a_test_that_is_there_or_a_sentence() {
        let good = "[A01]\ntests = [\"t.rs::there\"]\n[A02]\nwhy = \"We do it in another way.\"\n";
        let check = checked(good);
        assert!(check.holds(), "{:?}", check.wrong);
        let count = Count {
            rows: 2,
            tested: 1,
            explained: 1,
            unmapped: 0,
        };
        assert_eq!(check.counts().get(&'A'), Some(&count));
    }

    #[test]
    fn an_unmapped_row_is_named() {
        let check = checked("[A01]\ntests = [\"t.rs::there\"]\n");
        assert!(!check.holds());
        assert_eq!(
            check
                .unmapped()
                .map(|row| row.id.as_str())
                .collect::<Vec<_>>(),
            ["A02"]
        );
    }

    #[test]
    fn every_mistake_is_named() {
        for (mapping, wanted) in [
            (
                "[A09]\nwhy = \"We do it in another way.\"",
                "A09: is no row",
            ),
            (
                "[B01]\nwhy = \"We do it in another way.\"",
                "does not belong into A.toml",
            ),
            (
                "[A01]\ntests = [\"t.rs::gone\"]",
                "t.rs: has no test `gone`",
            ),
            ("[A01]\ntests = [\"t.rs::asleep\"]", "`asleep` is ignored"),
            ("[A01]\ntests = [\"u.rs::there\"]", "u.rs: No such file"),
            ("[A01]\ntests = [\"there\"]", "is not of the form"),
            ("[A01]\nwhy = \"not ours\"", "no full sentence"),
            ("[A01]\ntests = []", "neither a test nor a sentence"),
            ("[A01]\nbecause = \"x\"", "A.toml:"),
            ("[A01", "A.toml:"),
        ] {
            let wrong = checked(mapping).wrong.join("\n");
            assert!(wrong.contains(wanted), "{mapping}: {wrong}");
        }
    }
}
