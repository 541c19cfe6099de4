//! `seamline sessions list`.

use clap::Args;
use owo_colors::Style;
use seamline_harness::session::{Event, Session, SessionId, View};
use serde_json::{Value, json};

use super::find;
use crate::error::CliError;
use crate::places::Places;
use crate::render::table::{Cell, columns};
use crate::render::{count, cut, one_line, utc};
use crate::{exit, output, report};

/// The longest piece of a prompt that is shown.
const PROMPT: usize = 60;

/// Show the project's sessions, the last used first.
///
/// Each is one line: its id, when it began, how many turns it has, its state, and its title or first
/// prompt. Exit code 0, also when some are damaged.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Print one JSON object instead of a table.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &ListArgs, places: &Places) -> Result<u8, CliError> {
    let place = find::place(places);
    let ids = find::by_use(places)?;
    let sessions: Vec<(SessionId, Result<View, String>)> = ids
        .into_iter()
        .map(|id| {
            let view = Session::read(&place.log(id));
            (id, view.map_err(|error| error.to_string()))
        })
        .collect();
    if args.json {
        let sessions: Vec<Value> = sessions
            .iter()
            .map(|(id, view)| object(*id, view))
            .collect();
        let whole = json!({ "version": 1, "project": places.roots.project, "sessions": sessions });
        output::result(&report::print(&whole))?;
        return Ok(exit::OK);
    }
    if sessions.is_empty() {
        output::result("no sessions of this project\n")?;
        return Ok(exit::OK);
    }
    let rows: Vec<_> = sessions.iter().map(|(id, view)| row(*id, view)).collect();
    let lines: String = columns(&rows).into_iter().map(|line| line + "\n").collect();
    output::result(&lines)?;
    Ok(exit::OK)
}

fn row(id: SessionId, view: &Result<View, String>) -> Vec<Cell> {
    let plain = |text: String| Cell::new(text, Style::new());
    let Ok(view) = view else {
        let state = "cannot be read".to_owned();
        return vec![plain(id.to_string()), plain(state)];
    };
    vec![
        plain(id.to_string()),
        plain(view.created.map_or_else(|| "?".to_owned(), utc)),
        plain(count(turns(view), "turn", "")),
        plain(state(view)),
        plain(name(view)),
    ]
}

fn object(id: SessionId, view: &Result<View, String>) -> Value {
    match view {
        Err(error) => json!({ "session": id.to_string(), "error": error }),
        Ok(view) => json!({
            "session": id.to_string(),
            "created": view.created,
            "turns": turns(view),
            "state": state(view),
            "name": name(view),
            "forked_from": view.origin.map(|origin| origin.session.to_string()),
        }),
    }
}

fn turns(view: &View) -> usize {
    let started = |event: &Event| matches!(event, Event::TurnStart(_));
    view.entries
        .iter()
        .filter(|entry| started(&entry.event))
        .count()
}

/// What became of a session, in a few words.
fn state(view: &View) -> String {
    if let Some(damage) = view.damage.first() {
        return format!("damaged at line {}", damage.line);
    }
    let last = view
        .entries
        .iter()
        .rev()
        .find_map(|entry| match &entry.event {
            Event::SessionEnd(_) => Some("ended"),
            Event::TurnEnd(_) => Some("not ended"),
            Event::TurnStart(_) => Some("turn open"),
            _ => None,
        });
    last.unwrap_or("empty").to_owned()
}

/// The title, else the first prompt.
fn name(view: &View) -> String {
    let title = view
        .entries
        .iter()
        .rev()
        .find_map(|entry| match &entry.event {
            Event::SessionTitle(title) => Some(title.title.clone()),
            _ => None,
        });
    let prompt = || {
        view.entries.iter().find_map(|entry| match &entry.event {
            Event::UserMessage(message) => Some(message.content.to_text()),
            Event::PromptBlocked(blocked) => Some(blocked.content.to_text()),
            _ => None,
        })
    };
    let name = title.or_else(prompt).unwrap_or_default();
    cut(&one_line(&name), PROMPT)
}
