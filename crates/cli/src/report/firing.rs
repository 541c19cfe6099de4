//! The object of `hooks fire --json`.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use seamline_hooks::Handler;
use seamline_hooks::outcome::{By, Extras, Notice, NoticeKind, Outcome};
use seamline_hooks::trace::{Entry, Note, Run, Skip};

use super::VERSION;
use crate::hit::Hit;

/// One firing.
#[derive(Debug, Serialize)]
pub(crate) struct FiringReport<'a> {
    version: u32,
    dialect: &'static str,
    event: &'static str,
    payload: &'a Value,
    runs: Vec<RunReport<'a>>,
    background: Vec<RunReport<'a>>,
    skipped: Vec<SkipReport<'a>>,
    outcome: OutcomeReport<'a>,
    environment: Option<&'a str>,
}

/// A handler, as runs and skips name it.
#[derive(Debug, Serialize)]
struct HandlerReport<'a> {
    key: &'a str,
    source: String,
    line: usize,
    event: &'static str,
    matcher: Option<&'a str>,
    r#type: &'static str,
    command: String,
}

#[derive(Debug, Serialize)]
struct RunReport<'a> {
    handler: HandlerReport<'a>,
    status: &'static str,
    exit_code: Option<i32>,
    entries: Vec<EntryReport<'a>>,
    notes: Vec<NoteReport<'a>>,
    duration_ms: f64,
    stdout: String,
    stderr: String,
}

#[derive(Debug, Serialize)]
struct EntryReport<'a> {
    kind: &'static str,
    text: &'a str,
}

#[derive(Debug, Serialize)]
struct NoteReport<'a> {
    code: &'static str,
    text: &'a str,
}

#[derive(Debug, Serialize)]
struct SkipReport<'a> {
    handler: HandlerReport<'a>,
    reason: &'static str,
    detail: &'a str,
}

#[derive(Debug, Serialize)]
struct OutcomeReport<'a> {
    decision: &'static str,
    reason: Option<&'a str>,
    input: Option<&'a RawValue>,
    input_by: Option<&'a str>,
    contexts: Vec<TextReport<'a>>,
    notices: Vec<NoticeReport<'a>>,
    halt: Option<HaltReport<'a>>,
    extras: Map<String, Value>,
}

#[derive(Debug, Serialize)]
struct TextReport<'a> {
    by: &'a str,
    text: &'a str,
}

#[derive(Debug, Serialize)]
struct NoticeReport<'a> {
    by: &'a str,
    kind: &'static str,
    text: &'a str,
}

#[derive(Debug, Serialize)]
struct HaltReport<'a> {
    by: &'a str,
    reason: Option<&'a str>,
}

impl<'a> FiringReport<'a> {
    /// The object for one firing.
    pub(crate) fn new(hit: &'a Hit) -> Self {
        let trace = &hit.fired.trace;
        Self {
            version: VERSION,
            dialect: hit.dialect.as_str(),
            event: hit.event,
            payload: hit.payload.value(),
            runs: trace.runs.iter().map(RunReport::new).collect(),
            background: hit
                .background
                .iter()
                .map(|b| RunReport::new(&b.run))
                .collect(),
            skipped: trace.skipped.iter().map(SkipReport::new).collect(),
            outcome: OutcomeReport::new(&hit.fired.outcome),
            environment: hit.environment.as_deref(),
        }
    }
}

impl<'a> HandlerReport<'a> {
    fn new(handler: &'a Handler) -> Self {
        Self {
            key: &handler.key.0,
            source: handler.source.display().to_string(),
            line: handler.position.line,
            event: handler.event,
            matcher: handler.matcher.as_deref(),
            r#type: handler.action.type_name(),
            command: handler.action.summary(),
        }
    }
}

