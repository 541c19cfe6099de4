//! `run_code`, the tool.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::mpsc;
use std::thread;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::mpsc::unbounded_channel;
use tokio::sync::oneshot;

use super::RUN_CODE;
use super::engine::{self, Ask, Ended, Failed, Kind, Tell};
use crate::content::Content;
use crate::json::Json;
use crate::model::ToolSpec;
use crate::tools::{Effects, Tool, ToolContext, ToolError, code};

/// Runs programs.
pub(super) struct RunCode;

/// A program.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Program {
    code: String,
}

/// What a program came to.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Ran {
    /// What it returned; null when it returned nothing.
    value: Value,
    /// What it printed, line by line.
    printed: Vec<String>,
}

const ABOUT: &str = "Runs a JavaScript program that calls tools. The code is the body of an async \
    function: use await, and return a JSON value, which is what you are shown, behind what \
    console.log printed. Every tool is a function of `tools` that takes one object and returns a \
    promise of the tool's value; a call that fails or is denied rejects with an Error. There are no \
    files, no network, no modules and no timers but through tools.";

/// The tool as the model is told about it, with the functions that its programs find.
pub(super) fn spec(tools: &[ToolSpec]) -> ToolSpec {
    let mut description = format!("{ABOUT} The tools:");
    for tool in tools {
        let schema = tool.schema.text();
        // A String takes everything that is written to it.
        let _ = write!(
            description,
            "\n\ntools[{}](arguments)\n{}\narguments: {schema}",
            Json::from_value(tool.name.as_str().into()).text(),
            tool.description
        );
    }
    ToolSpec {
        name: RUN_CODE.to_owned(),
        description,
        schema: Json::from_value(Tool::schema(&RunCode)),
    }
}

impl Tool for RunCode {
    type Args = Program;
    type Value = Ran;

    fn name(&self) -> &str {
        RUN_CODE
    }

    fn description(&self) -> &str {
        ABOUT
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "required": ["code"],
            "additionalProperties": false,
            "properties": {
                "code": {"type": "string", "description": "The body of an async function"},
            },
        })
    }

    /// None of its own: what its calls do is asked of each of them.
    fn effects(&self, _: &Program, _: &Path) -> Effects {
        Effects::Reads(Vec::new())
    }

    async fn run(&self, program: Program, context: ToolContext) -> Result<Ran, ToolError> {
        let Ended { result, printed } = play(program.code, &context).await?;
        match result {
            Ok(value) => {
                let value = value.value().clone();
                Ok(Ran { value, printed })
            }
            Err(failed) => {
                context.give_up_calls();
                Err(told(&failed, &printed))
            }
        }
    }

    fn render(&self, _: &Program, ran: &Ran) -> Content {
        let mut lines = ran.printed.clone();
        match &ran.value {
            Value::Null if lines.is_empty() => {
                lines.push("(the program returned nothing)".to_owned());
            }
            Value::Null => {}
            Value::String(text) => lines.push(text.clone()),
            value => lines.push(value.to_string()),
        }
        Content::text(lines.join("\n"))
    }
}

fn told(Failed { kind, message }: &Failed, printed: &[String]) -> ToolError {
    let mut text = format!("the program failed ({}): {message}", kind.as_str());
    if !printed.is_empty() {
        text.push_str("\nIt had printed:\n");
        text.push_str(&printed.join("\n"));
    }
    ToolError::new(text).with_code(code::CODE_RUN_FAILED)
}

/// Runs the program on a thread of its own and makes its calls.
async fn play(source: String, context: &ToolContext) -> Result<Ended, ToolError> {
    let limits = context.limits();
    let (ask, mut asks) = unbounded_channel();
    let (tell, tells) = mpsc::channel();
    let (end, mut ended) = oneshot::channel();
    let names: Vec<String> = context.tools().into_iter().map(|tool| tool.name).collect();
    let signal = context.signal().clone();
    let thread = thread::Builder::new()
        .name("seamline-code".to_owned())
        .stack_size(engine::thread_stack(&limits));
    let started = thread.spawn(move || {
        // Nobody waits any more when the call was dropped.
        let _ = end.send(engine::run(&source, &names, &limits, &signal, ask, &tells));
    });
    started.map_err(|error| ToolError::new(format!("cannot start the program: {error}")))?;
    let mut calls = FuturesUnordered::new();
    let mut stopped = false;
    let make = |Ask {
                    id,
                    tool,
                    arguments,
                }: Ask| {
        let answer = context.call_as(":code", tool, arguments);
        async move { (id, answer.await) }
    };
    loop {
        tokio::select! {
            biased;
            Some(asked) = asks.recv() => calls.push(make(asked)),
            Some((id, answer)) = calls.next() => {
                let result = match answer {
                    Ok(success) => Ok(success.value.text().to_owned()),
                    Err(failure) => Err(failure.message),
                };
                // A program that has ended has no use for it.
                let _ = tell.send(Tell::Result { id, result });
            }
            () = context.signal().cancelled(), if !stopped => {
                stopped = true;
                let _ = tell.send(Tell::Stop);
            }
            end = &mut ended => {
                // Calls may have come in since they were last looked at; to be made is all they need.
                while let Ok(asked) = asks.try_recv() {
                    calls.push(make(asked));
                }
                return Ok(end.unwrap_or_else(|_| died()));
            }
        }
    }
}

fn died() -> Ended {
    let result = Err(Failed {
        kind: Kind::Exception,
        message: "the engine stopped".to_owned(),
    });
    Ended {
        result,
        printed: Vec::new(),
    }
}
