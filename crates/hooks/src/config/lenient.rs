//! The profile `seeds` reads the JSON files of both dialects in one lenient way: what is malformed
//! is passed over, a handler without a type is a command, other handlers are skipped with a warning.
//! One thing costs the whole file: a matcher that is no regular expression, where it would be used.

use std::time::Duration;

use super::json;
use super::part::{Part, Slot};
use super::report::{Finding, Report};
use super::tree::{Entry, Node, Table, Value};
use super::{claude, claude_handler, codex_handler};
use crate::dialect::{Dialect, DialectId, EventRow, Subject};
use crate::handler::{Action, Background, CommandAction, Handler, OnFailure};
use crate::matcher::diagnose;

/// Reads one file; `None` when none of it is in force.
pub(crate) fn read(dialect: &'static Dialect, report: &mut Report<'_>) -> Option<Part> {
    let root = match json::parse(report.body()) {
        Ok(root) => root,
        Err(error) => {
            let message = format!("not valid JSON: {}; no hooks are read", error.message);
            let finding = Finding::broken("bad-json", report.point(error.offset), message);
            report.add(finding.maybe_help(claude::strictness(report.body())));
            return None;
        }
    };
    let Some(table) = root.as_table() else {
        return Some(Part::default());
    };
    let mut part = match dialect.id {
        DialectId::Claude => claude::settings(report, table)?,
        DialectId::Codex => Part::default(),
    };
    let events = table.get("hooks").and_then(Node::as_table);
    let mut reader = Reader {
        dialect,
        report,
        rejected: false,
    };
    for row in dialect.events {
        if let Some(entry) = events.unwrap_or(table).entry(row.name) {
            reader.event(row, entry, &mut part);
        }
    }
    if reader.rejected && dialect.id == DialectId::Codex {
        return None;
    }
    if reader.rejected {
        // Only the hooks: permission rules of the file hold whatever becomes of them.
        part.handlers.clear();
    }
    Some(part)
}

struct Reader<'r, 'a> {
    dialect: &'static Dialect,
    report: &'r mut Report<'a>,
    rejected: bool,
}

impl Reader<'_, '_> {
    fn event(&mut self, row: &'static EventRow, entry: &Entry, part: &mut Part) {
        let groups = entry.value.as_list().unwrap_or_default();
        for (group, node) in groups.iter().enumerate() {
            let Some(table) = node.as_table() else {
                continue;
            };
            let handlers = table.get("hooks").and_then(Node::as_list);
            let before = part.handlers.len();
            for (index, handler) in handlers.unwrap_or_default().iter().enumerate() {
                let slot = Slot {
                    dialect: self.dialect.id,
                    row,
                    event_span: entry.key_span,
                    group,
                    group_node: node,
                    index,
                    node: handler,
                };
                self.handler(&slot, part);
            }
            part.any_group |= part.handlers.len() > before;
            if part.handlers.len() > before {
                self.check_matcher(row, table);
            }
        }
    }

    /// A matcher counts where a handler of its group could run.
    fn check_matcher(&mut self, row: &EventRow, group: &Table) {
        let matcher = group.get("matcher");
        let Some((node, text)) = matcher.and_then(|node| Some((node, node.as_text()?))) else {
            return;
        };
        if row.subject == Subject::Ignored {
            return;
        }
        if let Some(why) = diagnose(self.dialect, text) {
            let message = format!("{why} on event {:?}; no hooks are registered", row.name);
            self.report
                .add(Finding::broken("invalid-matcher", node.span, message));
            self.rejected = true;
        }
    }

    fn handler(&mut self, slot: &Slot<'_>, part: &mut Part) {
        let Some(table) = slot.table() else { return };
        let kind = match table.get("type") {
            None => "command",
            Some(node) => node.as_text().unwrap_or("unknown"),
        };
        let background = table.get("async").and_then(Node::as_bool) == Some(true);
        let (skipped, how) = match kind {
            "command" if background && !self.dialect.background => (Some("async hook"), "sync "),
            "command" => (None, ""),
            kind => (Some(kind), ""),
        };
        if let Some(what) = skipped {
            let message = format!(
                "skipping unsupported {what:?} on {} (only {how}command hooks run)",
                slot.row.name
            );
            let finding = Finding::warning("skipped-handler", slot.node.span, message);
            self.report.add(finding.about(&slot.key(self.report)));
            return;
        }
        let Some(command) = table.get("command").and_then(Node::as_text) else {
            return;
        };
        let handler = slot.handler(self.report, self.action(table, command));
        let uses_matcher = slot.row.subject != Subject::Ignored;
        let matcher = handler.matcher.clone();
        let mut handler = Handler {
            matcher: matcher.filter(|text| uses_matcher && !matches!(text.as_str(), "" | "*")),
            timeout: self.timeout(table),
            background: match background {
                true => Background::Async,
                false => Background::No,
            },
            status_message: text(table, "statusMessage"),
            ..handler
        };
        match self.dialect.id {
            DialectId::Claude => {
                handler.condition = text(table, "if");
                if text(table, "onFailure").as_deref() == Some("block") {
                    handler.on_failure = OnFailure::Block;
                }
            }
            DialectId::Codex => handler.context_limit = limit(table),
        }
        let mut known = match self.dialect.id {
            DialectId::Claude => claude_handler::known_keys("command"),
            DialectId::Codex => codex_handler::known_keys("command").to_vec(),
        };
        known.extend(self.dialect.timeout_keys);
        let places = slot.places(self.report, &claude::GROUP_KEYS, &known);
        part.handlers.push((handler, places));
    }

    fn timeout(&self, table: &Table) -> Option<Duration> {
        let mut keys = self.dialect.timeout_keys.iter();
        keys.find_map(|key| seconds(table.get(key)?))
    }

    /// The command, with what the dialect has beside it.
    fn action(&self, table: &Table, command: &str) -> Action {
        let claude = self.dialect.id == DialectId::Claude;
        let args = table.get("args").and_then(Node::as_list).filter(|_| claude);
        let args = args.map(|args| args.iter().filter_map(Node::as_text));
        Action::Command(CommandAction {
            command: command.to_owned(),
            args: args.map(|args| args.map(str::to_owned).collect()),
            shell: text(table, "shell").filter(|_| claude),
            command_windows: text(table, "commandWindows").filter(|_| !claude),
        })
    }
}

fn text(table: &Table, key: &str) -> Option<String> {
    table.get(key).and_then(Node::as_text).map(str::to_owned)
}

fn limit(table: &Table) -> Option<u64> {
    match &table.get("additionalContextLimit")?.value {
        Value::Number(number) => number.as_u64(),
        _ => None,
    }
}

fn seconds(node: &Node) -> Option<Duration> {
    match &node.value {
        Value::Number(number) => {
            let seconds = number.as_f64().filter(|seconds| *seconds > 0.0)?;
            Duration::try_from_secs_f64(seconds.min(f64::from(u32::MAX))).ok()
        }
        _ => None,
    }
}
