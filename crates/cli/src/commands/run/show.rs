//! A run as it is seen: lines of text, or one JSON object per line.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use owo_colors::OwoColorize;
use seamline_bridges::Witness;
use seamline_harness::agent::{AgentEvent, AgentSeams, TurnOutcome};
use seamline_harness::content::Source;
use seamline_harness::session::Session;
use seamline_harness::session::event::TurnEndReason;
use seamline_harness::tools::ToolResult;
use seamline_hooks::payload::Payload;
use seamline_hooks::trace::{EntryKind, Run, RunStatus};
use seamline_hooks::{Decision, Fired};
use seamline_seams::{Fault, Scope};
use serde_json::{Value, json};

use super::RunArgs;
use super::hooks::Hooks;
use super::model::Chosen;
use crate::output;
use crate::places::Places;
use crate::render::{cut, milliseconds, visible};

/// Where a run is shown.
pub(super) struct Screen {
    json: bool,
    places: Places,
    /// Lines are whole: hooks of two calls may end at once.
    line: Mutex<()>,
}

impl Screen {
    pub(super) fn new(json: bool, mut places: Places, project: PathBuf) -> Self {
        places.roots.project = project;
        Self {
            json,
            places,
            line: Mutex::default(),
        }
    }

    /// Shows everything the agent tells its observers.
    pub(super) fn watch(self: &Arc<Self>, scope: &Scope, seams: &AgentSeams) {
        let screen = Arc::clone(self);
        seams
            .events
            .on(scope, "terminal", move |event| screen.event(event));
    }

    pub(super) fn begin(&self, chosen: &Chosen, args: &RunArgs, session: &Session, hooks: &Hooks) {
        let in_force = hooks.summary();
        if self.json {
            self.object(&json!({
                "type": "begin",
                "session": session.id().to_string(),
                "model": chosen.name,
                "permission_mode": args.permission_mode.as_str(),
                "project": self.places.roots.project,
                "hooks": in_force.iter().map(|(dialect, count)| json!({
                    "dialect": dialect.as_str(), "handlers": count,
                })).collect::<Vec<_>>(),
                "off": hooks.off,
            }));
            return;
        }
        let mut listed: Vec<String> = in_force
            .iter()
            .map(|(dialect, count)| format!("{dialect} {count}"))
            .collect();
        if listed.is_empty() {
            listed.push("none".into());
        }
        let mode = args.permission_mode;
        self.text(&format!(
            "{} model {} · mode {mode} · hooks {}\n",
            "seamline".bold(),
            chosen.name,
            listed.join(", ")
        ));
        for off in &hooks.off {
            self.note(off);
        }
    }

    pub(super) fn end(&self, outcome: &TurnOutcome, log: Option<&Path>, faults: &[Fault]) {
        for fault in faults {
            self.note(&format!("fault: {fault}"));
        }
        let (word, reason) = ending(&outcome.end);
        if self.json {
            self.object(&json!({
                "type": "end", "turn": word, "reason": reason, "requests": outcome.requests,
                "text": outcome.text, "log": log,
            }));
            return;
        }
        let reason = reason
            .map(|reason| format!(": {}", visible(&reason)))
            .unwrap_or_default();
        let requests = outcome.requests;
        let plural = if requests == 1 { "" } else { "s" };
        self.text(&format!(
            "{} {word}{reason} ({requests} request{plural})\n",
            "turn".bold()
        ));
        match log {
            Some(log) => self.text(&format!("log  {}\n", log.display())),
            None => self.text("log  none (--ephemeral)\n"),
        }
    }

    pub(super) fn note(&self, text: &str) {
        if self.json {
            let source = json!({ "kind": "plugin", "plugin": "seamline" });
            self.object(&json!({ "type": "notice", "text": text, "source": source }));
        } else {
            self.text(&format!("{}  {}\n", "note".yellow(), visible(text)));
        }
    }

    fn event(&self, event: &AgentEvent) {
        if self.json {
            if let Some(object) = object(event) {
                self.object(&object);
            }
        } else if let Some(line) = line(event) {
            self.text(&line);
        }
    }

    fn text(&self, text: &str) {
        let _whole = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        // A closed reader ends nothing that hooks gate.
        let _ = output::result(text);
    }

    fn object(&self, object: &Value) {
        self.text(&format!("{object}\n"));
    }

