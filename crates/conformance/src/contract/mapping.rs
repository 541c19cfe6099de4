//! Which test holds which row.

use std::collections::BTreeMap;
use std::path::Path;

use toml_edit::{DocumentMut, Item};

/// What is said of one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Held {
    /// These tests hold it.
    By(Vec<String>),
    /// It does not hold here, and why.
    Not(String),
}

/// What is said of all rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mapping(BTreeMap<String, Held>);

impl Mapping {
    /// Reads every TOML file of a folder.
    ///
    /// # Errors
    /// When one cannot be read or has another shape; the words name file and row.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let named = |error: std::io::Error| format!("{}: {error}", folder.display());
        let mut mapping = Self::default();
        for entry in std::fs::read_dir(folder).map_err(named)? {
            let path = entry.map_err(named)?.path();
            if path.extension().is_some_and(|end| end == "toml") {
                let text = std::fs::read_to_string(&path).map_err(named)?;
                mapping
                    .add(&text)
                    .map_err(|error| format!("{}: {error}", path.display()))?;
            }
        }
        Ok(mapping)
    }

    /// Adds what one file says.
    ///
    /// # Errors
    /// When the text is no TOML, a row has neither or both, or a row was said before.
    pub fn add(&mut self, text: &str) -> Result<(), String> {
        let document: DocumentMut = text
            .parse()
            .map_err(|error: toml_edit::TomlError| error.to_string())?;
        for (id, item) in document.iter() {
            let held = held(item).map_err(|problem| format!("{id}: {problem}"))?;
            if self.0.insert(id.to_owned(), held).is_some() {
                return Err(format!("{id}: said twice"));
            }
        }
        Ok(())
    }

    /// What is said of a row.
    #[must_use]
    pub fn of(&self, id: &str) -> Option<&Held> {
        self.0.get(id)
    }

    /// Every row something is said of.
    pub fn ids(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }
}

fn held(item: &Item) -> Result<Held, String> {
    let tests = item.get("tests").map(|tests| {
        let tests = tests.as_array().ok_or("`tests` is a list of names")?;
        let names = tests
            .iter()
            .map(|name| name.as_str().map(ToOwned::to_owned));
        names
            .collect::<Option<Vec<String>>>()
            .filter(|names| !names.is_empty())
            .ok_or("`tests` is a list of names")
    });
    let why = item
        .get("why")
        .map(|why| why.as_str().ok_or("`why` is a sentence"));
    match (tests, why) {
        (Some(tests), None) => Ok(Held::By(tests?)),
        (None, Some(why)) => Ok(Held::Not(why?.to_owned())),
        _ => Err("say either `tests` or `why`".to_owned()),
    }
}

/// What is wrong with a sentence: it must say something by itself.
pub(super) fn problem(why: &str) -> Option<String> {
    let words = why.split_whitespace().count();
    (words < 6 || !why.ends_with('.')).then(|| format!("{why:?} is no full sentence"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_held_or_explained() {
        let mut mapping = Mapping::default();
        mapping
            .add("[A01]\ntests = [\"a.rs::b\"]\n[A02]\nwhy = \"It is so for a good reason.\"\n")
            .unwrap();
        assert_eq!(
            mapping.of("A01"),
            Some(&Held::By(vec!["a.rs::b".to_owned()]))
        );
        assert!(matches!(mapping.of("A02"), Some(Held::Not(_))));
        for bad in [
            "[A01]\nwhy = \"Said before, and said again here.\"\n",
            "[A03]\n",
            "[A03]\ntests = []\n",
            "[A03]\ntests = [1]\n",
            "[A03]\ntests = [\"a\"]\nwhy = \"b\"\n",
            "nonsense",
        ] {
            assert!(mapping.clone().add(bad).is_err(), "{bad}");
        }
        assert_eq!(
            problem("No."),
            Some("\"No.\" is no full sentence".to_owned())
        );
    }
}
