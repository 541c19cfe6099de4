//! Finds and reads hook configurations.
//!
//! [`load`] reads every layer of one dialect below explicit [`Roots`], so that no test touches
//! the real home folder. It never fails: what could not be read is a [`Diagnostic`], what stays in
//! force is a list of handlers in run order. Refusing to start on a broken file is the command's
//! policy, not the loader's.
//!
//! # How much is lost with one mistake
//!
//! What the real client drops is dropped here, and said (measured on both):
//!
//! | mistake | Claude Code drops | Codex drops |
//! |---|---|---|
//! | not JSON, comments, empty file | the file | the file (TOML: the session does not start) |
//! | byte-order mark | nothing | the file |
//! | handler of an unknown type, a field missing or of the wrong type | the handler | the file |
//! | matcher not a string, no `hooks` list | the group | the file |
//! | event that is no list | the event | the file |
//! | any of these under PreToolUse, PermissionRequest, PreSkillShellCommand | **the file** | the file |
//! | unknown event | the event | the event |
//! | unknown key of a handler or group | nothing | the key |
//! | unknown key beside `hooks` | nothing | the file |
//! | invalid regular expression | nothing; it never matches | the group |
//!
//! A diagnostic is [`Severity::Broken`] when the client drops or refuses
//! what it is about, a warning when something does not do what it looks like, and a note
//! otherwise. What loads and runs but is likely a mistake is [`lint`](crate::lint)'s subject.

mod claude;
mod claude_handler;
mod codex;
mod codex_handler;
mod codex_settings;
mod json;
mod layers;
mod lenient;
mod loading;
mod nearest;
mod part;
mod permissions;
mod policy;
mod projects;
mod report;
mod session;
mod source;
mod switch;
mod toml;
mod tree;
pub(crate) mod words;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::diagnostic::{Diagnostic, Position, Severity};
use crate::dialect::{Dialect, DialectId, Profile};
use crate::handler::{Handler, HandlerKey, Layer};
pub(crate) use layers::repository_root;
pub use loading::load;
pub(crate) use nearest::did_you_mean;
pub use nearest::nearest;
pub use permissions::{NoBypass, PermissionRule};
pub use projects::UnlistedProject;
pub use session::{FlagError, SessionFlags};
pub(crate) use source::{Source, read as read_source};
pub use switch::OFF_BY_STATE;

/// Where the layers live.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots {
    /// The user's home folder (`~/.claude/settings.json`).
    pub home: PathBuf,
    /// Codex's home (`$CODEX_HOME`, by default `~/.codex`).
    pub codex_home: PathBuf,
    /// The system's configuration folder (`/etc`); Codex's is `codex` below it.
    pub system: PathBuf,
    /// The session's start folder; Claude's project layer lives here and only here. Codex's live
    /// here and in every folder above it up to the repository's root.
    pub project: PathBuf,
    /// A file that replaces discovery (`--hooks-config`), never managed layers. TOML by its
    /// extension, otherwise JSON.
    pub explicit: Option<PathBuf>,
    /// Codex settings given on the command line.
    pub session: SessionFlags,
    /// What happens to the files of a project that Codex's `[projects]` does not list.
    pub unlisted: UnlistedProject,
    /// By which description of the dialects the files are read and the hooks run.
    pub profile: Profile,
    /// How long a hook may take that sets no `timeout`; `None` is its event's default. What an event
    /// allows at most still holds.
    pub default_timeout: Option<Duration>,
}

impl Roots {
    /// The usual places below a home folder and a project folder.
    #[must_use]
    pub fn new(home: impl Into<PathBuf>, project: impl Into<PathBuf>) -> Self {
        let home = home.into();
        Self {
            codex_home: home.join(".codex"),
            home,
            system: PathBuf::from("/etc"),
            project: project.into(),
            explicit: None,
            session: SessionFlags::default(),
            unlisted: UnlistedProject::default(),
            profile: Profile::default(),
            default_timeout: None,
        }
    }

    /// The same places as absolute paths: keys of handlers must not depend on where we stand.
    fn absolute(&self) -> Self {
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.into());
        Self {
            home: absolute(&self.home),
            codex_home: absolute(&self.codex_home),
            system: absolute(&self.system),
            project: absolute(&self.project),
            explicit: self.explicit.as_deref().map(absolute),
            session: self.session.clone(),
            unlisted: self.unlisted,
            profile: self.profile,
            default_timeout: self.default_timeout,
        }
    }
}

/// What became of one file that was looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileState {
    /// Not there; nothing is wrong with that.
    Absent,
    /// Read, all of it or the part that stays in force.
    Loaded,
    /// The real client would drop the whole file, and so did we.
    Broken,
    /// Read to be shown; its layer is not in force (`[projects]`, `allow_managed_hooks_only`).
    PassedOver,
}

/// One file that was looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFile {
    /// Its path.
    pub path: PathBuf,
    /// Its layer.
    pub layer: Layer,
    /// What became of it.
    pub state: FileState,
}