    fn hook(&self, event: &str, run: &Run) {
        let place = crate::render::firing::place(&run.handler, &self.places);
        let (word, words) = verdict(run);
        if self.json {
            self.object(&json!({
                "type": "hook",
                "event": event,
                "dialect": run.handler.dialect.as_str(),
                "handler": run.handler.key.0,
                "source": self.places.show(&run.handler.source),
                "line": run.handler.position.line,
                "status": run.status.as_str(),
                "decision": run.decision.as_str(),
                "exit_code": run.exit_code(),
                "entries": run.entries.iter().map(|entry| json!({
                    "kind": entry.kind.as_str(), "text": entry.text,
                })).collect::<Vec<_>>(),
                "notes": run.notes.iter().map(|note| json!({
                    "code": note.code, "text": note.text,
                })).collect::<Vec<_>>(),
                "duration_ms": run.duration.as_secs_f64() * 1e3,
            }));
            return;
        }
        let words = if words.is_empty() {
            String::new()
        } else {
            format!("  {}", cut(words, 120))
        };
        let time = milliseconds(run.duration);
        let head = format!(
            "{}  {event}  {}  {time}  {place}{words}\n",
            "hook".cyan(),
            styled(run, word)
        );
        self.text(&head);
        for note in run.notes.iter().filter(|note| note.code == "decision-lost") {
            self.note(&note.text);
        }
    }
}

impl Witness for Screen {
    fn fired(&self, event: &'static str, _: &Payload, fired: &Fired) {
        for run in &fired.trace.runs {
            self.hook(event, run);
        }
        for handler in &fired.trace.started {
            let place = crate::render::firing::place(handler, &self.places);
            if self.json {
                let key = &handler.key.0;
                self.object(&json!({ "type": "hook_started", "event": event, "handler": key }));
            } else {
                self.text(&format!(
                    "{}  {event}  in background  {place}\n",
                    "hook".cyan()
                ));
            }
        }
    }

    fn ended(&self, run: &Run) {
        self.hook(run.handler.event, run);
    }
}

/// One word for a run, and the words that explain it.
fn verdict(run: &Run) -> (&'static str, &str) {
    let text = |kind| {
        run.entries
            .iter()
            .find(|entry| entry.kind == kind)
            .map_or("", |entry| entry.text.as_str())
    };
    match run.status {
        RunStatus::Blocked if run.decision == Decision::Deny => ("deny", text(EntryKind::Feedback)),
        RunStatus::Blocked => ("block", text(EntryKind::Feedback)),
        RunStatus::Stopped => ("stop", text(EntryKind::Stop)),
        RunStatus::Failed => ("failed", text(EntryKind::Error)),
        RunStatus::Cancelled => ("cancelled", text(EntryKind::Error)),
        RunStatus::Completed => match run.decision {
            Decision::None if !text(EntryKind::Context).is_empty() => {
                ("context", text(EntryKind::Context))
            }
            Decision::None => ("pass", ""),
            other => (other.as_str(), ""),
        },
    }
}

fn styled(run: &Run, word: &str) -> String {
    match run.status {
        RunStatus::Completed => word.green().to_string(),
        RunStatus::Blocked | RunStatus::Stopped => word.yellow().to_string(),
        RunStatus::Failed | RunStatus::Cancelled => word.red().to_string(),
    }
}

/// A turn's end in a word, and why.
pub(crate) fn ending(end: &TurnEndReason) -> (&'static str, Option<String>) {
    match end {
        TurnEndReason::Completed => ("completed", None),
        TurnEndReason::Stopped { reason, by } => (
            "stopped",
            Some(reason.clone().unwrap_or_else(|| format!("by {by}"))),
        ),
        TurnEndReason::Rejected { reason } => ("rejected", Some(reason.clone())),
        TurnEndReason::Deferred { reason, .. } => ("deferred", reason.clone()),
        TurnEndReason::Aborted { .. } => ("aborted", None),
        TurnEndReason::MaxTokens => ("max-tokens", None),
        TurnEndReason::Error { message } => ("error", Some(message.clone())),
        TurnEndReason::Interrupted => ("interrupted", None),
    }
}

