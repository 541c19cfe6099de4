//! The model's answers, judged before anybody else sees them.

use futures_util::StreamExt;
use futures_util::stream;
use serde_json::{Value, json};

use super::{AgentHooks, Emitted};
use crate::model::{Chunk, ChunkStream, Model, ModelError, Request, Signal, StopReason};

/// A model whose answers the interceptors judge. An answer is held back until it is complete.
#[derive(Clone)]
pub struct Judged<M> {
    hooks: AgentHooks,
    inner: std::sync::Arc<M>,
}

impl<M> Judged<M> {
    pub(super) fn new(hooks: AgentHooks, inner: M) -> Self {
        let inner = std::sync::Arc::new(inner);
        Self { hooks, inner }
    }
}

impl<M: Model> Model for Judged<M> {
    fn stream(&self, request: Request, signal: Signal) -> ChunkStream {
        let (hooks, model) = (self.hooks.clone(), request.model.clone());
        let answer = self.inner.stream(request, signal);
        let judged = async move {
            let chunks: Vec<Result<Chunk, ModelError>> = answer.collect().await;
            match chunks.into_iter().collect::<Result<Vec<Chunk>, _>>() {
                Ok(chunks) => hooks.judge(&model, chunks).await,
                Err(error) => vec![Err(error)],
            }
        };
        stream::once(judged).flat_map(stream::iter).boxed()
    }
}

impl AgentHooks {
    async fn judge(&self, model: &str, chunks: Vec<Chunk>) -> Vec<Result<Chunk, ModelError>> {
        let texts = chunks.iter().filter_map(|chunk| match chunk {
            Chunk::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let text: String = texts.collect();
        let content = match text.is_empty() {
            true => Value::Null,
            false => Value::String(text),
        };
        let calls: Vec<Value> = chunks.iter().filter_map(call).collect();
        let finish = chunks.iter().find_map(|chunk| match chunk {
            Chunk::End(stop) => Some(word(*stop)),
            _ => None,
        });
        let emitted = self
            .emit(|build| build.post_model_call(model, content, calls, finish.unwrap_or_default()))
            .await;
        if let Some(message) = emitted.blocked() {
            self.state().blocked = true;
            return vec![Err(ModelError {
                status: None,
                kind: "blocked".to_owned(),
                message,
            })];
        }
        let chunks = match emitted.transforms() {
            true => changed(&emitted, chunks),
            false => chunks,
        };
        let calls = |chunk: &Chunk| matches!(chunk, Chunk::ToolCall { .. });
        let mut state = self.state();
        state.calls_tools = chunks.iter().any(calls);
        state.held.clear();
        drop(state);
        chunks.into_iter().map(Ok).collect()
    }
}

fn call(chunk: &Chunk) -> Option<Value> {
    let Chunk::ToolCall {
        id,
        name,
        arguments,
    } = chunk
    else {
        return None;
    };
    let args: Value = serde_json::from_str(arguments).unwrap_or_else(|_| arguments.as_str().into());
    Some(json!({"id": id, "name": name, "args": args}))
}

fn word(stop: StopReason) -> &'static str {
    match stop {
        StopReason::EndTurn => "stop",
        StopReason::ToolUse => "tool_calls",
        StopReason::MaxTokens => "length",
        StopReason::Refusal => "content_filter",
    }
}

/// The answer as it was changed; counts and the reason for its end stay.
fn changed(emitted: &Emitted, chunks: Vec<Chunk>) -> Vec<Chunk> {
    let response = emitted.context.get("response");
    let part = |key: &str| response.and_then(|response| response.get(key));
    let text = part("content")
        .and_then(Value::as_str)
        .map(ToOwned::to_owned);
    let calls = part("tool_calls").and_then(Value::as_array);
    let made = calls.into_iter().flatten().map(|call| {
        let text = |key: &str| {
            call.get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        Chunk::ToolCall {
            id: text("id"),
            name: text("name"),
            arguments: call.get("args").map(Value::to_string).unwrap_or_default(),
        }
    });
    let rest = chunks.into_iter();
    let rest = rest.filter(|chunk| !matches!(chunk, Chunk::Text(_) | Chunk::ToolCall { .. }));
    text.map(Chunk::Text)
        .into_iter()
        .chain(made)
        .chain(rest)
        .collect()
}
