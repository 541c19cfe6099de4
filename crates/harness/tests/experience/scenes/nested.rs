//! Decisions about a call that a tool makes.

use futures_util::future::BoxFuture;
use seamline_harness::agent::AgentHandle;
use seamline_harness::content::Content;
use seamline_harness::json::Json;
use seamline_harness::tools::{JsonTool, PreDecision, ToolContext, ToolError};
use serde_json::{Value, json};

use super::{context, me, scene};
use crate::play::Scene;

/// Stands in for `Echo` and has the work done by another tool.
struct Through;

/// Does it.
struct Inner;

impl JsonTool for Through {
    fn name(&self) -> &str {
        "Echo"
    }
    fn description(&self) -> &str {
        "Says what it is told to, through another tool."
    }
    fn schema(&self) -> Value {
        json!({"type": "object"})
    }
    fn run(&self, args: Json, context: ToolContext) -> BoxFuture<'_, Result<Json, ToolError>> {
        Box::pin(async move {
            let done = context.call("Inner", args).await;
            let done = done.map_err(|failure| ToolError::new(failure.message))?;
            Ok(done.value)
        })
    }
    fn check_value(&self, _: &Json) -> Result<(), String> {
        Ok(())
    }
    fn render(&self, _: &Json, value: &Json) -> Result<Content, String> {
        Ok(Content::text(value.value().as_str().unwrap_or_default()))
    }
}

impl JsonTool for Inner {
    fn name(&self) -> &str {
        "Inner"
    }
    fn description(&self) -> &str {
        "Says what it is told to."
    }
    fn schema(&self) -> Value {
        json!({"type": "object"})
    }
    fn run(&self, args: Json, _: ToolContext) -> BoxFuture<'_, Result<Json, ToolError>> {
        Box::pin(async move { Ok(args.value()["say"].clone().into()) })
    }
    fn check_value(&self, _: &Json) -> Result<(), String> {
        Ok(())
    }
    fn render(&self, _: &Json, value: &Json) -> Result<Content, String> {
        Ok(Content::text(value.value().as_str().unwrap_or_default()))
    }
}

fn through(agent: &AgentHandle) {
    agent.tools().remove("Echo");
    agent.tools().add(Through).unwrap();
    agent.tools().add(Inner).unwrap();
}

pub(super) fn calls() -> Vec<Scene> {
    vec![
        scene(
            "a call that a tool makes",
            "The model sees the outer call and its result alone; the log has both.",
            |_, agent| through(agent),
        ),
        scene(
            "a call that a tool makes: a context",
            "It waits for the outer result, and is dropped when that is blocked.",
            |scope, agent| {
                through(agent);
                let pre = &agent.tool_seams().pre;
                pre.on(scope, "plugin", |call, next| async move {
                    let reply = next.run().await?;
                    Ok(match call.parent() {
                        Some(_) => reply.with_context(context("Mind the gap.")),
                        None => reply,
                    })
                });
            },
        ),
        scene(
            "a call that a tool makes: denied",
            "The tool hears why; what it makes of it is its own affair. This one fails with it.",
            |scope, agent| {
                through(agent);
                let pre = &agent.tool_seams().pre;
                pre.on(scope, "plugin", |call, next| async move {
                    let nested = call.parent().is_some();
                    let (reason, by) = ("not today".to_owned(), me());
                    let reply = next.run().await?;
                    Ok(match nested {
                        true => reply.map(|_| PreDecision::Deny { reason, by }),
                        false => reply,
                    })
                });
            },
        ),
    ]
}
