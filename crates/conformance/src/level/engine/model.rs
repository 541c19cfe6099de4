//! Which texts of an outcome are on their way to the model.
//!
//! The engine hands out texts; which of them the model sees is decided by who calls it. This is
//! the part of that which a case can be compared with.

use seamline_hooks::{Decision, DialectId, Outcome};
use serde_json::Value;

/// Texts for the model and for a subagent's model, in the order they were given.
#[derive(Debug, Default)]
pub(super) struct Told {
    dialect: Option<DialectId>,
    /// Delivered with the next request, which a halt prevents.
    pending: Vec<String>,
    pub(super) model: Vec<String>,
    pub(super) subagent: Vec<String>,
}

impl Told {
    pub(super) fn new(dialect: DialectId) -> Self {
        Self { dialect: Some(dialect), ..Self::default() }
    }

    /// Takes the texts of one outcome.
    pub(super) fn take(&mut self, event: &str, from_subagent: bool, outcome: &Outcome) {
        let texts = self.texts(event, outcome);
        let ends = outcome.halt.is_some() && !matches!(event, "SessionStart" | "Setup");
        match event {
            _ if from_subagent || matches!(event, "SubagentStart" | "SubagentStop") => {
                self.subagent.extend(texts);
            }
            _ if ends => self.pending.clear(),
            "SessionStart" | "Setup" | "UserPromptSubmit" | "UserPromptExpansion" | "Stop" => {
                self.deliver();
                self.model.extend(texts);
            }
            _ => self.pending.extend(texts),
        }
    }

    /// Texts that arrive beside the events.
    pub(super) fn add(&mut self, texts: impl IntoIterator<Item = String>) {
        self.pending.extend(texts);
    }

    /// A request is made, or the turn ended by itself.
    pub(super) fn deliver(&mut self) {
        self.model.append(&mut self.pending);
    }

    fn texts(&self, event: &str, outcome: &Outcome) -> Vec<String> {
        let claude = self.dialect == Some(DialectId::Claude);
        let refused = matches!(outcome.decision, Decision::Deny | Decision::Block);
        let mut texts: Vec<String> = Vec::new();
        // A prompt that is kept out takes its contexts along, in Claude.
        let kept = !(claude && refused && event.starts_with("UserPrompt"));
        if kept {
            texts.extend(outcome.contexts.iter().map(|by| by.value.clone()));
        }
        match event {
            "PreToolUse" | "PermissionRequest" if refused || outcome.decision == Decision::Ask => {
                texts.extend(outcome.reason.clone());
            }
            "PostToolUse" | "PostToolUseFailure" if outcome.extras.replaced_output.is_none() => {
                texts.extend(outcome.reasons.iter().map(|by| by.value.clone()));
            }
            "Stop" | "SubagentStop" | "TaskCreated" | "TaskCompleted" | "PreSkillShellCommand"
                if refused =>
            {
                texts.extend(outcome.reasons.iter().map(|by| by.value.clone()));
            }
            _ => {}
        }
        let extras = &outcome.extras;
        texts.extend(extras.replaced_output.clone());
        texts.extend(extras.initial_user_message.iter().map(|by| by.value.clone()));
        let outputs = extras.tool_output.iter().chain(&extras.mcp_output);
        texts.extend(outputs.flat_map(|by| strings(by.value.get())));
        texts
    }
}

/// Every string of a JSON text.
fn strings(text: &str) -> Vec<String> {
    fn collect(value: &Value, into: &mut Vec<String>) {
        match value {
            Value::String(text) => into.push(text.clone()),
            Value::Array(items) => items.iter().for_each(|item| collect(item, into)),
            Value::Object(map) => map.values().for_each(|item| collect(item, into)),
            _ => {}
        }
    }
    let mut into = Vec::new();
    collect(&serde_json::from_str(text).unwrap_or_default(), &mut into);
    into
}
