//! `seamline sessions show ID`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use owo_colors::OwoColorize;
use seamline_harness::session::event::TurnEndReason;
use seamline_harness::session::{Entry, Event, Session, View};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::find;
use crate::commands::run::{ending, internal};
use crate::error::CliError;
use crate::places::Places;
use crate::render::{cut, one_line, utc, visible};
use crate::{exit, output, report};

/// The longest piece of an event that is shown on its line.
const LINE: usize = 160;

/// Show a session's log, also a damaged one or one that is in use.
///
/// One line per event. Exit code 0, or 65 when part of the log is damaged: what can be read is
/// shown all the same, with the place of the damage on standard error.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The session's id, the beginning of it, or `latest`.
    #[arg(value_name = "ID", default_value = "latest")]
    id: String,
    /// Print one JSON object with every event as it stands in the log.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &ShowArgs, places: &Places) -> Result<u8, CliError> {
    let id = find::find(&args.id, places)?;
    let log = find::place(places).log(id);
    let view = Session::read(&log).map_err(internal)?;
    if args.json {
        output::result(&object(&view, &log))?;
    } else {
        output::result(&head(&view, &id.to_string()))?;
        let lines: String = view.entries.iter().map(|entry| line(entry)).collect();
        output::result(&lines)?;
    }
    for damage in &view.damage {
        let (path, message) = (log.display(), visible(&damage.message));
        let word = "damaged:".red().bold().to_string();
        output::diagnostic(&format!("{word} {path}:{}: {message}\n", damage.line));
    }
    match view.damage.is_empty() {
        true => Ok(exit::OK),
        false => Ok(exit::BROKEN),
    }
}

fn head(view: &View, id: &str) -> String {
    let project = view.project.as_ref().map(|path| path.display().to_string());
    let mut head = format!(
        "{} {id} · {} · {}\n",
        "session".bold(),
        view.created.map_or_else(|| "?".to_owned(), utc),
        visible(&project.unwrap_or_else(|| "?".to_owned()))
    );
    if let Some(origin) = view.origin {
        let (from, events) = (origin.session, origin.events);
        head.push_str(&format!("forked from {from}, its first {events} events\n"));
    }
    if view.torn_bytes > 0 {
        let bytes = view.torn_bytes;
        head.push_str(&format!("the last line is cut off ({bytes} bytes)\n"));
    }
    head
}

/// A log as one object, its events as they stand there.
#[derive(Serialize)]
struct Shown<'a> {
    version: u32,
    session: Option<String>,
    project: &'a Option<PathBuf>,
    created: Option<u64>,
    log: &'a Path,
    forked_from: Option<Value>,
    torn_bytes: u64,
    damage: Vec<Value>,
    events: Vec<Box<RawValue>>,
}

fn object(view: &View, log: &Path) -> String {
    let raw = |entry: &Arc<Entry>| RawValue::from_string(entry.line().ok()?).ok();
    let damage = view.damage.iter();
    let shown = Shown {
        version: 1,
        session: view.id.map(|id| id.to_string()),
        project: &view.project,
        created: view.created,
        log,
        forked_from: view.origin.map(
            |origin| json!({ "session": origin.session.to_string(), "events": origin.events }),
        ),
        torn_bytes: view.torn_bytes,
        damage: damage
            .map(|damage| json!({ "line": damage.line, "message": damage.message }))
            .collect(),
        events: view.entries.iter().filter_map(raw).collect(),
    };
    report::print(&shown)
}

fn line(entry: &Entry) -> String {
    let kind = entry.event.kind();
    let text = cut(&one_line(&visible(&brief(&entry.event))), LINE);
    format!("{:>5}  {kind:<18} {text}\n", entry.seq.dimmed())
}

fn brief(event: &Event) -> String {
    match event {
        Event::SessionStart(start) => {
            let source = serde_json::to_value(start.source).unwrap_or_default();
            format!(
                "{} · model {}",
                source.as_str().unwrap_or_default(),
                start.model
            )
        }
        Event::SessionTitle(title) => title.title.clone(),
        Event::SessionEnd(end) => end.reason.clone(),
        Event::TurnStart(start) => format!("turn {}", start.turn),
        Event::TurnEnd(end) => turn_end(end.turn, &end.reason),
        Event::StepStart(step) => format!("step {}", step.0.step),
        Event::StepEnd(step) => format!("step {}", step.0.step),
        Event::UserMessage(message) => message.content.to_text(),
        Event::SteeringMessage(message) => message.content.to_text(),
        Event::PromptBlocked(blocked) => {
            format!("{} · {}", blocked.reason, blocked.content.to_text())
        }
        Event::ToolCall(call) => tool_call(call),
        Event::ToolResult(result) => result.content.to_text(),
        Event::ContextMessage(context) => format!("{} · {}", context.source, context.text),
        Event::RequestHeader(header) => {
            format!("model {} · {} tools", header.model, header.tools.len())
        }
        Event::Notice(notice) => notice.text.clone(),
        Event::Extension(extension) => extension.data.text().to_owned(),
        Event::Ignorable(later) => later.data.text().to_owned(),
        Event::AssistantMessage(message) => {
            serde_json::to_string(&message.blocks).unwrap_or_default()
        }
        _ => String::new(),
    }
}

fn turn_end(turn: u32, reason: &TurnEndReason) -> String {
    match ending(reason) {
        (word, None) => format!("turn {turn} · {word}"),
        (word, Some(why)) => format!("turn {turn} · {word}: {why}"),
    }
}

fn tool_call(call: &seamline_harness::session::event::ToolCall) -> String {
    let mut text = format!("{} {}", call.name, call.arguments.text());
    if let Some(denied) = &call.denied {
        text.push_str(&format!(" · denied by {}: {}", denied.by, denied.reason));
    }
    for by in &call.rewritten_by {
        text.push_str(&format!(" · rewritten by {by}"));
    }
    text
}
