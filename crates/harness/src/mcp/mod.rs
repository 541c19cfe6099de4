//! Tools that live in MCP servers.
//!
//! The harness knows servers by one trait: [`McpServers`] lists tools and calls them. What a server
//! is, a process or an address, is the business of whoever implements it. [`register`] puts the
//! tools into a [`Registry`], each as a tool like any other: policies, guards and hooks see its
//! calls, and its schema is what the server says.
//!
//! A tool is called `mcp__SERVER__TOOL` ([`tool_name`]), as Claude Code names it.

mod tool;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use seamline_seams::Signal;
use serde_json::{Map, Value, json};

pub use tool::ServerTool;

use crate::tools::Registry;

/// The servers of a session.
pub trait McpServers: Send + Sync + 'static {
    /// The tools of all servers that are up.
    fn tools(&self) -> Vec<McpTool>;

    /// Calls a tool. It need not be one that is listed: the server says what it has. When `signal`
    /// is cancelled nobody waits for the answer any more.
    fn call(&self, call: McpRequest, signal: Signal) -> BoxFuture<'static, Answer>;
}

/// What came of a call.
pub type Answer = Result<McpResult, McpError>;

/// One tool of one server.
#[derive(Debug, Clone, PartialEq)]
pub struct McpTool {
    /// The server, as the configuration names it.
    pub server: String,
    /// The tool, as the server names it.
    pub name: String,
    /// What it does, in the server's words.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub schema: Value,
}

/// One call.
#[derive(Debug, Clone, PartialEq)]
pub struct McpRequest {
    /// The server, as the configuration names it.
    pub server: String,
    /// The tool, as the server names it.
    pub tool: String,
    /// The arguments.
    pub arguments: Map<String, Value>,
}

/// What a server answered.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct McpResult {
    /// The content blocks, as the server sent them.
    pub content: Vec<Value>,
    /// The structured content, if there is any.
    pub structured: Option<Value>,
    /// The tool reports an error.
    pub is_error: bool,
}

impl McpResult {
    /// The text of the first block that has one.
    #[must_use]
    pub fn first_text(&self) -> Option<&str> {
        let mut texts = self.content.iter().filter_map(|block| text_of(block));
        texts.next()
    }

    /// The canonical value of a call that succeeded: `content`, and `structuredContent` where there
    /// is some (measured on Codex).
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut value = json!({ "content": self.content });
        if let (Some(object), Some(structured)) = (value.as_object_mut(), &self.structured) {
            object.insert("structuredContent".to_owned(), structured.clone());
        }
        value
    }
}

/// The text of a text block.
fn text_of(block: &Value) -> Option<&str> {
    let is_text = block.get("type").and_then(Value::as_str) == Some("text");
    block
        .get("text")
        .and_then(Value::as_str)
        .filter(|_| is_text)
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum McpError {
    /// No server of this name is configured.
    #[error("unknown MCP server '{0}'")]
    UnknownServer(String),
    /// The server is not up, or did not answer; the words name it and its command.
    #[error("{0}")]
    Failed(String),
}

/// The name a tool is called by: `mcp__SERVER__TOOL`, where whatever is not an ASCII letter, a digit,
/// `_` or `-` is written `_`.
#[must_use]
pub fn tool_name(server: &str, tool: &str) -> String {
    format!("mcp__{}__{}", clean(server), clean(tool))
}

fn clean(name: &str) -> String {
    let keep = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    name.chars()
        .map(|c| if keep(c) { c } else { '_' })
        .collect()
}

/// Adds the tools of the servers to a registry. Tools that cannot be added, because the name is
/// taken or the schema is none, are left out and named in the answer.
pub fn register(registry: &Registry, servers: &Arc<dyn McpServers>) -> Vec<String> {
    let mut left_out = Vec::new();
    for tool in servers.tools() {
        let what = format!("tool {:?} of MCP server {:?}", tool.name, tool.server);
        if let Err(error) = registry.add(ServerTool::new(tool, Arc::clone(servers))) {
            left_out.push(format!("{what} is left out: {error}"));
        }
    }
    left_out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a model's API would not take in a name is written `_`; hyphens stay, as in Claude Code.
    #[test]
    fn names_are_made_of_letters_digits_and_two_signs() {
        for (server, tool, name) in [
            ("mem", "create_entities", "mcp__mem__create_entities"),
            ("my-srv", "get-page", "mcp__my-srv__get-page"),
            ("a.b c", "x/y", "mcp__a_b_c__x_y"),
            ("plugin:p:s", "é", "mcp__plugin_p_s___"),
        ] {
            assert_eq!(tool_name(server, tool), name);
        }
    }

    /// Text is looked for in text blocks only, and the first one counts.
    #[test]
    fn the_first_text_is_that_of_a_text_block() {
        let image = json!({"type": "image", "data": "", "mimeType": "image/png"});
        let text = |text: &str| json!({"type": "text", "text": text});
        let odd = json!({"type": "resource", "text": "no"});
        for (content, first) in [
            (vec![], None),
            (vec![image.clone(), odd], None),
            (vec![image, text("a"), text("b")], Some("a")),
        ] {
            let result = McpResult {
                content,
                ..McpResult::default()
            };
            assert_eq!(result.first_text(), first);
        }
    }

    /// `structuredContent` is there when the server sent some, a null included.
    #[test]
    fn the_value_has_what_the_server_sent() {
        let with = |structured| McpResult {
            structured,
            ..McpResult::default()
        };
        assert_eq!(with(None).to_value(), json!({"content": []}));
        let null = with(Some(Value::Null)).to_value();
        assert_eq!(null, json!({"content": [], "structuredContent": null}));
    }
}
