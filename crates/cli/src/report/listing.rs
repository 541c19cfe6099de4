//! The object of `hooks list --json`.

use serde::Serialize;

use seamline_hooks::dialect::Subject;
use seamline_hooks::handler::Background;
use seamline_hooks::matcher::{Matcher, Reading};
use seamline_hooks::{Diagnostic, Handler, Severity};

use super::VERSION;
use crate::setup::Setup;

/// Everything that is configured.
#[derive(Debug, Serialize)]
pub(crate) struct ListReport<'a> {
    version: u32,
    files: Vec<FileReport>,
    handlers: Vec<ListedHandler<'a>>,
    findings: Vec<FindingReport<'a>>,
}

#[derive(Debug, Serialize)]
struct FileReport {
    dialect: &'static str,
    layer: String,
    path: String,
    state: &'static str,
}

#[derive(Debug, Serialize)]
struct ListedHandler<'a> {
    dialect: &'static str,
    key: &'a str,
    layer: &'a str,
    source: String,
    line: usize,
    column: usize,
    event: &'static str,
    matcher: Option<&'a str>,
    reading: &'static str,
    names: Vec<String>,
    r#type: &'static str,
    command: String,
    condition: Option<&'a str>,
    background: &'static str,
    timeout_s: f64,
    timeout_is_default: bool,
    trust: &'static str,
    disabled: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct FindingReport<'a> {
    severity: &'static str,
    code: &'static str,
    file: String,
    line: Option<usize>,
    column: Option<usize>,
    handler: Option<&'a str>,
    message: &'a str,
    help: Option<&'a str>,
}

impl<'a> ListReport<'a> {
    /// The object for these protocols' configurations.
    pub(crate) fn new(setups: &'a [Setup]) -> Self {
        Self {
            version: VERSION,
            files: setups.iter().flat_map(files).collect(),
            handlers: setups
                .iter()
                .flat_map(|s| s.loaded.handlers.iter().map(|h| ListedHandler::new(h, s)))
                .collect(),
            findings: setups
                .iter()
                .flat_map(|s| s.findings.iter().map(FindingReport::new))
                .collect(),
        }
    }
}

fn files(setup: &Setup) -> impl Iterator<Item = FileReport> {
    setup.loaded.files.iter().map(|file| FileReport {
        dialect: setup.loaded.dialect.as_str(),
        layer: file.layer.as_str().to_owned(),
        path: file.path.display().to_string(),
        state: crate::setup::state_word(file.state),
    })
}

impl<'a> ListedHandler<'a> {
    fn new(handler: &'a Handler, setup: &Setup) -> Self {
        let reading = reading(handler);
        let (timeout, timeout_is_default) = crate::setup::timeout(handler);
        Self {
            dialect: handler.dialect.as_str(),
            key: &handler.key.0,
            layer: handler.layer.as_str(),
            source: handler.source.display().to_string(),
            line: handler.position.line,
            column: handler.position.column,
            event: handler.event,
            matcher: handler.matcher.as_deref(),
            reading: reading_word(reading.as_ref()),
            names: match reading {
                Some(Reading::List(names)) => names,
                _ => Vec::new(),
            },
            r#type: handler.action.type_name(),
            command: handler.action.summary(),
            condition: handler.condition.as_deref(),
            background: match handler.background {
                Background::No => "no",
                Background::Async => "async",
                Background::AsyncRewake => "async-rewake",
            },
            timeout_s: timeout.as_secs_f64(),
            timeout_is_default,
            trust: setup.trust_of(handler).as_str(),
            disabled: handler.disabled.as_deref(),
        }
    }
}

/// How a handler's matcher is read; `None` when its event looks at no matcher.
pub(crate) fn reading(handler: &Handler) -> Option<Reading> {
    let table = handler.table();
    let row = table.event(handler.event)?;
    match row.subject {
        Subject::Ignored => None,
        _ => Some(Matcher::compile(table.matcher, handler.matcher.as_deref()).reading()),
    }
}

/// The word for it.
pub(crate) fn reading_word(reading: Option<&Reading>) -> &'static str {
    match reading {
        None => "ignored",
        Some(Reading::All) => "all",
        Some(Reading::List(_)) => "list",
        Some(Reading::Regex) => "regex",
        Some(Reading::Invalid(_)) => "invalid",
    }
}

impl<'a> FindingReport<'a> {
    fn new(finding: &'a Diagnostic) -> Self {
        Self {
            severity: severity_word(finding.severity),
            code: finding.code,
            file: finding.file.display().to_string(),
            line: finding.position.map(|at| at.line),
            column: finding.position.map(|at| at.column),
            handler: finding.handler.as_ref().map(|key| key.0.as_str()),
            message: &finding.message,
            help: finding.help.as_deref(),
        }
    }
}

/// The word for a severity.
pub(crate) fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Broken => "broken",
    }
}
