//! One tool of a server as a tool of the agent.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;

use super::{McpRequest, McpResult, McpServers, McpTool, text_of, tool_name};
use crate::content::{Content, Part};
use crate::json::Json;
use crate::tools::{JsonTool, ToolContext, ToolError};

/// A tool of a server.
///
/// Its canonical value is what the server sent: `{"content": [...]}`, with `structuredContent`
/// where there is some. A result that the server calls an error is a failed call, whose words the
/// model is shown as they are.
pub struct ServerTool {
    name: String,
    tool: McpTool,
    servers: Arc<dyn McpServers>,
}

impl ServerTool {
    /// The tool as the agent calls it.
    #[must_use]
    pub fn new(tool: McpTool, servers: Arc<dyn McpServers>) -> Self {
        Self {
            name: tool_name(&tool.server, &tool.name),
            tool,
            servers,
        }
    }

    fn request(&self, args: &Json) -> Result<McpRequest, ToolError> {
        let Value::Object(arguments) = args.value() else {
            return Err(ToolError::new("the arguments must be one JSON object"));
        };
        Ok(McpRequest {
            server: self.tool.server.clone(),
            tool: self.tool.name.clone(),
            arguments: arguments.clone(),
        })
    }
}

impl JsonTool for ServerTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.tool.description
    }

    fn schema(&self) -> Value {
        self.tool.schema.clone()
    }

    fn run(&self, args: Json, context: ToolContext) -> BoxFuture<'_, Result<Json, ToolError>> {
        Box::pin(async move {
            let signal = context.signal();
            let answer = self.servers.call(self.request(&args)?, signal.clone());
            let answer = signal.run_until_cancelled(answer).await;
            let answer = answer.ok_or_else(|| ToolError::new("the call was cancelled"))?;
            let result = answer.map_err(|error| ToolError::new(error.to_string()))?;
            if result.is_error {
                return Err(reported(&result));
            }
            Ok(Json::from_value(result.to_value()))
        })
    }

    /// Whatever somebody else makes of a result is taken as it is (measured on Claude Code).
    fn check_value(&self, _value: &Json) -> Result<(), String> {
        Ok(())
    }

    fn render(&self, _args: &Json, value: &Json) -> Result<Content, String> {
        Ok(shown(value.value()))
    }
}

/// The error that a tool reports about itself.
fn reported(result: &McpResult) -> ToolError {
    let content = shown(&result.to_value());
    ToolError {
        content: Some(content.clone()),
        ..ToolError::new(content.to_text())
    }
}

/// What the model is shown: the blocks of the content; of a value that has none, the value.
fn shown(value: &Value) -> Content {
    let blocks = match value {
        Value::Array(blocks) => Some(blocks),
        _ => value.get("content").and_then(Value::as_array),
    };
    let structured = value.get("structuredContent");
    match (blocks, structured) {
        (Some(blocks), Some(structured)) if blocks.is_empty() => {
            Content::text(structured.to_string())
        }
        (Some(blocks), _) => Content::from(blocks.iter().map(part).collect::<Vec<_>>()),
        (None, _) => Content::text(
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned),
        ),
    }
}

/// One block: texts and images as such, embedded text as its text, anything else as JSON.
fn part(block: &Value) -> Part {
    let word = |key: &str| block.get(key).and_then(Value::as_str);
    let is_image = word("type") == Some("image");
    if let (true, Some(data), Some(media_type)) = (is_image, word("data"), word("mimeType")) {
        return Part::Image {
            media_type: media_type.to_owned(),
            data: data.to_owned(),
        };
    }
    let embedded = block.pointer("/resource/text").and_then(Value::as_str);
    let text = text_of(block).or(embedded);
    let text = text.map_or_else(|| block.to_string(), str::to_owned);
    Part::Text { text }
}

#[cfg(test)]
mod tests {
    use seamline_seams::Signal;
    use serde_json::json;

    use super::*;
    use crate::mcp::{Answer, McpError, register};
    use crate::tools::{Registry, Workspace};

    /// Answers by the tool's name.
    struct Servers(Vec<McpTool>);

    impl McpServers for Servers {
        fn tools(&self) -> Vec<McpTool> {
            self.0.clone()
        }

