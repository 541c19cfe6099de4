//! What the loader lists for a Codex configuration, in the words of a case.

use std::path::Path;

use seamline_hooks::config::{FileState, Loaded, OFF_BY_STATE};
use seamline_hooks::handler::Background;
use seamline_hooks::trust::codex_status;
use seamline_hooks::{Action, Handler, Severity};
use serde_json::{Map, Value, json};

use crate::stage::Stage;

/// The handlers in run order, and the number of warnings. A client that does not start lists
/// nothing, with one error.
pub(super) fn listed(loaded: &Loaded, stage: &Stage) -> (Vec<Map<String, Value>>, u64) {
    if loaded.refuses_start() {
        return (Vec::new(), 1);
    }
    let handlers = loaded.handlers.iter().filter(|handler| is_listed(handler));
    let list = handlers
        .map(|handler| entry(loaded, handler, stage))
        .collect();
    (list, u64::try_from(warnings(loaded)).unwrap_or(u64::MAX))
}

/// Findings that Codex makes as well. Ours are more: it says nothing of keys it does not know.
const OF_THE_CLIENT: [&str; 5] = [
    "skipped-handler",
    "timeout-clamped",
    "async-ignored",
    "limit-ignored",
    "two-forms",
];

/// Warnings the client would have given: one for a file it cannot read, where it stops at the
/// first mistake, and each finding of its own kinds elsewhere.
fn warnings(loaded: &Loaded) -> usize {
    let broken = |file: &Path| {
        let state = loaded.files.iter().find(|known| known.path == file);
        state.is_some_and(|known| known.state == FileState::Broken)
    };
    let unreadable = loaded
        .files
        .iter()
        .filter(|file| file.state == FileState::Broken)
        .count();
    let others = loaded
        .diagnostics
        .iter()
        .filter(|found| !broken(&found.file));
    let said = others
        .filter(|found| found.severity == Severity::Broken || OF_THE_CLIENT.contains(&found.code));
    unreadable + said.count()
}

/// Handlers of types that do not run, those a feature switch turns off and those of a layer that
/// is not in force are not listed.
fn is_listed(handler: &Handler) -> bool {
    let row = handler.dialect.table().event(handler.event);
    let runs = row.is_some_and(|row| row.types.runs(handler.action.type_name()));
    runs && (handler.disabled.is_none() || switched_off(handler))
}

/// Whether the user's state says `enabled = false`, which counts but for managed hooks.
fn switched_off(handler: &Handler) -> bool {
    handler.disabled.as_deref() == Some(OFF_BY_STATE)
}

fn entry(loaded: &Loaded, handler: &Handler, stage: &Stage) -> Map<String, Value> {
    let row = handler.dialect.table().event(handler.event);
    let default = row.map(|row| row.timeouts.default).unwrap_or_default();
    let timeout = handler.timeout.unwrap_or(default);
    let mut map = Map::new();
    let mut set = |key: &str, value: Value| map.insert(key.to_owned(), value);
    set("event", json!(handler.event));
    // The client's list has its own word for one type.
    set(
        "type",
        json!(handler.action.type_name().replace("mcp_tool", "mcpTool")),
    );
    set("source", json!(source(handler, stage)));
    set("timeout", json!(timeout.as_secs()));
    set("enabled", json!(!switched_off(handler)));
    set("trust", json!(codex_status(handler, loaded).as_str()));
    if let Action::Command(command) = &handler.action {
        set("command", json!(stage.there(&command.command)));
    }
    if let Some(matcher) = &handler.matcher {
        set("matcher", json!(matcher));
    }
    if let Some(message) = &handler.status_message {
        set("statusMessage", json!(message));
    }
    if handler.background != Background::No {
        set("async", json!(true));
    }
    map
}

/// The source, with the placeholders of the case.
fn source(handler: &Handler, stage: &Stage) -> String {
    let path = handler.key.source();
    let folders = [
        ("$CODEX_HOME", stage.codex_home()),
        ("$CWD", stage.project.clone()),
    ];
    let short = folders.iter().find_map(|(name, folder)| {
        Some(format!(
            "{name}{}",
            path.strip_prefix(&folder.display().to_string())?
        ))
    });
    short.unwrap_or_else(|| stage.there(path))
}
