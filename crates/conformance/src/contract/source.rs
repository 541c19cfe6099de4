//! Whether a test is there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use regex::Regex;

/// The tests of a workspace's sources, file by file as they are asked for.
#[derive(Debug)]
pub struct Tests {
    root: PathBuf,
    files: BTreeMap<String, Option<Vec<String>>>,
}

impl Tests {
    /// Tests below a folder.
    #[must_use]
    pub fn below(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            files: BTreeMap::new(),
        }
    }

    /// What is wrong with a name, `path/from/the/root.rs::function`; `None` when the test is there.
    pub fn problem(&mut self, name: &str) -> Option<String> {
        let Some((path, function)) = name.rsplit_once("::") else {
            return Some(format!(
                "{name:?} is not of the form path/to/file.rs::function"
            ));
        };
        let root = &self.root;
        let tests = self.files.entry(path.to_owned()).or_insert_with(|| {
            let text = std::fs::read_to_string(root.join(path)).ok()?;
            Some(tests_of(&text))
        });
        match tests {
            None => Some(format!("there is no file {path}")),
            Some(tests) if tests.iter().any(|test| test == function) => None,
            Some(_) => Some(format!("there is no test {function} in {path}")),
        }
    }
}

/// The names of the test functions of a source: those behind a `#[test]`, whoever's it is.
fn tests_of(text: &str) -> Vec<String> {
    let Ok(test) = Regex::new(
        r"(?m)^\s*#\[(?:\w+::)?test(?:\([^\]]*\))?\]\s*\n(?:\s*(?:#\[.*\]|//.*)\s*\n)*\s*(?:pub(?:\([^)]*\))?\s+)?(?:async\s+)?fn\s+(\w+)",
    ) else {
        return Vec::new();
    };
    let names = test.captures_iter(text).filter_map(|found| found.get(1));
    names.map(|name| name.as_str().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tests_count() {
        let text = "fn helper() {}\n#[test]\nfn one() {}\n    #[tokio::test]\n    async fn two() {}\n\
            #[tokio::test(flavor = \"multi_thread\", worker_threads = 2)]\n/// Words.\n#[cfg(unix)]\n\
            async fn three() {}\n// #[test]\nfn four() {}\nproptest! {\n    #[test]\n    fn five(a in 0..1) {}\n}\n";
        assert_eq!(tests_of(text), ["one", "two", "three", "five"]);
    }

    #[test]
    fn what_is_not_there_is_said() {
        let mut tests = Tests::below(Path::new(env!("CARGO_MANIFEST_DIR")));
        let here = "src/contract/source.rs";
        assert_eq!(tests.problem(&format!("{here}::only_tests_count")), None);
        for (name, words) in [
            (format!("{here}::tests_of"), "no test tests_of"),
            ("nowhere.rs::x".to_owned(), "no file nowhere.rs"),
            ("nothing".to_owned(), "not of the form"),
        ] {
            let problem = tests.problem(&name).unwrap();
            assert!(problem.contains(words), "{problem}");
        }
    }
}
