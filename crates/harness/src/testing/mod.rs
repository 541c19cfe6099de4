//! What tests of an agent need, here and in programs that embed one: a model that plays a script, a
//! tool that [`Echo`]es, an [agent](playing) of both, a [`Recorder`] of what a model is asked, and a
//! [`Journal`] of what every seam is asked and answers, so that a test can assert on order.
//!
//! ```
//! use seamline_harness::plugins::ReadOnly;
//! use seamline_harness::testing::{Journal, Play, playing};
//! use seamline_seams::Scope;
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let agent = playing([
//!     Play::call("Echo", json!({"say": "hello"})),
//!     Play::text("I may not."),
//! ])
//! .build();
//! let (scope, journal) = (Scope::root("test"), Journal::new());
//! ReadOnly.install(&scope, &agent);
//! journal.install(&scope, &agent);
//! agent.send("Say hello.").await;
//!
//! let lines = journal.lines();
//! let tools: Vec<_> = lines.iter().filter(|line| line.starts_with("tools.")).collect();
//! let why = r#"tool "Echo" may have side effects, and this agent may only read"#;
//! assert_eq!(tools, [
//!     r#"tools.propose? Echo {"say":"hello"}"#,
//!     "tools.propose: keep",
//!     r#"tools.pre? Echo {"say":"hello"}"#,
//!     "tools.pre: allow",
//!     // The guard denied: the journal's own comes after it and is not asked. Nothing is dispatched.
//!     &format!("tools.post? Echo denied: Error: {why}"),
//!     "tools.post: accept",
//!     &format!("tools.denied! Echo: {why}"),
//!     &format!("tools.result! Echo denied: Error: {why}"),
//! ]);
//! agent.close("done").await?;
//! # Ok(())
//! # }
//! ```

mod echo;
mod journal;
mod words;

use std::sync::{Arc, Mutex, PoisonError};

pub use echo::{Echo, Said, playing};
pub use journal::{Entry, Journal, Moment};

pub use crate::model::scripted::{Play, Say, ScriptBlock, Scripted, Scripts};
use crate::model::{ChunkStream, Model, Request, Signal};

/// A model that keeps a copy of every request it passes on. Clones share the copies.
#[derive(Debug, Clone)]
pub struct Recorder<M> {
    inner: M,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl<M: Model> Recorder<M> {
    /// Records what is asked of `inner`.
    pub fn new(inner: M) -> Self {
        Self {
            inner,
            requests: Arc::default(),
        }
    }

    /// The requests so far, oldest first.
    pub fn requests(&self) -> Vec<Request> {
        self.requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl<M: Model> Model for Recorder<M> {
    fn stream(&self, request: Request, signal: Signal) -> ChunkStream {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.push(request.clone());
        drop(requests);
        self.inner.stream(request, signal)
    }
}

/// A model made of a function.
#[derive(Debug, Clone)]
pub struct FnModel<F>(pub F);

impl<F> Model for FnModel<F>
where
    F: Fn(Request, Signal) -> ChunkStream + Send + Sync + 'static,
{
    fn stream(&self, request: Request, signal: Signal) -> ChunkStream {
        self.0(request, signal)
    }
}
