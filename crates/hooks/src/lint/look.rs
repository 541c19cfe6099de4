//! What a rule sees of one handler.

use std::fs::File;
use std::io::Read;

use super::Context;
use crate::config::words::{Word, words_within};
use crate::config::{Loaded, Places, Span};
use crate::diagnostic::{Diagnostic, Severity};
use crate::dialect::{Dialect, DialectId, EventRow};
use crate::handler::{Action, CommandAction, Handler};
use crate::matcher::{Matcher, Reading};
use crate::trust::{Reference, references};

/// As much of a script as is read.
const SCRIPT_LIMIT: u64 = 256 * 1024;

/// One handler with everything a rule may ask about it.
pub(super) struct Look<'a> {
    pub(super) loaded: &'a Loaded,
    pub(super) handler: &'a Handler,
    pub(super) context: &'a Context,
    pub(super) dialect: &'static Dialect,
    pub(super) row: &'static EventRow,
    places: Option<&'a Places>,
    pub(super) matcher: Matcher,
    /// The words of a shell command; none in exec form and for other types.
    pub(super) words: Vec<Word>,
    /// The files the command names.
    pub(super) references: Vec<Reference>,
}

/// Where a remark points.
#[derive(Debug, Clone, Copy)]
pub(super) enum At {
    Matcher,
    Field(&'static str),
    Span(Span),
}

/// What a rule has to say.
#[derive(Debug)]
pub(super) struct Remark {
    severity: Severity,
    at: At,
    message: String,
    help: Option<String>,
}

impl Remark {
    pub(super) fn warning(at: At, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            at,
            message: message.into(),
            help: None,
        }
    }

    pub(super) fn note(at: At, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Note,
            ..Self::warning(at, message)
        }
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub(super) fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help = help;
        self
    }
}

impl<'a> Look<'a> {
    pub(super) fn new(
        loaded: &'a Loaded,
        handler: &'a Handler,
        context: &'a Context,
    ) -> Option<Self> {
        let dialect = handler.table();
        let row = dialect.event(handler.event)?;
        let words = match &handler.action {
            Action::Command(command) if command.args.is_none() => words_within(&command.command),
            _ => Vec::new(),
        };
        Some(Self {
            loaded,
            handler,
            context,
            dialect,
            row,
            places: loaded.places.get(&handler.key),
            matcher: Matcher::compile(dialect.matcher, handler.matcher.as_deref()),
            words,
            references: references(handler, &loaded.roots),
        })
    }

    pub(super) fn diagnose(&self, code: &'static str, remark: Remark) -> Diagnostic {
        let span = self.places.map(|places| match remark.at {
            At::Matcher => places.matcher.unwrap_or(places.group),
            At::Field(name) => places.fields.get(name).copied().unwrap_or(places.handler),
            At::Span(span) => span,
        });
        let position = span.and_then(|span| self.loaded.position(&self.handler.source, span.0));
        Diagnostic {
            severity: remark.severity,
            code,
            file: self.handler.source.clone(),
            position: position.or(Some(self.handler.position)),
            span,
            handler: Some(self.handler.key.clone()),
            message: remark.message,
            help: remark.help,
            managed: self.handler.layer.is_managed(),
        }
    }

    pub(super) fn is(&self, dialect: DialectId) -> bool {
        self.handler.dialect == dialect
    }

    /// The client's name.
    pub(super) fn client(&self) -> &'static str {
        match self.handler.dialect {
            DialectId::Claude => "Claude Code",
            DialectId::Codex => "Codex",
        }
    }

    /// The matcher as written, when it is more than "everything" and may matter.
    pub(super) fn written_matcher(&self) -> Option<&'a str> {
        let written = self.handler.matcher.as_deref()?;
        (self.matcher.reading() != Reading::All).then_some(written)
    }

    pub(super) fn command(&self) -> Option<&'a CommandAction> {
        match &self.handler.action {
            Action::Command(command) => Some(command),
            _ => None,
        }
    }

    /// The command as a shell text; nothing in exec form.
    pub(super) fn shell_text(&self) -> Option<&'a str> {
        let command = self.command()?;
        command.args.is_none().then_some(command.command.as_str())
    }

    /// Keys of the handler and its group that no client knows.
    pub(super) fn unknown_keys(&self) -> &'a [(String, Span)] {
        self.places.map_or(&[], |places| &places.unknown)
    }

    /// The texts of the scripts that the command runs and that can be read.
    pub(super) fn script_texts(&self) -> Vec<String> {
        let scripts = self.references.iter().filter(|reference| reference.runs);
        scripts
            .filter_map(|script| {
                let mut bytes = Vec::new();
                let file = File::open(&script.path).ok()?;
                file.take(SCRIPT_LIMIT).read_to_end(&mut bytes).ok()?;
                Some(String::from_utf8_lossy(&bytes).into_owned())
            })
            .collect()
    }

    /// The tools whose names a matcher can meet here, other names of the same tool included.
    pub(super) fn tools(&self) -> impl Iterator<Item = &'a str> {
        let aliases = self
            .dialect
            .aliases
            .iter()
            .flat_map(|(_, names)| names.iter());
        let own = self.dialect.tools.iter().chain(aliases).copied();
        own.chain(self.context.tools.iter().map(String::as_str))
    }
}
