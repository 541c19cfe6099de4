//! Which texts of an outcome are on their way to the model.
//!
//! The engine hands out texts; which of them the model sees is decided by who calls it, and by
//! whether there is another request at all. This is the part of that which a case can be compared
//! with. Where it cannot be known here, a text is not *certain*: it may have been seen, and may
//! not.

use std::collections::BTreeSet;

use seamline_hooks::handler::Background;
use seamline_hooks::outcome::{By, NoticeKind};
use seamline_hooks::{Decision, DialectId, Fired, HandlerKey, Outcome};
use serde_json::Value;

use crate::moments::Moment;
use crate::observed::Said;

/// How a case was driven, as far as it matters here.
#[derive(Debug, Clone, Copy)]
pub(super) struct Drive {
    /// Whose rules.
    pub(super) dialect: DialectId,
    /// The client ran by itself to the end of one prompt.
    pub(super) alone: bool,
    /// A question that nobody answers is a denial, which the model reads.
    pub(super) nobody_to_ask: bool,
}

/// Texts for the model and for a subagent's model, in the order they were given.
#[derive(Debug)]
pub(super) struct Told {
    drive: Drive,
    /// Delivered with the next request of this turn, if there is one.
    pending: Vec<Said>,
    /// Delivered with the next request of any turn.
    outside: Vec<Said>,
    pub(super) model: Vec<Said>,
    pub(super) subagent: Vec<Said>,
}

/// Events that happen within a turn of Claude.
const WITHIN: [&str; 8] = [
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "Stop",
    "MessageDisplay",
];

impl Told {
    pub(super) fn new(drive: Drive) -> Self {
        let (pending, outside, model, subagent) = Default::default();
        Self {
            drive,
            pending,
            outside,
            model,
            subagent,
        }
    }

    /// Takes the texts of one firing.
    pub(super) fn take(&mut self, moment: &Moment, fired: &Fired) {
        let texts = self.texts(moment, fired);
        let event = moment.event.as_str();
        let of_subagent = moment.payload.contains_key("agent_id") || event.starts_with("Subagent");
        match self.drive.dialect {
            _ if of_subagent => self.subagent.extend(texts),
            DialectId::Codex => self.pending.extend(texts),
            DialectId::Claude => self.take_claude(moment, &fired.outcome, texts),
        }
    }

    fn take_claude(&mut self, moment: &Moment, outcome: &Outcome, texts: Vec<Said>) {
        let event = moment.event.as_str();
        let starts = matches!(event, "SessionStart" | "Setup");
        if WITHIN.contains(&event) {
            self.model.append(&mut self.outside);
        }
        let ends = outcome.halt.is_some()
            || outcome.extras.interrupt
            || outcome.decision == Decision::Defer;
        match event {
            _ if ends && !starts => self.pending.clear(),
            "SessionStart" | "Setup"
                if self.drive.alone && moment.text("source") != Some("compact") =>
            {
                self.model.extend(texts);
            }
            "UserPromptSubmit" | "UserPromptExpansion" | "Stop" => {
                self.model.append(&mut self.pending);
                self.model.extend(texts);
            }
            _ if WITHIN.contains(&event) => self.pending.extend(texts),
            // A tool is at work, as it is in a turn.
            _ if self.drive.alone && !starts => self.pending.extend(texts),
            _ => self.outside.extend(texts),
        }
    }

    /// The model is asked.
    pub(super) fn requested(&mut self) {
        self.model.append(&mut self.pending);
        self.model.append(&mut self.outside);
    }

    /// Texts of handlers in background. Claude's messages go to the model as well.
    pub(super) fn add(&mut self, contexts: Vec<String>, message: Option<String>) {
        let message = message.filter(|_| self.drive.dialect == DialectId::Claude);
        let texts = message.into_iter().chain(contexts);
        self.model.extend(texts.map(|text| Said {
            text,
            certain: false,
        }));
    }

