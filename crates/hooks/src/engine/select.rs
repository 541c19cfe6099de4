//! Which handlers run, and why the others do not.

use std::collections::HashMap;
use std::sync::Arc;

use seamline_rules::{Call, Condition, Places, Reading as RuleReading};
use serde_json::Value;

use super::{Engine, Firing};
use crate::dialect::{Dialect, EventRow, Subject};
use crate::handler::{Action, Background, Handler, HandlerKey, Layer};
use crate::matcher::{Fit, Matcher, Reading};
use crate::outcome::{By, Notice, NoticeKind};
use crate::payload::Payload;
use crate::trace::{Skip, SkipReason};
use crate::trust::TrustState;

/// A handler made ready.
pub(super) struct Compiled {
    pub(super) handler: Arc<Handler>,
    matcher: Matcher,
    condition: Option<Condition>,
    trust: TrustState,
    /// See [`identity`].
    identity: String,
}

impl Compiled {
    pub(super) fn new(table: &Dialect, handler: &Handler, trust: TrustState) -> Self {
        Self {
            trust,
            identity: identity(handler),
            matcher: Matcher::compile(table.matcher, handler.matcher.as_deref()),
            condition: handler.condition.as_deref().map(Condition::parse),
            handler: Arc::new(handler.clone()),
        }
    }
}

/// What would happen at one event.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Handlers that run and are awaited, in configured order.
    pub run: Vec<Arc<Handler>>,
    /// Handlers that are started in background, in configured order.
    pub background: Vec<Arc<Handler>>,
    /// Handlers that do not run, in configured order.
    pub skipped: Vec<Skip>,
    /// What the user must hear about the selection itself.
    pub notices: Vec<By<Notice>>,
}

pub(super) fn select(engine: &Engine, row: &EventRow, firing: &Firing) -> Selection {
    let subject = Names::of(engine, row, &firing.payload);
    let call = call(engine, firing);
    let mut fitting: Vec<(usize, &Compiled)> = Vec::new();
    let mut skipped: Vec<(usize, Skip)> = Vec::new();
    let mut notices = Vec::new();
    let in_force = engine.in_force();
    for (index, compiled) in in_force.compiled.iter().enumerate() {
        match verdict(row, firing, (&subject, &call), compiled) {
            Ok(notice) => {
                let by = compiled.handler.key.clone();
                notices.extend(notice.map(|text| By {
                    value: Notice {
                        kind: NoticeKind::Engine,
                        text,
                    },
                    by,
                }));
                fitting.push((index, compiled));
            }
            Err((reason, detail)) => {
                let handler = Arc::clone(&compiled.handler);
                skipped.push((
                    index,
                    Skip {
                        handler,
                        reason,
                        detail,
                    },
                ));
            }
        }
    }
    if engine.table.dedupe {
        skipped.extend(drop_duplicates(&mut fitting));
        skipped.sort_by_key(|(index, _)| *index);
    }
    let (background, run) = fitting
        .into_iter()
        .map(|(_, compiled)| Arc::clone(&compiled.handler))
        .partition(|handler| handler.background == Background::Async);
    let skipped = skipped.into_iter().map(|(_, skip)| skip).collect();
    Selection {
        run,
        background,
        skipped,
        notices,
    }
}

/// The subject of an event under all names a matcher may call it by.
struct Names<'a> {
    names: Vec<&'a str>,
    ignored: bool,
}

impl<'a> Names<'a> {
    fn of(engine: &Engine, row: &EventRow, payload: &'a Payload) -> Self {
        let table = engine.table;
        let names = match row.subject {
            Subject::Ignored => Vec::new(),
            Subject::Tool => table.tool_names(payload.str_field("tool_name").unwrap_or_default()),
            Subject::Field(key) => vec![payload.str_field(key).unwrap_or_default()],
            Subject::BaseName(key) => {
                let path = payload.str_field(key).unwrap_or_default();
                vec![path.rsplit('/').next().unwrap_or(path)]
            }
        };
        Self {
            names,
            ignored: row.subject == Subject::Ignored,
        }
    }
}

type Refused = (SkipReason, String);

/// Whether one handler runs; `Ok` may carry a notice for the user.
fn verdict(
    row: &EventRow,
    firing: &Firing,
    (subject, call): (&Names<'_>, &Call<'_>),
    compiled: &Compiled,
) -> Result<Option<String>, Refused> {
    let handler = &compiled.handler;
    if handler.event != row.name {
        return Err((SkipReason::Event, format!("it is for {}", handler.event)));
    }
    if let Some(why) = &handler.disabled {
        return Err((SkipReason::Disabled, why.clone()));
    }
    let notice = if subject.ignored {
        None
    } else {
        fits(compiled, subject)?
    };
    if handler.condition.is_some() {
        condition_holds(row, call, compiled)?;
    }
    let type_name = handler.action.type_name();
    if !row.types.runs(type_name) {
        let detail = format!("{type_name} handlers do not run at {}", row.name);
        return Err((SkipReason::Type, detail));
    }
    if !matches!(handler.action, Action::Command(_) | Action::McpTool { .. }) {
        let detail =
            format!("{type_name} handlers are not supported yet: this one decides nothing");
        return Err((SkipReason::Type, detail));
    }
    if let Some(elsewhere) = ran_elsewhere(firing, handler) {
        let detail = format!("the same command runs as {elsewhere}");
        return Err((SkipReason::Duplicate, detail));
    }
    if !compiled.trust.runs() {
        let (trust, help) = (compiled.trust.as_str(), "see `seamline hooks trust`");
        return Err((SkipReason::Trust, format!("its content is {trust}; {help}")));
    }
    Ok(notice)
}

