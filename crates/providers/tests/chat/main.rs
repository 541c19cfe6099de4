//! The chat completions adapter over real HTTP, under a real agent with a real log. Every test ends
//! with the same check: each request that the server got is, byte for byte, what the log says.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot be set up shall fail"
)]

mod answers;
mod failures;
mod server;

use std::path::{Path, PathBuf};
use std::time::Duration;

use seamline_harness::agent::{Agent, TurnOutcome};
use seamline_harness::model::{Model, Request};
use seamline_harness::permission::Mode;
use seamline_harness::session::event::{AssistantMessage, ReceivedBlock, TurnEndReason};
use seamline_harness::session::{Event, Loaded, Place, Session};
use seamline_harness::tools::builtin;
use seamline_providers::chat::{Backoff, Chat, Options, body};
use tempfile::TempDir;

use server::{Answer, PATIENCE, Server};

/// A server, a model over it and a folder to work in.
struct Bench {
    folder: TempDir,
    server: Server,
    options: Options,
}

impl Bench {
    fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        let server = Server::start(answers);
        let mut options = Options::new("test", server.base());
        options.backoff = Backoff {
            attempts: 3,
            first: Duration::from_millis(1),
            longest: Duration::from_secs(1),
        };
        let folder = tempfile::tempdir().unwrap();
        Self {
            folder,
            server,
            options,
        }
    }

    fn project(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    fn session(&self) -> Session {
        let state = self.project().join("state");
        Session::create(&Place::new(&state, self.project())).unwrap()
    }

    fn agent(&self, session: Session) -> Agent {
        self.agent_of(Chat::new(self.options.clone()).unwrap(), session)
    }

    fn agent_of(&self, model: impl Model, session: Session) -> Agent {
        Agent::builder(model, session)
            .model_name("small:1b")
            .system("Be brief.")
            .tools(builtin::registry().unwrap())
            .mode(Mode::BypassPermissions)
            .build()
    }

    /// One turn of a new session; how it ended, and its log.
    async fn turn(&self) -> (TurnOutcome, PathBuf) {
        self.turn_of(self.session()).await
    }

    async fn turn_of(&self, session: Session) -> (TurnOutcome, PathBuf) {
        let log = session.path().unwrap().to_path_buf();
        let agent = self.agent(session);
        let outcome = tokio::time::timeout(PATIENCE, agent.send("Go.")).await;
        let outcome = outcome.expect("the turn ends");
        agent.close("test").await.unwrap();
        self.check(&log);
        (outcome, log)
    }

    /// Each request is what the log says; the same may be sent again, and nothing else.
    fn check(&self, log: &Path) {
        let mut sent: Vec<String> = Vec::new();
        for asked in self.server.asked() {
            assert_eq!(asked.line, "POST /v1/chat/completions");
            let body = String::from_utf8(asked.body).unwrap();
            if sent.last() != Some(&body) {
                sent.push(body);
            }
        }
        let logged = logged(log, self.options.echo_reasoning);
        assert_eq!(sent, logged);
    }

    /// The turn ends with an error whose message has all of `parts`; the session goes on afterwards.
    async fn fails(&self, parts: &[&str]) {
        let (outcome, log) = self.turn().await;
        let TurnEndReason::Error { message } = outcome.end else {
            panic!("an error: {outcome:?}");
        };
        for part in parts {
            assert!(message.contains(part), "{part:?} in: {message}");
        }
        let goes_on = Server::start([server::answer(&[server::text("Back.")], "stop")]);
        let mut options = self.options.clone();
        options.base_url = goes_on.base();
        let Loaded { session, .. } = Session::load(&log).unwrap();
        let again = Self {
            folder: tempfile::tempdir().unwrap(),
            server: goes_on,
            options,
        };
        let agent = again.agent(session);
        let outcome = agent.send("Again.").await;
        agent.close("test").await.unwrap();
        assert_eq!(outcome.end, TurnEndReason::Completed, "{outcome:?}");
        assert_eq!(outcome.text.as_deref(), Some("Back."));
    }
}

/// The requests of a log: for each step what was known when it began.
fn logged(log: &Path, echo_reasoning: bool) -> Vec<String> {
    let text = std::fs::read_to_string(log).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let kind = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        value["type"].as_str().unwrap_or_default().to_owned()
    };
    let folder = tempfile::tempdir().unwrap();
    let mut requests = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if kind(line) != "step/start" {
            continue;
        }
        let header = |line: &&&str| kind(line) == "request/header";
        let end = at + 1 + lines[at + 1..].iter().take_while(header).count();
        let file = folder.path().join("log.jsonl");
        std::fs::write(&file, lines[..end].concat()).unwrap();
        let view = Session::read(&file).unwrap();
        let header = view.entries.iter().rev().find_map(|it| match &it.event {
            Event::RequestHeader(header) => Some(header.clone()),
            _ => None,
        });
        let header = header.unwrap();
        let request = Request {
            model: header.model,
            system: header.system,
            messages: view.history,
            tools: header.tools.into(),
        };
        requests.push(String::from_utf8(body(&request, echo_reasoning)).unwrap());
    }
    requests
}

/// What the model said, message by message.
fn said(log: &Path) -> Vec<AssistantMessage> {
    let view = Session::read(log).unwrap();
    let message = |event: &Event| match event {
        Event::AssistantMessage(message) => Some(message.clone()),
        _ => None,
    };
    let entries = view.entries.iter();
    entries.filter_map(|entry| message(&entry.event)).collect()
}

/// The blocks of a message without what only the provider knows.
fn known(message: &AssistantMessage) -> Vec<ReceivedBlock> {
    let blocks = message.blocks.iter();
    let known = blocks.filter(|block| !matches!(block, ReceivedBlock::Provider { .. }));
    known.cloned().collect()
}