    /// Nothing more is fired. What a turn of Claude still had to say was said.
    pub(super) fn end(&mut self) {
        if self.drive.dialect == DialectId::Claude {
            self.model.append(&mut self.pending);
            let outside = self.outside.drain(..);
            self.model.extend(outside.map(|said| Said {
                certain: false,
                ..said
            }));
        }
    }

    fn texts(&self, moment: &Moment, fired: &Fired) -> Vec<Said> {
        let outcome = &fired.outcome;
        let late = late_handlers(fired);
        let said = |by: &By<String>| Said {
            text: by.value.clone(),
            certain: !late.contains(&by.by),
        };
        let refused = matches!(outcome.decision, Decision::Deny | Decision::Block);
        // A prompt that is kept out takes its contexts along, in Claude.
        let claude = self.drive.dialect == DialectId::Claude;
        let kept = !(claude && refused && moment.event.starts_with("UserPrompt"));
        let contexts: Vec<Said> = if kept {
            outcome.contexts.iter().map(said).collect()
        } else {
            Vec::new()
        };
        let mut texts = self.reasons(moment, outcome, &late);
        texts.extend(extras(&moment.event, outcome));
        // Claude puts contexts after what they are about, Codex before.
        if claude {
            texts.extend(contexts);
            return texts;
        }
        contexts.into_iter().chain(texts).collect()
    }

    /// Reasons that the model reads at this event.
    fn reasons(
        &self,
        moment: &Moment,
        outcome: &Outcome,
        late: &BTreeSet<HandlerKey>,
    ) -> Vec<Said> {
        let refused = matches!(outcome.decision, Decision::Deny | Decision::Block);
        let asks = outcome.decision == Decision::Ask && self.drive.nobody_to_ask;
        let all = || {
            let said = outcome.reasons.iter();
            said.map(|by| Said {
                text: by.value.clone(),
                certain: !late.contains(&by.by),
            })
        };
        let one = outcome.reason.iter();
        match moment.event.as_str() {
            "PreToolUse" | "PermissionRequest" if refused || asks => one
                .map(|text| Said {
                    text: text.clone(),
                    certain: true,
                })
                .collect(),
            "PostToolUse" | "PostToolUseFailure" if outcome.extras.replaced_output.is_none() => {
                all().collect()
            }
            "Stop"
            | "SubagentStop"
            | "TaskCreated"
            | "TaskCompleted"
            | "WorktreeCreate"
            | "PreSkillShellCommand"
                if refused =>
            {
                all().collect()
            }
            _ => Vec::new(),
        }
    }
}

/// Handlers whose words come when they come.
fn late_handlers(fired: &Fired) -> BTreeSet<HandlerKey> {
    let runs = fired.trace.runs.iter().map(|run| &run.handler);
    runs.filter(|handler| handler.background != Background::No)
        .map(|handler| handler.key.clone())
        .collect()
}

/// Texts of effects that only some events have.
fn extras(event: &str, outcome: &Outcome) -> Vec<Said> {
    let extras = &outcome.extras;
    let mut texts: Vec<String> = Vec::new();
    texts.extend(extras.replaced_output.clone());
    texts.extend(
        extras
            .initial_user_message
            .iter()
            .map(|by| by.value.clone()),
    );
    texts.extend(extras.worktree_path.iter().map(|by| by.value.clone()));
    let outputs = extras.tool_output.iter().chain(&extras.mcp_output);
    texts.extend(outputs.flat_map(|by| strings(by.value.get())));
    let answers = extras
        .elicitation
        .iter()
        .filter_map(|by| by.value.1.as_ref());
    texts.extend(answers.flat_map(|content| strings(content.get())));
    let mut all: Vec<Said> = texts
        .into_iter()
        .map(|text| Said {
            text,
            certain: true,
        })
        .collect();
    if event == "DirectoryAdded" {
        let notices = outcome.notices.iter().map(|by| &by.value);
        let notices = notices.filter(|notice| notice.kind == NoticeKind::System);
        all.extend(notices.map(|notice| Said {
            text: notice.text.clone(),
            certain: false,
        }));
    }
    all
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
