//! The stable error codes and the exact texts the model is shown with them.

use crate::session::event::ErrorInfo;

/// No tool of that name.
pub const UNKNOWN_TOOL: &str = "UNKNOWN_TOOL";
/// The arguments do not fit the tool's schema.
pub const INVALID_ARGS: &str = "INVALID_ARGS";
/// The tool's value does not fit its own declaration, or could not be shown.
pub const INVALID_TOOL_OUTPUT: &str = "INVALID_TOOL_OUTPUT";
/// The turn was cancelled while the tool ran; it may have had effects.
pub const ABORTED: &str = "ABORTED";
/// The turn was cancelled or halted before the tool ran; it had no effects.
pub const ABORTED_BEFORE_DISPATCH: &str = "ABORTED_BEFORE_DISPATCH";
/// The tool took longer than it may and was cancelled; it may have had effects.
pub const TOOL_TIMEOUT: &str = "TOOL_TIMEOUT";
/// A program that calls tools failed. What its calls did stands.
pub const CODE_RUN_FAILED: &str = "CODE_RUN_FAILED";
/// Written on load: the process ended before the call was started.
pub const TOOL_NOT_STARTED: &str = "TOOL_NOT_STARTED";
/// Written on load: the process ended while the call ran.
pub const TOOL_OUTCOME_UNKNOWN: &str = "TOOL_OUTCOME_UNKNOWN";

/// The type-like name that goes with a code.
fn name(code: &str) -> &'static str {
    match code {
        UNKNOWN_TOOL => "ToolNotFoundError",
        INVALID_ARGS => "ToolArgsError",
        INVALID_TOOL_OUTPUT => "ToolOutputError",
        ABORTED | ABORTED_BEFORE_DISPATCH => "AbortError",
        TOOL_TIMEOUT => "ToolTimeoutError",
        CODE_RUN_FAILED => "CodeRunFailedError",
        TOOL_NOT_STARTED => "ToolNotStartedError",
        TOOL_OUTCOME_UNKNOWN => "ToolOutcomeUnknownError",
        _ => "ToolError",
    }
}

/// The identity of an error with one of our codes.
pub(crate) fn info(code: &str) -> ErrorInfo {
    ErrorInfo {
        name: name(code).to_owned(),
        code: code.to_owned(),
    }
}
