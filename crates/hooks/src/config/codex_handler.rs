//! Reads one handler of a Codex configuration.

use std::time::Duration;

use super::Places;
use super::codex::{GROUP_KEYS, Shape, mismatch};
use super::did_you_mean;
use super::part::Slot;
use super::report::{Finding, Report};
use super::tree::{Node, Span, Table, Value};
use crate::dialect::{EventRow, Refusal};
use crate::handler::{Action, Background, CommandAction, Handler, OnFailure};

/// A handler that has the right shape.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) type_name: &'static str,
    /// `None` for the types that parse and never run.
    action: Option<Action>,
    timeout: Option<u64>,
    background: bool,
    status_message: Option<String>,
    context_limit: Option<u64>,
}

const TYPES: [&str; 4] = ["command", "mcp_tool", "prompt", "agent"];

/// Claude Code's keys, which Codex drops in silence.
const CLAUDE_KEYS: [&str; 10] = [
    "if",
    "args",
    "once",
    "shell",
    "asyncRewake",
    "rewakeMessage",
    "rewakeSummary",
    "headers",
    "allowedEnvVars",
    "continueOnBlock",
];

/// Every key a handler of this type may have.
pub(crate) fn known_keys(type_name: &str) -> &'static [&'static str] {
    match type_name {
        "command" => &[
            "type",
            "command",
            "commandWindows",
            "command_windows",
            "timeout",
            "async",
            "statusMessage",
            "additionalContextLimit",
            // Ours; the client drops it in silence.
            "onFailure",
        ],
        "mcp_tool" => &[
            "type",
            "server",
            "tool",
            "input",
            "timeout",
            "statusMessage",
            "additionalContextLimit",
            "onFailure",
        ],
        _ => &["type", "prompt", "model", "timeout"],
    }
}

/// Checks the shape of a handler; the first mistake is the one the client would name.
pub(crate) fn read(table: &Table, span: Span) -> Result<Draft, Vec<Shape>> {
    let type_name = type_name(table, span).map_err(|shape| vec![shape])?;
    let mut fields = Fields {
        table,
        span,
        shapes: Vec::new(),
    };
    let action = match type_name {
        "command" => fields.command(),
        "mcp_tool" => fields.mcp_tool(),
        _ => None,
    };
    let runs = matches!(type_name, "command" | "mcp_tool");
    let draft = Draft {
        type_name,
        action,
        timeout: runs.then(|| fields.count("timeout")).flatten(),
        background: type_name == "command" && fields.flag("async"),
        status_message: runs.then(|| fields.text("statusMessage")).flatten(),
        context_limit: runs
            .then(|| fields.count("additionalContextLimit"))
            .flatten(),
    };
    if fields.shapes.is_empty() {
        Ok(draft)
    } else {
        Err(fields.shapes)
    }
}

fn type_name(table: &Table, span: Span) -> Result<&'static str, Shape> {
    let Some(node) = table.get("type") else {
        return Err((span, "missing field `type`".into()));
    };
    let Some(written) = node.as_text() else {
        return Err(mismatch(node, "variant identifier"));
    };
    TYPES
        .into_iter()
        .find(|known| *known == written)
        .ok_or_else(|| {
            let known = TYPES.map(|name| format!("`{name}`")).join(", ");
            let message = format!("unknown variant `{written}`, expected one of {known}");
            (node.span, message)
        })
}

fn wrong(key: &str, node: &Node, expected: &str) -> Shape {
    let (span, message) = mismatch(node, expected);
    (span, format!("{message}, in `{key}`"))
}

struct Fields<'t> {
    table: &'t Table,
    span: Span,
    shapes: Vec<Shape>,
}

