//! A shell command taken apart.

use std::collections::BTreeSet;
use std::fmt;

use super::forms;
use super::walk;
use super::word::Word;

/// The most characters a command may have to be read (documented: longer ones always prompt).
const LONGEST: usize = 10_000;

/// Everything rules need to know of one shell command.
#[derive(Debug, Default)]
pub(crate) struct Script {
    /// Every simple command, wherever it stands: in lists, pipelines, subshells, loops, function
    /// bodies, substitutions. In the order they begin in the text.
    pub(crate) commands: Vec<Simple>,
    /// Files that redirections open.
    pub(crate) redirected: Vec<Target>,
    /// There is a here-document.
    pub(crate) here_document: bool,
    /// A substitution or a variable from outside stands somewhere other than in the value of an
    /// assignment: the first, as written.
    pub(crate) open: Option<String>,
}

/// Why a command is not taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unreadable(String);

/// One command without its redirections.
#[derive(Debug, Clone, Default)]
pub(crate) struct Simple {
    pub(crate) assignments: Vec<Assignment>,
    /// The name and the arguments; empty when the command only assigns.
    pub(crate) words: Vec<Word>,
}

/// A leading `NAME=value`.
#[derive(Debug, Clone)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    pub(crate) source: String,
}

/// A file that a command reads or writes.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) written: bool,
    pub(crate) source: String,
    literal: Option<String>,
    glob: bool,
}

/// What the walk leaves for [`Script::settle`].
#[derive(Debug, Default)]
pub(crate) struct Loose {
    /// Names the script gives a value itself.
    pub(crate) bound: BTreeSet<String>,
    /// Substitutions and variables outside assignments, as written, with the variable's name.
    pub(crate) uses: Vec<(String, Option<String>)>,
}

impl Script {
    /// Parses a command. Syntax errors, missing parts and commands of more than 10,000 characters
    /// are `Unreadable`.
    pub(crate) fn read(source: &str) -> Result<Self, Unreadable> {
        let length = source.chars().count();
        if length > LONGEST {
            let why = format!("the command has {length} characters; {LONGEST} are read at most");
            return Err(Unreadable(why));
        }
        walk::read(source)
    }

    pub(crate) fn settle(&mut self, loose: Loose) {
        let Loose { bound, uses } = loose;
        let inside = |name: &Option<String>| name.as_ref().is_some_and(|n| bound.contains(n));
        self.open = uses
            .into_iter()
            .find(|(_, name)| !inside(name))
            .map(|(written, _)| written);
    }

    /// Files that redirections open and that file commands name.
    pub(crate) fn files(&self) -> impl Iterator<Item = Target> {
        let named = self.commands.iter().flat_map(forms::files);
        self.redirected.iter().cloned().chain(named)
    }
}

impl Unreadable {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Target {
    pub(crate) fn new(word: &Word, written: bool) -> Self {
        let source = word.source.clone();
        Self {
            written,
            source,
            literal: word.literal(),
            glob: word.is_glob(),
        }
    }

    /// The path as written, without quotes, if the run adds nothing to it.
    pub(crate) fn literal(&self) -> Option<&str> {
        self.literal.as_deref()
    }

    /// The path, if it is certain: no pattern, no `~`, nothing left to the run.
    pub(crate) fn certain(&self) -> Option<&str> {
        self.literal().filter(|_| !self.glob)
    }
}
