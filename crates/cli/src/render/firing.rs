//! What a firing looks like: the payload, each run, each skipped handler, what came of it.

use std::fmt::Write;

use owo_colors::OwoColorize;
use seamline_hooks::outcome::Outcome;
use seamline_hooks::runner::Exit;
use seamline_hooks::trace::{EntryKind, Note, Run, RunStatus, SkipReason, Trace};
use seamline_hooks::{Decision, Handler};

use super::table::{Cell, columns};
use super::{count, milliseconds, one_line, visible};
use crate::hit::Hit;
use crate::places::Places;
use crate::report::firing::extras;

/// One firing.
pub(crate) fn render(hit: &Hit, places: &Places) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}", format!("{} {}", hit.dialect, hit.event).bold());
    heading(&mut text, "payload");
    let pretty = serde_json::to_string_pretty(hit.payload.value()).unwrap_or_default();
    indented(&mut text, &pretty);
    runs(&mut text, hit, places);
    skipped(&mut text, &hit.fired.trace, places);
    outcome(&mut text, &hit.fired.outcome);
    if let Some(environment) = &hit.environment {
        heading(&mut text, "environment for later commands");
        indented(&mut text, environment);
    }
    text
}

fn heading(text: &mut String, name: &str) {
    let _ = writeln!(text, "\n{}", name.dimmed());
}

fn indented(text: &mut String, lines: &str) {
    for line in lines.lines() {
        let _ = writeln!(text, "  {}", visible(line));
    }
}

fn runs(text: &mut String, hit: &Hit, places: &Places) {
    heading(text, "runs");
    if hit.fired.trace.runs.is_empty() && hit.background.is_empty() {
        let _ = writeln!(text, "  none: {}", why_none(hit, places));
    }
    list_runs(text, hit.fired.trace.runs.iter().collect(), places);
    if !hit.background.is_empty() {
        heading(text, "runs in background");
        list_runs(
            text,
            hit.background.iter().map(|b| &b.run).collect(),
            places,
        );
    }
}

fn why_none(hit: &Hit, places: &Places) -> String {
    if hit.looked_in.is_empty() {
        return "no handler fits".to_owned();
    }
    let files: Vec<String> = hit.looked_in.iter().map(|file| places.show(file)).collect();
    format!("no hooks are configured; looked in {}", files.join(", "))
}

fn list_runs(text: &mut String, runs: Vec<&Run>, places: &Places) {
    let rows: Vec<Vec<Cell>> = runs.iter().map(|run| run_row(run, places)).collect();
    for (run, line) in runs.iter().zip(columns(&rows)) {
        let _ = writeln!(text, "  {line}");
        for entry in &run.entries {
            said(text, 6, entry_word(entry.kind), &entry.text);
        }
        if let Some(stderr) = untold(run) {
            said(text, 6, "stderr", &stderr);
        }
        for note in run.notes.iter().filter(|note| helps(run, note)) {
            said(text, 6, &"note".yellow().to_string(), &note.text);
        }
    }
}

/// What a failed hook wrote to standard error, its first lines, where the protocol reports no more
/// than the exit code.
fn untold(run: &Run) -> Option<String> {
    let stderr = String::from_utf8_lossy(&run.stderr);
    let first = stderr.lines().next()?;
    let told = run.entries.iter().any(|entry| entry.text.contains(first));
    let lines: Vec<&str> = stderr.lines().take(5).collect();
    (run.status == RunStatus::Failed && !told).then(|| lines.join("\n"))
}

/// Whether a remark is worth a line here. A hook that said what it had to say did not need its
/// input; one that failed or stayed silent may have been waiting for it elsewhere.
fn helps(run: &Run, note: &Note) -> bool {
    let spoke = !run.entries.is_empty() && run.status != RunStatus::Failed;
    note.code != "stdin-not-read" || !spoke
}

