//! What a patch makes of the files: all of it, or nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::text::{Change, FileChange, Hunk, Patch};
use crate::tools::ToolError;
use crate::tools::builtin::read::{failed, read_text};
use crate::tools::builtin::write::store;

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Did {
    Added,
    Modified,
    Deleted,
}

/// Every file that changes, with its content before and after; `None` where there is none.
#[derive(Debug, Default)]
pub(super) struct Plan {
    files: BTreeMap<PathBuf, (Option<String>, Option<String>)>,
    /// What is said of each change, in the order of the patch.
    pub(super) said: Vec<(Did, String)>,
}

impl Plan {
    /// Works out what the patch comes to. Later changes see what earlier ones made.
    pub(super) fn of(patch: &Patch, cwd: &Path) -> Result<Self, ToolError> {
        let mut plan = Self::default();
        for file in patch.changes() {
            plan.add(file, cwd)?;
        }
        Ok(plan)
    }

    fn add(&mut self, file: &FileChange, cwd: &Path) -> Result<(), ToolError> {
        let path = cwd.join(&file.path);
        let shown = file.path.clone();
        match &file.change {
            Change::Add(content) => {
                let did = if self.content(&path, cwd).is_ok() {
                    Did::Modified
                } else {
                    Did::Added
                };
                self.put(path, Some(content.clone()))?;
                self.said.push((did, shown));
            }
            Change::Delete => {
                self.content(&path, cwd)?;
                self.put(path, None)?;
                self.said.push((Did::Deleted, shown));
            }
            Change::Update { move_to, hunks } => {
                let old = self.content(&path, cwd)?;
                let new = replace(&old, hunks).map_err(|why| {
                    ToolError::new(format!("The patch does not fit {shown}: {why}"))
                })?;
                let Some(target) = move_to else {
                    self.put(path, Some(new))?;
                    self.said.push((Did::Modified, shown));
                    return Ok(());
                };
                let to = cwd.join(target);
                if to != path {
                    self.put(path, None)?;
                }
                self.put(to, Some(new))?;
                self.said.push((Did::Modified, target.clone()));
            }
        }
        Ok(())
    }

    /// A file as it is after the changes so far.
    fn content(&self, path: &Path, cwd: &Path) -> Result<String, ToolError> {
        match self.files.get(path) {
            Some((_, Some(new))) => Ok(new.clone()),
            Some((_, None)) => Err(ToolError::new(format!(
                "{} was removed further up in the patch.",
                path.display()
            ))),
            None => read_text(path, cwd),
        }
    }

    fn put(&mut self, path: PathBuf, new: Option<String>) -> Result<(), ToolError> {
        if let Some(known) = self.files.get_mut(&path) {
            known.1 = new;
            return Ok(());
        }
        let old = match fs::read(&path) {
            Ok(bytes) => Some(String::from_utf8(bytes).map_err(|_| {
                ToolError::new(format!("{} is not a text file (UTF-8).", path.display()))
            })?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(failed("read", &path, &error)),
        };
        self.files.insert(path, (old, new));
        Ok(())
    }

    /// Changes the files. When one cannot be changed, those before it are put back.
    pub(super) fn carry_out(&self) -> Result<(), ToolError> {
        let mut done: Vec<(&PathBuf, &Option<String>)> = Vec::new();
        for (path, (old, new)) in &self.files {
            done.push((path, old));
            if let Err(error) = set(path, new.as_deref()) {
                let mut lost = Vec::new();
                for (path, old) in done.into_iter().rev() {
                    if set(path, old.as_deref()).is_err() {
                        lost.push(path.display().to_string());
                    }
                }
                return Err(undone(error, &lost));
            }
        }
        Ok(())
    }
}

fn undone(mut error: ToolError, lost: &[String]) -> ToolError {
    error.message.push_str(" Nothing of the patch was applied.");
    if !lost.is_empty() {
        let lost = lost.join(", ");
        error.message.push_str(&format!(
            " These could not be put back as they were: {lost}."
        ));
    }
    error
}

/// A file gets this content, or goes.
fn set(path: &Path, content: Option<&str>) -> Result<(), ToolError> {
    match content {
        Some(content) => store(path, content),
        None => match fs::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(failed("remove", path, &error))
            }
            _ => Ok(()),
        },
    }
}

/// The text with every hunk in its place, each behind the one before it. Lines that stay keep their
/// line breaks, and the last line gets one.
fn replace(old: &str, hunks: &[Hunk]) -> Result<String, String> {
    let whole: Vec<&str> = old.split_inclusive('\n').collect();
    let lines: Vec<&str> = old.lines().collect();
    let end = if old.contains("\r\n") { "\r\n" } else { "\n" };
    let mut new = String::new();
    let mut push = |line: &str| {
        new.push_str(line);
        if !line.ends_with('\n') {
            new.push_str(end);
        }
    };
    let part = |from: usize, to: usize| whole.get(from..to).unwrap_or_default();
    let mut at = 0;
    for hunk in hunks {
        let found = find(&lines, at, hunk)?;
        let behind = found + hunk.old.len();
        part(at, found).iter().copied().for_each(&mut push);
        as_it_stands(hunk, part(found, behind)).for_each(&mut push);
        at = behind;
    }
    part(at, whole.len()).iter().copied().for_each(&mut push);
    Ok(new)
}

