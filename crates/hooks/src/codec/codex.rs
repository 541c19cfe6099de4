//! Codex reads strictly: an unknown key, a wrong type or an unsupported field and the whole output
//! counts as a failed hook, after which the action goes on (measured on 0.171.0).

use std::sync::Arc;

use super::json::{RawObject, check};
use super::{Effect, Output, Reading};
use crate::dialect::{CODEX, ExitText, Field, Halting, Kind, Plain, Refusal};
use crate::handler::OnFailure;
use crate::outcome::Decision;
use crate::runner::Exit;
use crate::trace::{EntryKind, RunStatus};

pub(super) fn read(run: &Output<'_>) -> Reading {
    let reading = match run.exit {
        Exit::Code(0) => exit_0(run),
        Exit::Code(2) => exit_2(run),
        Exit::Code(_) => bad_exit(run),
        Exit::Cancelled => {
            let mut reading = Reading::new(RunStatus::Cancelled);
            reading.entry(EntryKind::Error, "hook was cancelled");
            reading
        }
        _ => Reading::failed(run.abnormal_exit(&run.timeout_text()).unwrap_or_default()),
    };
    fail_closed(run, reading)
}

/// `onFailure: "block"` is our own addition: a failed run refuses as exit 2 would.
fn fail_closed(run: &Output<'_>, mut reading: Reading) -> Reading {
    let closed = run.handler.on_failure == OnFailure::Block && reading.status == RunStatus::Failed;
    if closed && let Some(entry) = reading.entries.pop() {
        let reason = format!("{}; it blocks because onFailure is \"block\"", entry.text);
        refuse(run, &mut reading, run.row.on_failure, reason);
    }
    reading
}

fn exit_0(run: &Output<'_>) -> Reading {
    let mut reading = Reading::new(RunStatus::Completed);
    if run.row.output_ignored {
        if run.row.exit_text == ExitText::Stderr && !run.stderr.trim().is_empty() {
            reading.entry(EntryKind::Error, run.stderr.trim());
        }
        return reading;
    }
    let text = run.stdout.trim();
    if text.is_empty() {
        return reading;
    }
    if !text.starts_with(['{', '[']) {
        return plain(run, text);
    }
    match RawObject::parse(text).and_then(|object| conforms(run, &object).map(|()| object)) {
        Ok(object) => honour(run, &object),
        Err(why) => {
            let mut reading = Reading::failed(format!(
                "hook returned invalid {} JSON output",
                run.row.noun
            ));
            reading.note("invalid-output", why);
            reading
        }
    }
}

fn plain(run: &Output<'_>, text: &str) -> Reading {
    match run.row.plain {
        Plain::Fails if run.row.specific.is_none() && run.row.decisions.is_empty() => {
            Reading::failed(format!("{} hook returned non-JSON stdout", run.row.name))
        }
        Plain::Fails => Reading::failed(format!(
            "hook returned invalid {} JSON output",
            run.row.noun
        )),
        kind => {
            let mut reading = Reading::new(RunStatus::Completed);
            reading.note_plain_decision(text);
            if kind == Plain::Context {
                context(run, &mut reading, text.to_owned());
            }
            reading
        }
    }
}

fn exit_2(run: &Output<'_>) -> Reading {
    if !matches!(run.row.exit2, Refusal::Deny | Refusal::Block) {
        return bad_exit(run);
    }
    let reason = run.stderr.trim();
    if reason.is_empty() {
        let (event, lacks) = (run.row.name, run.row.exit2_lacks);
        return Reading::failed(format!(
            "{event} hook exited with code 2 but did not write {lacks} to stderr"
        ));
    }
    let mut reading = Reading::new(RunStatus::Blocked);
    refuse(run, &mut reading, run.row.exit2, reason.to_owned());
    reading
}

fn bad_exit(run: &Output<'_>) -> Reading {
    let code = match run.exit {
        Exit::Code(code) => *code,
        _ => -1,
    };
    let stderr = run.stderr.trim();
    let by_code = format!("hook exited with code {code}");
    match run.row.exit_text {
        ExitText::Code => Reading::failed(by_code),
        ExitText::StderrOrCode if stderr.is_empty() => Reading::failed(by_code),
        ExitText::Stderr if stderr.is_empty() => Reading::new(RunStatus::Failed),
        ExitText::StderrOrCode | ExitText::Stderr => Reading::failed(stderr),
    }
}

fn context(run: &Output<'_>, reading: &mut Reading, text: String) {
    let text = run.spill.text(text, run.handler.context_limit);
    reading.entry(EntryKind::Context, text.clone());
    reading.effect.contexts.push(text);
}

