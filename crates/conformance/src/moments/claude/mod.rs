//! The moments of a Claude Code case.
//!
//! The payloads that hooks were seen to read say what fired, in which order. Where a payload shows
//! a moment, that moment is played with it. A moment at which nothing was seen is played too when
//! the script shows that it came: only so does a matcher that fits too much become visible. Those
//! are built here from the prompt and the calls of the script `main`, for runs that went by
//! themselves (print mode).

mod flow;
mod groups;
mod shown;

use seamline_hooks::DialectId;
use serde_json::{Map, Value, json};

pub use self::groups::{Group, groups};

use self::flow::Flow;
use self::shown::{Shown, calls, shown};
use super::{Fire, Moment, Walked, in_order};
use crate::case::ClaudeCase;
use crate::stage::Stage;
use crate::text::unshorten;

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
        if payload
            .get("tool_input")
            .is_some_and(|input| input.to_string().contains("$CUT"))
        {
            let whole = self.scripted_input(group.text("tool_use_id"));
            payload.extend(whole.map(|input| ("tool_input".to_owned(), input)));
        }
        let filled = self
            .stage
            .names
            .fill_value(&unshorten(&Value::Object(payload)));
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
        let place = free
            .into_iter()
            .position(|(group, taken)| !taken && fits(group, &moment));
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
            Some(id) if !id.starts_with('$') => {
                moment.values.get("tool_use_id") == Some(&json!(id))
            }
            _ => same("tool_name") && same("tool_input"),
        },
        "UserPromptSubmit" => same("prompt"),
        _ => true,
    }
}

#[cfg(test)]
mod tests;
