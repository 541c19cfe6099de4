//! Names: of tools, of subagent types, of skills.

use std::fmt;

use crate::answer::{Reading, Verdict};
use crate::call::Call;
use crate::error::Problem;
use crate::parse::Located;
use crate::tool::current_name;
use crate::wildcard::Wildcard;

/// The tool part of a rule.
///
/// * In an `if` it is one full name, compared exactly: `*`, `mcp__server` and `bash` match
///   nothing there (measured).
/// * Elsewhere `mcp__server` covers every tool of that server (documented).
/// * In deny and ask rules `*` is a wildcard that has to cover the full name; in allow rules only
///   behind a literal `mcp__server__` (documented).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolPattern(String);

impl ToolPattern {
    pub(crate) fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The pattern as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the pattern holds a wildcard.
    #[must_use]
    pub fn is_glob(&self) -> bool {
        self.0.contains('*')
    }

    /// The server of a pattern that names an MCP server and none of its tools.
    fn server(&self) -> Option<&str> {
        self.0
            .strip_prefix("mcp__")
            .filter(|rest| !rest.is_empty() && !rest.contains("__"))
    }

    pub(crate) fn idle(&self, reading: Reading) -> Option<String> {
        let behind_server = || {
            let rest = self.0.strip_prefix("mcp__")?;
            let (server, _) = rest.split_once("__")?;
            (!server.is_empty() && !server.contains('*')).then_some(())
        };
        match reading {
            Reading::Allow if self.is_glob() && behind_server().is_none() => Some(format!(
                "an allow rule takes `*` in a tool name only behind `mcp__server__`; \
                 `{self}` allows nothing"
            )),
            Reading::Condition if self.is_glob() => Some(format!(
                "a condition compares the whole tool name; no tool is called `{self}`"
            )),
            _ => None,
        }
    }

    pub(crate) fn names(&self, reading: Reading, call: &Call<'_>) -> bool {
        call.names().any(|name| self.names_one(reading, name))
    }

    fn names_one(&self, reading: Reading, name: &str) -> bool {
        if current_name(&self.0) == current_name(name) {
            return true;
        }
        if reading == Reading::Condition {
            return false;
        }
        if self.is_glob() {
            return Wildcard::new(&self.0).matches(name);
        }
        let tool_of = |server: &str| name.strip_prefix("mcp__")?.strip_prefix(server);
        self.server()
            .and_then(tool_of)
            .is_some_and(|rest| rest.starts_with("__"))
    }
}

impl fmt::Display for ToolPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// `Agent(Name)`. A call that names no type is not covered.
pub(crate) fn agent_verdict(wanted: &str, call: &Call<'_>) -> Verdict {
    match call.text("subagent_type") {
        Some(found) if found == wanted => Verdict::yes(format!("the agent is `{wanted}`")),
        Some(found) => Verdict::no(format!("the agent is `{found}`")),
        None => Verdict::no("the call names no agent"),
    }
}

/// `Skill(name)` or `Skill(name *)`.
///
/// The first is the skill without arguments when it allows, and whatever its arguments elsewhere;
/// the second is the skill with or without arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillPattern {
    name: String,
    arguments: bool,
}

impl SkillPattern {
    pub(crate) fn parse(text: &str) -> Located<Self> {
        let (name, arguments) = match text.strip_suffix(" *").or_else(|| text.strip_suffix(":*")) {
            Some(name) => (name, true),
            None => (text, false),
        };
        let name = name.trim().trim_start_matches('/');
        if name.is_empty() {
            return Err((0, Problem::NoSkill));
        }
        Ok(Self {
            name: name.to_owned(),
            arguments,
        })
    }

    /// The skill's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn verdict(&self, reading: Reading, call: &Call<'_>) -> Verdict {
        let Some(found) = call.text("skill") else {
            return Verdict::no("the call names no skill");
        };
        if found.trim_start_matches('/') != self.name {
            return Verdict::no(format!("the skill is `{found}`"));
        }
        let given = call
            .text("args")
            .is_some_and(|args| !args.trim().is_empty());
        if given && !self.arguments && reading == Reading::Allow {
            return Verdict::no(format!(
                "`Skill({0})` allows no arguments; `Skill({0} *)` does",
                self.name
            ));
        }
        Verdict::yes(format!("the skill is `{}`", self.name))
    }
}
