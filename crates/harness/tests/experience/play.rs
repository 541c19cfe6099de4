//! Playing a scene, and what the model saw of it.

use seamline_harness::agent::Agent;
use seamline_harness::agent::{AgentHandle, Pending};
use seamline_harness::model::{Block, ChunkStream, Message, Model, Request, Signal};
use seamline_harness::permission::Mode;
use seamline_harness::session::Session;
use seamline_harness::testing::{Echo, FnModel, Play, Recorder, Scripted, Scripts};
use seamline_harness::tools::Registry;
use seamline_seams::Scope;
use serde_json::json;

/// One decision, and how it comes about.
pub(crate) struct Scene {
    /// The seam and the decision.
    pub(crate) name: &'static str,
    /// What there is to say about it beyond what the run shows.
    pub(crate) note: &'static str,
    pub(crate) install: fn(&Scope, &AgentHandle),
    pub(crate) mode: Mode,
    pub(crate) then: Then,
}

/// What happens after the first prompt.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// The user writes again.
    Prompt,
    /// The host takes up the deferred call, and then the user writes again.
    Resume,
}

/// A scene that was played.
pub(crate) struct Run {
    pub(crate) scene: Scene,
    pub(crate) requests: Vec<Request>,
}

/// What one part of a message is to the model: what it is called here, and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) label: &'static str,
    pub(crate) text: String,
}

impl Run {
    pub(crate) async fn of(scene: Scene) -> Self {
        let model = Recorder::new(FnModel(answer));
        let registry = Registry::new();
        registry.add(Echo).unwrap();
        let agent = Agent::builder(model.clone(), Session::ephemeral("/"))
            .system("Be brief.")
            .tools(registry)
            .mode(scene.mode)
            .build();
        let plugin = Scope::root("test");
        (scene.install)(&plugin, &agent);
        agent.send("Say hello.").await;
        if scene.then == Then::Resume {
            agent.resume().unwrap().await;
        }
        agent.send("Go on.").await;
        agent.cancel(Pending::Drop);
        agent.close("done").await.unwrap();
        Self {
            requests: model.requests(),
            scene,
        }
    }

    /// The conversation as the last request has it.
    pub(crate) fn lines(&self) -> Vec<Line> {
        let last = self.requests.last().unwrap();
        let system = std::iter::once(line("system", last.system.clone()));
        let messages = last.messages.iter().flat_map(|message| lines(message));
        system.chain(messages).collect()
    }

    /// Whether every request begins with the whole request before it, byte for byte.
    pub(crate) fn keeps_prefix(&self) -> bool {
        self.requests.windows(2).all(|pair| {
            let [before, after] = pair else { return false };
            let head = |it: &Request| (it.model.clone(), it.system.clone(), it.tools.clone());
            head(before) == head(after) && bytes(after).starts_with(&bytes(before))
        })
    }
}

/// A call, and that it is done; to `Go on.` only that it is done.
fn answer(request: Request, signal: Signal) -> ChunkStream {
    let call = Play::call("Echo", json!({"say": "hello"}));
    let done = Play::text("Done.");
    let asked = request.messages.iter().any(|message| match &**message {
        Message::User { content, .. } => content.to_text() == "Go on.",
        _ => false,
    });
    let plays = if asked {
        vec![done; 4]
    } else {
        vec![call, done.clone(), done]
    };
    Scripted::new(Scripts::main(plays)).stream(request, signal)
}

/// The messages of a request, each as its JSON.
fn bytes(request: &Request) -> Vec<u8> {
    let texts = request
        .messages
        .iter()
        .map(|it| serde_json::to_string(&**it).unwrap());
    texts.collect::<Vec<_>>().join("\n").into_bytes()
}

fn lines(message: &Message) -> Vec<Line> {
    match message {
        Message::User { content, .. } => vec![line("user", content.to_text())],
        Message::Context { text, .. } => vec![line("context", text.clone())],
        Message::Assistant { blocks } => blocks.iter().map(block).collect(),
        Message::ToolResult {
            content, is_error, ..
        } => {
            let label = if *is_error {
                "result (error)"
            } else {
                "result"
            };
            vec![line(label, content.to_text())]
        }
    }
}

fn block(block: &Block) -> Line {
    match block {
        Block::Text { text } => line("assistant", text.clone()),
        Block::ToolCall {
            name, arguments, ..
        } => line("call", format!("{name} {arguments}")),
        _ => line("assistant", String::new()),
    }
}

fn line(label: &'static str, text: String) -> Line {
    Line { label, text }
}
