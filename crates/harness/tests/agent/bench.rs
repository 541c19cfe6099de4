//! An agent on a bench: a scripted model that is recorded, seams to listen on, a folder to work
//! in, and tools that report.

use std::future::Future;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use seamline_harness::agent::{Agent, AgentBuilder, AgentEvent, AgentSeams, TurnOutcome};
use seamline_harness::content::Content;
use seamline_harness::model::scripted::{Play, Scripted, Scripts};
use seamline_harness::model::{Block, Message, Model, Request};
use seamline_harness::permission::Mode;
use seamline_harness::session::event::{AbortCause, TurnEndReason};
use seamline_harness::session::{Event, Session};
use seamline_harness::testing::Recorder;
use seamline_harness::tools::{Effects, Registry, Tool, ToolContext, ToolError, ToolSeams};
use seamline_seams::{Context, FaultLog, Halt, Scope, Source, When};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Nothing here should take long; what takes this long hangs.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

/// The bench and what was seen on it.
pub(crate) struct Bench<M: Model + Clone = Scripted> {
    /// Kept so that it lives as long as the bench.
    _folder: TempDir,
    pub(crate) faults: FaultLog,
    pub(crate) scope: Scope,
    pub(crate) seams: AgentSeams,
    pub(crate) tool_seams: ToolSeams,
    pub(crate) registry: Registry,
    pub(crate) model: Recorder<M>,
    pub(crate) session: Session,
    pub(crate) seen: Seen,
}

/// Notes in the order they were made.
#[derive(Clone, Default)]
pub(crate) struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    pub(crate) fn note(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl Bench {
    /// A bench on which the script `main` is played.
    pub(crate) fn new(turns: impl IntoIterator<Item = Play>) -> Self {
        Self::with_model(Scripted::new(Scripts::main(turns)))
    }
}

impl<M: Model + Clone> Bench<M> {
    pub(crate) fn with_model(model: M) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().canonicalize().unwrap();
        let faults = FaultLog::new();
        let seen = Seen::default();
        let registry = Registry::new();
        registry.add(Probe(seen.clone())).unwrap();
        Self {
            scope: Scope::root_with("test", &faults),
            seams: AgentSeams::new(&faults),
            tool_seams: ToolSeams::new(&faults),
            session: Session::ephemeral(project),
            model: Recorder::new(model),
            _folder: folder,
            faults,
            registry,
            seen,
        }
    }

    pub(crate) fn project(&self) -> &Path {
        self.session.project()
    }

    pub(crate) fn builder(&self) -> AgentBuilder {
        Agent::builder(self.model.clone(), self.session.clone())
            .mode(Mode::BypassPermissions)
            .tools(self.registry.clone())
            .seams(self.seams.clone())
            .tool_seams(self.tool_seams.clone())
    }

    /// Builds the agent with everything as it is by default.
    pub(crate) fn agent(&self) -> Agent {
        self.builder().build()
    }

    /// One prompt from beginning to end.
    pub(crate) async fn run(&self, prompt: &str) -> TurnOutcome {
        let agent = self.agent();
        let outcome = soon(agent.send(prompt)).await;
        soon(agent.close("test")).await.unwrap();
        outcome
    }

    /// The log's events by name, `context/message` and the like, with what tells them apart.
    pub(crate) fn log(&self) -> Vec<String> {
        self.session
            .entries()
            .iter()
            .map(|entry| brief(&entry.event))
            .collect()
    }

    /// The messages of the n-th request, in brief.
    pub(crate) fn asked(&self, n: usize) -> Vec<String> {
        shapes(&self.model.requests()[n])
    }

    /// What was told to the user as notices.
    pub(crate) fn notices(&self) -> Vec<String> {
        let text = |event: &Event| match event {
            Event::Notice(notice) => Some(notice.text.clone()),
            _ => None,
        };
        self.session
            .entries()
            .iter()
            .filter_map(|entry| text(&entry.event))
            .collect()
    }

    /// Notes what the observers of `agent.events` are told.
    pub(crate) fn watch(&self) {
        let seen = self.seen.clone();
        self.seams.events.on(&self.scope, "watch", move |event| {
            if let Some(note) = told(event) {
                seen.note(note);
            }
        });
    }
}

/// Awaits something that must not hang.
pub(crate) async fn soon<T>(something: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, something)
        .await
        .unwrap_or_else(|_| panic!("it hangs"))
}