impl<'a> RunReport<'a> {
    fn new(run: &'a Run) -> Self {
        Self {
            handler: HandlerReport::new(&run.handler),
            status: run.status.as_str(),
            exit_code: run.exit_code(),
            entries: run.entries.iter().map(EntryReport::new).collect(),
            notes: run.notes.iter().map(NoteReport::new).collect(),
            duration_ms: (run.duration.as_secs_f64() * 1e6).round() / 1e3,
            stdout: String::from_utf8_lossy(&run.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&run.stderr).into_owned(),
        }
    }
}

impl<'a> EntryReport<'a> {
    fn new(entry: &'a Entry) -> Self {
        Self {
            kind: entry.kind.as_str(),
            text: &entry.text,
        }
    }
}

impl<'a> NoteReport<'a> {
    fn new(note: &'a Note) -> Self {
        Self {
            code: note.code,
            text: &note.text,
        }
    }
}

impl<'a> SkipReport<'a> {
    fn new(skip: &'a Skip) -> Self {
        Self {
            handler: HandlerReport::new(&skip.handler),
            reason: skip.reason.as_str(),
            detail: &skip.detail,
        }
    }
}

impl<'a> OutcomeReport<'a> {
    fn new(outcome: &'a Outcome) -> Self {
        Self {
            decision: outcome.decision.as_str(),
            reason: outcome.reason.as_deref(),
            input: outcome.input.as_ref().map(|input| &*input.value),
            input_by: outcome.input.as_ref().map(|input| input.by.0.as_str()),
            contexts: outcome.contexts.iter().map(TextReport::new).collect(),
            notices: outcome.notices.iter().map(NoticeReport::new).collect(),
            halt: outcome.halt.as_ref().map(|halt| HaltReport {
                by: &halt.by.0,
                reason: halt.reason.as_deref(),
            }),
            extras: extras(&outcome.extras),
        }
    }
}

impl<'a> TextReport<'a> {
    fn new(text: &'a By<String>) -> Self {
        Self {
            by: &text.by.0,
            text: &text.value,
        }
    }
}

impl<'a> NoticeReport<'a> {
    fn new(notice: &'a By<Notice>) -> Self {
        let kind = match notice.value.kind {
            NoticeKind::System => "system",
            NoticeKind::Engine => "engine",
        };
        Self {
            by: &notice.by.0,
            kind,
            text: &notice.value.text,
        }
    }
}

/// The effects of single events that are there, by name.
pub(crate) fn extras(extras: &Extras) -> Map<String, Value> {
    let raw = |value: &Option<By<std::sync::Arc<RawValue>>>| {
        value
            .as_ref()
            .map(|v| serde_json::from_str(v.value.get()).unwrap_or(Value::Null))
    };
    let text = |value: &Option<By<String>>| value.as_ref().map(|v| json!(v.value));
    let flag = |value: bool| value.then_some(json!(true));
    let list = |values: &[String]| (!values.is_empty()).then(|| json!(values));
    let instructions: Vec<String> = extras
        .instructions
        .iter()
        .map(|i| i.value.clone())
        .collect();
    let elicitation = extras.elicitation.as_ref().map(|e| {
        let content = e
            .value
            .1
            .as_ref()
            .map(|c| serde_json::from_str::<Value>(c.get()).ok());
        json!({ "action": e.value.0, "content": content })
    });
    [
        ("tool_output", raw(&extras.tool_output)),
        ("mcp_output", raw(&extras.mcp_output)),
        (
            "replaced_output",
            extras.replaced_output.as_ref().map(|t| json!(t)),
        ),
        ("permission_updates", raw(&extras.permission_updates)),
        ("interrupt", flag(extras.interrupt)),
        ("initial_user_message", text(&extras.initial_user_message)),
        ("session_title", text(&extras.session_title)),
        ("watch_paths", list(&extras.watch_paths)),
        (
            "suppress_original_prompt",
            flag(extras.suppress_original_prompt),
        ),
        ("retry", flag(extras.retry)),
        ("display", text(&extras.display)),
        ("elicitation", elicitation),
        ("worktree_path", text(&extras.worktree_path)),
        ("instructions", list(&instructions)),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name.to_owned(), value?)))
    .collect()
}
