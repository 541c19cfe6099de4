//! How far a turn gets.

use seamline_hooks::Decision;
use serde_json::Value;

use super::shown::Shown;
use crate::case::ClaudeCase;
use crate::moments::{CallFate, Moment, Verdict, Walked};

/// How far the turn got, by the verdicts so far.
pub(super) struct Flow<'a> {
    case: &'a ClaudeCase,
    /// The prompt was kept out, or the run was ended.
    over: bool,
    pub(super) walked: Walked,
}

impl<'a> Flow<'a> {
    pub(super) fn new(case: &'a ClaudeCase) -> Self {
        Self {
            case,
            over: false,
            walked: Walked::default(),
        }
    }

    pub(super) fn reaches(&self, shown: &Shown) -> bool {
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
        let fate = self
            .walked
            .calls
            .iter()
            .rev()
            .find(|fate| fate.id.as_deref() == id);
        fate.is_none_or(|fate| fate.ran != Some(false))
    }

    pub(super) fn take(&mut self, moment: &Moment, verdict: &Verdict) {
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
        let given = moment.payload.get("tool_input").cloned();
        let input = verdict.input.clone().or(given);
        let (ran, denied) = match verdict.decision {
            // The client refuses by itself what it cannot read as shell.
            Decision::Allow | Decision::None if !is_shell(input.as_ref()) => (None, None),
            decision => self.fate(decision),
        };
        self.walked.calls.push(CallFate {
            id: moment.text("tool_use_id").map(str::to_owned),
            name: moment.text("tool_name").unwrap_or("").to_owned(),
            ran,
            denied,
            input,
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
        let mut calls = self.walked.calls.iter_mut();
        let known = calls.find(|fate| fate.name == name && fate.denied.is_none());
        let mut fresh = CallFate {
            name,
            ..CallFate::default()
        };
        let is_new = known.is_none();
        let fate = known.unwrap_or(&mut fresh);
        (fate.ran, fate.denied) = match verdict.decision {
            Decision::Deny | Decision::Block => (Some(false), Some(true)),
            Decision::Allow => (Some(true), Some(false)),
            _ => (None, None),
        };
        if let Some(input) = verdict
            .input
            .clone()
            .or(moment.payload.get("tool_input").cloned())
        {
            fate.input = Some(input);
        }
        if is_new {
            self.walked.calls.push(fresh);
        }
    }
}

/// Whether a call is of no shell, or of one that our own parser can read.
fn is_shell(input: Option<&Value>) -> bool {
    let command = input.and_then(|input| input.get("command")?.as_str());
    command.is_none_or(|command| seamline_rules::shell_problem(command).is_none())
}
