//! The scripted models of the cases as models of the harness.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream;
use seamline_bridges::vocabulary::speak;
use seamline_harness::json::Json;
use seamline_harness::model::scripted::{Play, Say, ScriptBlock, Scripted, Scripts};
use seamline_harness::model::{
    Chunk, ChunkStream, Model, ModelError, Request, Signal, StopReason, ToolSpec, Usage,
};
use seamline_hooks::DialectId;
use serde_json::{Value, json};

use crate::case::{ClaudeCase, CodexCase};
use crate::moments::ModelTurn;
use crate::pace::Pace;
use crate::text::Names;

/// The scripts of a Claude case: the newest `@@name` picks one, as in the measured runs.
pub(super) fn claude(case: &ClaudeCase, names: &Names, pace: Pace) -> Scripted {
    let mut scripts = Scripts::default();
    for (name, turns) in &case.scripts {
        let turns = turns.iter().map(|turn| play(&names.fill_value(turn), pace));
        scripts = scripts.with(name, turns.collect::<Vec<_>>());
    }
    Scripted::new(scripts)
}

fn play(turn: &Value, pace: Pace) -> Play {
    if let Some(status) = turn.get("error") {
        let word = |key: &str| {
            turn.get(key)
                .and_then(Value::as_str)
                .unwrap_or("")
                .to_owned()
        };
        let status = status
            .as_u64()
            .and_then(|status| u16::try_from(status).ok());
        return Play::Fail(ModelError {
            status,
            kind: word("type"),
            message: word("message"),
        });
    }
    let blocks = match (turn, turn.get("blocks")) {
        (Value::Array(blocks), _) | (_, Some(Value::Array(blocks))) => blocks.clone(),
        _ => vec![turn.clone()],
    };
    let stop = match turn.get("stop_reason").and_then(Value::as_str) {
        Some("max_tokens") => Some(StopReason::MaxTokens),
        Some("refusal") => Some(StopReason::Refusal),
        _ => None,
    };
    let seconds = turn.get("delay").and_then(Value::as_f64).unwrap_or(0.0);
    Play::Say(Say {
        blocks: blocks.iter().map(block).collect(),
        stop,
        delay: pace.scaled(seconds),
        usage: None,
    })
}

fn block(block: &Value) -> ScriptBlock {
    let word = |key: &str| block.get(key).and_then(Value::as_str);
    match word("tool") {
        Some(name) => ScriptBlock::Call {
            name: name.to_owned(),
            input: Json::from_value(block.get("input").cloned().unwrap_or_else(|| json!({}))),
            id: word("id").map(str::to_owned),
        },
        None => ScriptBlock::Text(block.as_str().or(word("text")).unwrap_or("").to_owned()),
    }
}

/// The script of a Codex case: each request takes the first unused turn that fits.
pub(super) struct CodexModel {
    turns: Mutex<Vec<ModelTurn>>,
    pace: Pace,
}

impl CodexModel {
    /// Reads the script.
    pub(super) fn new(case: &CodexCase, pace: Pace) -> Result<Self, String> {
        let turns = case
            .script
            .iter()
            .map(ModelTurn::new)
            .collect::<Result<_, _>>()?;
        Ok(Self {
            turns: Mutex::new(turns),
            pace,
        })
    }

    /// The answer to a request whose text is `sent`; an error when the request fails.
    fn answer(&self, sent: &str) -> Result<Vec<Value>, ModelError> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(turn) = turns.iter_mut().find(|turn| turn.answers(sent)) else {
            return Ok(vec![json!({"text": "done"})]);
        };
        turn.used = true;
        if turn.fails {
            let message = "scripted failure".to_owned();
            return Err(ModelError {
                status: Some(500),
                kind: "server_error".into(),
                message,
            });
        }
        Ok(turn.items.clone())
    }
}

impl Model for CodexModel {
    fn stream(&self, request: Request, _signal: Signal) -> ChunkStream {
        let messages: Vec<_> = request.messages.iter().map(|message| &**message).collect();
        let sent = serde_json::to_string(&messages).unwrap_or_default();
        let items = match self.answer(&sent) {
            Ok(items) => items,
            Err(error) => return stream::iter([Err(error)]).boxed(),
        };
        let sleeps = items.iter().filter_map(|item| item.get("sleep")?.as_f64());
        let wait: Duration = sleeps.map(|seconds| self.pace.scaled(seconds)).sum();
        let chunk = |item: (usize, &Value)| Some(in_our_words(chunk(item)?, &request.tools));
        let mut chunks: Vec<Chunk> = items.iter().enumerate().filter_map(chunk).collect();
        let calls = chunks
            .iter()
            .any(|chunk| matches!(chunk, Chunk::ToolCall { .. }));
        chunks.push(Chunk::Usage(Usage::default()));
        chunks.push(Chunk::End(if calls {
            StopReason::ToolUse
        } else {
            StopReason::EndTurn
        }));
        let chunks = chunks.into_iter().map(Ok);
        let waited = async move {
            tokio::time::sleep(wait).await;
            stream::iter(chunks)
        };
        stream::once(waited).flatten().boxed()
    }
}

/// A script of Codex calls tools of servers by Codex's names. A name that is ours alone names
/// nothing there.
fn in_our_words(chunk: Chunk, tools: &[ToolSpec]) -> Chunk {
    let Chunk::ToolCall {
        id,
        name,
        arguments,
    } = chunk
    else {
        return chunk;
    };
    let spoken = |tool: &ToolSpec| {
        let nothing = Json::from_value(Value::Null);
        speak(DialectId::Codex, &tool.name, &nothing, Path::new("/")).name
    };
    let of_servers = || tools.iter().filter(|tool| tool.name.starts_with("mcp__"));
    let meant = of_servers().find(|tool| spoken(tool) == name);
    let name = match meant {
        Some(tool) => tool.name.clone(),
        None if of_servers().any(|tool| tool.name == name) => format!("no tool of Codex: {name}"),
        None => name,
    };
    Chunk::ToolCall {
        id,
        name,
        arguments,
    }
}

/// An item as a chunk. Our shell has another name and argument than Codex's.
fn chunk((n, item): (usize, &Value)) -> Option<Chunk> {
    let word = |key: &str| item.get(key).and_then(Value::as_str);
    if let Some(text) = word("text") {
        return Some(Chunk::Text(text.to_owned()));
    }
    let id = word("id").map_or_else(|| format!("call_{n}"), str::to_owned);
    if let Some(name) = word("custom") {
        let arguments = json!({"command": word("input")}).to_string();
        return Some(Chunk::ToolCall {
            id,
            name: name.to_owned(),
            arguments,
        });
    }
    let name = word("call")?;
    let args = item.get("args").cloned().unwrap_or_else(|| json!({}));
    let (name, arguments) = match (word("namespace"), name, args.get("cmd")) {
        (Some(space), ..) => (format!("{space}__{name}"), args),
        (None, "exec_command", Some(command)) => ("Bash".into(), json!({"command": command})),
        (None, "exec_command", None) => ("Bash".into(), args),
        _ => (name.to_owned(), args),
    };
    let arguments = match arguments {
        Value::String(text) => text,
        other => other.to_string(),
    };
    Some(Chunk::ToolCall {
        id,
        name,
        arguments,
    })
}
