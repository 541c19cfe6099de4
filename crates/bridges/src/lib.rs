//! Runs a project's Claude Code and Codex hooks on the harness's seams.
//!
//! A [`Bridge`] is one dialect: it turns facts of the agent into hook payloads, fires the
//! [`Engine`](seamline_hooks::Engine), and turns outcomes into typed decisions. It registers as an
//! ordinary plugin on public seams and can do nothing that a native plugin could not.
//!
//! | seam | event | what the bridge answers |
//! |---|---|---|
//! | `agent.session_start` | SessionStart | contexts, first message, title, variables for later commands |
//! | `agent.prompt` | UserPromptSubmit | enter with contexts, or block |
//! | `tools.propose` | PreToolUse (runs here) | keep or rewrite |
//! | `tools.pre` | PreToolUse (answers here) | allow, deny, ask, defer |
//! | `tools.approval` | PermissionRequest | allow once, another mode, a tool that needs no yes, deny |
//! | `tools.post` | PostToolUse, PostToolUseFailure | accept, replace, block with feedback |
//! | `agent.batch` | PostToolBatch | proceed, end the turn |
//! | `agent.continuation` | Stop | stop, or go on |
//! | `agent.request` | PreModelRequest | nothing |
//! | `agent.events` | PostModelRequest, Interrupt | nothing |
//! | `agent.session_end` | SessionEnd | nothing |
//!
//! [`fires`] says of any event whether it is among them.
//!
//! Two bridges live side by side, Claude's outermost: any denial wins, Codex sees Claude's rewrite,
//! and a command that both would run for the same moment runs once, under Claude. Each speaks its
//! own tool names (the module [`vocabulary`]). Hooks that ask a tool of an MCP server reach the agent's
//! servers through [`HookServers`].

mod approval;
mod bridge;
mod fire;
mod prompt;
mod record;
mod request;
mod servers;
mod session;
mod stop;
mod tools;
mod updates;
pub mod vocabulary;

pub use bridge::{Bridge, BridgeOptions};
pub use fire::{fires, permission_mode};
pub use record::Witness;
pub use servers::HookServers;

/// The README, so that its example is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The words that stand in for a reason where a hook that refuses has none.
pub mod fallback {
    /// Recorded for a blocked prompt.
    pub const PROMPT: &str = "blocked by UserPromptSubmit hook";
    /// The reason of a denied call; the model sees it behind `Error: `.
    pub const TOOL: &str = "blocked by PreToolUse hook";
    /// Feedback about a result.
    pub const RESULT: &str = "blocked by PostToolUse hook";
    /// Steering of a turn that goes on.
    pub const STOP: &str = "continue: blocked by Stop hook";
}
