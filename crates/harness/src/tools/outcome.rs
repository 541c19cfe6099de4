//! How a call ended, normalized: panics, faults and failures of tools all look alike.

use seamline_seams::{Context, Fault};

use super::code;
use super::tool::ToolError;
use crate::content::Content;
use crate::json::Json;
use crate::session::event::{self, ErrorInfo, Step};

/// The result of a call, and text for the model that came with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// What came of it.
    pub result: Result<Success, Failure>,
    /// Text for the model, shown after all results of the batch.
    pub contexts: Vec<Context>,
}

/// A call that succeeded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Success {
    /// The tool's canonical value. It never reaches the log.
    pub value: Json,
    /// What the model is shown.
    pub content: Content,
    /// Whether the turn ends with this batch; see [`ToolContext::conclude_turn`].
    ///
    /// [`ToolContext::conclude_turn`]: super::ToolContext::conclude_turn
    pub concludes: bool,
}

/// A call that failed, or was not allowed to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What failed, without any prefix.
    pub message: String,
    /// Its identity; denials and failures of the tool itself have none.
    pub error: Option<ErrorInfo>,
    /// What the model is shown.
    pub content: Content,
}

/// Why a call ended the way it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It was dispatched: the tool ran, or a wrapper answered for it.
    Ran,
    /// A policy, a mode, a guard or a person denied it.
    Denied,
    /// There is no such tool, or the arguments do not fit it.
    Invalid,
    /// The turn was cancelled or halted before it was dispatched, or only a program may call the
    /// tool. No policy was asked about it, or none any more.
    NotStarted,
    /// A listener of the pipeline failed.
    Faulted,
}

impl Success {
    /// A success that concludes nothing.
    pub fn new(value: Json, content: Content) -> Self {
        Self {
            value,
            content,
            concludes: false,
        }
    }
}

impl Outcome {
    /// A failure the model is shown as `Error: ` and the message.
    pub fn failed(message: impl Into<String>, code: Option<&str>) -> Self {
        let message = message.into();
        let content = Content::text(format!("Error: {message}"));
        Self::from(Failure {
            message,
            error: code.map(code::info),
            content,
        })
    }

    /// What the model is shown.
    pub fn content(&self) -> &Content {
        match &self.result {
            Ok(success) => &success.content,
            Err(failure) => &failure.content,
        }
    }

    /// Whether the call failed.
    pub fn is_error(&self) -> bool {
        self.result.is_err()
    }

    /// Whether the call failed with this code.
    pub fn has_code(&self, code: &str) -> bool {
        let error = self
            .result
            .as_ref()
            .err()
            .and_then(|failure| failure.error.as_ref());
        error.is_some_and(|error| error.code == code)
    }

    /// The line the log gets for the result of a call.
    pub(crate) fn record(&self, call_id: &str, at: Step) -> event::ToolResult {
        event::ToolResult {
            turn: at.turn,
            step: at.step,
            call_id: call_id.to_owned(),
            parent: None,
            content: self.content().clone(),
            is_error: self.is_error(),
            error: self
                .result
                .as_ref()
                .err()
                .and_then(|failure| failure.error.clone()),
        }
    }

    /// Marks a success as the last thing its turn does.
    pub(super) fn concluding(mut self, concludes: bool) -> Self {
        if let Ok(success) = &mut self.result {
            success.concludes |= concludes;
        }
        self
    }

    pub(super) fn set_content(&mut self, content: Content) {
        match &mut self.result {
            Ok(success) => success.content = content,
            Err(failure) => failure.content = content,
        }
    }

    pub(super) fn aborted() -> Self {
        Self::failed("tool call aborted", Some(code::ABORTED))
    }

    /// Stands where there is no outcome yet; costs nothing.
    pub(super) fn nothing() -> Self {
        Self::from(Failure {
            message: String::new(),
            error: None,
            content: Content::default(),
        })
    }

    pub(crate) fn not_started() -> Self {
        Self::failed(
            "tool call aborted before dispatch",
            Some(code::ABORTED_BEFORE_DISPATCH),
        )
    }
}

impl From<Success> for Outcome {
    fn from(success: Success) -> Self {
        Self {
            result: Ok(success),
            contexts: Vec::new(),
        }
    }
}

impl From<Failure> for Outcome {
    fn from(failure: Failure) -> Self {
        Self {
            result: Err(failure),
            contexts: Vec::new(),
        }
    }
}

impl From<ToolError> for Outcome {
    fn from(error: ToolError) -> Self {
        let mut outcome = Self::failed(error.message, error.code);
        if let Some(content) = error.content {
            outcome.set_content(content);
        }
        outcome
    }
}

impl From<Fault> for Outcome {
    fn from(fault: Fault) -> Self {
        Self::failed(fault.to_string(), None)
    }
}
