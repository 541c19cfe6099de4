//! Claude Code reads leniently: one JSON object decides on any exit code, unknown fields are passed
//! over, and exit 2 always refuses. What looks like an object and is none, or has a field of the
//! wrong type, is dropped whole (measured on 2.1.332).

use std::sync::Arc;

use super::json::{RawObject, check};
use super::{Effect, Output, Reading};
use crate::dialect::claude::UNIVERSALS;
use crate::dialect::{CLAUDE, Halting, Kind, Plain, Refusal};
use crate::handler::{Action, OnFailure};
use crate::outcome::Decision;
use crate::runner::Exit;
use crate::trace::{EntryKind, RunStatus};

/// What standard output turned out to be.
enum Form {
    Empty,
    Plain(String),
    Object(RawObject),
    Invalid(String),
}

pub(super) fn read(run: &Output<'_>) -> Reading {
    let code = match run.exit {
        Exit::Code(code) => *code,
        Exit::Cancelled => return ended(run, RunStatus::Cancelled),
        Exit::TimedOut => return timed_out(run),
        Exit::Signal(_) | Exit::SpawnFailed(_) | Exit::CallFailed(_) => {
            return failed(run, error_text(run));
        }
    };
    let form = form(run);
    if code == 2 && !(run.row.missing_script_passes && missing_script(run)) {
        return exit_2(run, form);
    }
    if code != 0 && run.row.any_exit_refuses {
        return refused_by_exit(run, run.row.exit2);
    }
    match form {
        Form::Object(object) => {
            let reading = honour(run, &object, None);
            let decides = !matches!(reading.effect.decision, Decision::None | Decision::Allow);
            if code != 0 && run.handler.on_failure == OnFailure::Block && !decides {
                return failed(run, error_text(run));
            }
            reading
        }
        Form::Invalid(why) => failed(run, format!("hook output is not valid: {why}")),
        Form::Empty | Form::Plain(_) if code != 0 => failed(run, error_text(run)),
        Form::Empty => Reading::new(RunStatus::Completed),
        Form::Plain(_) if closed(run) && must_be_an_object(run) => {
            let why = "the tool answered with plain text, which decides nothing";
            failed(run, why.to_owned())
        }
        Form::Plain(text) => plain(run, text),
    }
}

/// A fail-closed MCP tool that answers with plain text has failed, unless plain text is the answer
/// (measured).
fn must_be_an_object(run: &Output<'_>) -> bool {
    let plain_answers = matches!(run.row.plain, Plain::Instructions | Plain::Path);
    matches!(run.handler.action, Action::McpTool { .. }) && !plain_answers
}

/// The hook's own words about its failure, or ours where it has none.
fn error_text(run: &Output<'_>) -> String {
    match (run.stderr.trim(), run.exit) {
        ("", Exit::Code(code)) => format!("exited with code {code} and wrote nothing to stderr"),
        ("", _) => run.abnormal_exit(&run.timeout_text()).unwrap_or_default(),
        (text, _) => text.to_owned(),
    }
}

/// Trims as JavaScript does: the byte order mark goes too.
fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c == '\u{feff}' || c != '\u{85}' && c.is_whitespace())
}

fn form(run: &Output<'_>) -> Form {
    let text = trim(run.stdout);
    if text.is_empty() {
        return Form::Empty;
    }
    if !(text.starts_with('{') && text.ends_with('}')) || prints_a_path(run) {
        return Form::Plain(text.to_owned());
    }
    match RawObject::parse(text) {
        Ok(object) => match valid(run, &object) {
            Ok(()) => Form::Object(object),
            Err(why) => Form::Invalid(why),
        },
        Err(_) if lines_of_no_hook(text) => Form::Plain(text.to_owned()),
        Err(why) => Form::Invalid(why),
    }
}

/// A command that is to print a path: an object on its standard output is one too (measured).
fn prints_a_path(run: &Output<'_>) -> bool {
    run.row.plain == Plain::Path && matches!(run.handler.action, Action::Command(_))
}

/// Several lines, each a JSON object, none of which sets a field of ours: a log, not an answer.
fn lines_of_no_hook(text: &str) -> bool {
    const OTHERS: [&str; 3] = ["hookSpecificOutput", "async", "asyncTimeout"];
    let ours = |key: &str| UNIVERSALS.contains(&key) || OTHERS.contains(&key);
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .all(|line| RawObject::parse(line.trim()).is_ok_and(|object| !object.keys().any(ours)))
}

