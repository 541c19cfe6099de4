//! A tool that echoes, and an agent that has it.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Play, Scripted, Scripts};
use crate::agent::{Agent, AgentBuilder};
use crate::content::Content;
use crate::permission::Mode;
use crate::session::Session;
use crate::tools::{Registry, Tool, ToolContext, ToolError};

/// The tool `Echo`: answers what it is told to `say`, or fails with it if `fail` is true. Nothing
/// is said of its effects, so it counts as having some.
#[derive(Debug, Clone, Copy, Default)]
pub struct Echo;

/// What is to be echoed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Said {
    /// The text.
    pub say: String,
    /// Whether to fail with it.
    #[serde(default)]
    pub fail: bool,
}

impl Tool for Echo {
    type Args = Said;
    type Value = String;

    fn name(&self) -> &str {
        "Echo"
    }

    fn description(&self) -> &str {
        "Says what it is told to."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "required": ["say"],
            "properties": {"say": {"type": "string"}, "fail": {"type": "boolean"}},
        })
    }

    async fn run(&self, args: Said, _: ToolContext) -> Result<String, ToolError> {
        match args.fail {
            true => Err(ToolError::new(args.say)),
            false => Ok(args.say),
        }
    }

    fn render(&self, _: &Said, value: &String) -> Content {
        Content::text(value.clone())
    }
}

/// An agent to be that plays these turns, has the tool [`Echo`], asks nobody for permission, and
/// keeps its log in memory.
pub fn playing(turns: impl IntoIterator<Item = Play>) -> AgentBuilder {
    let model = Scripted::new(Scripts::main(turns));
    let registry = Registry::new();
    // An empty registry has no tool of that name, and the schema above is one.
    let _ = registry.add(Echo);
    Agent::builder(model, Session::ephemeral("/"))
        .tools(registry)
        .mode(Mode::BypassPermissions)
}