/// The new lines of a hunk; those that stay are the file's own, whatever spaces the patch has.
fn as_it_stands<'a>(hunk: &'a Hunk, kept: &'a [&'a str]) -> impl Iterator<Item = &'a str> {
    let mut from = 0;
    hunk.new.iter().map(move |line| {
        let mut rest = hunk.old.iter().zip(kept).enumerate().skip(from);
        match rest.find(|(_, (old, _))| *old == line) {
            Some((index, (_, kept))) => {
                from = index + 1;
                kept
            }
            None => line.as_str(),
        }
    })
}

/// How closely lines have to be alike, most closely first.
const ALIKE: [fn(&str) -> &str; 3] = [|line| line, str::trim_end, str::trim];

/// Where the old lines of a hunk stand, from `at` on.
fn find(lines: &[&str], mut at: usize, hunk: &Hunk) -> Result<usize, String> {
    for place in &hunk.places {
        let found = seek(lines, at, std::slice::from_ref(place), false);
        at = found.ok_or_else(|| format!("no line {place:?} is there"))? + 1;
    }
    if hunk.old.is_empty() {
        return Ok(match hunk.places.is_empty() || hunk.at_end {
            true => lines.len(),
            false => at,
        });
    }
    seek(lines, at, &hunk.old, hunk.at_end).ok_or_else(|| {
        let old: Vec<String> = hunk.old.iter().map(|line| format!("  {line}")).collect();
        format!("these lines are not there:\n{}", old.join("\n"))
    })
}

/// The first place from `at` on where these lines stand; with `at_end` only the file's end will do.
fn seek(lines: &[&str], at: usize, wanted: &[String], at_end: bool) -> Option<usize> {
    let last = lines.len().checked_sub(wanted.len())?;
    let first = if at_end { at.max(last) } else { at };
    ALIKE.iter().find_map(|trim| {
        (first..=last).find(|&start| {
            let there = lines.iter().skip(start).zip(wanted);
            there
                .into_iter()
                .all(|(line, wanted)| trim(line) == trim(wanted))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunk(places: &[&str], lines: &[&str]) -> Hunk {
        let mut hunk = Hunk {
            places: places.iter().map(|place| (*place).to_owned()).collect(),
            ..Hunk::default()
        };
        for line in lines {
            let (sign, line) = line.split_at(1);
            if sign != "+" {
                hunk.old.push(line.to_owned());
            }
            if sign != "-" {
                hunk.new.push(line.to_owned());
            }
        }
        hunk
    }

    /// Lines are replaced where they stand, from the top on; a named line says which of several.
    #[test]
    fn places() {
        let text = "f\n a\ng\n a\n";
        let cases: [(&[&str], &[&str], &str); 5] = [
            (&[], &["- a", "+ b"], "f\n b\ng\n a\n"),
            (&["g"], &["- a", "+ b"], "f\n a\ng\n b\n"),
            (&[], &["+end"], "f\n a\ng\n a\nend\n"),
            (&["f"], &["+top"], "f\ntop\n a\ng\n a\n"),
            (&[], &[" f", "- a"], "f\ng\n a\n"),
        ];
        for (places, lines, expected) in cases {
            assert_eq!(
                replace(text, &[hunk(places, lines)]).unwrap(),
                expected,
                "{lines:?}"
            );
        }
        let both = [hunk(&[], &["- a", "+1"]), hunk(&[], &["- a", "+2"])];
        assert_eq!(replace(text, &both).unwrap(), "f\n1\ng\n2\n");
        let end = Hunk {
            at_end: true,
            ..hunk(&[], &["- a", "+ z"])
        };
        assert_eq!(replace(text, &[end]).unwrap(), "f\n a\ng\n z\n");
    }

    /// Lines that are not there, or not in this order, are no place.
    #[test]
    fn no_place() {
        assert!(
            replace("a\n", &[hunk(&[], &["-b"])])
                .unwrap_err()
                .contains("not there")
        );
        assert!(
            replace("a\n", &[hunk(&["x"], &["-a"])])
                .unwrap_err()
                .contains("no line \"x\"")
        );
        let turned = [hunk(&[], &["-b"]), hunk(&[], &["-a"])];
        assert!(replace("a\nb\n", &turned).is_err());
    }

    /// Spaces at the ends of lines do not hide a place, and lines that stay keep theirs; a file
    /// keeps its line breaks.
    #[test]
    fn spaces_and_line_breaks() {
        let fits = hunk(&[], &[" a", "-b", "+c"]);
        assert_eq!(
            replace("  a  \nb\n", std::slice::from_ref(&fits)).unwrap(),
            "  a  \nc\n"
        );
        let mixed = "0\na\r\nb";
        assert_eq!(replace(mixed, &[fits]).unwrap(), "0\na\r\nc\r\n");
    }

    proptest::proptest! {
        /// The hunk that turns a text into another does so.
        #[test]
        fn whole_texts(
            old in proptest::collection::vec("[a-c]{1,2}", 1..6),
            new in proptest::collection::vec("[a-c]{1,2}", 0..6),
        ) {
            let text = format!("{}\n", old.join("\n"));
            let expected: String = new.iter().map(|line| format!("{line}\n")).collect();
            let hunk = Hunk { old, new, ..Hunk::default() };
            proptest::prop_assert_eq!(replace(&text, &[hunk]).unwrap(), expected);
        }
    }
}
