//! The agent's MCP servers, as hooks ask them.

use std::sync::Arc;

use seamline_harness::mcp::{McpError, McpRequest, McpServers};
use seamline_hooks::mcp::{McpAnswer, McpCall, McpCaller, McpFailure};
use seamline_hooks::runner::BoxFuture;
use seamline_seams::Signal;

/// Hooks of type `mcp_tool` ask the servers whose tools the agent has.
#[derive(Clone)]
pub struct HookServers(Arc<dyn McpServers>);

impl HookServers {
    /// Over the servers of an agent.
    #[must_use]
    pub fn new(servers: Arc<dyn McpServers>) -> Self {
        Self(servers)
    }
}

impl McpCaller for HookServers {
    fn call(&self, call: McpCall, signal: Signal) -> BoxFuture<Result<McpAnswer, McpFailure>> {
        let request = McpRequest {
            server: call.server,
            tool: call.tool,
            arguments: call.arguments,
        };
        let answer = self.0.call(request, signal);
        Box::pin(async move {
            match answer.await {
                Ok(result) => Ok(McpAnswer {
                    text: result.first_text().map(str::to_owned),
                    is_error: result.is_error,
                }),
                Err(McpError::UnknownServer(name)) => Err(McpFailure::UnknownServer(name)),
                Err(error) => Err(McpFailure::Failed(error.to_string())),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use seamline_harness::mcp::{Answer, McpResult, McpTool};
    use serde_json::{Map, json};

    use super::*;

    struct Servers(Answer);

    impl McpServers for Servers {
        fn tools(&self) -> Vec<McpTool> {
            Vec::new()
        }

        fn call(
            &self,
            call: McpRequest,
            _signal: Signal,
        ) -> futures_util::future::BoxFuture<'static, Answer> {
            assert_eq!((call.server.as_str(), call.tool.as_str()), ("s", "t"));
            let answer = self.0.clone();
            Box::pin(async move { answer })
        }
    }

    async fn asked(answer: Answer) -> Result<McpAnswer, McpFailure> {
        let call = McpCall {
            server: "s".into(),
            tool: "t".into(),
            arguments: Map::new(),
        };
        let servers = HookServers::new(Arc::new(Servers(answer)));
        servers.call(call, Signal::new()).await
    }

    /// A hook hears the first text of a result, whether the tool calls it an error, and why there
    /// is none.
    #[tokio::test]
    async fn a_hook_hears_the_first_text_or_why_there_is_none() {
        let blocks = vec![
            json!({"type": "image"}),
            json!({"type": "text", "text": "a"}),
        ];
        for is_error in [true, false] {
            let result = McpResult {
                content: blocks.clone(),
                is_error,
                ..McpResult::default()
            };
            let text = Some("a".to_owned());
            assert_eq!(asked(Ok(result)).await, Ok(McpAnswer { text, is_error }));
        }
        assert_eq!(
            asked(Ok(McpResult::default())).await,
            Ok(McpAnswer::default())
        );
        let unknown = asked(Err(McpError::UnknownServer("s".into()))).await;
        assert_eq!(unknown, Err(McpFailure::UnknownServer("s".into())));
        let failed = asked(Err(McpError::Failed("why".into()))).await;
        assert_eq!(failed, Err(McpFailure::Failed("why".into())));
    }
}