fn refuse(run: &Output<'_>, reading: &mut Reading, refusal: Refusal, reason: String) {
    reading.status = RunStatus::Blocked;
    reading.entry(EntryKind::Feedback, reason.clone());
    // A denial is passed whole (measured with 20,000 characters); feedback and prompts are spilled.
    let (decision, reason) = match refusal {
        Refusal::Deny => (Decision::Deny, reason),
        _ => (Decision::Block, run.spill.reason(reason)),
    };
    if run.row.halting == Halting::ReplacesOutput {
        reading.effect.replaces_output = Some(reason.clone());
    }
    reading.effect.decision = decision;
    reading.effect.reason = Some(reason);
}

/// Whether the output has the event's schema: only known keys, every value of its type.
fn conforms(run: &Output<'_>, object: &RawObject) -> Result<(), String> {
    for key in object.keys() {
        let Some(value) = object.get(key) else {
            continue;
        };
        let null = value.get() == "null";
        let known = |list: &[&str]| list.contains(&key);
        let checked = match key {
            "continue" | "suppressOutput" if known(run.row.universals) => check(value, Kind::Flag),
            "stopReason" | "systemMessage" if known(run.row.universals) => {
                optional(value, Kind::Text)
            }
            "decision" if !run.row.decisions.is_empty() => {
                optional(value, Kind::OneOf(run.row.decisions))
            }
            "reason" if !run.row.decisions.is_empty() => optional(value, Kind::Text),
            "hookSpecificOutput" => match run.row.specific {
                Some(_) if null => Ok(()),
                Some(fields) => specific_conforms(value.get(), fields),
                None => Err("is not a field of this event".into()),
            },
            _ => Err("is not a field of this event".into()),
        };
        checked.map_err(|why| format!("`{key}` {why}"))?;
    }
    Ok(())
}

fn optional(value: &serde_json::value::RawValue, kind: Kind) -> Result<(), String> {
    if value.get() == "null" {
        Ok(())
    } else {
        check(value, kind)
    }
}

fn specific_conforms(text: &str, fields: &[Field]) -> Result<(), String> {
    let object = RawObject::parse(text)?;
    let name = object.text("hookEventName").ok_or("lacks hookEventName")?;
    if CODEX.event(&name).is_none() {
        return Err(format!("names the unknown event {name:?}"));
    }
    for key in object.keys().filter(|key| *key != "hookEventName") {
        let Some(value) = object.get(key) else {
            continue;
        };
        let field = fields.iter().find(|field| field.name == key);
        let field = field.ok_or_else(|| format!("has the unknown field `{key}`"))?;
        let checked = match field.kind {
            _ if value.get() == "null" => Ok(()),
            Kind::Permission => permission_conforms(value.get()),
            kind => check(value, kind),
        };
        checked.map_err(|why| format!("has a `{key}` that {why}"))?;
    }
    Ok(())
}

fn permission_conforms(text: &str) -> Result<(), String> {
    let object = RawObject::parse(text)?;
    if object.get("behavior").is_none() {
        return Err("lacks `behavior`".into());
    }
    for key in object.keys() {
        let Some(value) = object.get(key) else {
            continue;
        };
        match key {
            "behavior" => check(value, Kind::OneOf(&["allow", "deny"])),
            "message" => optional(value, Kind::Text),
            "interrupt" => check(value, Kind::Flag),
            "updatedInput" | "updatedPermissions" => Ok(()),
            _ => Err("is unknown".into()),
        }
        .map_err(|why| format!("has a `{key}` that {why}"))?;
    }
    Ok(())
}

/// Honours an output that has the schema, or fails with the field that is not supported.
fn honour(run: &Output<'_>, object: &RawObject) -> Reading {
    let mut reading = Reading::new(RunStatus::Completed);
    if let Some(message) = object.text("systemMessage") {
        reading.entry(EntryKind::Warning, message.clone());
        reading.effect.message = Some(message);
    }
    match act(run, object, &mut reading) {
        Ok(()) => reading,
        Err(what) => {
            let message = reading.effect.message.take();
            reading.effect = Effect {
                message,
                ..Effect::default()
            };
            reading
                .entries
                .retain(|entry| entry.kind == EntryKind::Warning);
            reading.status = RunStatus::Failed;
            reading.entry(
                EntryKind::Error,
                format!("{} hook returned {what}", run.row.name),
            );
            reading
        }
    }
}

