//! The tables of `hooks list`.

use std::fmt::Write;
use std::path::Path;

use owo_colors::{OwoColorize, Style};
use seamline_hooks::config::{ConfigFile, FileState};
use seamline_hooks::handler::{Background, OnFailure};
use seamline_hooks::trust::TrustState;
use seamline_hooks::{Diagnostic, Handler, Severity};

use super::table::{Cell, columns};
use super::{count, cut, one_line, seconds, visible};
use crate::places::Places;
use crate::report::listing::{reading, reading_word, severity_word};
use crate::setup::{Setup, timeout};

/// Everything that is configured for these protocols.
pub(crate) fn render(setups: &[Setup], places: &Places) -> String {
    let mut text = String::new();
    for setup in setups {
        for file in setup
            .loaded
            .files
            .iter()
            .filter(|file| file.state != FileState::Absent)
        {
            render_file(&mut text, setup, file, places);
        }
    }
    absent(&mut text, setups, places);
    text.push_str(&summary(setups));
    text
}

fn render_file(text: &mut String, setup: &Setup, file: &ConfigFile, places: &Places) {
    let handlers: Vec<&Handler> = setup
        .loaded
        .handlers
        .iter()
        .filter(|h| h.source == file.path)
        .collect();
    let state = match file.state {
        FileState::Broken => format!("  {}", "broken, nothing of it is in force".red()),
        FileState::PassedOver => format!("  {}", "passed over, nothing of it is in force".yellow()),
        _ => String::new(),
    };
    let about = format!("{} {} file", setup.loaded.dialect, file.layer.as_str());
    let _ = writeln!(
        text,
        "{}  {}{state}",
        places.show(&file.path).bold(),
        about.dimmed()
    );
    let mut rows = vec![heading()];
    rows.extend(handlers.iter().map(|handler| row(handler, setup)));
    let lines = columns(&rows);
    let mut lines = lines.iter();
    if let Some(heading) = lines.next().filter(|_| !handlers.is_empty()) {
        let _ = writeln!(text, "  {heading}");
    }
    for (handler, line) in handlers.iter().zip(lines) {
        let _ = writeln!(text, "  {line}");
        for finding in setup
            .findings
            .iter()
            .filter(|f| f.handler.as_ref() == Some(&handler.key))
        {
            render_finding(text, finding);
        }
    }
    for finding in setup
        .findings
        .iter()
        .filter(|f| about_file(f, &file.path, &handlers))
    {
        render_finding(text, finding);
    }
    text.push('\n');
}

/// Whether a finding is about the file and not about one of the handlers listed for it.
fn about_file(finding: &Diagnostic, file: &Path, handlers: &[&Handler]) -> bool {
    let listed = |key| handlers.iter().any(|handler| &handler.key == key);
    finding.file == file && !finding.handler.as_ref().is_some_and(listed)
}

fn heading() -> Vec<Cell> {
    [
        "line", "event", "matcher", "read as", "type", "timeout", "trust", "runs",
    ]
    .map(|name| Cell::new(name, Style::new().dimmed()))
    .to_vec()
}

fn row(handler: &Handler, setup: &Setup) -> Vec<Cell> {
    let reading = reading(handler);
    let (timeout, default) = timeout(handler);
    let timeout = format!(
        "{} s{}",
        seconds(timeout),
        if default { " default" } else { "" }
    );
    let matcher = handler
        .matcher
        .as_deref()
        .map_or("-".to_owned(), |text| cut(text, 40));
    vec![
        handler.position.line.to_string().into(),
        handler.event.into(),
        matcher.into(),
        reading_word(reading.as_ref()).into(),
        handler.action.type_name().into(),
        timeout.into(),
        trust(setup.trust_of(handler)),
        format!(
            "{}{}",
            one_line(&handler.action.summary()),
            remarks(handler)
        )
        .into(),
    ]
}

fn trust(state: TrustState) -> Cell {
    let style = if state.runs() {
        Style::new()
    } else {
        Style::new().yellow()
    };
    Cell::new(state.as_str(), style)
}

/// What else is set, in brackets.
fn remarks(handler: &Handler) -> String {
    let condition = handler.condition.as_ref().map(|rule| format!("if {rule}"));
    let background = match handler.background {
        Background::No => None,
        Background::Async => Some("async".to_owned()),
        Background::AsyncRewake => Some("async, wakes".to_owned()),
    };
    let failure =
        (handler.on_failure == OnFailure::Block).then(|| "blocks when it fails".to_owned());
    let disabled = handler
        .disabled
        .as_ref()
        .map(|why| format!("disabled: {why}"));
    let all: Vec<String> = [condition, background, failure, disabled]
        .into_iter()
        .flatten()
        .collect();
    if all.is_empty() {
        String::new()
    } else {
        format!("  [{}]", visible(&all.join("; ")))
    }
}

/// Broken parts get a line here and a caret on standard error.
fn render_finding(text: &mut String, finding: &Diagnostic) {
    let word = severity_word(finding.severity);
    let word = match finding.severity {
        Severity::Broken => word.red().to_string(),
        Severity::Warning => word.yellow().to_string(),
        Severity::Note => word.cyan().to_string(),
    };
    let place = match (finding.position, &finding.handler) {
        (Some(at), None) => format!("line {}: ", at.line),
        _ => String::new(),
    };
    let _ = writeln!(text, "      {word}: {place}{}", visible(&finding.message));
    if let Some(help) = finding
        .help
        .as_ref()
        .filter(|_| finding.severity != Severity::Broken)
    {
        let _ = writeln!(text, "        {}", visible(help).dimmed());
    }
}

/// Files that were looked for and are not there.
fn absent(text: &mut String, setups: &[Setup], places: &Places) {
    let missing: Vec<Vec<Cell>> = setups
        .iter()
        .flat_map(|setup| {
            let absent = setup
                .loaded
                .files
                .iter()
                .filter(|f| f.state == FileState::Absent);
            absent.map(|file| {
                let dialect = setup.loaded.dialect.as_str();
                vec![
                    dialect.into(),
                    file.layer.as_str().into(),
                    places.show(&file.path).into(),
                ]
            })
        })
        .collect();
    if setups.iter().any(|setup| setup.loaded.any_file()) {
        if !missing.is_empty() {
            let _ = writeln!(
                text,
                "{}",
                count(missing.len(), "other file", "looked for, not there").dimmed()
            );
        }
        return;
    }
    let _ = writeln!(text, "no hooks are configured; looked in");
    for line in columns(&missing) {
        let _ = writeln!(text, "  {line}");
    }
}

fn summary(setups: &[Setup]) -> String {
    let handlers: usize = setups.iter().map(|setup| setup.loaded.handlers.len()).sum();
    let findings = |severity| {
        setups
            .iter()
            .flat_map(|s| &s.findings)
            .filter(|f| f.severity == severity)
            .count()
    };
    let mut parts = vec![count(handlers, "handler", "")];
    for (severity, noun) in [
        (Severity::Broken, "broken part"),
        (Severity::Warning, "warning"),
        (Severity::Note, "note"),
    ] {
        match findings(severity) {
            0 => {}
            some => parts.push(count(some, noun, "")),
        }
    }
    parts.join(", ") + "\n"
}
