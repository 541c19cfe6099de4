//! The typed vocabulary of the log.
//!
//! One event is one line. Our own events are a closed set in the namespaces `session`, `turn`,
//! `step`, `user`, `prompt`, `assistant`, `tool`, `context`, `steering`, `request` and `notice`;
//! everything else is an [`Extension`], whose data the log stores without knowing what it means.

use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use uuid::Uuid;

use crate::content::{Content, Source};
use crate::json::Json;
use crate::model::{ToolSpec, Usage};

/// Why a session begins in this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StartSource {
    /// A new session.
    Startup,
    /// A session that was loaded from its log.
    Resume,
    /// A session that was forked from another one, for the first time.
    Fork,
    /// A new session in place of one that the user cleared.
    Clear,
    /// The same session after its conversation was compacted.
    Compact,
}

/// `session/start`: a process took up the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionStart {
    /// Why.
    pub source: StartSource,
    /// The current directory at that moment, absolute.
    pub cwd: PathBuf,
    /// The model's name.
    pub model: String,
}

/// `session/title`: the session was given a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionTitle {
    /// The name.
    pub title: String,
    /// Who gave it.
    pub source: Source,
}

/// `session/end`: the process let go of the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionEnd {
    /// The reason the host gave, in its own words.
    pub reason: String,
}

/// What opened a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// A queued prompt.
    Prompt,
    /// A call that a former turn deferred is taken up again.
    Resume,
}

/// `turn/start`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnStart {
    /// 1 for the first turn of a session, then counting up, also across resumes.
    pub turn: u32,
    /// Identifies the turn outside this session too.
    pub id: Uuid,
    /// What opened it.
    pub trigger: Trigger,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TurnEndReason {
    /// The model had nothing more to do.
    Completed,
    /// Somebody halted the run; what was decided before it is committed.
    Stopped {
        /// Shown to the user, never to the model.
        reason: Option<String>,
        /// Who halted it.
        by: Source,
    },
    /// The prompt was refused; no request was made.
    Rejected {
        /// Why, for the user.
        reason: String,
    },
    /// One tool call was put off; it stays open in the log.
    Deferred {
        /// The open call.
        call_id: String,
        /// Why, where the policy said.
        reason: Option<String>,
        /// Who put it off; not known when the turn that took it up again died at once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Source>,
    },
    /// Cancelled.
    Aborted {
        /// By whom; with several the first.
        #[serde(default)]
        cause: AbortCause,
    },
    /// The model ran out of output tokens.
    MaxTokens,
    /// Something failed that is not a tool's failure: the model, a policy, the log.
    Error {
        /// What failed.
        message: String,
    },
    /// The process ended inside the turn; written when the log is next loaded.
    Interrupted,
}

/// Who cancelled a turn. A policy that ends a run halts it instead.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AbortCause {
    /// The user.
    #[default]
    User,
    /// The agent that this one works for.
    Parent,
    /// The agent was closed or dropped.
    Closed,
}

/// `turn/end`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnEnd {
    /// The open turn.
    pub turn: u32,
    /// How it ended.
    pub reason: TurnEndReason,
}

/// `step/start` and `step/end`: one request and what follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The open turn.
    pub turn: u32,
    /// 1 for the first step of each turn.
    pub step: u32,
}

/// `user/message`: a prompt that entered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserMessage {
    /// The open turn.
    pub turn: u32,
    /// The prompt as the model sees it (rewritten, if policy rewrote it).
    pub content: Content,
    /// Who wrote it.
    pub source: Source,
}

/// `prompt/blocked`: a prompt that did not enter. The model never sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptBlocked {
    /// The open turn.
    pub turn: u32,
    /// The prompt as it was written.
    pub content: Content,
    /// Who wrote it.
    pub source: Source,
    /// Why it was refused.
    pub reason: String,
    /// Who refused it.
    pub by: Source,
}

/// One part of an assistant message as it was received.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ReceivedBlock {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// What the model thought before it answered.
    Reasoning {
        /// The text.
        text: String,
    },
    /// What the provider sent beside all this, as it came.
    Provider {
        /// JSON text, of which only the provider knows what it means.
        data: String,
    },
    /// A tool call, arguments unparsed.
    ToolCall {
        /// The provider's id.
        id: String,
        /// The tool's name.
        name: String,
        /// The model's argument text, byte for byte.
        arguments: String,
    },
}

/// `assistant/message`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssistantMessage {
    /// The open turn.
    pub turn: u32,
    /// The open step.
    pub step: u32,
    /// The parts, in order.
    pub blocks: Vec<ReceivedBlock>,
    /// Token counts, where the provider told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Whether the turn was cancelled while it was being written; only a prefix is here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
}

/// A denial and who decided it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeniedNote {
    /// Why; the model sees it behind `Error: `.
    pub reason: String,
    /// Who.
    pub by: Source,
}

/// A question whether a call may run, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalNote {
    /// Who wanted it asked; absent when the permission mode did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_by: Option<Source>,
    /// Why, where they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What came of it.
    pub outcome: ApprovalOutcome,
}

/// What came of a question whether a call may run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ApprovalOutcome {
    /// Yes, this once.
    Allowed {
        /// The answerer's registration name.
        by: String,
    },
    /// No.
    Denied {
        /// The answerer's registration name.
        by: String,
    },
    /// There was nobody to ask, or nobody answered.
    Unanswered,
    /// The turn was cancelled first.
    Cancelled,
}

