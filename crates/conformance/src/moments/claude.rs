//! The moments of a Claude Code case.
//!
//! The payloads that hooks were seen to read say what fired, in which order. Where a payload shows
//! a moment, that moment is played with it. A moment at which nothing was seen is played too when
//! the script shows that it came: only so does a matcher that fits too much become visible. Those
//! are built here from the prompt and the calls of the script `main`, for runs that went by
//! themselves (print mode).

use seamline_hooks::{Decision, DialectId};
use serde_json::{Map, Value, json};

use super::{CallFate, Fire, Moment, Verdict, Walked, in_order};
use crate::case::{ClaudeCase, Received};
use crate::stage::Stage;
use crate::text::unshorten;

/// One firing, as the payloads show it.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The recorders that read it, in start order.
    pub hooks: Vec<String>,
    /// What they read, placeholders not filled in.
    pub payload: Map<String, Value>,
}

impl Group {
    fn text(&self, key: &str) -> Option<&str> {
        self.payload.get(key)?.as_str()
    }

    fn event(&self) -> &str {
        self.text("hook_event_name").unwrap_or("")
    }
}

/// Puts the payloads of one firing together.
///
/// Hooks of one firing read the same text. The same text may be read again by a later firing of
/// the same event, except where it names a tool call: then it is one firing, even when another
/// call's payload came between.
#[must_use]
pub fn groups(received: &[Received]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for one in received {
        let id = one.stdin.get("tool_use_id").and_then(Value::as_str);
        let names_call = id.is_some_and(|id| !id.starts_with('$'));
        let back = if names_call { since_turn_start(&groups) } else { 1 };
        let same = groups.iter_mut().rev().take(back).find(|group| {
            group.payload == one.stdin && (names_call || !group.hooks.contains(&one.hook))
        });
        match same {
            Some(group) => group.hooks.push(one.hook.clone()),
            None => groups
                .push(Group { hooks: vec![one.hook.clone()], payload: one.stdin.clone() }),
        }
    }
    groups
}

/// How many groups there are since a session or a turn began or ended.
fn since_turn_start(groups: &[Group]) -> usize {
    const EDGES: [&str; 4] = ["SessionStart", "SessionEnd", "UserPromptSubmit", "Stop"];
    groups.iter().rev().take_while(|group| !EDGES.contains(&group.event())).count()
}

/// A moment the script shows.
#[derive(Debug, Clone, PartialEq)]
struct Shown {
    event: &'static str,
    /// Values beyond those all payloads have.
    values: Map<String, Value>,
    /// Whether it may be played although no hook was seen at it.
    may_be_unseen: bool,
}

/// One step of the play.
#[derive(Debug, Clone, PartialEq)]
enum Step {
    Seen(Group),
    Unseen(Shown),
}

/// The moments of a case, ready to be played.
#[derive(Debug)]
pub struct ClaudeMoments<'a> {
    case: &'a ClaudeCase,
    stage: &'a Stage,
    steps: Vec<Step>,
}

impl<'a> ClaudeMoments<'a> {
    /// Puts the moments of `case` in order.
    #[must_use]
    pub fn new(case: &'a ClaudeCase, stage: &'a Stage) -> Self {
        let steps = merge(groups(&case.payload_in), shown(case));
        Self { case, stage, steps }
    }

    /// Plays them.
    ///
    /// # Errors
    /// Says why a moment could not be fired.
    pub async fn play<F: Fire>(&self, fire: &mut F) -> Result<Walked, String> {
        let mut flow = Flow::new(self.case);
        for step in &self.steps {
            let moment = match step {
                Step::Seen(group) => self.seen(group),
                Step::Unseen(shown) if flow.reaches(shown) && fire.listens(shown.event) => {
                    self.unseen(shown)?
                }
                Step::Unseen(_) => continue,
            };
            let verdict = fire.fire(moment.clone()).await?;
            flow.take(&moment, &verdict);
        }
        Ok(flow.walked)
    }

