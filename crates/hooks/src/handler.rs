//! One configured hook handler, with where it came from.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::diagnostic::Position;
use crate::dialect::{Dialect, DialectId, Profile};

/// The name of a handler: `<source path>:<snake_case event>:<group index>:<handler index>`.
///
/// It is Codex's own positional key, used for both dialects, so that a line of a trace, an entry
/// of the trust store and `hooks list` speak of the same thing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HandlerKey(pub String);

impl HandlerKey {
    /// What stands before event, group and handler: the source as the client names it, which is
    /// the file but for Codex's managed folder and session flags.
    #[must_use]
    pub fn source(&self) -> &str {
        self.0.rsplitn(4, ':').last().unwrap_or_default()
    }
}

impl fmt::Display for HandlerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which configuration layer a handler was read from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Layer {
    /// Managed by an organisation; nobody below can take it away.
    Managed,
    /// The system folder (Codex's `/etc/codex`).
    System,
    /// The user's own file in the home folder.
    User,
    /// A file in the project that is shared through version control.
    Project,
    /// The project's `.claude/settings.local.json`.
    Local,
    /// A file named on the command line (`--hooks-config`).
    Explicit,
    /// Settings given on the command line (Codex's session flags, `-c key=value`).
    Session,
    /// A plugin, by name.
    Plugin(String),
}

impl Layer {
    /// The word shown in lists and JSON.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Managed => "managed",
            Self::System => "system",
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
            Self::Explicit => "explicit",
            Self::Session => "session",
            Self::Plugin(_) => "plugin",
        }
    }

    /// Whether handlers of this layer come with a repository and so need the user's trust.
    #[must_use]
    pub fn comes_with_project(&self) -> bool {
        matches!(self, Self::Project | Self::Local)
    }

    /// Whether an organisation stands behind it: always trusted, taken away by nobody below, and
    /// refused when it is broken.
    #[must_use]
    pub fn is_managed(&self) -> bool {
        matches!(self, Self::Managed | Self::System)
    }
}

/// How a command is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandAction {
    /// The command as written: a shell text, or the program when `args` is there.
    pub command: String,
    /// Claude's exec form: no shell, placeholders replaced element by element.
    pub args: Option<Vec<String>>,
    /// Claude's `shell` field as written (`bash`, `powershell`).
    pub shell: Option<String>,
    /// Codex's `commandWindows`, kept to be listed as unused here.
    pub command_windows: Option<String>,
}

/// What a handler does when it fires.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Starts a process.
    Command(CommandAction),
    /// Posts the payload to a URL (Claude).
    Http {
        /// Where to.
        url: String,
        /// Headers as written, before variables are filled in.
        headers: BTreeMap<String, String>,
        /// The variables that headers may name (`allowedEnvVars`); others become empty.
        allowed_env: Vec<String>,
    },
    /// Calls a tool of an MCP server.
    McpTool {
        /// Name of the configured server.
        server: String,
        /// Name of the tool there.
        tool: String,
        /// Arguments as written, before placeholders are filled in.
        input: Option<serde_json::Value>,
    },
    /// Asks a model for a judgement.
    Prompt {
        /// The prompt as written.
        prompt: String,
        /// The model that judges; `None` is the client's choice.
        model: Option<String>,
        /// Whether a refusal is fed back instead of ending the turn.
        continue_on_block: bool,
    },
    /// Asks a subagent for a judgement.
    Agent {
        /// The prompt as written.
        prompt: String,
        /// The model that judges; `None` is the client's choice.
        model: Option<String>,
    },
}

impl Action {
    /// The `type` word of the configuration.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Command(_) => "command",
            Self::Http { .. } => "http",
            Self::McpTool { .. } => "mcp_tool",
            Self::Prompt { .. } => "prompt",
            Self::Agent { .. } => "agent",
        }
    }

    /// One line that names the action: the command, URL, `server/tool` or prompt.
    #[must_use]
    pub fn summary(&self) -> String {
        match self {
            Self::Command(c) => match &c.args {
                Some(args) if !args.is_empty() => format!("{} {}", c.command, args.join(" ")),
                _ => c.command.clone(),
            },
            Self::Http { url, .. } => url.clone(),
            Self::McpTool { server, tool, .. } => format!("{server}/{tool}"),
            Self::Prompt { prompt, .. } | Self::Agent { prompt, .. } => prompt.clone(),
        }
    }
}