fn ran_elsewhere<'a>(firing: &'a Firing, handler: &Handler) -> Option<&'a HandlerKey> {
    let Action::Command(command) = &handler.action else {
        return None;
    };
    let same = |(ran, _): &&(String, HandlerKey)| *ran == command.command;
    firing.ran_elsewhere.iter().find(same).map(|(_, key)| key)
}

fn fits(compiled: &Compiled, subject: &Names<'_>) -> Result<Option<String>, Refused> {
    let written = compiled.handler.matcher.as_deref().unwrap_or_default();
    match compiled.matcher.fits(&subject.names) {
        Fit::Yes => Ok(None),
        Fit::TimedOut => Ok(Some(format!(
            "the matcher {written:?} of {}:{} took too long and counts as fitting",
            compiled.handler.source.display(),
            compiled.handler.position.line,
        ))),
        Fit::No => Err(match compiled.matcher.reading() {
            Reading::Invalid(why) => {
                let why = why.lines().last().unwrap_or_default().to_owned();
                (
                    SkipReason::InvalidMatcher,
                    format!("{written:?} is not a valid pattern: {why}"),
                )
            }
            reading => {
                let names = subject.names.join(", ");
                (
                    SkipReason::Matcher,
                    format!("{written:?} ({reading}) does not fit {names:?}"),
                )
            }
        }),
    }
}

/// The tool call of the payload, as conditions see it; parsed once for all of them.
fn call<'a>(engine: &'a Engine, firing: &'a Firing) -> Call<'a> {
    let parts = &engine.around;
    let places = Places {
        cwd: &firing.cwd,
        project: &parts.project,
        home: &parts.home,
    };
    let input = firing
        .payload
        .value()
        .get("tool_input")
        .unwrap_or(&Value::Null);
    Call::new(
        firing.payload.str_field("tool_name").unwrap_or_default(),
        input,
        places,
    )
}

fn condition_holds(row: &EventRow, call: &Call<'_>, compiled: &Compiled) -> Result<(), Refused> {
    let written = compiled.handler.condition.as_deref().unwrap_or_default();
    let refused = |why: String| (SkipReason::Condition, format!("`if` {written:?}: {why}"));
    if !row.conditions {
        return Err(refused(format!(
            "a handler with a condition never runs at {}",
            row.name
        )));
    }
    let Some(condition) = &compiled.condition else {
        return Ok(());
    };
    let verdict = condition.verdict(call);
    if verdict.acts(RuleReading::Condition) {
        Ok(())
    } else {
        Err(refused(verdict.why))
    }
}

/// Of handlers that do the same, the last runs (measured: its options count); the others are
/// skipped and say so. Plugins are apart.
fn drop_duplicates(fitting: &mut Vec<(usize, &Compiled)>) -> Vec<(usize, Skip)> {
    let last: HashMap<&str, (usize, &HandlerKey)> = fitting
        .iter()
        .map(|(index, compiled)| (compiled.identity.as_str(), (*index, &compiled.handler.key)))
        .collect();
    let mut skipped = Vec::new();
    fitting.retain(|(index, compiled)| {
        let known = last.get(compiled.identity.as_str());
        let later = known.filter(|(winner, _)| winner != index);
        if let Some((_, key)) = later {
            let skip = Skip {
                handler: Arc::clone(&compiled.handler),
                reason: SkipReason::Duplicate,
                detail: format!("the same command runs as {key}, whose options count"),
            };
            skipped.push((*index, skip));
        }
        later.is_none()
    });
    skipped
}

/// What makes two handlers the same: command, arguments, condition and shell; of an `mcp_tool`
/// handler server, tool and input.
fn identity(handler: &Handler) -> String {
    let plugin = match &handler.layer {
        Layer::Plugin(name) => name.as_str(),
        _ => "",
    };
    let shell = match &handler.action {
        Action::Command(command) => command.shell.as_deref().unwrap_or("bash"),
        _ => "",
    };
    let args = match &handler.action {
        Action::Command(command) => format!("{:?}", command.args),
        Action::McpTool { input, .. } => format!("{input:?}"),
        other => other.type_name().to_owned(),
    };
    let command = match &handler.action {
        Action::Command(command) => command.command.clone(),
        other => other.summary(),
    };
    format!(
        "{plugin}\0{shell}\0{command}\0{args}\0{:?}",
        handler.condition
    )
}