    fn seen(&self, group: &Group) -> Moment {
        let mut payload = group.payload.clone();
        if payload.get("tool_input").is_some_and(|input| input.to_string().contains("$CUT")) {
            let whole = self.scripted_input(group.text("tool_use_id"));
            payload.extend(whole.map(|input| ("tool_input".to_owned(), input)));
        }
        let filled = self.stage.names.fill_value(&unshorten(&Value::Object(payload)));
        let payload = match filled {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        Moment {
            event: group.event().to_owned(),
            payload,
            readers: Some(group.hooks.clone()),
        }
    }

    /// The input of a call as the script has it: payloads show long texts cut.
    fn scripted_input(&self, id: Option<&str>) -> Option<Value> {
        let turns = self.case.scripts.values().flatten();
        let mut calls = turns.flat_map(calls);
        let call = calls.find(|call| call.get("id").and_then(Value::as_str) == id)?;
        call.get("input").cloned()
    }

    fn unseen(&self, shown: &Shown) -> Result<Moment, String> {
        let text = |text: &str| Value::from(self.stage.names.fill(text));
        let mode = self.case.permission_mode.as_deref().unwrap_or("default");
        let mut values = json!({
            "session_id": text("$SESSION_ID"),
            "transcript_path": text("$HOME/.claude/projects/$CWD_SLUG/$SESSION_ID.jsonl"),
            "cwd": self.stage.start.display().to_string(),
            "prompt_id": text("$UUID_1"),
            "permission_mode": mode,
            "effort": {"level": "medium"},
            "hook_event_name": shown.event,
            "background_tasks": [],
            "session_crons": [],
            "duration_ms": 1,
        });
        if let Value::Object(map) = &mut values {
            map.extend(shown.values.clone());
            return in_order(DialectId::Claude, shown.event, map);
        }
        Err("a payload is an object".to_owned())
    }
}

/// Puts the shown moments between the seen groups: a moment that is a group takes that group's
/// place, with everything that was seen before it.
fn merge(groups: Vec<Group>, shown: Vec<Shown>) -> Vec<Step> {
    let mut is_shown = vec![false; groups.len()];
    let mut steps = Vec::new();
    let mut played = 0;
    for moment in shown {
        let free = groups.iter().zip(&is_shown);
        let place = free.into_iter().position(|(group, taken)| !taken && fits(group, &moment));
        match place {
            Some(place) => {
                if let Some(taken) = is_shown.get_mut(place) {
                    *taken = true;
                }
                let upto = groups.iter().take(place + 1).skip(played);
                steps.extend(upto.cloned().map(Step::Seen));
                played = played.max(place + 1);
            }
            None if may_play(&moment, &groups) => steps.push(Step::Unseen(moment)),
            None => {}
        }
    }
    steps.extend(groups.into_iter().skip(played).map(Step::Seen));
    steps
}

/// Whether a moment at which nothing was seen is played: for tool calls one by one, for other
/// events only when none of their moments was seen.
fn may_play(moment: &Shown, groups: &[Group]) -> bool {
    let one_by_one = moment.event == "PreToolUse";
    let seen = groups.iter().any(|group| group.event() == moment.event);
    moment.may_be_unseen && (one_by_one || !seen)
}

/// Whether the group is the shown moment.
fn fits(group: &Group, moment: &Shown) -> bool {
    if group.event() != moment.event {
        return false;
    }
    let same = |key: &str| group.payload.get(key) == moment.values.get(key);
    match moment.event {
        "PreToolUse" | "PostToolUse" => match group.text("tool_use_id") {
            Some(id) if !id.starts_with('$') => moment.values.get("tool_use_id") == Some(&json!(id)),
            _ => same("tool_name") && same("tool_input"),
        },
        "UserPromptSubmit" => same("prompt"),
        _ => true,
    }
}

/// The moments that the prompts and the script `main` show.
fn shown(case: &ClaudeCase) -> Vec<Shown> {
    let expect = &case.expect;
    let started = expect.model_requests != Some(0) || expect.prompt.is_some();
    if !case.is_print() || case.stdin.is_some() || !started {
        return Vec::new();
    }
    let mut all = vec![moment("SessionStart", json!({"source": "startup"}))];
    for prompt in &case.prompts {
        all.push(moment("UserPromptSubmit", json!({"prompt": prompt})));
        // Slash commands are expanded, or answered by the client.
        if !prompt.starts_with('/') {
            all.extend(turns(case));
        }
    }
    all.push(moment("SessionEnd", json!({"reason": "other"})));
    all
}

/// The moments of the turns that the model was asked for.
fn turns(case: &ClaudeCase) -> Vec<Shown> {
    let script = case.scripts.get("main").cloned().unwrap_or_default();
    let asked = case.expect.model_requests.unwrap_or(u64::MAX);
    let asked = usize::try_from(asked).unwrap_or(usize::MAX).min(script.len() + 1);
    let mut all = Vec::new();
    for n in 0..asked {
        let turn = script.get(n).cloned().unwrap_or_else(|| json!("DONE"));
        if !ends_well(&turn) {
            return all;
        }
        let calls = calls(&turn);
        if calls.is_empty() {
            all.push(moment("Stop", json!({"stop_hook_active": false,
                "last_assistant_message": turn.as_str().unwrap_or("")})));
            return all;
        }
        for call in calls {
            all.extend(of_call(&call));
        }
        all.push(moment("PostToolBatch", json!({"tool_calls": []})));
    }
    all
}

/// Whether a turn of the model is an answer, cut short by nothing.
fn ends_well(turn: &Value) -> bool {
    let reason = turn.get("stop_reason").and_then(Value::as_str);
    turn.get("error").is_none() && reason.is_none_or(|r| r == "end_turn" || r == "tool_use")
}

fn calls(turn: &Value) -> Vec<Value> {
    let blocks = match (turn, turn.get("blocks")) {
        (Value::Array(blocks), _) | (_, Some(Value::Array(blocks))) => blocks.clone(),
        _ => vec![turn.clone()],
    };
    blocks.into_iter().filter(|block| block.get("tool").is_some()).collect()
}

fn of_call(call: &Value) -> [Shown; 2] {
    let name = match call.get("tool").and_then(Value::as_str) {
        Some("Task") => "Agent",
        Some(name) => name,
        None => "",
    };
    let input = call.get("input").cloned().unwrap_or_else(|| json!({}));
    let id = call.get("id").cloned().unwrap_or_else(|| json!("toolu_unnamed"));
    let usable = is_usable(name, &input);
    let values = json!({"tool_name": name, "tool_input": input, "tool_use_id": id});
    let mut pre = moment("PreToolUse", values.clone());
    let mut post = moment("PostToolUse", values);
    let response = json!({"stdout": "", "stderr": "", "interrupted": false, "isImage": false});
    post.values.insert("tool_response".to_owned(), response);
    pre.may_be_unseen = usable;
    // What other tools answer is not known, nor whether they fail.
    post.may_be_unseen = usable && name == "Bash";
    [pre, post]
}

/// Whether every client has the tool, and the input fits it: hooks hear of no other calls.
fn is_usable(name: &str, input: &Value) -> bool {
    let text = |key: &str| input.get(key).is_some_and(Value::is_string);
    match name {
        "Bash" => text("command"),
        "Read" => text("file_path"),
        "Write" => text("file_path") && text("content"),
        "Edit" => text("file_path") && text("old_string") && text("new_string"),
        "Agent" => text("prompt") && text("description"),
        _ => name.starts_with("mcp__tiny__") && text("text"),
    }
}

fn moment(event: &'static str, values: Value) -> Shown {
    let values = match values {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    Shown { event, values, may_be_unseen: true }
}

/// How far the turn got, by the verdicts so far.
struct Flow<'a> {
    case: &'a ClaudeCase,
    /// The prompt was kept out, or the run was ended.
    over: bool,
    walked: Walked,
}

impl<'a> Flow<'a> {
    fn new(case: &'a ClaudeCase) -> Self {
        Self { case, over: false, walked: Walked::default() }
    }