/// Polls a condition until it holds.
pub(crate) async fn until(condition: impl Fn() -> bool) {
    soon(async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
}

pub(crate) fn speaker() -> Source {
    Source::new("test")
}

pub(crate) fn context(text: &str) -> Context {
    Context {
        source: speaker(),
        text: text.to_owned(),
    }
}

pub(crate) fn halt(when: When) -> Halt {
    Halt {
        when,
        reason: Some("enough".to_owned()),
        by: speaker(),
    }
}

pub(crate) fn stopped() -> TurnEndReason {
    let by = speaker().into();
    TurnEndReason::Stopped {
        reason: Some("enough".to_owned()),
        by,
    }
}

pub(crate) fn aborted(cause: AbortCause) -> TurnEndReason {
    TurnEndReason::Aborted { cause }
}

/// A call of the probe.
pub(crate) fn probe(say: &str) -> (String, Value) {
    ("Probe".to_owned(), json!({ "say": say }))
}

fn brief(event: &Event) -> String {
    let kind = event.kind();
    match event {
        Event::UserMessage(m) => format!("{kind} {}", m.content.to_text()),
        Event::SteeringMessage(m) => format!("{kind} {}", m.content.to_text()),
        Event::ContextMessage(m) => format!("{kind} {}", m.text),
        Event::PromptBlocked(m) => format!("{kind} {}: {}", m.content.to_text(), m.reason),
        Event::ToolCall(m) => format!("{kind} {}", m.arguments),
        Event::ToolResult(m) => format!("{kind} {}", m.content.to_text()),
        Event::TurnEnd(m) => format!("{kind} {}", ending(&m.reason)),
        Event::Notice(m) => format!("{kind} {}", m.text),
        _ => kind.to_owned(),
    }
}

pub(crate) fn ending(reason: &TurnEndReason) -> String {
    let text = serde_json::to_value(reason).unwrap();
    text["kind"].as_str().unwrap().to_owned()
}

pub(crate) fn shapes(request: &Request) -> Vec<String> {
    request
        .messages
        .iter()
        .map(|message| shape(message))
        .collect()
}

fn shape(message: &Message) -> String {
    match message {
        Message::User { content, .. } => format!("user {}", content.to_text()),
        Message::Context { text, .. } => format!("context {text}"),
        Message::ToolResult { content, .. } => format!("result {}", content.to_text()),
        Message::Assistant { blocks } => {
            let blocks = blocks.iter().map(|block| match block {
                Block::Text { text } => text.clone(),
                Block::ToolCall { arguments, .. } => arguments.to_string(),
                _ => String::new(),
            });
            format!("assistant {}", blocks.collect::<Vec<_>>().join(" "))
        }
    }
}

fn told(event: &AgentEvent) -> Option<String> {
    Some(match event {
        AgentEvent::SessionStarted { .. } => "session started".to_owned(),
        AgentEvent::TurnStarted { turn, .. } => format!("turn {turn}"),
        AgentEvent::PromptEntered { content, .. } => format!("prompt {}", content.to_text()),
        AgentEvent::PromptBlocked { reason, .. } => format!("blocked {reason}"),
        AgentEvent::TextDelta { text } => format!("delta {text}"),
        AgentEvent::Text { text } => format!("text {text}"),
        AgentEvent::ToolProposed { proposal } => format!("proposed {}", proposal.arguments()),
        AgentEvent::ToolDenied { reason, .. } => format!("denied {reason}"),
        AgentEvent::ToolFinished(result) => {
            format!("finished {}", result.outcome.content().to_text())
        }
        AgentEvent::Context { text, .. } => format!("context {text}"),
        AgentEvent::Steering { text, .. } => format!("steering {text}"),
        AgentEvent::Notice { text, .. } => format!("notice {text}"),
        AgentEvent::TurnEnded(outcome) => format!("ended {}", ending(&outcome.end)),
        AgentEvent::SessionEnded { reason } => format!("session ended {reason}"),
        _ => return None,
    })
}

/// A tool that notes when it starts and ends.
///
/// `say` is what it answers; `fail…` fails, `hang…` waits for its signal. `safe` calls may overlap.
pub(crate) struct Probe(pub(crate) Seen);

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Say {
    pub(crate) say: String,
    #[serde(default)]
    pub(crate) safe: bool,
}

impl Tool for Probe {
    type Args = Say;
    type Value = String;

    fn name(&self) -> &str {
        "Probe"
    }
    fn description(&self) -> &str {
        "Reports."
    }
    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "required": ["say"],
            "properties": {"say": {"type": "string"}, "safe": {"type": "boolean"}},
        })
    }
    fn concurrency_safe(&self, args: &Say) -> bool {
        args.safe
    }
    fn effects(&self, _: &Say, _: &Path) -> Effects {
        Effects::Unknown
    }
    async fn run(&self, args: Say, context: ToolContext) -> Result<String, ToolError> {
        self.0.note(format!("start {}", args.say));
        if args.say.starts_with("hang") {
            context.signal().cancelled().await;
        }
        if args.say.starts_with("fail") {
            return Err(ToolError::new(args.say));
        }
        if args.safe {
            tokio::task::yield_now().await;
        }
        self.0.note(format!("end {}", args.say));
        Ok(args.say)
    }
    fn render(&self, _: &Say, value: &String) -> Content {
        Content::text(value.clone())
    }
}
