//! The profile `seeds` reads both dialects in one way: standard output counts on exit 0 only and is
//! never an error, fields of the wrong type are absent, and exit 2 refuses with standard error, or
//! without words.

use std::sync::Arc;

use super::json::RawObject;
use super::{Output, Reading};
use crate::dialect::{Plain, Refusal};
use crate::handler::OnFailure;
use crate::outcome::Decision;
use crate::runner::Exit;
use crate::trace::{EntryKind, RunStatus};

pub(super) fn read(run: &Output<'_>) -> Reading {
    let reading = match run.exit {
        Exit::Code(0) => exit_0(run),
        Exit::Code(2) => exit_2(run),
        Exit::Code(_) => failed(run),
        Exit::Cancelled => {
            let mut reading = failed(run);
            reading.status = RunStatus::Cancelled;
            reading
        }
        _ => failed(run),
    };
    fail_closed(run, reading)
}

/// The hook's own words about its failure, or ours where it has none.
fn failed(run: &Output<'_>) -> Reading {
    let text = match (run.stderr.trim(), run.exit) {
        ("", Exit::Code(code)) => format!("exited with code {code} and wrote nothing to stderr"),
        ("", _) => run.abnormal_exit(&run.timeout_text()).unwrap_or_default(),
        (text, _) => text.to_owned(),
    };
    Reading::failed(text)
}

fn fail_closed(run: &Output<'_>, mut reading: Reading) -> Reading {
    let closed = run.handler.on_failure == OnFailure::Block && reading.status == RunStatus::Failed;
    if closed && let Some(entry) = reading.entries.pop() {
        let reason = format!("{}; it blocks because onFailure is \"block\"", entry.text);
        refuse(run, &mut reading, run.row.on_failure, Some(reason));
    }
    reading
}

fn exit_2(run: &Output<'_>) -> Reading {
    let words = run.stderr.trim();
    if !matches!(run.row.exit2, Refusal::Deny | Refusal::Block) {
        return failed(run);
    }
    let mut reading = Reading::new(RunStatus::Blocked);
    let reason = (!words.is_empty()).then(|| words.to_owned());
    refuse(run, &mut reading, run.row.exit2, reason);
    reading
}

/// Makes the run refuse; without a reason its reader has the words.
fn refuse(run: &Output<'_>, reading: &mut Reading, refusal: Refusal, reason: Option<String>) {
    let decision = match refusal {
        Refusal::Deny => Decision::Deny,
        Refusal::Block => Decision::Block,
        _ => return,
    };
    reading.status = RunStatus::Blocked;
    reading.entry(EntryKind::Feedback, reason.clone().unwrap_or_default());
    reading.effect.input = None;
    reading.effect.decision = decision;
    reading.effect.reason = reason.map(|reason| run.spill.reason(reason));
    if run.row.name == "PostToolUse" {
        // A block makes the result a failure that says nothing but the feedback.
        reading.effect.replaces_output = Some(reading.effect.reason.clone().unwrap_or_default());
    }
}

fn exit_0(run: &Output<'_>) -> Reading {
    let text = run.stdout.trim();
    if text.is_empty() || run.row.output_ignored {
        return Reading::new(RunStatus::Completed);
    }
    if !text.starts_with('{') {
        return plain(run, text);
    }
    match RawObject::parse(text) {
        Ok(object) => honour(run, &object),
        Err(why) => {
            let mut reading = Reading::new(RunStatus::Completed);
            reading.note("invalid-output", why);
            reading
        }
    }
}

fn plain(run: &Output<'_>, text: &str) -> Reading {
    let mut reading = Reading::new(RunStatus::Completed);
    if run.row.plain == Plain::Context {
        context(run, &mut reading, text.to_owned());
    }
    reading
}

fn context(run: &Output<'_>, reading: &mut Reading, text: String) {
    let text = run.spill.text(text, run.handler.context_limit);
    reading.entry(EntryKind::Context, text.clone());
    reading.effect.contexts.push(text);
}

/// A field that says something.
fn words(object: &RawObject, key: &str) -> Option<String> {
    object.text(key).filter(|text| !text.is_empty())
}

fn honour(run: &Output<'_>, object: &RawObject) -> Reading {
    let mut reading = Reading::new(RunStatus::Completed);
    if let Some(message) = words(object, "systemMessage") {
        reading.entry(EntryKind::Warning, message.clone());
        reading.effect.message = Some(message);
    }
    let specific = specific(run, object, &mut reading);
    if let Some(text) = words(&specific, "additionalContext") {
        context(run, &mut reading, text);
    }
    reading.effect.input = specific
        .object("updatedInput")
        .and_then(|_| specific.get("updatedInput"))
        .map(|input| Arc::from(input.to_owned()));
    decide(run, object, &specific, &mut reading);
    if object.flag("continue") == Some(false) {
        let reason = words(object, "stopReason");
        reading.status = RunStatus::Stopped;
        reading.entry(EntryKind::Stop, reason.clone().unwrap_or_default());
        reading.effect.halt = Some(reason);
    }
    reading
}

/// The block for this event. One that names another event, or none, is passed over, and only it.
fn specific(run: &Output<'_>, object: &RawObject, reading: &mut Reading) -> RawObject {
    let Some(specific) = object.object("hookSpecificOutput") else {
        return RawObject::default();
    };
    let named = specific.text("hookEventName");
    if named.as_deref() == Some(run.row.name) {
        return specific;
    }
    let named = named.map_or("no event".to_owned(), |name| format!("the event {name}"));
    let event = run.row.name;
    reading.note(
        "foreign-output",
        format!("`hookSpecificOutput` names {named}, but this is {event}: it is passed over"),
    );
    RawObject::default()
}

/// `permissionDecision` beats the top-level `decision`, and its reason the top-level one.
fn decide(run: &Output<'_>, object: &RawObject, specific: &RawObject, reading: &mut Reading) {
    let top = match object.text("decision").as_deref() {
        Some("approve") => Decision::Allow,
        Some("block") => Decision::Block,
        _ => Decision::None,
    };
    let decision = match specific.text("permissionDecision").as_deref() {
        Some("allow") => Decision::Allow,
        Some("ask") => Decision::Ask,
        Some("deny") => Decision::Deny,
        _ => top,
    };
    let reason = words(specific, "permissionDecisionReason").or_else(|| words(object, "reason"));
    match decision {
        Decision::Deny | Decision::Block => refuse(run, reading, run.row.exit2, reason),
        // Only a call can be asked about.
        Decision::Ask if run.row.exit2 == Refusal::Deny => {
            reading.effect.decision = Decision::Ask;
            reading.effect.reason = reason;
        }
        Decision::Allow => reading.effect.decision = Decision::Allow,
        _ => {}
    }
}
