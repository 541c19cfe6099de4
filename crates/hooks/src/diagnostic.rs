//! What is wrong with a configuration, and where.

use std::fmt;
use std::path::PathBuf;

/// A place in a text file, both counted from 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord)]
pub struct Position {
    /// Line.
    pub line: usize,
    /// Column.
    pub column: usize,
}

impl Position {
    /// The position of a byte offset in `text`. Offsets past the end give the end.
    #[must_use]
    pub fn of(text: &str, offset: usize) -> Self {
        let mut end = offset.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let before = text.get(..end).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        Self { line, column }
    }
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; nothing is lost.
    Note,
    /// Something in the file does not do what it looks like.
    Warning,
    /// The real client would drop or refuse this part, and so do we: **broken**.
    Broken,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad.
    pub severity: Severity,
    /// Stable kebab-case name of the rule, for `--json` and tests.
    pub code: &'static str,
    /// The file.
    pub file: PathBuf,
    /// Where in the file, when there is a place.
    pub position: Option<Position>,
    /// Byte range in the file, for a caret.
    pub span: Option<(usize, usize)>,
    /// The handler it is about, when it is about one.
    pub handler: Option<crate::handler::HandlerKey>,
    /// What is wrong, naming the value.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// Whether the file belongs to a managed layer (nothing lifts those).
    pub managed: bool,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(p) = self.position {
            write!(f, ":{}:{}", p.line, p.column)?;
        }
        write!(f, ": {}", self.message)
    }
}