impl Fields<'_> {
    fn needed_text(&mut self, key: &str) -> Option<String> {
        let Some(node) = self.table.get(key) else {
            self.shapes
                .push((self.span, format!("missing field `{key}`")));
            return None;
        };
        let text = node.as_text().map(str::to_owned);
        if text.is_none() {
            self.shapes.push(wrong(key, node, "a string"));
        }
        text
    }

    /// A key whose `null` means absent.
    fn given(&self, key: &str) -> Option<&Node> {
        self.table.get(key).filter(|node| !node.is_null())
    }

    fn text(&mut self, key: &str) -> Option<String> {
        let node = self.given(key)?;
        let text = node.as_text().map(str::to_owned);
        let shape = text.is_none().then(|| wrong(key, node, "a string"));
        self.shapes.extend(shape);
        text
    }

    fn count(&mut self, key: &str) -> Option<u64> {
        let node = self.given(key)?;
        let (count, shape) = match &node.value {
            Value::Number(number) if number.is_u64() => (number.as_u64(), None),
            Value::Number(number) if number.is_i64() => {
                let words = node.describe();
                let message = format!("invalid value: {words}, expected u64, in `{key}`");
                (None, Some((node.span, message)))
            }
            _ => (None, Some(wrong(key, node, "u64"))),
        };
        self.shapes.extend(shape);
        count
    }

    /// A flag has no `null`.
    fn flag(&mut self, key: &str) -> bool {
        let Some(node) = self.table.get(key) else {
            return false;
        };
        let shape = node
            .as_bool()
            .is_none()
            .then(|| wrong(key, node, "a boolean"));
        self.shapes.extend(shape);
        node.as_bool() == Some(true)
    }

    fn command(&mut self) -> Option<Action> {
        let command = self.needed_text("command");
        let windows = self.text("commandWindows");
        let windows = windows.or_else(|| self.text("command_windows"));
        Some(Action::Command(CommandAction {
            command: command?,
            args: None,
            shell: None,
            command_windows: windows,
        }))
    }

    fn mcp_tool(&mut self) -> Option<Action> {
        let server = self.needed_text("server");
        let tool = self.needed_text("tool");
        let input = self.given("input").cloned();
        if let Some(node) = input.as_ref().filter(|node| node.as_table().is_none()) {
            self.shapes.push(wrong("input", node, "a map"));
        }
        Some(Action::McpTool {
            server: server?,
            tool: tool?,
            input: input.map(|node| node.to_json()),
        })
    }
}

/// What becomes of a handler of the right shape: it runs, or is skipped with a warning.
pub(crate) fn finish(
    slot: &Slot<'_>,
    draft: Draft,
    report: &Report<'_>,
) -> (Option<(Handler, Places)>, Vec<Finding>) {
    let key = slot.key(report);
    let mut findings = ignored_keys(slot, draft.type_name);
    if let Some(skip) = skipped(slot, &draft) {
        findings.push(skip);
        let findings = findings.into_iter().map(|finding| finding.about(&key));
        return (None, findings.collect());
    }
    let timeout = timeout(slot, &draft, &mut findings);
    let background = background(slot, &draft, &mut findings);
    let context_limit = context_limit(slot, &draft, &mut findings);
    let on_failure = on_failure(slot, &mut findings);
    let known = known_keys(draft.type_name);
    let read = draft.action.map(|action| {
        let handler = Handler {
            timeout,
            background,
            context_limit,
            on_failure,
            status_message: draft.status_message,
            ..slot.handler(report, action)
        };
        (handler, slot.places(report, &GROUP_KEYS, known))
    });
    let findings = findings.into_iter().map(|finding| finding.about(&key));
    (read, findings.collect())
}

/// Handlers the client accepts and never runs (each measured, each with a warning of its own).
fn skipped(slot: &Slot<'_>, draft: &Draft) -> Option<Finding> {
    let event = slot.row.name;
    let message = match (&draft.action, draft.type_name) {
        (None, kind) => format!("Codex skips {kind} hooks: they are not supported yet"),
        (Some(Action::Command(command)), _) if command.command.trim().is_empty() => {
            "Codex skips this hook: its command is empty".to_owned()
        }
        (Some(_), kind) if !slot.row.types.runs(kind) => {
            format!("Codex skips {kind} hooks for {event}")
        }
        _ => return None,
    };
    Some(Finding::warning("skipped-handler", slot.node.span, message))
}

