//! One tool call: what a tool is, the seams around a call, and the pipeline between them.
//!
//! A call goes one way, and each station has one kind of authority:
//!
//! `validate → propose → pre → permission → (commit tool/call) → guards → dispatch → post →
//! finalize → result`
//!
//! 1. **validate**: does the tool exist, do the arguments fit its schema? Everybody further on
//!    sees the answer; nothing invalid runs.
//! 2. **propose** may replace the arguments. The outcome is checked again.
//! 3. **pre** allows, denies, asks or defers.
//! 4. **permission** decides whether a person must say yes, and asks (`tools.approval`).
//! 5. **commit**: the log gets the call with the arguments in force, and who changed them. From
//!    here on the call is a sealed [`Call`].
//! 6. **guards** can only deny, and nothing comes after them that could allow.
//! 7. **dispatch** wraps the work: [`Tool::run`], panics and failures normalized to an
//!    [`Outcome`].
//! 8. **post** may change what the model is shown, object, or replace the value. It sees denials
//!    too.
//! 9. **finalize** is the tool's own last word on the content, exactly once, on every path.
//! 10. **result** observers see what the log keeps, and beside it the value, which it does not.
//!
//! [`builtin`] are the tools that come with the harness.

pub mod builtin;
mod call;
pub mod code;
pub mod code_mode;
mod nested;
mod outcome;
pub mod pipeline;
mod registry;
mod schema;
mod seams;
mod tool;
mod workspace;

pub use call::{Call, Proposal, Validity};
pub use code_mode::CodeMode;
pub(crate) use nested::Ledger;
pub use outcome::{Ending, Failure, Outcome, Success};
pub use registry::{Registry, RegistryError};
pub use seamline_seams::Token;
pub use seams::{
    ApprovalAnswer, ApprovalQuestion, DenyCause, Dispatch, Post, PostDecision, PostEvent, Pre,
    PreDecision, Propose, ProposeDecision, ToolDenied, ToolResult, ToolSeams,
};
pub use tool::{Effects, JsonTool, Tool, ToolContext, ToolError};
pub use workspace::Workspace;
