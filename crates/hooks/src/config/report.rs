//! Turns findings about one file into diagnostics with places.

use std::path::{Path, PathBuf};

use super::tree::Span;
use crate::diagnostic::{Diagnostic, Position, Severity};
use crate::handler::{HandlerKey, Layer};

/// The mark some editors put before UTF-8 text.
const BOM: char = '\u{feff}';

/// One file that is being read, and what was found in it.
pub(crate) struct Report<'a> {
    pub(crate) path: &'a Path,
    pub(crate) layer: &'a Layer,
    /// What keys of handlers begin with, where that is not the file.
    pub(crate) named: Option<PathBuf>,
    /// The whole text.
    text: &'a str,
    /// Where the readable part starts: after a BOM, if the client skips one.
    base: usize,
    /// Where each line of the readable part starts.
    lines: Vec<usize>,
    found: Vec<Diagnostic>,
}

/// One finding, before it has a file.
#[derive(Debug, Clone)]
pub(crate) struct Finding {
    severity: Severity,
    code: &'static str,
    span: Option<Span>,
    message: String,
    help: Option<String>,
    handler: Option<HandlerKey>,
}

impl Finding {
    fn new(severity: Severity, code: &'static str, span: Span, message: String) -> Self {
        Self {
            severity,
            code,
            span: Some(span),
            message,
            help: None,
            handler: None,
        }
    }

    /// The client drops or refuses this.
    pub(crate) fn broken(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Broken, code, span, message.into())
    }

    /// This does not do what it looks like.
    pub(crate) fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, span, message.into())
    }

    /// Worth knowing.
    pub(crate) fn note(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Note, code, span, message.into())
    }

    /// The finding is about the file as a whole.
    pub(crate) fn without_place(mut self) -> Self {
        self.span = None;
        self
    }

    /// What to do about it.
    pub(crate) fn help(self, help: impl Into<String>) -> Self {
        self.maybe_help(Some(help.into()))
    }

    /// What to do about it, when that is known.
    pub(crate) fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help = help;
        self
    }

    /// The handler it is about.
    pub(crate) fn about(mut self, handler: &HandlerKey) -> Self {
        self.handler = Some(handler.clone());
        self
    }
}

impl<'a> Report<'a> {
    /// A report on a file. `skip_bom`: whether the client takes a text that begins with a BOM.
    pub(crate) fn new(path: &'a Path, layer: &'a Layer, text: &'a str, skip_bom: bool) -> Self {
        let base = if skip_bom && text.starts_with(BOM) {
            BOM.len_utf8()
        } else {
            0
        };
        let mut report = Self {
            path,
            layer,
            named: None,
            text,
            base,
            lines: vec![0],
            found: Vec::new(),
        };
        let starts: Vec<_> = report
            .body()
            .match_indices('\n')
            .map(|(at, _)| at + 1)
            .collect();
        report.lines.extend(starts);
        report
    }

    /// The readable part of the text; all spans count from its start.
    pub(crate) fn body(&self) -> &'a str {
        self.text.get(self.base..).unwrap_or("")
    }

    /// Line and column of a byte of the readable part.
    pub(crate) fn position(&self, offset: usize) -> Position {
        let line = self.lines.partition_point(|start| *start <= offset).max(1);
        let start = self.lines.get(line - 1).copied().unwrap_or(0);
        let rest = self.body().get(start..).unwrap_or("");
        let column = Position::of(rest, offset.saturating_sub(start)).column;
        Position { line, column }
    }

    /// The character at a byte of the readable part, as a span.
    pub(crate) fn point(&self, offset: usize) -> Span {
        let body = self.body();
        let start = body.floor_char_boundary(offset);
        let next = body.get(start..).and_then(|rest| rest.chars().next());
        (start, start + next.map_or(0, char::len_utf8))
    }

    /// The same bytes in the whole file.
    pub(crate) fn in_file(&self, span: Span) -> Span {
        (span.0 + self.base, span.1 + self.base)
    }

    /// Records a finding.
    pub(crate) fn add(&mut self, finding: Finding) {
        self.found.push(Diagnostic {
            severity: finding.severity,
            code: finding.code,
            file: self.path.to_path_buf(),
            position: finding.span.map(|span| self.position(span.0)),
            span: finding.span.map(|span| self.in_file(span)),
            handler: finding.handler,
            message: finding.message,
            help: finding.help,
            managed: self.layer.is_managed(),
        });
    }

    /// The diagnostics, in reading order.
    pub(crate) fn finish(self) -> Vec<Diagnostic> {
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_agree_with_a_plain_count_on_every_byte() {
        let text = "ab\ncé\n\nd";
        let report = Report::new(Path::new("f"), &Layer::User, text, true);
        for offset in 0..=text.len() + 2 {
            assert_eq!(
                report.position(offset),
                Position::of(text, offset),
                "{offset}"
            );
        }
    }

    #[test]
    fn a_skipped_bom_moves_no_column_and_all_bytes() {
        let text = "\u{feff}{\n}";
        let mut report = Report::new(Path::new("f"), &Layer::User, text, true);
        assert_eq!(report.body(), "{\n}");
        report.add(Finding::note("x", (0, 1), "m"));
        let found = report.finish();
        assert_eq!(found[0].position, Some(Position { line: 1, column: 1 }));
        assert_eq!(found[0].span, Some((3, 4)));
    }
}