/// Whether every known field has its type. `null` is a wrong type.
fn valid(run: &Output<'_>, object: &RawObject) -> Result<(), String> {
    for key in object.keys() {
        let Some(value) = object.get(key) else {
            continue;
        };
        let checked = match key {
            "continue" | "suppressOutput" | "async" => check(value, Kind::Flag),
            "stopReason" | "reason" | "systemMessage" | "terminalSequence" => {
                check(value, Kind::Text)
            }
            "decision" => check(value, Kind::OneOf(run.row.decisions)),
            "hookSpecificOutput" => specific_valid(run, value.get()),
            _ => Ok(()),
        };
        checked.map_err(|why| format!("`{key}` {why}"))?;
    }
    Ok(())
}

fn specific_valid(run: &Output<'_>, text: &str) -> Result<(), String> {
    let object = RawObject::parse(text).map_err(|_| "must be an object".to_owned())?;
    let name = object.text("hookEventName").ok_or("lacks hookEventName")?;
    let row = CLAUDE.event(&name).filter(|row| row.specific.is_some());
    let fields = row.and_then(|row| row.specific).ok_or_else(|| {
        let accepted: Vec<_> = CLAUDE
            .events
            .iter()
            .filter(|row| row.specific.is_some())
            .map(|row| row.name)
            .collect();
        format!(
            "names {name:?}, which has no such object; these have: {}",
            accepted.join(", ")
        )
    })?;
    for field in fields {
        if let Some(value) = object.get(field.name) {
            check(value, field.kind).map_err(|why| format!("has a `{}` that {why}", field.name))?;
        }
    }
    let borrowed = run.row.name == "PreSkillShellCommand" && name == "PreToolUse";
    if name == run.row.name || borrowed {
        Ok(())
    } else {
        Err(format!(
            "is for the event {name}, but this is {}",
            run.row.name
        ))
    }
}

/// Exit 2 because an interpreter did not find its script is a failure at some events.
fn missing_script(run: &Output<'_>) -> bool {
    trim(run.stdout).is_empty() && run.stderr.contains("No such file or directory")
}

fn ended(run: &Output<'_>, status: RunStatus) -> Reading {
    let mut reading = Reading::new(status);
    let text = run.abnormal_exit(&run.timeout_text()).unwrap_or_default();
    reading.entry(EntryKind::Error, text);
    reading
}

fn timed_out(run: &Output<'_>) -> Reading {
    let mut reading = ended(run, RunStatus::Cancelled);
    let text = run.abnormal_exit(&run.timeout_text()).unwrap_or_default();
    if closed(run) {
        reading.entries.clear();
        let reason = format!("{text}; it blocks because onFailure is \"block\"");
        refuse(run, &mut reading, run.row.on_failure, Some(reason), "");
    } else if run.row.timeout_refuses {
        // The run stays cancelled; the switch is refused all the same.
        reading.effect.decision = Decision::Deny;
        reading.effect.reason = Some(text);
    } else {
        reading.note(
            "timed-out",
            "a hook that takes too long decides nothing: its output is lost",
        );
    }
    reading
}

fn closed(run: &Output<'_>) -> bool {
    run.handler.on_failure == OnFailure::Block && run.row.on_failure != Refusal::Nothing
}

/// A run that failed, or that refuses because its handler is fail-closed.
fn failed(run: &Output<'_>, text: String) -> Reading {
    if !closed(run) {
        return Reading::failed(text);
    }
    let mut reading = Reading::new(RunStatus::Failed);
    let stderr = run.stderr.trim();
    let words = if stderr.is_empty() {
        text.as_str()
    } else {
        stderr
    };
    refuse(
        run,
        &mut reading,
        run.row.on_failure,
        Some(words.to_owned()),
        "",
    );
    let how = match run.exit {
        Exit::Code(0) => "its output is not valid".to_owned(),
        Exit::Code(code) => format!("it exited with code {code}"),
        _ => run.abnormal_exit(&run.timeout_text()).unwrap_or_default(),
    };
    let reason = format!("hook failed ({how}) and blocks because onFailure is \"block\": {words}");
    reading.effect.reason = Some(run.spill.reason(reason));
    reading
}

/// Exit 2: refuses whatever standard output says; a block or deny there gives the reason.
fn exit_2(run: &Output<'_>, form: Form) -> Reading {
    match form {
        Form::Object(object) => honour(run, &object, Some(run.row.exit2)),
        Form::Invalid(why) => {
            let mut reading = refused_by_exit(run, run.row.exit2);
            reading.note("invalid-output", why);
            reading
        }
        Form::Empty | Form::Plain(_) => refused_by_exit(run, run.row.exit2),
    }
}

