//! What happens, for front ends: everything a terminal needs to show a run.

use std::sync::Arc;

use uuid::Uuid;

use super::outcome::TurnOutcome;
use crate::content::{Content, Source};
use crate::facts::Facts;
use crate::model::{ModelError, Usage};
use crate::session::event::StartSource;
use crate::tools::{Call, DenyCause, Proposal, ToolResult};

/// One thing that happened, in order. Told to the observers of `agent.events` once it is in the
/// log, where it belongs there.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum AgentEvent {
    /// The session was taken up and its start contributors were heard.
    SessionStarted {
        /// Where the session stands.
        facts: Arc<Facts>,
        /// Why it was taken up.
        source: StartSource,
    },
    /// The session got a name.
    Title {
        /// The name.
        title: String,
    },
    /// A turn was opened.
    TurnStarted {
        /// Its number.
        turn: u32,
        /// Its own id.
        id: Uuid,
    },
    /// A prompt entered.
    PromptEntered {
        /// As the model sees it.
        content: Content,
        /// Who wrote it.
        source: Source,
        /// Whether it joined a turn under way.
        steering: bool,
    },
    /// A prompt was refused.
    PromptBlocked {
        /// As it was written.
        content: Content,
        /// Why.
        reason: String,
        /// Who refused it.
        by: Source,
        /// Whether it would have joined a turn under way.
        steering: bool,
    },
    /// A piece of the model's text, while it is being written. Not sent while `agent.display`
    /// has listeners, who may want the user to see something else.
    TextDelta {
        /// The piece.
        text: String,
    },
    /// A text block of the model is complete: this is what the user is shown of it.
    Text {
        /// The text.
        text: String,
    },
    /// The model wants to call a tool.
    ToolProposed {
        /// The call as the model wrote it.
        proposal: Proposal,
    },
    /// A call may run, with these arguments. A guard may still deny it.
    ToolStarted(
        /// The call.
        Call,
    ),
    /// A call was denied; its result follows.
    ToolDenied {
        /// The provider's id of the call.
        call_id: String,
        /// The tool.
        name: String,
        /// Why.
        reason: String,
        /// What kind of authority denied it.
        cause: DenyCause,
    },
    /// A call was put off.
    ToolDeferred {
        /// The call.
        proposal: Proposal,
        /// Why, where the policy said.
        reason: Option<String>,
    },
    /// A call has its result.
    ToolFinished(
        /// The result.
        ToolResult,
    ),
    /// Text was added for the model.
    Context {
        /// The text.
        text: String,
        /// Who added it.
        source: Source,
    },
    /// A policy kept the turn going.
    Steering {
        /// What the model is told.
        text: String,
        /// Who says it.
        source: Source,
    },
    /// Something the user should know.
    Notice {
        /// The text.
        text: String,
        /// Who says it.
        source: Source,
    },
    /// A request was answered or failed. Not told of one that was cancelled.
    RequestEnded {
        /// Where the session stands.
        facts: Arc<Facts>,
        /// The request's own id.
        id: Uuid,
        /// How many times it was made, this one included.
        attempt: u32,
        /// The model it went to.
        model: String,
        /// What it cost, where the provider said; or what went wrong.
        outcome: Result<Option<Usage>, ModelError>,
    },
    /// A request is made again.
    RequestRetried {
        /// What went wrong with the one before.
        error: String,
        /// How many were made before.
        attempt: u32,
    },
    /// A turn was closed.
    TurnEnded(
        /// How.
        TurnOutcome,
    ),
    /// The agent was closed.
    SessionEnded {
        /// The reason the host gave.
        reason: String,
    },
}
