//! Facts of tool calls.

use serde::Serialize;
use serde_json::value::RawValue;

use super::{Event, Facts};
use crate::dialect::DialectId;

/// Where an MCP tool comes from (Claude only).
#[derive(Debug, Clone, Serialize)]
pub struct McpServer {
    /// Name of the server.
    pub name: String,
    /// Where it is configured: `project`, `user`, `dynamic`.
    pub source: String,
}

/// Before a call.
#[derive(Debug, Clone)]
pub struct PreToolUse<'a> {
    /// The tool, in the dialect's vocabulary.
    pub tool_name: &'a str,
    /// Its input, in the dialect's shape.
    pub tool_input: &'a RawValue,
    /// Id of the call.
    pub tool_use_id: &'a str,
    /// For MCP tools.
    pub mcp_server: Option<McpServer>,
}

impl Event for PreToolUse<'_> {
    const NAME: &'static str = "PreToolUse";

    fn facts(&self, _: DialectId, facts: &mut Facts) {
        facts.set("tool_name", self.tool_name);
        facts.set_raw("tool_input", self.tool_input);
        facts.set("tool_use_id", self.tool_use_id);
        facts.set_some("mcp_server", self.mcp_server.as_ref());
    }
}

/// After a call that succeeded.
#[derive(Debug, Clone)]
pub struct PostToolUse<'a> {
    /// The call.
    pub call: PreToolUse<'a>,
    /// What the tool gave back, in the dialect's shape.
    pub tool_response: &'a RawValue,
    /// How long it took, in milliseconds (Claude only).
    pub duration_ms: u64,
}

impl Event for PostToolUse<'_> {
    const NAME: &'static str = "PostToolUse";

    fn facts(&self, dialect: DialectId, facts: &mut Facts) {
        self.call.facts(dialect, facts);
        facts.set_raw("tool_response", self.tool_response);
        facts.set("duration_ms", self.duration_ms);
    }
}

/// After a call that failed (Claude only).
#[derive(Debug, Clone)]
pub struct PostToolUseFailure<'a> {
    /// The call.
    pub call: PreToolUse<'a>,
    /// The error text the model sees.
    pub error: &'a str,
    /// Whether the user interrupted it.
    pub is_interrupt: bool,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
}

impl Event for PostToolUseFailure<'_> {
    const NAME: &'static str = "PostToolUseFailure";

    fn facts(&self, dialect: DialectId, facts: &mut Facts) {
        self.call.facts(dialect, facts);
        facts.set("error", self.error);
        facts.set("is_interrupt", self.is_interrupt);
        facts.set("duration_ms", self.duration_ms);
    }
}

/// One call of a batch, as the model wrote it and saw it answered.
#[derive(Debug, Clone, Serialize)]
pub struct BatchCall<'a> {
    /// The tool as the model named it.
    pub tool_name: &'a str,
    /// The input as the model wrote it.
    pub tool_input: &'a RawValue,
    /// Id of the call.
    pub tool_use_id: &'a str,
    /// What the model sees.
    pub tool_response: &'a str,
}

/// After all calls of one message (Claude only).
#[derive(Debug, Clone)]
pub struct PostToolBatch<'a> {
    /// The calls in model order.
    pub tool_calls: Vec<BatchCall<'a>>,
}

impl Event for PostToolBatch<'_> {
    const NAME: &'static str = "PostToolBatch";

    fn facts(&self, _: DialectId, facts: &mut Facts) {
        facts.set("tool_calls", &self.tool_calls);
    }
}

/// When a call needs approval.
#[derive(Debug, Clone)]
pub struct PermissionRequest<'a> {
    /// The tool, in the dialect's vocabulary.
    pub tool_name: &'a str,
    /// Its input, in the dialect's shape.
    pub tool_input: &'a RawValue,
    /// For MCP tools.
    pub mcp_server: Option<McpServer>,
}

impl Event for PermissionRequest<'_> {
    const NAME: &'static str = "PermissionRequest";

    fn facts(&self, _: DialectId, facts: &mut Facts) {
        facts.set("tool_name", self.tool_name);
        facts.set_raw("tool_input", self.tool_input);
        facts.set_some("mcp_server", self.mcp_server.as_ref());
    }
}
