//! A tool call, as rules see it.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::Value;

use crate::command::{Script, Unreadable};
use crate::place;
use crate::tool::{self, Family};

/// The folders paths are read against. All absolute; nothing looks at the file system.
#[derive(Debug, Clone, Copy)]
pub struct Places<'a> {
    /// The current directory: where relative paths start, in rules and in calls.
    pub cwd: &'a Path,
    /// The project root (the directory the session began in): where `/path` patterns start when
    /// the rule has no base of its own.
    pub project: &'a Path,
    /// The user's home folder, for `~/`.
    pub home: &'a Path,
}

/// One tool call.
///
/// A shell command in it is parsed once, at the first rule that asks, however many rules there
/// are; make one `Call` and show it to all of them.
#[derive(Debug)]
pub struct Call<'a> {
    tool: &'a str,
    input: &'a Value,
    places: Places<'a>,
    aliases: &'a [&'a str],
    resolved: Option<&'a Path>,
    script: OnceLock<Result<Script, Unreadable>>,
}

impl<'a> Call<'a> {
    /// A call of `tool` (the name the model used) with this input, an object.
    #[must_use]
    pub fn new(tool: &'a str, input: &'a Value, places: Places<'a>) -> Self {
        Self {
            tool,
            input,
            places,
            aliases: &[],
            resolved: None,
            script: OnceLock::new(),
        }
    }

    /// Other names of the same tool; a rule on any of them is a rule on this call. `Task` and
    /// `Agent` need not be listed.
    #[must_use]
    pub fn also_called(mut self, aliases: &'a [&'a str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// Where [`Call::file`] leads when it is a symbolic link, or goes through one. Both paths are
    /// checked: an allow rule has to cover both, for every other reading one is enough
    /// (documented for permission rules; for `if` our choice).
    #[must_use]
    pub fn resolving_to(mut self, resolved: &'a Path) -> Self {
        self.resolved = Some(resolved);
        self
    }

    /// The tool's name as the model used it.
    #[must_use]
    pub fn tool(&self) -> &'a str {
        self.tool
    }

    /// The input.
    #[must_use]
    pub fn input(&self) -> &'a Value {
        self.input
    }

    /// The folders.
    #[must_use]
    pub fn places(&self) -> Places<'a> {
        self.places
    }

    /// The file or folder a file tool's call is about, absolute and free of `.` and `..`, for the
    /// caller to resolve; `None` when the call names none. A search without a path is about the
    /// current directory.
    #[must_use]
    pub fn file(&self) -> Option<PathBuf> {
        let facts = self.facts().filter(|f| f.family == Family::Path)?;
        match self.text(facts.primary) {
            Some(path) => Some(place::absolute(path, &self.places).into()),
            None if matches!(facts.name, "Glob" | "Grep") => {
                Some(place::absolute(".", &self.places).into())
            }
            None => None,
        }
    }

    pub(crate) fn resolved(&self) -> Option<&'a Path> {
        self.resolved
    }

    /// Every name of the tool.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'a str> {
        std::iter::once(self.tool).chain(self.aliases.iter().copied())
    }

    /// The facts on the tool, under whichever of its names has some.
    pub(crate) fn facts(&self) -> Option<&'static tool::ToolFacts> {
        self.names().find_map(tool::facts)
    }

    /// A text field of the input.
    pub(crate) fn text(&self, field: &str) -> Option<&'a str> {
        self.input.get(field)?.as_str()
    }

    /// The parsed shell command; parsed at most once.
    pub(crate) fn script(&self) -> Result<&Script, &Unreadable> {
        let read = || match self.text("command") {
            Some(command) => Script::read(command),
            None => Err(Unreadable::new("the call has no `command` text")),
        };
        self.script.get_or_init(read).as_ref()
    }
}
