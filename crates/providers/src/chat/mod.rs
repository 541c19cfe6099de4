//! Chat completions: the one wire format that most model servers speak.
//!
//! [`Chat`] is a [`Model`] over `POST BASE/chat/completions` with a
//! streamed answer. A request is a function of the [`Request`] alone
//! ([`body`]), so that what was sent can be rebuilt from the session log. Whatever a server sends that
//! we have no word for is handed on as it came, and kept in the log.
//!
//! Data flows through small modules: [`body`] → `connect` (with `retry`) → `sse` → `frame` →
//! `assemble`. [`presets`] says where the usual servers listen, `failure` what to say when
//! something is wrong and what to check.

mod assemble;
mod body;
mod connect;
mod failure;
mod frame;
pub mod presets;
mod retry;
mod sse;
mod stream;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::HeaderValue;
use seamline_harness::model::{ChunkStream, Model, Request, Signal};

pub use body::body;
pub use connect::BuildError;
pub use retry::Backoff;

/// How a server is reached.
#[derive(Debug, Clone)]
pub struct Options {
    /// What users call it; errors name it.
    pub name: String,
    /// Everything before `/chat/completions`.
    pub base_url: String,
    /// The key, and the variable it was read from.
    pub key: Option<Key>,
    /// How long nothing at all may come before the answer counts as stalled.
    pub idle: Duration,
    /// How often and when a request is made again that the server could not take.
    pub backoff: Backoff,
    /// Whether what the model thought before it called tools goes back to it.
    pub echo_reasoning: bool,
    /// What to type to start the server, where that is known.
    pub start: Option<String>,
    /// What to type to get a model, with `MODEL` for its name, where that is known.
    pub pull: Option<String>,
}

impl Options {
    /// A server at `base_url`, with the defaults for everything else.
    pub fn new(name: impl Into<String>, base_url: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            base_url: base_url.into(),
            key: None,
            idle: presets::IDLE,
            backoff: Backoff::default(),
            echo_reasoning: false,
            start: None,
            pull: None,
        }
    }
}

/// A secret. It is not shown by `Debug`, and errors that would repeat it say `[key]` instead.
#[derive(Clone)]
pub struct Key {
    variable: String,
    value: String,
}

impl Key {
    /// The key that stood in this variable.
    pub fn new(variable: impl Into<String>, value: impl Into<String>) -> Self {
        let value: String = value.into();
        Self {
            variable: variable.into(),
            value: value.trim().to_owned(),
        }
    }

    /// `text` without the key.
    fn scrub(&self, text: &str) -> String {
        match self.value.is_empty() {
            true => text.to_owned(),
            false => text.replace(&self.value, "[key]"),
        }
    }

    fn header(&self) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(&format!("Bearer {}", self.value)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key(of {})", self.variable)
    }
}

/// A model behind chat completions. Clones share their connections.
#[derive(Debug, Clone)]
pub struct Chat(Arc<Server>);

#[derive(Debug)]
struct Server {
    options: Options,
    client: reqwest::Client,
    url: reqwest::Url,
}

impl Chat {
    /// A model over these options; nothing is connected yet.
    pub fn new(options: Options) -> Result<Self, BuildError> {
        connect::server(options).map(|server| Self(Arc::new(server)))
    }

    /// What is sent for `request`, byte for byte.
    pub fn body(&self, request: &Request) -> Vec<u8> {
        body(request, self.0.options.echo_reasoning)
    }
}

impl Model for Chat {
    fn stream(&self, request: Request, signal: Signal) -> ChunkStream {
        let body = self.body(&request);
        stream::answer(Arc::clone(&self.0), request.model, body, signal)
    }
}
