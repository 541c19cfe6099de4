//! Shipped plugins: optional behaviour that a host switches on.
//!
//! A plugin is ordinary code that listens on seams. Nothing here is privileged: each of these is
//! one short file written on public items only (a test compiles them outside this crate), so each
//! is also an example of how to write yours.
//!
//! | plugin | seams | what it does |
//! |---|---|---|
//! | [`Timeout`] | `tools.dispatch` | ends a call that takes longer than its tool may |
//! | [`Retry`] | `tools.dispatch` | runs a failed call again, where that does no harm |
//! | [`Metrics`] | `tools.dispatch`, `tools.result` | counts and times calls, for the host |
//! | [`ReadOnly`] | `tools.guards` | lets nothing run that has side effects |
//! | [`PermissionRules`] | `tools.pre`, `tools.guards` | deny, ask and allow rules, as settings state them |
//! | [`ShellSyntax`] | `tools.pre` | refuses shell commands that do not parse |
//! | [`RepeatedCall`] | `tools.post`, `agent.prompt`, `agent.session_end` | tells a model that it goes in circles |
//!
//! All have one shape: a value that says what to do, and `install(&scope, seams)`. The scope is the
//! plugin's life: disposing it takes the plugin out. The seams are an agent's, or those of the
//! process, whose listeners stand around every agent's own. Of two plugins on one seam the one
//! installed first is the outer: `Retry` and then `Timeout` gives each attempt its own budget,
//! `Timeout` and then `Retry` one budget to all of them.
//!
//! ```
//! use std::time::Duration;
//! use seamline_harness::agent::Agent;
//! use seamline_harness::plugins::{Metrics, ReadOnly, Retry, Timeout};
//! use seamline_harness::session::Session;
//! use seamline_harness::testing::{Play, Scripted, Scripts};
//! use seamline_harness::tools::builtin;
//! use seamline_seams::Scope;
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let model = Scripted::new(Scripts::main([
//!     Play::call("Bash", json!({"command": "ls -a"})),
//!     Play::call("Bash", json!({"command": "rm -rf src"})),
//! ]));
//! let project = tempfile::tempdir()?;
//! let agent = Agent::builder(model, Session::ephemeral(project.path()))
//!     .tools(builtin::registry()?)
//!     .build();
//!
//! let plugins = Scope::root("plugins");
//! let metrics = Metrics::new();
//! Retry::of_reads(2).install(&plugins, &agent);
//! Timeout::after(Duration::from_secs(60))?.install(&plugins, &agent);
//! ReadOnly.install(&plugins, &agent);
//! metrics.install(&plugins, &agent);
//!
//! agent.send("Tidy up.").await;
//! let bash = &metrics.snapshot()["Bash"];
//! assert_eq!((bash.calls, bash.runs, bash.denied), (2, 1, 1));
//!
//! plugins.dispose().await; // none of them is called any more
//! assert!(agent.tool_seams().describe().is_empty());
//! agent.close("done").await?;
//! # Ok(())
//! # }
//! ```
//!
//! The [tutorial](crate::tutorial) builds a plugin from nothing, one seam at a time.

mod metrics;
mod permission_rules;
mod read_only;
mod repeated_call;
mod retry;
mod shell_syntax;
mod timeout;

pub use metrics::{Metrics, ToolMetrics};
pub use permission_rules::PermissionRules;
pub use read_only::ReadOnly;
pub use repeated_call::RepeatedCall;
pub use retry::Retry;
pub use shell_syntax::ShellSyntax;
pub use timeout::{NoTime, Timeout};

use crate::agent::{Agent, AgentHandle, AgentSeams};
use crate::tools::ToolSeams;

/// Where a plugin may register: an agent's seams, or those of the process.
#[derive(Debug, Clone, Copy)]
pub struct Seams<'a> {
    /// Those of the loop.
    pub agent: &'a AgentSeams,
    /// Those of tool calls.
    pub tools: &'a ToolSeams,
}

impl<'a> From<&'a AgentHandle> for Seams<'a> {
    fn from(handle: &'a AgentHandle) -> Self {
        Self {
            agent: handle.seams(),
            tools: handle.tool_seams(),
        }
    }
}

impl<'a> From<&'a Agent> for Seams<'a> {
    fn from(agent: &'a Agent) -> Self {
        let handle: &AgentHandle = agent;
        handle.into()
    }
}

impl<'a> From<(&'a AgentSeams, &'a ToolSeams)> for Seams<'a> {
    fn from((agent, tools): (&'a AgentSeams, &'a ToolSeams)) -> Self {
        Self { agent, tools }
    }
}