    fn reaches(&self, shown: &Shown) -> bool {
        let bypasses = self.case.permission_mode.as_deref() == Some("bypassPermissions");
        match shown.event {
            "SessionEnd" | "UserPromptSubmit" => true,
            // In other modes the client may have refused the call by itself.
            "PostToolUse" | "PostToolBatch" if !bypasses => false,
            "PostToolUse" => !self.over && self.ran(shown.values.get("tool_use_id")),
            _ => !self.over,
        }
    }

    fn ran(&self, id: Option<&Value>) -> bool {
        let id = id.and_then(Value::as_str);
        let fate = self.walked.calls.iter().rev().find(|fate| fate.id.as_deref() == id);
        fate.is_none_or(|fate| fate.ran != Some(false))
    }

    fn take(&mut self, moment: &Moment, verdict: &Verdict) {
        match moment.event.as_str() {
            "UserPromptSubmit" => {
                self.over = verdict.refuses();
                self.walked.prompts.push(!self.over);
            }
            "UserPromptExpansion" | "PreSkillShellCommand" => {
                let out = match moment.event.as_str() {
                    "PreSkillShellCommand" => verdict.halted,
                    _ => verdict.refuses(),
                };
                if out {
                    self.over = true;
                    self.walked.prompts.push(false);
                }
            }
            "PreToolUse" => self.call(moment, verdict),
            "PermissionRequest" => self.permission(moment, verdict),
            _ => {}
        }
        let ends = verdict.halted && !matches!(moment.event.as_str(), "SessionStart" | "Setup");
        self.over |= ends || verdict.decision == Decision::Defer;
    }

