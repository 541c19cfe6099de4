//! What an event's hooks decided together, in words of no dialect.

use std::sync::Arc;

use serde_json::value::RawValue;

use crate::handler::HandlerKey;

/// The merged decision.
///
/// `Deny` refuses the thing that was asked about (a tool call, a permission, a switch). `Block`
/// answers a thing that has happened or is about to end: a prompt is kept out, a tool result gets
/// feedback, a turn goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Decision {
    /// No hook decided.
    #[default]
    None,
    /// Allowed without asking.
    Allow,
    /// The user must be asked.
    Ask,
    /// Left open for later (Claude).
    Defer,
    /// Refused.
    Deny,
    /// Blocked.
    Block,
}

impl Decision {
    /// The word in lists and JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Defer => "defer",
            Self::Deny => "deny",
            Self::Block => "block",
        }
    }
}

/// A value and the handler it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct By<T> {
    /// The value.
    pub value: T,
    /// Who said it.
    pub by: HandlerKey,
}

/// A message for the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeKind {
    /// The hook's own `systemMessage`.
    System,
    /// The engine reports something about a run: a failure, a lost decision.
    Engine,
}

/// A notice for the user; never shown to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Whose words.
    pub kind: NoticeKind,
    /// The words.
    pub text: String,
}

/// A request to end the run (`continue: false`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HaltRequest {
    /// The hook's `stopReason`, for the user.
    pub reason: Option<String>,
    /// Who asked.
    pub by: HandlerKey,
}

/// Effects that only some events have.
#[derive(Debug, Clone, Default)]
pub struct Extras {
    /// PostToolUse: a replacement of the tool's value (Claude `updatedToolOutput`).
    pub tool_output: Option<By<Arc<RawValue>>>,
    /// PostToolUse of MCP tools (Claude `updatedMCPToolOutput`).
    pub mcp_output: Option<By<Arc<RawValue>>>,
    /// PostToolUse (Codex): the text that replaces the tool's output.
    pub replaced_output: Option<String>,
    /// PermissionRequest: rule updates to apply with an allow.
    pub permission_updates: Option<By<Arc<RawValue>>>,
    /// PermissionRequest: the denial also interrupts the turn.
    pub interrupt: bool,
    /// SessionStart: becomes the first user message.
    pub initial_user_message: Option<By<String>>,
    /// SessionStart, UserPromptSubmit: a title for the session.
    pub session_title: Option<By<String>>,
    /// SessionStart, CwdChanged, FileChanged: paths to watch.
    pub watch_paths: Vec<String>,
    /// UserPromptSubmit: the block message leaves the prompt out.
    pub suppress_original_prompt: bool,
    /// PermissionDenied: the model may try once more.
    pub retry: bool,
    /// MessageDisplay: the text to show instead.
    pub display: Option<By<String>>,
    /// Elicitation, ElicitationResult: `accept`, `decline` or `cancel`, and the content.
    pub elicitation: Option<By<(String, Option<Arc<RawValue>>)>>,
    /// WorktreeCreate: the path.
    pub worktree_path: Option<By<String>>,
    /// PreCompact: plain output that is appended to the instructions.
    pub instructions: Vec<By<String>>,
}

/// The merged outcome of one firing.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// The decision.
    pub decision: Decision,
    /// The words that go with the decision, ready for whoever must see them (wrapped and spilled as
    /// the dialect does). `None` when the hook gave none.
    pub reason: Option<String>,
    /// Every reason of the winning kind, in the dialect's order. One feedback message each.
    pub reasons: Vec<By<String>>,
    /// The rewritten input.
    pub input: Option<By<Arc<RawValue>>>,
    /// Contexts for the model, in the dialect's order.
    pub contexts: Vec<By<String>>,
    /// Messages for the user.
    pub notices: Vec<By<Notice>>,
    /// A request to end the run.
    pub halt: Option<HaltRequest>,
    /// Effects of single events.
    pub extras: Extras,
}