/// 0 becomes 1; where the event has a maximum, more is cut to it, with a warning (measured).
fn timeout(slot: &Slot<'_>, draft: &Draft, findings: &mut Vec<Finding>) -> Option<Duration> {
    let written = draft.timeout?;
    // Longer than a century is for ever; no clock must overflow.
    let given = Duration::from_secs(written.clamp(1, u64::from(u32::MAX)));
    let Some(max) = slot.row.timeouts.max.filter(|max| given > *max) else {
        return Some(given);
    };
    let span = field_span(slot, "timeout");
    let message = format!(
        "a {} hook may take {} s at most; its timeout of {written} s is cut to that",
        slot.row.name,
        max.as_secs()
    );
    findings.push(Finding::warning("timeout-clamped", span, message));
    Some(max)
}

/// A session does not end before its hooks have: `async` is not heard there (measured).
fn background(slot: &Slot<'_>, draft: &Draft, findings: &mut Vec<Finding>) -> Background {
    if !draft.background {
        return Background::No;
    }
    if slot.row.name == "SessionEnd" {
        let message = "a SessionEnd hook is awaited although it says `async`";
        let span = field_span(slot, "async");
        findings.push(Finding::warning("async-ignored", span, message));
        return Background::No;
    }
    Background::Async
}

fn context_limit(slot: &Slot<'_>, draft: &Draft, findings: &mut Vec<Finding>) -> Option<u64> {
    let limit = draft.context_limit?;
    if gives_context(slot.row) {
        return Some(limit);
    }
    let message = format!(
        "`additionalContextLimit` is ignored: {} cannot give additionalContext",
        slot.row.name
    );
    let span = field_span(slot, "additionalContextLimit");
    findings.push(Finding::warning("limit-ignored", span, message));
    None
}

/// `onFailure` is our own key (the client drops it, whatever it says): with `block` a run that fails
/// refuses. A value that is none is broken: whoever wrote it wanted a gate that holds.
fn on_failure(slot: &Slot<'_>, findings: &mut Vec<Finding>) -> OnFailure {
    let Some(node) = slot.table().and_then(|table| table.get("onFailure")) else {
        return OnFailure::Continue;
    };
    let event = slot.row.name;
    match node.as_text() {
        Some("continue") => OnFailure::Continue,
        Some("block") if slot.row.on_failure == Refusal::Nothing => {
            let message = format!("`onFailure` is ignored: a {event} hook cannot refuse anything");
            findings.push(Finding::warning("on-failure-ignored", node.span, message));
            OnFailure::Continue
        }
        Some("block") => OnFailure::Block,
        _ => {
            let found = node.describe();
            let message = format!("`onFailure`: expected \"continue\" or \"block\", found {found}");
            findings.push(Finding::broken("bad-on-failure", node.span, message));
            OnFailure::Block
        }
    }
}

fn gives_context(row: &EventRow) -> bool {
    let fields = row.specific.unwrap_or_default();
    fields.iter().any(|field| field.name == "additionalContext")
}

fn field_span(slot: &Slot<'_>, key: &str) -> Span {
    let field = slot.table().and_then(|table| table.get(key));
    field.map_or(slot.node.span, |node| node.span)
}

/// Keys the client drops in silence. A misspelt timeout is the one that hurts most.
fn ignored_keys(slot: &Slot<'_>, type_name: &str) -> Vec<Finding> {
    let known = known_keys(type_name);
    let entries = slot.table().map(Table::effective).unwrap_or_default();
    let ignored = entries
        .into_iter()
        .filter(|entry| !known.contains(&entry.key.as_str()));
    ignored
        .map(|entry| match entry.key.as_str() {
            key @ ("timeoutSec" | "timeout_sec") => {
                let message = if slot
                    .table()
                    .is_some_and(|table| table.get("timeout").is_some())
                {
                    format!("Codex ignores `{key}`; `timeout` counts")
                } else {
                    let default = slot.row.timeouts.default.as_secs();
                    format!("Codex ignores `{key}`: the hook may take {default} s")
                };
                Finding::warning("ignored-timeout", entry.key_span, message)
                    .help("write `timeout`, in whole seconds")
            }
            key => {
                let message = format!("Codex ignores `{key}` in a {type_name} hook");
                let help = if CLAUDE_KEYS.contains(&key) {
                    Some(format!(
                        "`{key}` is Claude Code's; the hook runs without it"
                    ))
                } else {
                    did_you_mean(key, known.iter().copied())
                };
                Finding::warning("ignored-key", entry.key_span, message).maybe_help(help)
            }
        })
        .collect()
}