        fn call(&self, call: McpRequest, _signal: Signal) -> BoxFuture<'static, Answer> {
            let said = json!({"type": "text", "text": Value::Object(call.arguments).to_string()});
            let answer = match call.tool.as_str() {
                "never" => return Box::pin(std::future::pending()),
                "gone" => Err(McpError::Failed(
                    "MCP server 'mem' (x) has ended".to_owned(),
                )),
                tool => Ok(McpResult {
                    content: vec![said],
                    is_error: tool == "boom",
                    ..McpResult::default()
                }),
            };
            Box::pin(async move { answer })
        }
    }

    fn tool(name: &str) -> McpTool {
        McpTool {
            server: "mem".to_owned(),
            name: name.to_owned(),
            description: "d".to_owned(),
            schema: json!({"type": "object"}),
        }
    }

    async fn run(name: &str, args: Value, signal: &Signal) -> Result<Json, ToolError> {
        let tool = ServerTool::new(tool(name), Arc::new(Servers(Vec::new())));
        let context = ToolContext::new(Workspace::new("/"), signal.clone());
        tool.run(Json::from(args), context).await
    }

    /// Arguments go to the server and its answer comes back, untouched; an error that the tool
    /// reports is a failure with its own words, and a server that is gone one that names it.
    #[tokio::test]
    async fn answers_come_back_as_they_are() {
        let signal = Signal::new();
        let value = run("echo", json!({"a": [1]}), &signal).await.unwrap();
        assert_eq!(
            value.value(),
            &json!({"content": [{"type": "text", "text": "{\"a\":[1]}"}]})
        );
        let boom = run("boom", json!({}), &signal).await.unwrap_err();
        assert_eq!(
            (boom.message.as_str(), boom.content),
            ("{}", Some(Content::text("{}")))
        );
        let gone = run("gone", json!({}), &signal).await.unwrap_err();
        assert_eq!(
            (gone.message.as_str(), gone.content),
            ("MCP server 'mem' (x) has ended", None)
        );
        assert!(run("echo", json!([]), &signal).await.is_err());
    }

    /// A server that never answers holds no turn that was cancelled.
    #[tokio::test]
    async fn a_cancelled_call_ends() {
        let signal = Signal::new();
        signal.cancel();
        assert!(run("never", json!({}), &signal).await.is_err());
    }

    /// The model sees texts, images and embedded texts; a value of somebody else's making is shown
    /// as it is.
    #[test]
    fn every_value_can_be_shown() {
        let image = json!({"type": "image", "data": "QQ==", "mimeType": "image/png"});
        let embedded = json!({"type": "resource", "resource": {"uri": "x:y", "text": "t"}});
        let link = json!({"type": "resource_link", "uri": "x:y"});
        let text = json!({"type": "text", "text": "a"});
        for (value, shows) in [
            (
                json!({"content": [text.clone(), image]}),
                "a\n[image content]",
            ),
            (json!([text, embedded]), "a\nt"),
            (json!({"content": [link.clone()]}), &*link.to_string()),
            (
                json!({"content": [], "structuredContent": {"k": 1}}),
                "{\"k\":1}",
            ),
            (json!("plain"), "plain"),
            (json!({"a": 1}), "{\"a\":1}"),
        ] {
            assert_eq!(shown(&value).to_text(), shows, "{value}");
        }
    }

    /// A tool that cannot be added is named, and costs no other tool.
    #[test]
    fn a_tool_that_cannot_be_added_costs_no_other() {
        let bad = McpTool {
            schema: json!({"type": 5}),
            ..tool("bad")
        };
        let servers = Servers(vec![tool("a"), bad, tool("a"), tool("b")]);
        let registry = Registry::new();
        let servers: Arc<dyn McpServers> = Arc::new(servers);
        let left_out = register(&registry, &servers);
        let names: Vec<_> = registry.specs().into_iter().map(|spec| spec.name).collect();
        assert_eq!(names, ["mcp__mem__a", "mcp__mem__b"]);
        assert_eq!(left_out.len(), 2, "{left_out:?}");
        assert!(
            left_out.iter().all(|words| words.contains("\"mem\"")),
            "{left_out:?}"
        );
    }
}
