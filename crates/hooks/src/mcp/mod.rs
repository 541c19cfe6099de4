//! Asks a tool of an MCP server instead of a process (`"type": "mcp_tool"`).
//!
//! The engine knows no servers. It fills the handler's `input` from the payload, hands the call to
//! a [`McpCaller`], and reads the first text of the answer as it reads standard output: the rules
//! of the event are the same for both. Without an `input` the arguments are `{}`; the payload itself
//! is never sent (measured, both clients).
//!
//! A call that cannot be made is a run that failed ([`Exit::CallFailed`]), never one that passed: a
//! server nobody knows, a server that is gone, a tool that reports an error, a placeholder that
//! names nothing. With `"onFailure": "block"` such a run refuses.

mod placeholder;

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::dialect::Placeholders;
use crate::runner::{BoxFuture, Exit, Finished};

pub(crate) use placeholder::fill;

/// One call.
#[derive(Debug, Clone, PartialEq)]
pub struct McpCall {
    /// The server, as the configuration names it.
    pub server: String,
    /// The tool, as the server names it.
    pub tool: String,
    /// The arguments, placeholders filled in.
    pub arguments: Map<String, Value>,
}

/// What the server said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct McpAnswer {
    /// The first text of the content, if there is one.
    pub text: Option<String>,
    /// The tool reports an error (`isError`).
    pub is_error: bool,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum McpFailure {
    /// No server of this name is configured.
    #[error("unknown MCP server '{0}'")]
    UnknownServer(String),
    /// The call could not be made or was not answered; the words name the server.
    #[error("{0}")]
    Failed(String),
}

/// Calls tools of MCP servers. The engine knows no other way.
pub trait McpCaller: Send + Sync + 'static {
    /// Makes one call. When `signal` is cancelled nobody waits for the answer any more.
    fn call(
        &self,
        call: McpCall,
        signal: CancellationToken,
    ) -> BoxFuture<Result<McpAnswer, McpFailure>>;
}

/// For an engine that has no servers: every call fails and says so.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoServers;

impl McpCaller for NoServers {
    fn call(
        &self,
        call: McpCall,
        _signal: CancellationToken,
    ) -> BoxFuture<Result<McpAnswer, McpFailure>> {
        let words = format!(
            "no MCP servers are connected here, so tool '{}' of '{}' cannot be asked",
            call.tool, call.server
        );
        Box::pin(async move { Err(McpFailure::Failed(words)) })
    }
}

/// A call made ready, or why it cannot be made.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) call: Result<McpCall, String>,
    pub(crate) timeout: Duration,
}

impl Ask {
    /// Fills `input` from `payload`.
    pub(crate) fn new(
        (server, tool, input): (&str, &str, Option<&Value>),
        payload: &Value,
        style: Placeholders,
        timeout: Duration,
    ) -> Self {
        let filled = input.map(|input| fill(input, payload, style)).transpose();
        let call = filled.map(|filled| McpCall {
            server: server.to_owned(),
            tool: tool.to_owned(),
            arguments: match filled {
                Some(Value::Object(arguments)) => arguments,
                _ => Map::new(),
            },
        });
        Self { call, timeout }
    }

    /// Makes the call and waits for its end, its timeout or `signal`.
    pub(crate) fn run(
        self,
        caller: &Arc<dyn McpCaller>,
        signal: CancellationToken,
    ) -> BoxFuture<Finished> {
        let caller = Arc::clone(caller);
        Box::pin(async move {
            let started = Instant::now();
            let ended = match self.call {
                Ok(call) => made(&*caller, call, self.timeout, signal).await,
                Err(why) => Finished::new(Exit::CallFailed(why)),
            };
            Finished {
                duration: started.elapsed(),
                ..ended
            }
        })
    }
}

async fn made(
    caller: &dyn McpCaller,
    call: McpCall,
    timeout: Duration,
    signal: CancellationToken,
) -> Finished {
    let inner = signal.child_token();
    // Whoever waits for the server must learn that nobody waits for its answer any more.
    let _gone = inner.clone().drop_guard();
    tokio::select! {
        biased;
        () = signal.cancelled() => Finished::new(Exit::Cancelled),
        answer = caller.call(call, inner) => finished(answer),
        () = tokio::time::sleep(timeout) => Finished::new(Exit::TimedOut),
    }
}

fn finished(answer: Result<McpAnswer, McpFailure>) -> Finished {
    match answer {
        Ok(McpAnswer {
            text,
            is_error: false,
        }) => Finished {
            stdout: text.unwrap_or_default().into_bytes(),
            ..Finished::new(Exit::Code(0))
        },
        Ok(McpAnswer { text, .. }) => {
            let text = text.unwrap_or_else(|| "no text".to_owned());
            Finished::new(Exit::CallFailed(format!(
                "MCP tool returned an error: {text}"
            )))
        }
        Err(failure) => Finished::new(Exit::CallFailed(failure.to_string())),
    }
}