/// A word and a text that may have several lines, `depth` blanks in.
fn said(text: &mut String, depth: usize, word: &str, what: &str) {
    let mut lines = what.lines().map(visible);
    let first = lines.next().unwrap_or_default();
    let _ = writeln!(text, "{:depth$}{word}: {first}", "");
    for line in lines {
        let _ = writeln!(text, "{:depth$}  {line}", "");
    }
}

fn entry_word(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::Warning => "message to the user",
        EntryKind::Stop => "stop",
        EntryKind::Feedback => "reason",
        EntryKind::Context => "context for the model",
        EntryKind::Error => "error",
    }
}

fn run_row(run: &Run, places: &Places) -> Vec<Cell> {
    let style = match run.status {
        RunStatus::Completed => owo_colors::Style::new().green(),
        RunStatus::Blocked | RunStatus::Stopped => owo_colors::Style::new().yellow(),
        RunStatus::Failed | RunStatus::Cancelled => owo_colors::Style::new().red(),
    };
    vec![
        Cell::new(run.status.as_str(), style),
        exit_word(&run.exit).into(),
        milliseconds(run.duration).into(),
        place(&run.handler, places).into(),
        one_line(&run.handler.action.summary()).into(),
    ]
}

fn exit_word(exit: &Exit) -> String {
    match exit {
        Exit::Code(code) => format!("exit {code}"),
        Exit::Signal(signal) => format!("signal {signal}"),
        Exit::TimedOut => "timed out".into(),
        Exit::Cancelled => "cancelled".into(),
        Exit::SpawnFailed(_) => "not started".into(),
        Exit::CallFailed(_) => "no answer".into(),
    }
}

/// Where a handler stands: `file:line`.
pub(crate) fn place(handler: &Handler, places: &Places) -> String {
    format!("{}:{}", places.show(&handler.source), handler.position.line)
}

fn skipped(text: &mut String, trace: &Trace, places: &Places) {
    if trace.skipped.is_empty() {
        return;
    }
    heading(text, "skipped");
    let here = || {
        trace
            .skipped
            .iter()
            .filter(|skip| skip.reason != SkipReason::Event)
    };
    let rows: Vec<Vec<Cell>> = here()
        .map(|skip| {
            vec![
                skip.reason.as_str().into(),
                place(&skip.handler, places).into(),
                one_line(&skip.handler.action.summary()).into(),
            ]
        })
        .collect();
    for (skip, line) in here().zip(columns(&rows)) {
        let _ = writeln!(text, "  {line}");
        let _ = writeln!(text, "      {}", visible(&skip.detail));
    }
    match trace.skipped.len() - rows.len() {
        0 => {}
        others => {
            let _ = writeln!(
                text,
                "  {}",
                count(others, "handler", "of other events").dimmed()
            );
        }
    }
}

fn outcome(text: &mut String, outcome: &Outcome) {
    heading(text, "outcome");
    let word = outcome.decision.as_str();
    let word = match outcome.decision {
        Decision::None => "none, as if there were no hooks".to_owned(),
        Decision::Allow => word.green().to_string(),
        Decision::Ask | Decision::Defer => word.yellow().to_string(),
        Decision::Deny | Decision::Block => word.red().to_string(),
    };
    let _ = writeln!(text, "  decision: {word}");
    if let Some(reason) = &outcome.reason {
        said(text, 2, "reason", reason);
    }
    if let Some(halt) = &outcome.halt {
        said(
            text,
            2,
            "ends the run",
            halt.reason.as_deref().unwrap_or("without a reason"),
        );
    }
    if let Some(input) = &outcome.input {
        said(text, 2, "input becomes", input.value.get());
    }
    for context in &outcome.contexts {
        said(text, 2, "context for the model", &context.value);
    }
    for notice in &outcome.notices {
        said(text, 2, "notice for the user", &notice.value.text);
    }
    for (name, value) in extras(&outcome.extras) {
        said(text, 2, &name.replace('_', " "), &value.to_string());
    }
}
