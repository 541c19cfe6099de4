//! What a patch says.
//!
//! ```text
//! *** Begin Patch
//! *** Add File: new.txt
//! +every line of it
//! *** Delete File: old.txt
//! *** Update File: a.txt
//! *** Move to: b.txt
//! @@ a line that stands somewhere before
//!  a line that stays
//! -a line that goes
//! +a line that comes
//! *** End of File
//! *** End Patch
//! ```

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File: ";
const DELETE: &str = "*** Delete File: ";
const UPDATE: &str = "*** Update File: ";
const MOVE: &str = "*** Move to: ";
const END_OF_FILE: &str = "*** End of File";
const PLACE: &str = "@@";

/// A patch: its text, and what it says. A text that says nothing is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Patch {
    text: String,
    changes: Vec<FileChange>,
}

/// What a patch does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The file, as the patch names it.
    pub path: String,
    /// What happens to it.
    pub change: Change,
}

/// What happens to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// It is made, with this content.
    Add(String),
    /// It goes.
    Delete,
    /// Lines of it are replaced.
    Update {
        /// The name it gets.
        move_to: Option<String>,
        /// The replacements, from the top of the file to its end.
        hunks: Vec<Hunk>,
    },
}

/// Lines that take the place of others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hunk {
    /// Lines that stand before it in the file, each after the one before it.
    pub places: Vec<String>,
    /// The lines that are there, those that stay included.
    pub old: Vec<String>,
    /// The lines that will be there.
    pub new: Vec<String>,
    /// Whether the file ends behind it.
    pub at_end: bool,
}

/// Why a text is no patch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the patch: {problem}")]
pub struct PatchError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: String,
}

impl Patch {
    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What happens to which file, in order.
    pub fn changes(&self) -> &[FileChange] {
        &self.changes
    }

    /// Every file that is made, changed, moved or removed, as the patch names it.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.changes.iter().flat_map(|file| {
            let moved = match &file.change {
                Change::Update { move_to, .. } => move_to.as_deref(),
                Change::Add(_) | Change::Delete => None,
            };
            [Some(file.path.as_str()), moved].into_iter().flatten()
        })
    }
}

impl fmt::Display for Patch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Patch {
    type Err = PatchError;

    fn from_str(text: &str) -> Result<Self, PatchError> {
        let changes = Lines::of(text)?.changes()?;
        let text = text.to_owned();
        Ok(Self { text, changes })
    }
}

impl TryFrom<String> for Patch {
    type Error = PatchError;

    fn try_from(text: String) -> Result<Self, PatchError> {
        text.parse()
    }
}

impl From<Patch> for String {
    fn from(patch: Patch) -> Self {
        patch.text
    }
}

/// The lines between the two ends of a patch, from the first that was not read.
struct Lines<'a> {
    lines: Vec<&'a str>,
    at: usize,
}