fn refused_by_exit(run: &Output<'_>, refusal: Refusal) -> Reading {
    let mut reading = Reading::new(RunStatus::Completed);
    if refusal == Refusal::Nothing {
        return Reading::failed(error_text(run));
    }
    refuse(run, &mut reading, refusal, stderr_reason(run), NO_STDERR);
    reading
}

/// What a refusal by exit code says where the hook wrote nothing (measured).
const NO_STDERR: &str = "No stderr output";

fn stderr_reason(run: &Output<'_>) -> Option<String> {
    let text = run.stderr.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn plain(run: &Output<'_>, text: String) -> Reading {
    let mut reading = Reading::new(RunStatus::Completed);
    if prints_a_path(run) && text.starts_with('{') {
        reading.note(
            "decision-lost",
            "the last line that a command prints here is the path, whatever it looks like: print \
             the path alone",
        );
    } else {
        reading.note_plain_decision(&text);
    }
    match run.row.plain {
        Plain::Context => context(run, &mut reading, text),
        Plain::Instructions => reading.effect.fields.instructions = Some(text),
        Plain::Path => {
            reading.effect.fields.worktree_path = text
                .lines()
                .rev()
                .map(str::trim)
                .find(|line| !line.is_empty())
                .map(str::to_owned);
        }
        Plain::Ignored | Plain::Fails => {}
    }
    reading
}

fn context(run: &Output<'_>, reading: &mut Reading, text: String) {
    let text = run.spill.text(text, run.handler.context_limit);
    reading.entry(EntryKind::Context, text.clone());
    reading.effect.contexts.push(text);
}

/// Makes the run refuse, as the event understands it. Where the hook has no words of its own the
/// entry says `wordless`, and the outcome has no reason, so that its reader can say it better.
fn refuse(
    run: &Output<'_>,
    reading: &mut Reading,
    refusal: Refusal,
    reason: Option<String>,
    wordless: &str,
) {
    let (status, kind) = match refusal {
        Refusal::Deny | Refusal::Block => (RunStatus::Blocked, EntryKind::Feedback),
        Refusal::EndTurn => (RunStatus::Stopped, EntryKind::Stop),
        Refusal::Recorded => (RunStatus::Failed, EntryKind::Error),
        Refusal::Nothing => return,
    };
    reading.status = status;
    let text = reason.clone().unwrap_or_else(|| wordless.to_owned());
    reading
        .entries
        .insert(0, crate::trace::Entry { kind, text });
    match refusal {
        Refusal::EndTurn => reading.effect.halt = Some(reason),
        Refusal::Deny | Refusal::Block => {
            reading.effect.decision = if refusal == Refusal::Deny {
                Decision::Deny
            } else {
                Decision::Block
            };
            reading.effect.reason = reason.map(|reason| run.spill.reason(reason));
        }
        Refusal::Recorded | Refusal::Nothing => {}
    }
    // An input and an allowance of a run that refuses have no effect.
    reading.effect.input = None;
}

/// Honours a valid object. `forced` is the refusal of exit 2.
fn honour(run: &Output<'_>, object: &RawObject, forced: Option<Refusal>) -> Reading {
    let mut reading = Reading::new(RunStatus::Completed);
    let specific = object.object("hookSpecificOutput").unwrap_or_default();
    if let Some(message) = object.text("systemMessage") {
        let message = run.spill.text(message, None);
        reading.entry(EntryKind::Warning, message.clone());
        reading.effect.message = Some(message);
    }
    // A field that the event does not have is passed over like any unknown one.
    let has_context = run
        .row
        .specific
        .is_some_and(|fields| fields.iter().any(|field| field.name == "additionalContext"));
    if let Some(text) = specific.text("additionalContext").filter(|_| has_context) {
        context(run, &mut reading, text);
    }
    fields(&specific, &mut reading.effect, forced.is_some());
    match (decided(run, object, &specific, &mut reading.effect), forced) {
        (Some((refusal, reason)), Some(_)) => {
            let reason = reason
                .filter(|text| !text.is_empty())
                .or_else(|| stderr_reason(run));
            refuse(run, &mut reading, refusal, reason, NO_STDERR);
        }
        (None, Some(refusal)) if refusal != Refusal::Nothing => {
            reading.effect.decision = Decision::None;
            refuse(run, &mut reading, refusal, stderr_reason(run), NO_STDERR);
        }
        (Some((refusal, reason)), None) => {
            let reason = reason.filter(|text| !text.is_empty());
            refuse(run, &mut reading, refusal, reason, "Blocked by hook");
        }
        (None, _) => {}
    }
    if run.row.block_drops_rest && reading.effect.decision == Decision::Block {
        reading
            .entries
            .retain(|entry| entry.kind == EntryKind::Feedback);
        reading.effect.contexts.clear();
        reading.effect.message = None;
    }
    if object.flag("continue") == Some(false) && run.row.halting == Halting::EndsRun {
        halt(run, object, &mut reading);
    }
    reading
}

fn halt(run: &Output<'_>, object: &RawObject, reading: &mut Reading) {
    let given = object.text("stopReason");
    let shown = given
        .clone()
        .unwrap_or_else(|| "Execution stopped by hook".to_owned());
    reading.status = RunStatus::Stopped;
    if !run.row.context_continues {
        // Measured: at Stop the feedback is recorded beside the halt, elsewhere it is not.
        reading
            .entries
            .retain(|entry| entry.kind != EntryKind::Feedback);
    }
    reading.entry(EntryKind::Stop, shown);
    reading.effect.halt = Some(given);
}

/// The refusal an object asks for, with its reason; allowances go into the effect.
fn decided(
    run: &Output<'_>,
    object: &RawObject,
    specific: &RawObject,
    effect: &mut Effect,
) -> Option<(Refusal, Option<String>)> {
    let refusal = run.row.block;
    if object.text("decision").as_deref() == Some("block") {
        return Some((refusal, object.text("reason")));
    }
    if let Some(decision) = specific.object("decision") {
        return permission(&decision, effect);
    }
    let reason = specific.text("permissionDecisionReason");
    let prevents = run.row.name == "PreSkillShellCommand";
    match specific.text("permissionDecision").as_deref() {
        Some("deny") => return Some((refusal, reason)),
        Some("ask") => effect.decision = Decision::Ask,
        Some("defer") => effect.decision = Decision::Defer,
        Some("allow") => effect.decision = Decision::Allow,
        _ => {
            let approved = object.text("decision").as_deref() == Some("approve");
            if approved && refusal == Refusal::Deny {
                effect.decision = Decision::Allow;
            }
            return None;
        }
    }
    effect.reason = reason;
    // A skill's command cannot be asked about, put off or changed: it is not run.
    if prevents && (effect.input.is_some() || effect.decision != Decision::Allow) {
        effect.decision = Decision::Deny;
        effect.input = None;
    }
    None
}

fn permission(decision: &RawObject, effect: &mut Effect) -> Option<(Refusal, Option<String>)> {
    effect.fields.interrupt = decision.flag("interrupt") == Some(true);
    if decision.text("behavior").as_deref() == Some("deny") {
        let default = "Permission denied by PermissionRequest hook";
        let message = decision.text("message").filter(|text| !text.is_empty());
        return Some((
            Refusal::Deny,
            Some(message.unwrap_or_else(|| default.to_owned())),
        ));
    }
    effect.decision = Decision::Allow;
    effect.input = decision
        .given("updatedInput")
        .map(|raw| Arc::from(raw.to_owned()));
    effect.fields.permission_updates = decision
        .given("updatedPermissions")
        .map(|raw| Arc::from(raw.to_owned()));
    None
}

/// Fields that carry their effect alone.
fn fields(specific: &RawObject, effect: &mut Effect, exit_2: bool) {
    let raw = |key| specific.get(key).map(|raw| Arc::from(raw.to_owned()));
    effect.input = specific
        .given("updatedInput")
        .map(|raw| Arc::from(raw.to_owned()));
    effect.fields.tool_output = raw("updatedToolOutput");
    effect.fields.mcp_output = raw("updatedMCPToolOutput");
    effect.fields.initial_user_message = specific.text("initialUserMessage");
    effect.fields.session_title = specific.text("sessionTitle");
    effect.fields.suppress_original_prompt = specific.flag("suppressOriginalPrompt") == Some(true);
    effect.fields.retry = specific.flag("retry") == Some(true);
    effect.fields.display = specific.text("displayContent");
    effect.fields.worktree_path = specific.text("worktreePath");
    effect.fields.watch_paths = specific
        .given("watchPaths")
        .and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default();
    if let (Some(action), false) = (specific.text("action"), exit_2) {
        effect.fields.elicitation = Some((action, raw("content")));
    }
}