/// `tool/call`: what a call was decided to be. Everyone who reads the log reads these arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The open turn.
    pub turn: u32,
    /// The open step.
    pub step: u32,
    /// The provider's id of the call.
    pub call_id: String,
    /// The call whose body made this one; `None` when the model did. The model is not shown nested
    /// calls, nor their results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The tool's name.
    pub name: String,
    /// The arguments in force.
    pub arguments: Json,
    /// The model's arguments, when somebody rewrote them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original: Option<Json>,
    /// Who rewrote them, first to last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rewritten_by: Vec<Source>,
    /// Present when somebody was to be asked whether it may run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalNote>,
    /// Present when the call was denied before it could run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub denied: Option<DeniedNote>,
}

/// The identity of a tool's error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorInfo {
    /// A type-like name, for example `AbortError`.
    pub name: String,
    /// A stable code, for example `ABORTED`.
    pub code: String,
}

/// `tool/result`: what the model is shown for one call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The open turn.
    pub turn: u32,
    /// The open step.
    pub step: u32,
    /// The call it answers.
    pub call_id: String,
    /// The call whose body made the answered one; `None` when the model did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// What the model is shown.
    pub content: Content,
    /// Whether the call failed or was denied.
    pub is_error: bool,
    /// The error's identity, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorInfo>,
}

/// `context/message`: text a plugin added for the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextMessage {
    /// The open turn.
    pub turn: u32,
    /// The text.
    pub text: String,
    /// Who added it.
    pub source: Source,
}

/// `steering/message`: input that joined a running turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SteeringMessage {
    /// The open turn.
    pub turn: u32,
    /// What was said.
    pub content: Content,
    /// Who said it.
    pub source: Source,
}

/// `request/header`: what every request from here on carries beside the messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestHeader {
    /// The open turn.
    pub turn: u32,
    /// The open step.
    pub step: u32,
    /// The model's name.
    pub model: String,
    /// The system prompt.
    pub system: String,
    /// The tools.
    pub tools: Vec<ToolSpec>,
}

/// `notice`: something the user was told. Never shown to the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoticeShown {
    /// The turn it belongs to, if any.
    pub turn: Option<u32>,
    /// The text.
    pub text: String,
    /// Who said it.
    pub source: Source,
}

/// An event of somebody else's, stored as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extension {
    /// `namespace/name`; the namespace must not be one of ours.
    pub kind: String,
    /// The open turn it belongs to, or `None` for something between turns.
    pub turn: Option<u32>,
    /// Any JSON.
    pub data: Json,
}

/// An event in one of our namespaces that this version does not know, from a log of a later one
/// that marked it `ignorable`. It is kept as it is, and nothing follows from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ignorable {
    /// Its name.
    pub kind: String,
    /// Any JSON.
    pub data: Json,
}

macro_rules! events {
    ($($kind:literal => $variant:ident($payload:ty),)*) => {
        /// Everything a log can hold.
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Event {
            $(#[doc = concat!("`", $kind, "`")] $variant($payload),)*
            /// Anybody else's event.
            Extension(Extension),
            /// A later version's event.
            Ignorable(Ignorable),
        }

        $(impl From<$payload> for Event {
            fn from(payload: $payload) -> Self { Self::$variant(payload) }
        })*

        impl Event {
            /// The event's name, as the log spells it.
            pub fn kind(&self) -> &str {
                match self {
                    $(Self::$variant(_) => $kind,)*
                    Self::Extension(extension) => &extension.kind,
                    Self::Ignorable(later) => &later.kind,
                }
            }

            /// The payload as JSON.
            pub(super) fn data(&self) -> Result<Box<RawValue>, serde_json::Error> {
                match self {
                    $(Self::$variant(payload) => to_raw_value(payload),)*
                    Self::Extension(extension) => Ok(extension.data.raw().to_owned()),
                    Self::Ignorable(later) => Ok(later.data.raw().to_owned()),
                }
            }

            /// Reads one of our own events; `None` when the name is not one.
            pub(super) fn read<'de, D: Deserializer<'de>>(
                kind: &str,
                data: D,
            ) -> Option<Result<Self, D::Error>> {
                match kind {
                    $($kind => Some(<$payload>::deserialize(data).map(Self::$variant)),)*
                    _ => None,
                }
            }
        }

        /// The names of all our own events.
        pub const KINDS: &[&str] = &[$($kind),*];
    };
}

/// `step/start`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StepStart(pub Step);

/// `step/end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StepEnd(pub Step);

events! {
    "session/start" => SessionStart(SessionStart),
    "session/title" => SessionTitle(SessionTitle),
    "session/end" => SessionEnd(SessionEnd),
    "turn/start" => TurnStart(TurnStart),
    "turn/end" => TurnEnd(TurnEnd),
    "step/start" => StepStart(StepStart),
    "step/end" => StepEnd(StepEnd),
    "user/message" => UserMessage(UserMessage),
    "prompt/blocked" => PromptBlocked(PromptBlocked),
    "assistant/message" => AssistantMessage(AssistantMessage),
    "tool/call" => ToolCall(ToolCall),
    "tool/result" => ToolResult(ToolResult),
    "context/message" => ContextMessage(ContextMessage),
    "steering/message" => SteeringMessage(SteeringMessage),
    "request/header" => RequestHeader(RequestHeader),
    "notice" => Notice(NoticeShown),
}

impl From<Ignorable> for Event {
    fn from(later: Ignorable) -> Self {
        Self::Ignorable(later)
    }
}

impl From<Extension> for Event {
    fn from(extension: Extension) -> Self {
        Self::Extension(extension)
    }
}

/// Whether a name may be used by an [`Extension`]: it has a namespace, and not one of ours.
pub fn is_extension(kind: &str) -> bool {
    let ours = |space: &str| KINDS.iter().any(|own| own.split('/').next() == Some(space));
    matches!(kind.split_once('/'), Some((space, name))
        if !space.is_empty() && !name.is_empty() && !ours(space))
}