impl<'a> Lines<'a> {
    /// Blank lines around a patch are not part of it.
    fn of(text: &'a str) -> Result<Self, PatchError> {
        let mut lines: Vec<&str> = text.trim_end().lines().collect();
        let blank = lines.iter().take_while(|line| line.trim().is_empty());
        let at = blank.count();
        let problem = |line: usize, expected: &str, found: Option<&&str>| {
            let found = found.map_or_else(|| "nothing".to_owned(), |line| format!("{line:?}"));
            let problem = format!("expected \"{expected}\", found {found}");
            PatchError { line, problem }
        };
        if lines.get(at).map(|line| line.trim()) != Some(BEGIN) {
            return Err(problem(at + 1, BEGIN, lines.get(at)));
        }
        if lines.last().map(|line| line.trim()) != Some(END) {
            return Err(problem(lines.len(), END, lines.last()));
        }
        lines.pop();
        Ok(Self { lines, at: at + 1 })
    }

    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    /// The next line, if `f` makes something of it.
    fn next_if<T>(&mut self, f: impl FnOnce(&'a str) -> Option<T>) -> Option<T> {
        let taken = f(self.peek()?)?;
        self.at += 1;
        Some(taken)
    }

    fn error<T>(&self, problem: impl Into<String>) -> Result<T, PatchError> {
        let (line, problem) = (self.at + 1, problem.into());
        Err(PatchError { line, problem })
    }

    fn changes(mut self) -> Result<Vec<FileChange>, PatchError> {
        let mut changes = Vec::new();
        while self.peek().is_some() {
            changes.push(self.change()?);
        }
        match changes.is_empty() {
            true => self.error("it changes no file"),
            false => Ok(changes),
        }
    }

    fn change(&mut self) -> Result<FileChange, PatchError> {
        let after = |head: &'static str| move |line: &'a str| line.strip_prefix(head);
        let (path, change): (&str, fn(&mut Self) -> _) =
            if let Some(path) = self.next_if(after(ADD)) {
                (path, Self::added)
            } else if let Some(path) = self.next_if(after(DELETE)) {
                (path, |_| Ok(Change::Delete))
            } else if let Some(path) = self.next_if(after(UPDATE)) {
                (path, Self::updated)
            } else {
                let found = self.peek().unwrap_or_default();
                return self.error(format!(
                    "expected \"{ADD}…\", \"{DELETE}…\" or \"{UPDATE}…\", found {found:?}"
                ));
            };
        let path = path.trim().to_owned();
        if path.is_empty() {
            self.at -= 1;
            return self.error("it names no file");
        }
        let change = change(self)?;
        Ok(FileChange { path, change })
    }

    fn added(&mut self) -> Result<Change, PatchError> {
        let mut content = String::new();
        while let Some(line) = self.next_if(|line| line.strip_prefix('+')) {
            content.push_str(line);
            content.push('\n');
        }
        Ok(Change::Add(content))
    }

    fn updated(&mut self) -> Result<Change, PatchError> {
        let move_to = self.next_if(|line| line.strip_prefix(MOVE));
        let move_to = move_to.map(|path| path.trim().to_owned());
        if move_to.as_ref().is_some_and(String::is_empty) {
            self.at -= 1;
            return self.error("it names no file");
        }
        let mut hunks = Vec::new();
        while self.peek().is_some_and(|line| !is_head(line)) {
            hunks.push(self.hunk(hunks.is_empty())?);
        }
        if hunks.is_empty() && move_to.is_none() {
            return self.error("it changes nothing in the file");
        }
        Ok(Change::Update { move_to, hunks })
    }

    /// One hunk. The first needs no line that says where it is.
    fn hunk(&mut self, first: bool) -> Result<Hunk, PatchError> {
        let mut hunk = Hunk::default();
        let begun = self.at;
        while let Some(place) = self.next_if(|line| line.strip_prefix(PLACE)) {
            let place = place.strip_prefix(' ').unwrap_or(place);
            if !place.is_empty() {
                hunk.places.push(place.to_owned());
            }
        }
        if self.at == begun && !first {
            let found = self.peek().unwrap_or_default();
            return self.error(format!(
                "expected \"{PLACE}\" or the next file, found {found:?}"
            ));
        }
        while let Some((sign, line)) = self.next_if(signed) {
            if sign != '+' {
                hunk.old.push(line.to_owned());
            }
            if sign != '-' {
                hunk.new.push(line.to_owned());
            }
        }
        hunk.at_end = self
            .next_if(|line| (line == END_OF_FILE).then_some(()))
            .is_some();
        match hunk.old.is_empty() && hunk.new.is_empty() {
            true => {
                let found = self.peek().unwrap_or(END);
                self.error(format!(
                    "expected a line behind ' ', '-' or '+', found {found:?}"
                ))
            }
            false => Ok(hunk),
        }
    }
}

/// An empty line stands for one that stays.
fn signed(line: &str) -> Option<(char, &str)> {
    let mut chars = line.chars();
    match chars.next() {
        None => Some((' ', "")),
        Some(sign @ (' ' | '-' | '+')) => Some((sign, chars.as_str())),
        Some(_) => None,
    }
}

fn is_head(line: &str) -> bool {
    [ADD, DELETE, UPDATE]
        .iter()
        .any(|head| line.starts_with(head))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patch(lines: &[&str]) -> Result<Patch, PatchError> {
        format!("{BEGIN}\n{}\n{END}\n", lines.join("\n")).parse()
    }

    /// Every part of the format is read, and the text stays as it is.
    #[test]
    fn every_part() {
        let text = patch(&[
            "*** Add File: new.txt",
            "+one",
            "+",
            "*** Delete File: old.txt",
            "*** Update File: a.txt",
            "*** Move to: b.txt",
            "@@ fn f() {",
            "@@ inner",
            " stays",
            "-goes",
            "+comes",
            "",
            "@@",
            "+last",
            "*** End of File",
        ])
        .unwrap();
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let hunks = vec![
            Hunk {
                places: words(&["fn f() {", "inner"]),
                old: words(&["stays", "goes", ""]),
                new: words(&["stays", "comes", ""]),
                at_end: false,
            },
            Hunk {
                new: words(&["last"]),
                at_end: true,
                ..Hunk::default()
            },
        ];
        let move_to = Some("b.txt".to_owned());
        let changes: Vec<_> = text
            .changes()
            .iter()
            .map(|file| file.change.clone())
            .collect();
        let expected = [
            Change::Add("one\n\n".to_owned()),
            Change::Delete,
            Change::Update { move_to, hunks },
        ];
        assert_eq!(changes, expected);
        assert_eq!(
            text.paths().collect::<Vec<_>>(),
            ["new.txt", "old.txt", "a.txt", "b.txt"]
        );
        let again: Patch = text.text().parse().unwrap();
        assert_eq!(again, text);
    }

    /// What is no patch is refused with its line.
    #[test]
    fn what_is_none() {
        let cases: [(&[&str], usize, &str); 7] = [
            (&["hello"], 2, "found \"hello\""),
            (&["*** Add File:  "], 2, "names no file"),
            (&["*** Add File: a", "no plus"], 3, "found \"no plus\""),
            (&["*** Update File: a"], 3, "changes nothing"),
            (&["*** Update File: a", "@@ x"], 4, "expected a line behind"),
            (&["*** Update File: a", "x"], 3, "expected a line behind"),
            (
                &["*** Update File: a", "+x", "*** End of File", "+y"],
                5,
                "expected \"@@\"",
            ),
        ];
        for (lines, line, words) in cases {
            let error = patch(lines).unwrap_err();
            assert_eq!(error.line, line, "{lines:?}: {error}");
            assert!(error.problem.contains(words), "{lines:?}: {error}");
        }
        for (text, line) in [
            ("", 1),
            ("garbage", 1),
            ("*** Begin Patch\n*** Delete File: a", 2),
            ("*** Begin Patch\n*** End Patch", 2),
        ] {
            assert_eq!(text.parse::<Patch>().unwrap_err().line, line, "{text:?}");
        }
    }

    proptest::proptest! {
        /// Any text at all is a patch or an error, and a patch keeps its text.
        #[test]
        fn any_text(text in "(\\*\\*\\* (Begin Patch|End Patch|Add File: a|Update File: b|End of File)|[ +@-]{0,2}[a-c]?|\n){0,20}") {
            if let Ok(patch) = text.parse::<Patch>() {
                proptest::prop_assert_eq!(patch.text(), text.as_str());
                proptest::prop_assert!(!patch.changes().is_empty());
            }
        }
    }
}
