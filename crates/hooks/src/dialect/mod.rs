//! What the two protocols say, as data: one [`EventRow`] per event.
//!
//! Facts come from measurements on Claude Code 2.1.332 and Codex 0.171.0 unless a row says
//! otherwise. Adding an event is adding a row (and a payload struct once something fires it).

pub(crate) mod claude;
mod codex;
mod seeds;

use std::fmt;
use std::time::Duration;

pub use claude::CLAUDE;
pub use codex::CODEX;
pub use seeds::{CLAUDE_SEEDS, CODEX_SEEDS};

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

    /// Its table, as measured on its client.
    #[must_use]
    pub fn table(self) -> &'static Dialect {
        match self {
            Self::Claude => &CLAUDE,
            Self::Codex => &CODEX,
        }
    }
}

impl DialectId {
    /// Its table in a profile.
    #[must_use]
    pub fn profile(self, profile: Profile) -> &'static Dialect {
        match (profile, self) {
            (Profile::Measured, _) => self.table(),
            (Profile::Seeds, Self::Claude) => &CLAUDE_SEEDS,
            (Profile::Seeds, Self::Codex) => &CODEX_SEEDS,
        }
    }
}

/// Which description of a dialect is in force, where there are two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Profile {
    /// As measured on the newest client.
    #[default]
    Measured,
    /// As the commission of this project describes it: Codex matchers are always regular
    /// expressions, `timeoutSec` is heard, output is read leniently, reasons are joined.
    Seeds,
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
    /// Which description of it.
    pub profile: Profile,
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
    /// How a hook's output is read.
    pub output: OutputStyle,
    /// How configuration files are read.
    pub config: ConfigStyle,
    /// The keys that set a handler's timeout, the first one first.
    pub timeout_keys: &'static [&'static str],
    /// Whether `async` handlers run, not awaited.
    pub background: bool,
    /// Whether a timeout is a failure of the hook (Codex) or a cancelled run (Claude).
    pub timeout_fails: bool,
    /// Further names under which matchers find a tool: `(tool, names)`.
    pub aliases: &'static [(&'static str, &'static [&'static str])],
    /// Over how many units a text for the model is moved to a file; see [`crate::spill`].
    pub spill: Spill,
    /// How matchers are read.
    pub matcher: MatcherStyle,
    /// How the input of an `mcp_tool` handler is filled in.
    pub placeholders: Placeholders,
    /// Tool names that exist at home, for suggestions.
    pub tools: &'static [&'static str],
}

impl Dialect {
    /// The names a matcher may call a tool by: its own first.
    #[must_use]
    pub fn tool_names<'a>(&self, tool: &'a str) -> Vec<&'a str>
    where
        'static: 'a,
    {
        let mut names = vec![tool];
        for (name, aliases) in self.aliases {
            if *name == tool {
                names.extend(aliases.iter().copied());
            }
        }
        names
    }

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
    /// All of them, as configured, joined by a blank line.
    Joined,
}

/// When a text is too long for the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spill {
    /// More than this many UTF-16 code units; a preview of the given size stays (Claude).
    Utf16 {
        /// The limit.
        limit: usize,
        /// Units of preview.
        preview: usize,
    },
    /// More than this many tokens of four bytes; head and tail stay (Codex). A handler's
    /// `additionalContextLimit` replaces the number for its contexts.
    Tokens {
        /// The limit.
        limit: usize,
    },
}

/// How a hook's output is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputStyle {
    /// One JSON object decides on any exit code; what is not valid is dropped whole.
    Claude,
    /// Strictly: what does not fit the event makes the run fail.
    Codex,
    /// Standard output counts on exit 0 only, and what does not fit is passed over field by field.
    Lenient,
}

/// How configuration files are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigStyle {
    /// With the losses of the client.
    Client,
    /// What is malformed is passed over; an invalid matcher costs the file.
    Lenient,
}

/// How matchers are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatcherStyle {
    /// Letters, digits, `_`, `-`, space, `,`, `|`: a list split at `|` and `,`, trimmed, exact.
    /// Otherwise an unanchored ECMAScript regular expression.
    Claude,
    /// Letters, digits, `_`, `|`: a list split at `|`, exact. Otherwise an unanchored Rust regex.
    Codex,
    /// Always an unanchored Rust regex.
    Regex,
}

/// How `${path.to.field}` in the input of an `mcp_tool` handler is filled in from the payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placeholders {
    /// One that names nothing makes the run fail; a value that stands alone keeps its type (Codex).
    Strict,
    /// One that names nothing is empty; an object or list becomes its JSON text (Claude).
    Lenient,
}

/// Which field of the payload a matcher is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// `tool_name`, under all of its names.
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

impl HandlerTypes {
    /// Whether handlers of this configured type run.
    #[must_use]
    pub fn runs(self, type_name: &str) -> bool {
        match type_name {
            "command" => self.command,
            "http" => self.http,
            "mcp_tool" => self.mcp_tool,
            "prompt" => self.prompt,
            "agent" => self.agent,
            _ => false,
        }
    }
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
    /// Its last line is a path.
    Path,
}

/// What a refusal (exit 2, `decision: block`, a deny) does at an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The tool call, permission, task or switch is refused.
    Deny,
    /// The prompt or compaction is kept out, feedback reaches the model, the turn goes on.
    Block,
    /// The turn ends.
    EndTurn,
    /// Only recorded: the run counts as failed with the reason as its error.
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
    /// Makes the hook's run fail (Codex).
    Fails,
}

