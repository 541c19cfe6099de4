//! The MCP servers of a case.
//!
//! Codex's cases say in `config.toml` how their server is started, and so it is, through the client
//! of the product. Those of Claude Code were measured with a server `tiny` that was given on the
//! command line; it is played here.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use seamline_harness::mcp::{Answer, McpError, McpRequest, McpResult, McpServers, McpTool};
use seamline_providers::mcp::config::read_codex;
use seamline_providers::mcp::{Servers, ServersBuilder};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::case::ClaudeCase;
use crate::stage::Stage;

/// The servers of one case. Whoever made them closes them.
#[derive(Clone)]
pub(super) struct CaseServers {
    all: Arc<dyn McpServers>,
    processes: Servers,
}

impl CaseServers {
    /// Those that the configuration of a Codex case names.
    pub(super) fn codex(stage: &Stage) -> Self {
        let mut builder = ServersBuilder::default();
        builder.add(&read_codex(&stage.codex_home()), &stage.start, &stage.env);
        let processes = builder.build();
        Self {
            all: Arc::new(processes.clone()),
            processes,
        }
    }

    /// The server `tiny`, where a Claude case has it.
    pub(super) fn claude(case: &ClaudeCase) -> Self {
        let name = case.mcp_server.as_ref().and_then(Value::as_str);
        Self {
            all: Arc::new(Tiny(name.map(str::to_owned))),
            processes: Servers::default(),
        }
    }

    /// As the product sees them.
    pub(super) fn shared(&self) -> Arc<dyn McpServers> {
        Arc::clone(&self.all)
    }

    /// Starts them, for their tools.
    pub(super) async fn start(&self) -> Result<(), String> {
        let failed = self.processes.start().await;
        failed.into_iter().next().map_or(Ok(()), Err)
    }

    /// Ends them.
    pub(super) async fn close(&self) {
        self.processes.close().await;
    }
}

/// Claude's test server, as far as nobody has to answer it.
struct Tiny(Option<String>);

const TINY: [&str; 4] = ["echo", "fail", "hook", "slow"];

impl McpServers for Tiny {
    fn tools(&self) -> Vec<McpTool> {
        let server = self.0.iter();
        let tools = server.flat_map(|server| {
            TINY.map(|name| McpTool {
                server: server.clone(),
                name: name.to_owned(),
                description: "a tool of the test server".to_owned(),
                schema: json!({"type": "object"}),
            })
        });
        tools.collect()
    }

    fn call(&self, call: McpRequest, _signal: CancellationToken) -> BoxFuture<'static, Answer> {
        let known = self.0.as_ref() == Some(&call.server);
        Box::pin(async move {
            if !known {
                return Err(McpError::UnknownServer(call.server));
            }
            let text = call.arguments.get("text").and_then(Value::as_str);
            let text = text.unwrap_or("");
            let said = match call.tool.as_str() {
                "echo" => format!("echo: {text}"),
                "fail" => format!("mcp failure {text}"),
                "slow" => {
                    tokio::time::sleep(Duration::from_secs(3)).await;
                    text.to_owned()
                }
                _ => text.to_owned(),
            };
            Ok(McpResult {
                content: vec![json!({"type": "text", "text": said})],
                structured: None,
                is_error: call.tool == "fail",
            })
        })
    }
}
