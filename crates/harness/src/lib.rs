//! The agent harness: a model, its tools, a log, and the places where someone may interfere.
//!
//! ```text
//!  agent    whose turn it is          prompts in, turns out
//!    │
//!    ├─ model    what the model sees      a request in, a streamed message out
//!    ├─ tools    about one call           a call in, a result out
//!    │    └─ permission                   does this call need a person's yes?
//!    └─ session  what is remembered       events in, the conversation out
//! ```
//!
//! An [`Agent`](agent::Agent) works through prompts; each is a turn of steps, and each step is one
//! request to a [`Model`](model::Model) and the tool calls that come of it. Everything that
//! happens is appended to a [`Session`](session::Session), and every request is derived from that
//! log alone. Around each decision there is a seam, a typed place where listeners may take part:
//! [`AgentSeams`](agent::AgentSeams) and [`ToolSeams`](tools::ToolSeams) are all of them. With
//! nobody listening the harness behaves as its defaults say.
//!
//! ```
//! use seamline_harness::agent::Agent;
//! use seamline_harness::model::scripted::{Play, Scripted, Scripts};
//! use seamline_harness::permission::Mode;
//! use seamline_harness::session::Session;
//! use seamline_harness::tools::builtin;
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let project = std::env::current_dir()?;
//! let script = Scripts::main([
//!     Play::call("Bash", json!({"command": "echo hello"})),
//!     Play::text("It said hello."),
//! ]);
//! let agent = Agent::builder(Scripted::new(script), Session::ephemeral(project))
//!     .tools(builtin::registry()?)
//!     .mode(Mode::BypassPermissions)
//!     .build();
//! let outcome = agent.send("What does echo say?").await;
//! assert_eq!(outcome.text.as_deref(), Some("It said hello."));
//! agent.close("done").await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Read on
//!
//! The [`tutorial`] goes from this agent to a plugin on every seam: authority, order, rewriting,
//! faults, disposal, one running example each. [`plugins`] has the ones that are shipped, and
//! [`testing`] what a test of yours needs. The containers themselves are explained by the crate
//! [`seamline_seams`] and its [guide](seamline_seams::guide).
//!
//! What is deliberately absent: the words of any hook protocol, and HTTP. Models and tool servers
//! are reached through [`Model`](model::Model) and [`McpServers`](mcp::McpServers).

pub mod agent;
#[cfg(feature = "agent-hooks")]
pub mod agent_hooks;
pub mod content;
mod facts;
pub mod json;
pub mod mcp;
pub mod model;
pub mod permission;
pub mod plugins;
pub mod session;
pub mod testing;
pub mod tools;
#[doc = include_str!("tutorial.md")]
pub mod tutorial {}

pub use facts::{Facts, TurnFacts};

/// The README, so that its example is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
