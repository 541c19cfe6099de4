//! What the two protocols say, as data: one [`EventRow`] per event.
//!
//! Facts come from measurements on Claude Code 2.1.332 and Codex 0.171.0 unless a row says
//! otherwise. Adding an event is adding a row (and a payload struct once something fires it).

mod claude;
mod codex;

use std::fmt;
use std::time::Duration;

pub use claude::CLAUDE;
pub use codex::CODEX;

/// The dialects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DialectId {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
}

impl DialectId {
    /// Both, in the order their bridges register.
    pub const ALL: [Self; 2] = [Self::Claude, Self::Codex];

    /// The word on the command line, in logs and in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }

    /// Its table.
    #[must_use]
    pub fn table(self) -> &'static Dialect {
        match self {
            Self::Claude => &CLAUDE,
            Self::Codex => &CODEX,
        }
    }
}

impl fmt::Display for DialectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One protocol.
#[derive(Debug)]
pub struct Dialect {
    /// Which.
    pub id: DialectId,
    /// The client the rows were measured on.
    pub measured_on: &'static str,
    /// Its events, in the order in which one file's events run (Codex) or are documented (Claude).
    pub events: &'static [EventRow],
    /// TERM, wait this long, KILL; `None` is KILL at once.
    pub term_grace: Option<Duration>,
    /// Whether a newline follows the payload on standard input.
    pub trailing_newline: bool,
    /// Whether handlers that are equal run once.
    pub dedupe: bool,
    /// Whose order contexts and notices keep.
    pub context_order: Order,
    /// Which reason speaks for several denials.
    pub reason: ReasonPick,
    /// Whether a timeout is a failure of the hook (Codex) or a cancelled run (Claude).
    pub timeout_fails: bool,
    /// Tool names that match the same tool, beside its own name: `(name, aliases)`.
    pub aliases: &'static [(&'static str, &'static [&'static str])],
    /// How matchers are read.
    pub matcher: MatcherStyle,
    /// Tool names that exist at home, for suggestions.
    pub tools: &'static [&'static str],
}

impl Dialect {
    /// The row of an event, by its exact name.
    #[must_use]
    pub fn event(&self, name: &str) -> Option<&'static EventRow> {
        self.events.iter().find(|row| row.name == name)
    }
}

/// Whose order a list keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// As configured.
    Configured,
    /// As they finished.
    Finished,
}

/// Which reason speaks for several denials of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasonPick {
    /// First as configured.
    FirstConfigured,
    /// The last to finish.
    LastFinished,
}

/// How matchers are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatcherStyle {
    /// Letters, digits, `_`, `-`, space, `,`, `|`: a list split at `|` and `,`, trimmed, exact.
    /// Otherwise an unanchored ECMAScript regular expression.
    Claude,
    /// Letters, digits, `_`, `|`: a list split at `|`, exact. Otherwise an unanchored Rust regex.
    Codex,
    /// The profile `seeds` of Codex: always an unanchored regular expression.
    AlwaysRegex,
}

/// Which field of the payload a matcher is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// `tool_name` with the dialect's aliases.
    Tool,
    /// A string field of the payload.
    Field(&'static str),
    /// The last component of a path field.
    BaseName(&'static str),
    /// Matchers are ignored, even invalid ones.
    Ignored,
}

/// The handler types that run for an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandlerTypes {
    /// `command`.
    pub command: bool,
    /// `http`.
    pub http: bool,
    /// `mcp_tool`.
    pub mcp_tool: bool,
    /// `prompt`.
    pub prompt: bool,
    /// `agent`.
    pub agent: bool,
}

/// What plain text on standard output means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plain {
    /// Nothing.
    Ignored,
    /// Context for the model.
    Context,
    /// The run failed.
    Fails,
    /// Appended to the compaction instructions.
    Instructions,
    /// The last line is a path.
    Path,
}

/// What a refusal (exit 2, `decision: block`) does at an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The tool call, permission, task or switch is refused.
    Deny,
    /// The prompt, compaction or change is kept out; feedback reaches the model; the turn goes on.
    Block,
    /// The turn ends.
    EndTurn,
    /// Only recorded: the run counts as failed with the reason as its error, nothing else happens.
    Recorded,
    /// Not an effect at all.
    Nothing,
}

/// What `continue: false` does at an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Halting {
    /// The run ends.
    EndsRun,
    /// The tool's output is replaced by the reason; the turn goes on (Codex PostToolUse).
    ReplacesOutput,
    /// Accepted without effect.
    Ignored,
    /// Makes the run fail (Codex).
    Fails,
}

/// How long a handler may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// When the handler says nothing.
    pub default: Duration,
    /// No more than this, whatever it says.
    pub max: Option<Duration>,
}

/// One event of one protocol.
#[derive(Debug)]
pub struct EventRow {
    /// As configured and as in `hook_event_name`.
    pub name: &'static str,
    /// As in keys of handlers.
    pub snake: &'static str,
    /// When it fires, in one line.
    pub when: &'static str,
    /// What a matcher is compared with.
    pub subject: Subject,
    /// The values the subject can have, for suggestions; empty when they are open.
    pub subjects: &'static [&'static str],
    /// Which handlers run.
    pub types: HandlerTypes,
    /// Timeouts.
    pub timeouts: Timeouts,
    /// Plain text on standard output.
    pub plain: Plain,
    /// What exit 2 does.
    pub exit2: Refusal,
    /// What `decision: block` (and deny) does.
    pub block: Refusal,
    /// What `continue: false` does.
    pub halting: Halting,
    /// Fields of `hookSpecificOutput` that are honoured; `None` when the event has no such object.
    pub specific: Option<&'static [&'static str]>,
    /// Keys of the payload in their order; a trailing `?` marks those that may be absent.
    pub keys: &'static [&'static str],
    /// Whether `if` conditions are looked at (a handler with one never runs elsewhere).
    pub conditions: bool,
}