/// One entry of Codex's own `[hooks.state]`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CodexState {
    /// `trusted_hash`, as written.
    pub trusted_hash: Option<String>,
    /// `enabled`.
    pub enabled: Option<bool>,
}

/// A range of bytes in a file, end excluded.
pub type Span = (usize, usize);

/// Where the parts of one handler stand in its file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Places {
    /// The event's key.
    pub event: Span,
    /// The matcher group.
    pub group: Span,
    /// The handler object.
    pub handler: Span,
    /// The value of the group's `matcher`, when there is one.
    pub matcher: Option<Span>,
    /// The value of each key of the handler.
    pub fields: BTreeMap<String, Span>,
    /// Keys of the handler and its group that no client knows, with the place of the key.
    pub unknown: Vec<(String, Span)>,
}

/// Everything that was read for one dialect.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The dialect.
    pub dialect: DialectId,
    /// Where it was read from, as absolute paths.
    pub roots: Roots,
    /// Handlers in run order.
    pub handlers: Vec<Handler>,
    /// Findings, in reading order.
    pub diagnostics: Vec<Diagnostic>,
    /// Files that were looked for.
    pub files: Vec<ConfigFile>,
    /// Claude's settings `env`, nearest layer last applied.
    pub env: BTreeMap<String, String>,
    /// The same, layer by layer: variables of a project that nobody has trusted (`PATH`!) can
    /// change what the user's own hooks run.
    pub env_layers: Vec<(Layer, BTreeMap<String, String>)>,
    /// Claude's permission rules, farthest layer first.
    pub permissions: Vec<PermissionRule>,
    /// The file that forbids the mode `bypassPermissions`, if one does.
    pub no_bypass: Option<NoBypass>,
    /// What Codex's `[projects]` says about the session's folder: whether it is trusted.
    pub codex_project: Option<bool>,
    /// Codex's trust entries from the user's own configuration.
    pub codex_state: BTreeMap<HandlerKey, CodexState>,
    /// Where each handler stands in its file.
    pub places: BTreeMap<HandlerKey, Places>,
    /// The text of each file that was read, as it was then, for a caret under a finding.
    pub texts: BTreeMap<PathBuf, Arc<str>>,
}

impl Loaded {
    /// Nothing read yet.
    #[must_use]
    pub fn empty(dialect: DialectId, roots: Roots) -> Self {
        Self {
            dialect,
            roots,
            handlers: Vec::new(),
            diagnostics: Vec::new(),
            files: Vec::new(),
            env: BTreeMap::new(),
            env_layers: Vec::new(),
            permissions: Vec::new(),
            no_bypass: None,
            codex_project: None,
            codex_state: BTreeMap::new(),
            places: BTreeMap::new(),
            texts: BTreeMap::new(),
        }
    }

    /// The table of the dialect, in the profile it was read by.
    #[must_use]
    pub fn table(&self) -> &'static Dialect {
        self.dialect.profile(self.roots.profile)
    }

    /// Whether any file of this dialect is there, broken ones included.
    #[must_use]
    pub fn any_file(&self) -> bool {
        self.files.iter().any(|f| f.state != FileState::Absent)
    }

    /// Whether this dialect configures hooks here: there is a handler, or a file that may have
    /// held one and is broken.
    #[must_use]
    pub fn configures_hooks(&self) -> bool {
        let mut broken = self.broken();
        !self.handlers.is_empty()
            || self.files.iter().any(|f| f.state == FileState::Broken)
            || broken.any(|found| found.code == "invalid-matcher")
    }

    /// Whether the real client would not start a session: Codex does not with a TOML file that it
    /// cannot read, and then none of its hooks run (measured).
    #[must_use]
    pub fn refuses_start(&self) -> bool {
        let toml = |path: &Path| path.extension().is_some_and(|end| end == "toml");
        let mut broken = self.files.iter().filter(|it| it.state == FileState::Broken);
        self.dialect == DialectId::Codex && broken.any(|file| toml(&file.path))
    }

    /// The findings about what the real client would drop or refuse.
    pub fn broken(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics
            .iter()
            .filter(|found| found.severity == Severity::Broken)
    }

    /// Line and column of a byte of a file that was read.
    #[must_use]
    pub fn position(&self, file: &Path, offset: usize) -> Option<Position> {
        let text = self.texts.get(file)?;
        let body = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mark = text.len() - body.len();
        Some(Position::of(body, offset.saturating_sub(mark)))
    }
}

/// A TOML text as JSON, or what is wrong with it and where.
pub(crate) fn toml_as_json(text: &str) -> Result<serde_json::Value, (Position, String)> {
    match toml::parse(text) {
        Ok(root) => Ok(root.to_json()),
        Err(error) => Err((Position::of(text, error.offset), error.message)),
    }
}

/// Every key a Claude group, or a handler of this type, may have.
pub(crate) fn claude_keys(type_name: &str) -> Vec<&'static str> {
    let mut keys = claude_handler::known_keys(type_name);
    keys.extend(claude::GROUP_KEYS);
    keys
}