    fn call(&mut self, moment: &Moment, verdict: &Verdict) {
        let (ran, denied) = self.fate(verdict.decision);
        let given = moment.payload.get("tool_input").cloned();
        self.walked.calls.push(CallFate {
            id: moment.text("tool_use_id").map(str::to_owned),
            name: moment.text("tool_name").unwrap_or("").to_owned(),
            ran,
            denied,
            input: verdict.input.clone().or(given),
            pre: Some(verdict.fired.clone()),
        });
    }

    /// What a decision before the permission step settles, and what it leaves open.
    fn fate(&self, decision: Decision) -> (Option<bool>, Option<bool>) {
        let mode = self.case.permission_mode.as_deref();
        let rules = self.case.settings_other.contains_key("permissions");
        match decision {
            Decision::Deny | Decision::Block => (Some(false), Some(true)),
            // A terminal asks instead.
            Decision::Defer if self.case.mode != "tui" => (Some(false), Some(false)),
            // Nobody is there to be asked.
            Decision::Ask if self.case.is_print() && !self.case.has_prompt_tool() => {
                (Some(false), Some(true))
            }
            Decision::Allow if !rules => (Some(true), Some(false)),
            Decision::None if mode == Some("bypassPermissions") && !rules => {
                (Some(true), Some(false))
            }
            _ => (None, None),
        }
    }

    fn permission(&mut self, moment: &Moment, verdict: &Verdict) {
        let name = moment.text("tool_name").unwrap_or("").to_owned();
        let known = self.walked.calls.iter_mut().rev();
        let known = known.filter(|fate| fate.name == name && fate.denied.is_none()).last();
        let mut fresh = CallFate { name, ..CallFate::default() };
        let is_new = known.is_none();
        let fate = known.unwrap_or(&mut fresh);
        (fate.ran, fate.denied) = match verdict.decision {
            Decision::Deny | Decision::Block => (Some(false), Some(true)),
            Decision::Allow => (Some(true), Some(false)),
            _ => (None, None),
        };
        if let Some(input) = verdict.input.clone().or(moment.payload.get("tool_input").cloned()) {
            fate.input = Some(input);
        }
        if is_new {
            self.walked.calls.push(fresh);
        }
    }
}

#[cfg(test)]
#[path = "claude_tests.rs"]
mod tests;
