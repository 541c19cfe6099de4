//! A request as the bytes that are sent.

use seamline_harness::content::{Content, Part};
use seamline_harness::model::{Block, Message, Request, ToolSpec};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Sent<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    stream: bool,
    stream_options: StreamOptions,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: ToolFunction<'a>,
}

#[derive(Serialize)]
struct ToolFunction<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a RawValue,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum Sent<'a> {
    System {
        content: &'a str,
    },
    User {
        content: Value,
    },
    Assistant {
        content: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Call<'a>>,
    },
    Tool {
        tool_call_id: &'a str,
        content: String,
    },
}

#[derive(Serialize)]
struct Call<'a> {
    id: &'a str,
    r#type: &'static str,
    function: CallFunction<'a>,
}

#[derive(Serialize)]
struct CallFunction<'a> {
    name: &'a str,
    arguments: &'a str,
}

/// The body of `request`: a function of the request alone. What the model thought before it called
/// tools goes back to it where `echo_reasoning` says so; where a model only answered, never.
pub fn body(request: &Request, echo_reasoning: bool) -> Vec<u8> {
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        let content = &request.system;
        messages.push(Sent::System { content });
    }
    let mut said = Vec::new();
    for message in &request.messages {
        match &**message {
            Message::User { content, .. } => said.extend(content.parts().iter().map(part)),
            Message::Context { text, source } => {
                let text = format!("<context from=\"{source}\">\n{text}\n</context>");
                said.push(json!({"type": "text", "text": text}));
            }
            Message::Assistant { blocks } => {
                messages.extend(user(&mut said));
                messages.push(assistant(blocks, echo_reasoning));
            }
            Message::ToolResult {
                call_id, content, ..
            } => {
                messages.extend(user(&mut said));
                messages.push(Sent::Tool {
                    tool_call_id: call_id,
                    content: content.to_text(),
                });
                said.extend(images(content));
            }
        }
    }
    messages.extend(user(&mut said));
    let body = Body {
        model: &request.model,
        messages,
        tools: request.tools.iter().map(tool).collect(),
        stream: true,
        stream_options: StreamOptions {
            include_usage: true,
        },
    };
    // Nothing in it can refuse to be written: there are only strings as keys.
    serde_json::to_vec(&body).unwrap_or_default()
}

/// What users and plugins said in a row is one message: many chat templates refuse two. Texts
/// alone are sent as text, which every server takes.
fn user(said: &mut Vec<Value>) -> Option<Sent<'static>> {
    let parts = std::mem::take(said);
    if parts.is_empty() {
        return None;
    }
    let text = |part: &Value| part.get("text").and_then(Value::as_str).map(str::to_owned);
    let texts: Option<Vec<String>> = parts.iter().map(text).collect();
    let content = match texts {
        Some(texts) => Value::String(texts.join("\n\n")),
        None => Value::Array(parts),
    };
    Some(Sent::User { content })
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text { text } => json!({"type": "text", "text": text}),
        Part::Image { media_type, data } => {
            let url = format!("data:{media_type};base64,{data}");
            json!({"type": "image_url", "image_url": {"url": url}})
        }
        _ => json!({"type": "text", "text": "[content of a kind that cannot be sent]"}),
    }
}

/// Images of a tool's result: only users may show images here.
fn images(content: &Content) -> impl Iterator<Item = Value> {
    let images = content.parts().iter();
    let images = images.filter(|part| matches!(part, Part::Image { .. }));
    images.map(part)
}

fn assistant(blocks: &[Block], echo_reasoning: bool) -> Sent<'_> {
    let (mut texts, mut thoughts, mut tool_calls) = (Vec::new(), Vec::new(), Vec::new());
    for block in blocks {
        match block {
            Block::Text { text } => texts.push(text.as_str()),
            Block::Reasoning { text } => thoughts.push(text.as_str()),
            Block::ToolCall {
                id,
                name,
                arguments,
            } => tool_calls.push(Call {
                id,
                r#type: "function",
                function: CallFunction {
                    name,
                    arguments: arguments.text(),
                },
            }),
            _ => {}
        }
    }
    let calls = !tool_calls.is_empty();
    let echoed = echo_reasoning && calls && !thoughts.is_empty();
    Sent::Assistant {
        content: (!texts.is_empty() || !calls).then(|| texts.concat()),
        reasoning_content: echoed.then(|| thoughts.concat()),
        tool_calls,
    }
}

fn tool(spec: &ToolSpec) -> Tool<'_> {
    Tool {
        r#type: "function",
        function: ToolFunction {
            name: &spec.name,
            description: &spec.description,
            parameters: spec.schema.raw(),
        },
    }
}
