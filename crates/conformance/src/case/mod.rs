//! One measured case: a hook configuration, what the hooks put out, and what a client did.
//!
//! A case file has one JSON object a line. [`read`] turns it into [`Row`]s. A line that is no
//! object, or has no `id` or no `level`, makes the file unreadable; a row with a field or a shape
//! the runner does not know stays in the list with the reason, and is reported as failed, because
//! a case that is played without one of its inputs proves nothing.

mod claude;
mod codex;
mod expect;

use std::path::{Path, PathBuf};

use seamline_hooks::DialectId;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

pub use claude::{ClaudeCase, Invocation, Order, Received};
pub use codex::CodexCase;
pub use expect::{Expect, ExpectedRun, ExpectedTool};

/// How much of a case can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaseLevel {
    /// The whole turn can be replayed.
    Turn,
    /// Only the hook engine or the loader can be compared.
    Engine,
    /// Nothing.
    Skip,
}

impl CaseLevel {
    /// The word of the case file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Engine => "engine",
            Self::Skip => "skip",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        [Self::Turn, Self::Engine, Self::Skip]
            .into_iter()
            .find(|level| level.as_str() == word)
    }
}

/// A case of either dialect.
#[derive(Debug, Clone)]
pub enum Case {
    /// Claude Code.
    Claude(Box<ClaudeCase>),
    /// Codex.
    Codex(Box<CodexCase>),
}

impl Case {
    /// What to compare.
    #[must_use]
    pub fn expect(&self) -> &Expect {
        match self {
            Self::Claude(case) => &case.expect,
            Self::Codex(case) => &case.expect,
        }
    }
}

/// One line of a case file.
#[derive(Debug, Clone)]
pub struct Row {
    /// Its name.
    pub id: String,
    /// The event under test; `(several)` when the row names none.
    pub event: String,
    /// How much of it can be compared.
    pub level: CaseLevel,
    /// The case, or why it cannot be played: an unknown field, or one of an unexpected shape.
    pub case: Result<Case, String>,
}

/// A case file that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file itself.
    #[error("{}: {source}", path.display())]
    File {
        /// Its path.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// One line of it.
    #[error("{}:{line}: {message}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
}

/// Reads the case file at `path`.
///
/// # Errors
/// When the file cannot be read, or a line of it is not one JSON object with an `id` and a known
/// `level`.
pub fn read(dialect: DialectId, path: &Path) -> Result<Vec<Row>, ReadError> {
    let text = std::fs::read_to_string(path).map_err(|source| ReadError::File {
        path: path.to_owned(),
        source,
    })?;
    parse(dialect, &text).map_err(|(line, message)| ReadError::Line {
        path: path.to_owned(),
        line,
        message,
    })
}

/// Parses a case file; the error is a line number from 1 and what is wrong there.
fn parse(dialect: DialectId, text: &str) -> Result<Vec<Row>, (usize, String)> {
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(n, line)| row(dialect, line).map_err(|message| (n + 1, message)))
        .collect()
}

fn row(dialect: DialectId, line: &str) -> Result<Row, String> {
    let map: Map<String, Value> =
        serde_json::from_str(line).map_err(|error| format!("not one JSON object: {error}"))?;
    let word = |key: &str| map.get(key).and_then(Value::as_str).map(str::to_owned);
    let id = word("id").ok_or("no `id`")?;
    let level = word("level").ok_or("no `level`")?;
    let level = CaseLevel::from_word(&level)
        .ok_or_else(|| format!("`level` is {level:?}, not turn, engine or skip"))?;
    let event = word("event").unwrap_or_else(|| "(several)".to_owned());
    Ok(Row {
        id,
        event,
        level,
        case: case(dialect, map),
    })
}

fn case(dialect: DialectId, mut map: Map<String, Value>) -> Result<Case, String> {
    map.remove("observed_effect");
    let value = crate::text::expand(Value::Object(map));
    let (case, unknown) = match dialect {
        DialectId::Claude => {
            let case: ClaudeCase = serde_json::from_value(value).map_err(|e| e.to_string())?;
            let unknown = case.unknown();
            (Case::Claude(Box::new(case)), unknown)
        }
        DialectId::Codex => {
            let case: CodexCase = serde_json::from_value(value).map_err(|e| e.to_string())?;
            let unknown = case.unknown();
            (Case::Codex(Box::new(case)), unknown)
        }
    };
    if unknown.is_empty() {
        return Ok(case);
    }
    Err(format!("the runner does not know: {}", unknown.join(", ")))
}

/// Reads `null` as the default.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// The keys of an object that are not in `known`, each below `prefix`.
fn unknown_keys(prefix: &str, value: &Value, known: &[&str]) -> Vec<String> {
    let keys = value.as_object().into_iter().flat_map(Map::keys);
    keys.filter(|key| !known.contains(&key.as_str()))
        .map(|key| format!("{prefix}.{key}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &str = r#"{"id":"x","event":"Stop","level":"engine","expect":{}}"#;

    #[test]
    fn a_broken_line_is_named_by_its_number() {
        let text = format!("{ROW}\n\n{{\"id\":1}}\n");
        let (line, message) = parse(DialectId::Codex, &text).unwrap_err();
        assert_eq!((line, message.as_str()), (3, "no `id`"));
        assert_eq!(parse(DialectId::Codex, "[]").unwrap_err().0, 1);
        let odd = r#"{"id":"x","level":"half"}"#;
        assert!(parse(DialectId::Codex, odd).unwrap_err().1.contains("half"));
    }

    #[test]
    fn an_unknown_key_spoils_its_row_and_no_other() {
        let text = format!("{ROW}\n{}\n", ROW.replace("{}", "{\"soul\":1}"));
        for dialect in DialectId::ALL {
            let rows = parse(dialect, &text).unwrap();
            assert!(rows[0].case.is_ok());
            assert!(rows[1].case.as_ref().unwrap_err().contains("expect.soul"));
        }
    }

    #[test]
    fn a_field_of_another_shape_spoils_its_row() {
        let text = ROW.replace("\"expect\"", "\"prompts\":7,\"expect\"");
        for dialect in DialectId::ALL {
            assert!(parse(dialect, &text).unwrap()[0].case.is_err());
        }
    }

    #[test]
    fn long_strings_reach_the_case_as_strings() {
        let text = ROW.replace("{}", r#"{"sees":[{"repeat":"x","times":3}]}"#);
        let rows = parse(DialectId::Claude, &text).unwrap();
        let case = rows[0].case.as_ref().unwrap();
        assert_eq!(case.expect().sees.as_deref(), Some(&["xxx".to_owned()][..]));
    }

    #[test]
    fn every_imported_row_is_understood() {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
        for dialect in DialectId::ALL {
            let rows = read(
                dialect,
                &fixtures.join(dialect.as_str()).join("cases.jsonl"),
            )
            .unwrap();
            assert!(rows.len() > 500);
            for row in rows {
                assert!(row.case.is_ok(), "{}: {:?}", row.id, row.case.err());
            }
        }
    }
}
