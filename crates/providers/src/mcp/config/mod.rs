//! Which servers there are, read from the files of both clients.
//!
//! | file | whose | what is read |
//! |---|---|---|
//! | `.mcp.json` in the project | Claude Code's | `mcpServers.NAME`: `command`, `args`, `env`, `cwd` |
//! | `config.toml` in `$CODEX_HOME`, or in any folder | Codex's | `[mcp_servers.NAME]`: the same, `env_vars`, timeouts, which tools |
//!
//! A part that cannot be used costs its server and is a [`Problem`] with file, line and column. The
//! server stays in the list with the reason, so that a call to it fails with that and not as if
//! nobody had heard of it.

mod expand;
mod read;
mod tree;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use self::read::Reader;

/// The file of a project.
pub const PROJECT_FILE: &str = ".mcp.json";

/// What the servers of a client get where the file is silent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Defaults {
    startup: Duration,
    call: Duration,
}

/// Documented: Claude Code gives a server 30 s to start. That a call has ten minutes is our choice,
/// as long as a hook has: the client waits for days.
const CLAUDE: Defaults = Defaults {
    startup: Duration::from_secs(30),
    call: Duration::from_secs(600),
};

/// Documented by Codex.
const CODEX: Defaults = Defaults {
    startup: Duration::from_secs(10),
    call: Duration::from_secs(60),
};

/// Documented by Codex: all that its servers inherit, beside what `env_vars` names.
const CODEX_INHERITS: [&str; 11] = [
    "HOME",
    "LOGNAME",
    "PATH",
    "SHELL",
    "USER",
    "__CF_USER_TEXT_ENCODING",
    "LANG",
    "LC_ALL",
    "TERM",
    "TMPDIR",
    "TZ",
];

/// How one server is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// Its name in the file.
    pub name: String,
    /// Where it is configured.
    pub place: Place,
    /// The program: a path (relative to the folder it runs in), or a name that is looked up in `PATH`.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables it gets.
    pub env: BTreeMap<String, String>,
    /// Variables of ours it gets besides.
    pub inherits: Inherits,
    /// The folder it runs in, where it is not the project.
    pub cwd: Option<PathBuf>,
    /// How long it may take to start and to list its tools.
    pub startup_timeout: Duration,
    /// How long one call may take.
    pub call_timeout: Duration,
    /// Which of its tools the model is offered.
    pub offered: Offered,
}

/// Which variables of our own a server inherits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inherits {
    /// All.
    All,
    /// These.
    Only(Vec<String>),
}

impl Inherits {
    /// Whether a variable is inherited.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => names.iter().any(|known| known == name),
        }
    }
}

/// Which tools of a server the model is offered (`enabled_tools`, `disabled_tools`). Hooks may ask
/// the others.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Offered {
    /// These and no others.
    pub only: Option<Vec<String>>,
    /// Not these.
    pub without: Vec<String>,
}

impl Offered {
    /// Whether a tool is offered.
    #[must_use]
    pub fn has(&self, tool: &str) -> bool {
        let named = |names: &Vec<String>| names.iter().any(|known| known == tool);
        self.only.as_ref().is_none_or(named) && !named(&self.without)
    }
}

/// A place in a file; line and column count from 1, columns count characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file.
    pub file: PathBuf,
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl Place {
    fn of(file: &Path, text: &str, offset: usize) -> Self {
        let bounds = (0..=offset.min(text.len())).rev();
        let end = bounds.into_iter().find(|at| text.is_char_boundary(*at));
        let before = text.get(..end.unwrap_or(0)).unwrap_or_default();
        Self {
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before.rsplit('\n').next().unwrap_or("").chars().count() + 1,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file.display(), self.line, self.column)
    }
}

/// Something that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub place: Place,
    /// The same in bytes of the file, start and end.
    pub span: (usize, usize),
    /// The server it costs; none where it costs the whole file.
    pub server: Option<String>,
    /// What is wrong, with the value.
    pub message: String,
    /// Whether it is wrong at all, or only something that we cannot do.
    pub kind: ProblemKind,
}

/// What kind of a [`Problem`] it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemKind {
    /// The client would not take it either.
    Broken,
    /// It is fine, and not supported.
    Unsupported,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place)?;
        if let Some(server) = &self.server {
            write!(f, "MCP server {server:?}: ")?;
        }
        f.write_str(&self.message)
    }
}

/// What one file says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Configured {
    /// The servers that can be started, in the order of the file.
    pub servers: Vec<ServerConfig>,
    /// What cannot be used, in the order of the file.
    pub problems: Vec<Problem>,
}

impl Configured {
    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty() && self.problems.is_empty()
    }
}

/// Reads the `.mcp.json` of a project; none is nothing. `variable` looks up `${NAME}`;
/// `CLAUDE_PROJECT_DIR` is the project in any case.
#[must_use]
pub fn read_project(project: &Path, variable: &dyn Fn(&str) -> Option<String>) -> Configured {
    let file = project.join(PROJECT_FILE);
    let root = project.to_string_lossy().into_owned();
    let variable = |name: &str| match name {
        "CLAUDE_PROJECT_DIR" => Some(root.clone()),
        name => variable(name),
    };
    let reader = Reader::new(&file, CLAUDE);
    let milliseconds = |name: &str| variable(name)?.trim().parse().ok();
    let reader = reader
        .startup(milliseconds("MCP_TIMEOUT").map(Duration::from_millis))
        .call(milliseconds("MCP_TOOL_TIMEOUT").map(Duration::from_millis));
    let mut configured = from_file(&file, |text| reader.project(text, &variable));
    for server in &mut configured.servers {
        let given = server.env.entry("CLAUDE_PROJECT_DIR".to_owned());
        given.or_insert_with(|| root.clone());
    }
    configured
}

/// Reads the `[mcp_servers]` of Codex's `config.toml`; no file is nothing.
#[must_use]
pub fn read_codex(codex_home: &Path) -> Configured {
    read_toml(&codex_home.join("config.toml"))
}

/// Reads `[mcp_servers]` of any file, in the form of Codex's; no file is nothing.
#[must_use]
pub fn read_toml(file: &Path) -> Configured {
    from_file(file, |text| Reader::new(file, CODEX).codex(text))
}

fn from_file(file: &Path, read: impl FnOnce(&str) -> Configured) -> Configured {
    match std::fs::read_to_string(file) {
        Ok(text) => read(&text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Configured::default(),
        Err(error) => Configured {
            servers: Vec::new(),
            problems: vec![Problem {
                place: Place::of(file, "", 0),
                span: (0, 0),
                server: None,
                message: format!("cannot be read: {error}"),
                kind: ProblemKind::Broken,
            }],
        },
    }
}

#[cfg(test)]
mod tests;