/// Whether the event waits for the handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Background {
    /// Awaited.
    #[default]
    No,
    /// `async: true`.
    Async,
    /// Claude's `asyncRewake: true`.
    AsyncRewake,
}

/// What a failure of the handler itself means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnFailure {
    /// The action goes on, as both clients do by default.
    #[default]
    Continue,
    /// The failure counts as a denial.
    Block,
}

/// One handler as configured.
#[derive(Debug, Clone, PartialEq)]
pub struct Handler {
    /// Positional name.
    pub key: HandlerKey,
    /// Whose protocol it speaks.
    pub dialect: DialectId,
    /// Which description of the protocol it was read by.
    pub profile: Profile,
    /// Event name as the dialect spells it; always a row of the dialect's table.
    pub event: &'static str,
    /// The layer the file belongs to.
    pub layer: Layer,
    /// The file.
    pub source: PathBuf,
    /// Where in the file the handler object starts.
    pub position: Position,
    /// Index of the matcher group within its event.
    pub group: usize,
    /// Index of the handler within its group.
    pub index: usize,
    /// The group's matcher as written; `None` when absent or null.
    pub matcher: Option<String>,
    /// What it does.
    pub action: Action,
    /// Configured timeout after the dialect's normalisation; `None` means the event's default.
    pub timeout: Option<Duration>,
    /// What counts instead of the event's default ([`Roots::default_timeout`](crate::config::Roots)); no
    /// part of the file, and so of no hash.
    pub default_timeout: Option<Duration>,
    /// Claude's `if`, as written.
    pub condition: Option<String>,
    /// Awaited or not.
    pub background: Background,
    /// Claude's `once`.
    pub once: bool,
    /// Text shown while it runs.
    pub status_message: Option<String>,
    /// Codex's `additionalContextLimit`, in tokens; 0 lifts the limit.
    pub context_limit: Option<u64>,
    /// What its failure means.
    pub on_failure: OnFailure,
    /// Set when a setting turns it off (`disableAllHooks`, `[features] hooks = false`,
    /// `enabled = false`, `trust_level = "untrusted"`, `allow_managed_hooks_only`): the words that
    /// say which.
    pub disabled: Option<String>,
    /// Plugin variables replaced in the command and exported, in order of replacement.
    pub variables: BTreeMap<String, String>,
}

impl Handler {
    /// The table of its dialect, in its profile.
    #[must_use]
    pub fn table(&self) -> &'static Dialect {
        self.dialect.profile(self.profile)
    }

    /// How long it may take.
    #[must_use]
    pub fn time_limit(&self) -> Duration {
        let Some(row) = self.table().event(self.event) else {
            return self.timeout.unwrap_or_default();
        };
        let timeout = self.timeout.or(self.default_timeout);
        let timeout = timeout.unwrap_or(row.timeouts.default);
        row.timeouts.max.map_or(timeout, |max| timeout.min(max))
    }

    /// A handler with every option at its default, first of its event in its file.
    #[must_use]
    pub fn new(
        key: HandlerKey,
        dialect: DialectId,
        event: &'static str,
        layer: Layer,
        source: PathBuf,
        action: Action,
    ) -> Self {
        Self {
            key,
            dialect,
            profile: Profile::default(),
            event,
            layer,
            source,
            position: Position { line: 1, column: 1 },
            group: 0,
            index: 0,
            matcher: None,
            action,
            timeout: None,
            default_timeout: None,
            condition: None,
            background: Background::No,
            once: false,
            status_message: None,
            context_limit: None,
            on_failure: OnFailure::Continue,
            disabled: None,
            variables: BTreeMap::new(),
        }
    }
}
