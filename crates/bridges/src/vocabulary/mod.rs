//! How each dialect names our tools, shapes their inputs and shapes their results.
//!
//! Our tools have Claude Code's names and shapes, so its vocabulary is the identity. Codex knows a
//! shell and a patch tool: `Bash` keeps its command only, `Write` and `Edit` are `apply_patch`. A patch
//! that a hook rewrote is taken back into the call where it still is one Write or one Edit, and refused
//! otherwise.
//!
//! Our own `apply_patch` has no name in Claude Code's words: its hooks see it under that name, and
//! matchers for Write and Edit do not fit it. A host that runs such hooks should not offer the tool.
//!
//! A tool of an MCP server has one name in both, but for hyphens, which Codex writes `_`. Its result is
//! the whole object in Codex and the list of content blocks in Claude Code (all measured).

mod claude;
mod codex;

use std::path::Path;

use seamline_harness::json::Json;
use seamline_harness::tools::Outcome;
use seamline_hooks::DialectId;
use serde_json::value::RawValue;

/// A call as a hook sees it.
#[derive(Debug, Clone)]
pub struct Spoken {
    /// The tool's name in the dialect.
    pub name: String,
    /// The input in the dialect's shape.
    pub input: Json,
}

/// Whether a tool lives in an MCP server.
fn is_of_a_server(name: &str) -> bool {
    name.starts_with("mcp__")
}

/// Puts a call of ours into a dialect's words. `cwd` resolves relative paths.
#[must_use]
pub fn speak(dialect: DialectId, name: &str, arguments: &Json, cwd: &Path) -> Spoken {
    match dialect {
        DialectId::Claude => claude::speak(name, arguments),
        DialectId::Codex => codex::speak(name, arguments, cwd),
    }
}

/// Puts an input that a hook rewrote back into arguments of our tool. `cwd` resolves relative paths.
///
/// # Errors
/// When it cannot be: the words say why, and the call must not run.
pub fn hear(
    dialect: DialectId,
    name: &str,
    arguments: &Json,
    rewritten: &RawValue,
    cwd: &Path,
) -> Result<Json, String> {
    match dialect {
        DialectId::Claude => claude::hear(rewritten),
        DialectId::Codex => codex::hear(name, arguments, rewritten, cwd),
    }
}

/// The result of a call that ran, in a dialect's shape.
#[must_use]
pub fn response(dialect: DialectId, name: &str, outcome: &Outcome) -> Json {
    match dialect {
        DialectId::Claude => claude::response(name, outcome),
        DialectId::Codex => codex::response(name, outcome),
    }
}

/// Whether the dialect calls this outcome of a call that ran a success.
#[must_use]
pub fn succeeded(dialect: DialectId, name: &str, outcome: &Outcome) -> bool {
    match dialect {
        DialectId::Claude => !outcome.is_error(),
        // Measured: a command that exits with another code than 0 is a result like any other.
        DialectId::Codex => !outcome.is_error() || name == "Bash",
    }
}
