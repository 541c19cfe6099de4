//! Facts of agents that start and stop.

use super::{Event, Facts};
use crate::dialect::DialectId;

/// The agent is about to end its turn.
#[derive(Debug, Clone)]
pub struct Stop<'a> {
    /// Whether this turn already goes on because of a hook.
    pub stop_hook_active: bool,
    /// The last text of the assistant in this turn.
    pub last_assistant_message: Option<&'a str>,
}

impl Event for Stop<'_> {
    const NAME: &'static str = "Stop";

    fn facts(&self, dialect: DialectId, facts: &mut Facts) {
        facts.set("stop_hook_active", self.stop_hook_active);
        stop_facts(dialect, self.last_assistant_message, facts);
    }
}

/// The user ended the agent's turn.
#[derive(Debug, Clone, Copy)]
pub struct Interrupt;

impl Event for Interrupt {
    const NAME: &'static str = "Interrupt";

    fn facts(&self, _: DialectId, _: &mut Facts) {}
}

/// Claude sends an empty string for no text, Codex `null`. We have no background tasks and no
/// scheduled prompts to list.
fn stop_facts(dialect: DialectId, last: Option<&str>, facts: &mut Facts) {
    match dialect {
        DialectId::Claude => facts.set("last_assistant_message", last.unwrap_or_default()),
        DialectId::Codex => facts.set("last_assistant_message", last),
    }
    facts.set("background_tasks", [(); 0]);
    facts.set("session_crons", [(); 0]);
}

/// A subagent starts.
#[derive(Debug, Clone)]
pub struct SubagentStart<'a> {
    /// Its id.
    pub agent_id: &'a str,
    /// Its type.
    pub agent_type: &'a str,
}

impl Event for SubagentStart<'_> {
    const NAME: &'static str = "SubagentStart";

    fn facts(&self, _: DialectId, facts: &mut Facts) {
        facts.set("agent_id", self.agent_id);
        facts.set("agent_type", self.agent_type);
    }
}

/// A subagent is about to stop.
#[derive(Debug, Clone)]
pub struct SubagentStop<'a> {
    /// Its id.
    pub agent_id: &'a str,
    /// Its type.
    pub agent_type: &'a str,
    /// Its own transcript.
    pub agent_transcript_path: Option<&'a str>,
    /// Whether it already goes on because of a hook.
    pub stop_hook_active: bool,
    /// Its last text.
    pub last_assistant_message: Option<&'a str>,
}

impl Event for SubagentStop<'_> {
    const NAME: &'static str = "SubagentStop";

    fn facts(&self, dialect: DialectId, facts: &mut Facts) {
        facts.set("agent_id", self.agent_id);
        facts.set("agent_type", self.agent_type);
        facts.set("agent_transcript_path", self.agent_transcript_path);
        facts.set("stop_hook_active", self.stop_hook_active);
        stop_facts(dialect, self.last_assistant_message, facts);
    }
}