/// What the error of a run with a bad exit code says (Codex; Claude always shows stderr).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitText {
    /// `hook exited with code N`.
    Code,
    /// Standard error, or the code when there is none.
    StderrOrCode,
    /// Standard error, or nothing; also on exit 0.
    Stderr,
}

/// The type of a field in a hook's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A string.
    Text,
    /// A boolean.
    Flag,
    /// A list of strings.
    TextList,
    /// An object.
    Object,
    /// Anything, `null` included.
    Any,
    /// One of these strings.
    OneOf(&'static [&'static str]),
    /// A PermissionRequest decision: `{behavior, ...}`.
    Permission,
}

/// A field of `hookSpecificOutput`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub kind: Kind,
}

const fn field(name: &'static str, kind: Kind) -> Field {
    Field { name, kind }
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
    /// Which handlers run at home.
    pub types: HandlerTypes,
    /// Timeouts of command handlers.
    pub timeouts: Timeouts,
    /// Plain text on standard output.
    pub plain: Plain,
    /// What exit 2 does.
    pub exit2: Refusal,
    /// What `decision: block` or a deny on standard output does.
    pub block: Refusal,
    /// What a failure of a handler with `onFailure: block` does.
    pub on_failure: Refusal,
    /// What `continue: false` does.
    pub halting: Halting,
    /// Fields of `hookSpecificOutput` besides `hookEventName`; `None` when the event has no such
    /// object.
    pub specific: Option<&'static [Field]>,
    /// Values of the top-level `decision`; empty when the event has none (Codex refuses it then).
    pub decisions: &'static [&'static str],
    /// Universal output fields that are accepted.
    pub universals: &'static [&'static str],
    /// Universal output fields that make the run fail when they say something (Codex).
    pub unsupported: &'static [&'static str],
    /// Keys of the payload in their order; a trailing `?` marks those that may be absent.
    pub keys: &'static [&'static str],
    /// Whether `if` conditions are looked at (a handler with one never runs elsewhere).
    pub conditions: bool,
    /// Standard output is not read at all.
    pub output_ignored: bool,
    /// A context makes the turn go on (Claude Stop and SubagentStop).
    pub context_continues: bool,
    /// A blocking run keeps its reason only: its contexts and messages go with the prompt.
    pub block_drops_rest: bool,
    /// Exit 2 with a "no such file" on standard error and nothing on standard output is a failure,
    /// not a refusal.
    pub missing_script_passes: bool,
    /// A timeout refuses (Claude PreModelSwitch).
    pub timeout_refuses: bool,
    /// Any exit code but 0 refuses (Claude Worktree events).
    pub any_exit_refuses: bool,
    /// The first decision to arrive wins and ends the other runs (Claude PermissionRequest).
    pub first_decision_wins: bool,
    /// Reasons are trimmed (Codex, event by event).
    pub trims_reason: bool,
    /// How error texts name the event's output (Codex).
    pub noun: &'static str,
    /// What exit 2 without standard error lacks (Codex).
    pub exit2_lacks: &'static str,
    /// What the error of a bad exit code says.
    pub exit_text: ExitText,
}

const COMMAND_ONLY: HandlerTypes = HandlerTypes {
    command: true,
    http: false,
    mcp_tool: false,
    prompt: false,
    agent: false,
};

/// A row that says nothing yet: command handlers run for up to ten minutes, and no output has an
/// effect. Each dialect starts its own rows from it.
const NEUTRAL: EventRow = EventRow {
    name: "",
    snake: "",
    when: "",
    subject: Subject::Ignored,
    subjects: &[],
    types: COMMAND_ONLY,
    timeouts: Timeouts {
        default: Duration::from_secs(600),
        max: None,
    },
    plain: Plain::Ignored,
    exit2: Refusal::Nothing,
    block: Refusal::Nothing,
    on_failure: Refusal::Nothing,
    halting: Halting::Ignored,
    specific: None,
    decisions: &[],
    universals: &[],
    unsupported: &[],
    keys: &[],
    conditions: false,
    output_ignored: false,
    context_continues: false,
    block_drops_rest: false,
    missing_script_passes: false,
    timeout_refuses: false,
    any_exit_refuses: false,
    first_decision_wins: false,
    trims_reason: false,
    noun: "",
    exit2_lacks: "",
    exit_text: ExitText::Code,
};

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_event_of_both_clients_has_one_row() {
        assert_eq!(CLAUDE.events.len(), 34);
        assert_eq!(CODEX.events.len(), 14);
        for dialect in DialectId::ALL {
            let names: HashSet<_> = dialect.table().events.iter().map(|row| row.name).collect();
            assert_eq!(
                names.len(),
                dialect.table().events.len(),
                "{dialect}: no name twice"
            );
        }
    }

    #[test]
    fn snake_names_are_the_names_in_snake_case() {
        for row in DialectId::ALL.iter().flat_map(|d| d.table().events) {
            let mut snake = String::new();
            for (i, c) in row.name.char_indices() {
                if c.is_uppercase() && i > 0 {
                    snake.push('_');
                }
                snake.extend(c.to_lowercase());
            }
            assert_eq!(row.snake, snake);
        }
    }

    #[test]
    fn every_payload_names_its_event_and_its_subject() {
        for row in DialectId::ALL.iter().flat_map(|d| d.table().events) {
            let has = |key: &str| row.keys.iter().any(|k| k.trim_end_matches('?') == key);
            assert!(has("hook_event_name"), "{}", row.name);
            match row.subject {
                Subject::Tool => assert!(has("tool_name"), "{}", row.name),
                Subject::Field(key) | Subject::BaseName(key) => assert!(has(key), "{}", row.name),
                Subject::Ignored => {}
            }
        }
    }
}