fn line(event: &AgentEvent) -> Option<String> {
    // What is said to the user is shown whole, what is said to the model in short.
    let whole = |source: &Source, text: &str| format!("{}  ({})", visible(text), speaker(source));
    let from = |source: &Source, text: &str| whole(source, &cut(text, 160));
    Some(match event {
        AgentEvent::Text { text } => {
            let lines: String = text
                .lines()
                .map(|line| format!("{}\n", visible(line)))
                .collect();
            format!("\n{lines}")
        }
        AgentEvent::ToolProposed { proposal } => {
            let arguments = cut(proposal.arguments().text(), 120);
            format!("{}  {} {arguments}\n", "tool".bold(), proposal.name())
        }
        AgentEvent::ToolDenied { reason, .. } => {
            format!("      {} {}\n", "denied:".yellow(), visible(reason))
        }
        AgentEvent::ToolFinished(result) => finished(result)?,
        AgentEvent::Context { text, source } => format!("      context: {}\n", from(source, text)),
        AgentEvent::Steering { text, source } => format!("      goes on: {}\n", from(source, text)),
        AgentEvent::Notice { text, source } => {
            format!("{}  {}\n", "note".yellow(), whole(source, text))
        }
        AgentEvent::PromptBlocked { reason, .. } => {
            format!("{} {}\n", "prompt blocked:".yellow(), visible(reason))
        }
        AgentEvent::ToolDeferred { reason, .. } => {
            let reason = reason.as_deref().unwrap_or("without a reason");
            format!("      {} {}\n", "deferred:".yellow(), visible(reason))
        }
        AgentEvent::RequestRetried { error, attempt } => {
            format!(
                "{}  request {attempt} failed: {}\n",
                "note".yellow(),
                visible(error)
            )
        }
        AgentEvent::Title { title } => format!("title {}\n", visible(title)),
        _ => return None,
    })
}

/// A source in short: of a handler's key, its file's name is enough here.
fn speaker(source: &Source) -> String {
    match source {
        Source::Plugin {
            plugin,
            key: Some(key),
        } => {
            let key = key.rsplit('/').next().unwrap_or(key);
            format!("{plugin} {}", visible(key))
        }
        other => visible(&other.to_string()),
    }
}

/// The end of a result: what the model is shown, its last lines.
fn finished(result: &ToolResult) -> Option<String> {
    if result.call.denied().is_some() {
        return None;
    }
    let text = result.outcome.content().to_text();
    let lines: Vec<&str> = text.lines().collect();
    let shown = lines.iter().skip(lines.len().saturating_sub(4));
    let word = if result.outcome.is_error() {
        "failed".red().to_string()
    } else {
        "ok".into()
    };
    let body: String = shown
        .map(|line| format!("      | {}\n", cut(&line.replace('\t', "  "), 120)))
        .collect();
    Some(format!("      {word}\n{body}"))
}

fn object(event: &AgentEvent) -> Option<Value> {
    Some(match event {
        AgentEvent::TurnStarted { turn, id } => {
            json!({ "type": "turn_start", "turn": turn, "id": id.to_string() })
        }
        AgentEvent::PromptEntered {
            content,
            source,
            steering,
        } => json!({
            "type": "prompt", "text": content.to_text(), "source": source, "steering": steering,
        }),
        AgentEvent::PromptBlocked {
            content, reason, ..
        } => json!({
            "type": "prompt_blocked", "text": content.to_text(), "reason": reason,
        }),
        AgentEvent::Text { text } => json!({ "type": "text", "text": text }),
        AgentEvent::ToolProposed { proposal } => json!({
            "type": "tool_call", "id": proposal.call_id(), "name": proposal.name(),
            "arguments": proposal.arguments().value(),
        }),
        AgentEvent::ToolDenied {
            call_id,
            name,
            reason,
            ..
        } => json!({
            "type": "tool_denied", "id": call_id, "name": name, "reason": reason,
        }),
        AgentEvent::ToolDeferred { proposal, reason } => json!({
            "type": "tool_deferred", "id": proposal.call_id(), "name": proposal.name(),
            "reason": reason,
        }),
        AgentEvent::ToolFinished(result) => json!({
            "type": "tool_result", "id": result.call.call_id(), "name": result.call.name(),
            "arguments": result.call.arguments().value(),
            "rewritten_by": result.call.rewritten_by(),
            "is_error": result.outcome.is_error(), "content": result.outcome.content().to_text(),
        }),
        AgentEvent::Context { text, source } => {
            json!({ "type": "context", "text": text, "source": source })
        }
        AgentEvent::Steering { text, source } => {
            json!({ "type": "steering", "text": text, "source": source })
        }
        AgentEvent::Notice { text, source } => {
            json!({ "type": "notice", "text": text, "source": source })
        }
        AgentEvent::Title { title } => json!({ "type": "title", "title": title }),
        AgentEvent::RequestRetried { error, attempt } => {
            json!({ "type": "request_retried", "error": error, "attempt": attempt })
        }
        _ => return None,
    })
}
