//! Points into a text: file, line, column, the line itself and a caret.

use std::fmt;

use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceCode, SourceSpan,
    ThemeCharacters, ThemeStyles,
};
use seamline_hooks::{Diagnostic, Severity};

use super::visible;

/// A finding about a place in a text.
#[derive(Debug)]
pub(crate) struct Pointer {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
    /// Broken is an error; the rest is not.
    pub severity: Severity,
    /// The text, its name, and the bytes pointed at.
    pub source: Option<(NamedSource<String>, SourceSpan)>,
}

impl Pointer {
    /// A finding about a text, if there is one to point into.
    pub(crate) fn new(finding: &Diagnostic, shown: &str, text: Option<&str>) -> Self {
        let source = text.zip(finding.span).map(|(text, (start, end))| {
            (
                NamedSource::new(shown, harmless(text)),
                SourceSpan::from(start..end.max(start)),
            )
        });
        let message = visible(&finding.message);
        let message = match (&source, finding.position) {
            (Some(_), _) => message,
            (None, Some(at)) => format!("{shown}:{}:{}: {message}", at.line, at.column),
            (None, None) => format!("{shown}: {message}"),
        };
        Self {
            message,
            help: finding.help.as_deref().map(visible),
            severity: finding.severity,
            source,
        }
    }

    /// The finding as text, several lines long, with colours.
    pub(crate) fn render(&self) -> String {
        let theme = GraphicalTheme {
            characters: ThemeCharacters {
                error: "x".into(),
                warning: "!".into(),
                advice: "-".into(),
                ..ThemeCharacters::unicode()
            },
            styles: ThemeStyles::ansi(),
        };
        let mut text = String::new();
        let handler = GraphicalReportHandler::new_themed(theme)
            .with_width(100)
            .with_links(false);
        match handler.render_report(&mut text, self) {
            Ok(()) => text,
            Err(fmt::Error) => format!("{}\n", self.message),
        }
    }
}

/// The text with question marks for control characters, byte for byte, so that spans still fit.
fn harmless(text: &str) -> String {
    let acts = |c: char| c.is_ascii_control() && !matches!(c, '\n' | '\r' | '\t');
    text.chars()
        .map(|c| if acts(c) { '?' } else { c })
        .collect()
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Pointer {}

impl miette::Diagnostic for Pointer {
    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.severity {
            Severity::Broken => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
            Severity::Note => miette::Severity::Advice,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help
            .as_ref()
            .map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source
            .as_ref()
            .map(|(text, _)| text as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let (_, span) = self.source.as_ref()?;
        Some(Box::new(std::iter::once(LabeledSpan::new_with_span(
            Some("here".into()),
            *span,
        ))))
    }
}