fn act(run: &Output<'_>, object: &RawObject, reading: &mut Reading) -> Result<(), String> {
    unsupported(run, object)?;
    let specific = object.object("hookSpecificOutput").unwrap_or_default();
    if specific.given("updatedMCPToolOutput").is_some() {
        return Err("unsupported updatedMCPToolOutput".into());
    }
    let refusal = if let Some(decision) = specific.object("decision") {
        permission(&decision, reading)?
    } else if [
        "permissionDecision",
        "permissionDecisionReason",
        "updatedInput",
    ]
    .iter()
    .any(|key| specific.given(key).is_some())
    {
        tool_decision(&specific, reading)?
    } else {
        top_decision(run, object)?
    };
    if let Some(text) = specific.text("additionalContext") {
        context(run, reading, text);
    }
    if object.flag("continue") == Some(false) && run.row.halting != Halting::Ignored {
        halt(run, object, reading, refusal);
    } else if let Some(reason) = refusal {
        refuse(run, reading, run.row.block, reason);
    }
    Ok(())
}

fn unsupported(run: &Output<'_>, object: &RawObject) -> Result<(), String> {
    for field in run.row.unsupported {
        let says_something = match *field {
            "continue" => object.flag("continue") == Some(false),
            "suppressOutput" => object.flag("suppressOutput") == Some(true),
            other => object.given(other).is_some(),
        };
        if says_something {
            let value = if *field == "continue" { ":false" } else { "" };
            return Err(format!("unsupported {field}{value}"));
        }
    }
    Ok(())
}

/// `hookSpecificOutput` of PreToolUse. Gives the reason of a denial.
fn tool_decision(specific: &RawObject, reading: &mut Reading) -> Result<Option<String>, String> {
    let decision = specific.text("permissionDecision");
    let input = specific.given("updatedInput");
    match (decision.as_deref(), input) {
        (Some("allow"), Some(input)) => {
            reading.effect.input = Some(Arc::from(input.to_owned()));
            Ok(None)
        }
        (_, Some(_)) => Err("updatedInput without permissionDecision:allow".into()),
        (Some("deny"), None) => {
            let reason = specific
                .text("permissionDecisionReason")
                .unwrap_or_default();
            match reason.trim() {
                "" => Err(
                    "permissionDecision:deny without a non-empty permissionDecisionReason".into(),
                ),
                reason => Ok(Some(reason.to_owned())),
            }
        }
        (Some(other), None) => Err(format!("unsupported permissionDecision:{other}")),
        (None, None) => Err("permissionDecisionReason without permissionDecision".into()),
    }
}

/// The top-level `decision`. Gives the reason of a block.
fn top_decision(run: &Output<'_>, object: &RawObject) -> Result<Option<String>, String> {
    let reason = object.text("reason");
    let strict = matches!(run.row.halting, Halting::Fails | Halting::ReplacesOutput);
    match object.text("decision").as_deref() {
        Some("block") => match reason.filter(|reason| !reason.trim().is_empty()) {
            Some(reason) if run.row.trims_reason => Ok(Some(reason.trim().to_owned())),
            Some(reason) => Ok(Some(reason)),
            None => Err("decision:block without a non-empty reason".into()),
        },
        Some(other) => Err(format!("unsupported decision:{other}")),
        None if reason.is_some() && strict => Err("reason without decision".into()),
        None => Ok(None),
    }
}

/// The decision of a PermissionRequest. Gives the message of a denial.
fn permission(decision: &RawObject, reading: &mut Reading) -> Result<Option<String>, String> {
    for field in ["updatedInput", "updatedPermissions"] {
        if decision.given(field).is_some() {
            return Err(format!("unsupported {field}"));
        }
    }
    if decision.flag("interrupt") == Some(true) {
        return Err("unsupported interrupt:true".into());
    }
    if decision.text("behavior").as_deref() == Some("allow") {
        reading.effect.decision = Decision::Allow;
        return Ok(None);
    }
    let message = decision.text("message").unwrap_or_default();
    let message = message.trim();
    let default = "PermissionRequest hook denied approval";
    Ok(Some(
        if message.is_empty() { default } else { message }.to_owned(),
    ))
}

fn halt(run: &Output<'_>, object: &RawObject, reading: &mut Reading, refusal: Option<String>) {
    reading.status = RunStatus::Stopped;
    let default = || {
        // Measured: these events name themselves when there is no reason, the others say nothing.
        let names_itself = matches!(run.row.name, "PostToolUse" | "PreCompact" | "PostCompact");
        names_itself.then(|| format!("{} hook stopped execution", run.row.name))
    };
    let reason = object.text("stopReason").or_else(default);
    if let Some(reason) = &reason {
        reading.entry(EntryKind::Stop, reason.clone());
    }
    if run.row.halting == Halting::ReplacesOutput {
        let text = run.spill.reason(refusal.or(reason).unwrap_or_default());
        reading.effect.decision = Decision::Block;
        reading.effect.reason = Some(text.clone());
        reading.effect.replaces_output = Some(text);
    } else {
        reading.effect.halt = Some(reason);
    }
}
