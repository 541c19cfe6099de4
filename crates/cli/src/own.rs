//! seamline's own configuration: `$XDG_CONFIG_HOME/seamline/config.toml` and, in a project,
//! `.seamline/config.toml`.
//!
//! ```toml
//! [hooks.codex]                     # and [hooks.claude]
//! config = "~/hooks/codex.json"     # read instead of your own and the project's hook files
//! model = "gpt-5"                   # what payloads call the model
//! default_timeout = 30              # seconds, for hooks that set none
//! stderr_summary = 500              # characters of standard error that the log keeps of a run
//! stop_cap = 50                     # how often in a row Stop hooks may go on; 0: as often as they like
//!
//! [models.ollama]                   # a server that is known, or a name of your own
//! base_url = "http://gpu:11434/v1"  # everything before /chat/completions
//! key_env = "GPU_KEY"               # the variable with the key
//! idle_timeout = 600                # seconds without a sign of life
//! share_key = true                  # hooks, tools and MCP servers may see that variable
//! ```
//!
//! A key that is not known, or whose value is not what it should be, is an error with its place. What a
//! project's file says counts under `--trust-project-hooks` only: it could take your own hooks away.
//! What it says of models never counts: it could send your key elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::io::ErrorKind;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use seamline_hooks::{Diagnostic, DialectId, Position, Severity};
use seamline_providers::chat::presets::{PRESETS, Preset};
use serde::de::{Error, IgnoredAny, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

use crate::error::CliError;
use crate::output;
use crate::places::Places;
use crate::render::caret::Pointer;

/// The file in a project.
pub(crate) const PROJECT_FILE: &str = ".seamline/config.toml";

const HELP: &str = "[hooks.claude] and [hooks.codex] know `config` (a path), `model`, `default_timeout` \
                    (seconds), `stderr_summary` (characters, from 1) and `stop_cap` (0: no cap); [models.NAME] knows \
                    `base_url`, `key_env` (the name of a variable), `idle_timeout` (seconds) and `share_key`";

/// What the files say together; the project's, where it counts, over the user's.
#[derive(Debug, Clone, Default)]
pub(crate) struct Own {
    hooks: Hooks,
    models: BTreeMap<String, ModelOptions>,
    /// Whether the project's file says something that does not count.
    left_out: bool,
    /// Whether it says something of models, which never counts.
    models_left_out: bool,
}

/// What may be set about one server of models.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ModelOptions {
    /// Everything before `/chat/completions`.
    pub(crate) base_url: Option<String>,
    /// The variable with the key.
    #[serde(deserialize_with = "variable")]
    pub(crate) key_env: Option<String>,
    /// How long nothing may come of an answer.
    #[serde(deserialize_with = "seconds")]
    pub(crate) idle_timeout: Option<Duration>,
    /// Whether hooks, tools and MCP servers may see the key.
    share_key: bool,
}

/// What may be set about one protocol's hooks.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct HookOptions {
    /// Read instead of the files that are looked for.
    pub(crate) config: Option<PathBuf>,
    /// What payloads call the model.
    #[serde(deserialize_with = "named")]
    pub(crate) model: Option<String>,
    /// For hooks that set no timeout.
    #[serde(deserialize_with = "seconds")]
    pub(crate) default_timeout: Option<Duration>,
    /// The longest summary of standard error in the log.
    #[serde(deserialize_with = "characters")]
    pub(crate) stderr_summary: Option<NonZeroUsize>,
    /// How often in a row Stop hooks may go on.
    pub(crate) stop_cap: Option<u32>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Hooks {
    claude: HookOptions,
    codex: HookOptions,
}

/// One file. Servers are read by whoever starts them.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    hooks: Hooks,
    models: BTreeMap<String, ModelOptions>,
    #[serde(rename = "mcp_servers")]
    _mcp_servers: Option<IgnoredAny>,
}

impl Own {
    /// Reads both files.
    pub(crate) fn read(places: &Places, trust_project: bool) -> Result<Self, CliError> {
        let own = read(&places.own_file(), places, None)?;
        let project = places.roots.project.as_path();
        let theirs = read(&project.join(PROJECT_FILE), places, Some(project))?;
        let (left_out, hooks) = match trust_project {
            true => (false, own.hooks.over_by(theirs.hooks)),
            false => (theirs.hooks != Hooks::default(), own.hooks),
        };
        Ok(Self {
            hooks,
            models: own.models,
            left_out,
            models_left_out: !theirs.models.is_empty(),
        })
    }

    /// What does not count, or takes other files' place, in words for the user.
    pub(crate) fn notes(&self, places: &Places) -> Vec<String> {
        let left_out = format!(
            "[hooks] of {PROJECT_FILE} is left out, since the project is not trusted; \
             --trust-project-hooks takes it for this once"
        );
        let instead = DialectId::ALL.into_iter().filter_map(|dialect| {
            let file = places.show(self.of(dialect).config.as_ref()?);
            Some(format!(
                "hooks of {dialect} are read from {file}, and your own and the project's files are not \
                 (`config` in [hooks.{dialect}])"
            ))
        });
        let left_out = self.left_out.then_some(left_out);
        let own = places.show(&places.own_file());
        let models = format!(
            "[models] of {PROJECT_FILE} is left out: where your keys are sent is said in {own} alone"
        );
        let models = self.models_left_out.then_some(models);
        left_out.into_iter().chain(models).chain(instead).collect()
    }

    /// What is configured of a server of models.
    pub(crate) fn model(&self, name: &str) -> Option<&ModelOptions> {
        self.models.get(name)
    }

    /// The names of configured servers of models.
    pub(crate) fn model_names(&self) -> impl Iterator<Item = &str> {
        self.models.keys().map(String::as_str)
    }

    /// The variables with keys of models, which nobody else gets to see.
    pub(crate) fn hidden_variables(&self) -> BTreeSet<String> {
        let preset = |name: &str| Preset::named(name)?.key_env;
        let of = |name: &str| {
            let options = self.models.get(name);
            let own = options.and_then(|options| options.key_env.clone());
            own.or_else(|| preset(name).map(str::to_owned))
        };
        let presets = PRESETS.iter().map(|preset| preset.name);
        let hidden = presets.chain(self.model_names()).filter_map(of);
        let shared = self.models.iter().filter(|(_, options)| options.share_key);
        let shared: BTreeSet<String> = shared.filter_map(|(name, _)| of(name)).collect();
        hidden.filter(|name| !shared.contains(name)).collect()
    }

    /// Our own variables without those.
    pub(crate) fn environment(&self) -> Vec<(OsString, OsString)> {
        let hidden = self.hidden_variables();
        let is_hidden = |name: &OsString| name.to_str().is_some_and(|name| hidden.contains(name));
        let all = std::env::vars_os();
        all.filter(|(name, _)| !is_hidden(name)).collect()
    }

    /// The options of one protocol.
    pub(crate) fn of(&self, dialect: DialectId) -> &HookOptions {
        self.hooks.of(dialect)
    }

    /// Shows the notes on standard error.
    pub(crate) fn tell(&self, places: &Places) {
        for note in self.notes(places) {
            output::diagnostic(&format!("note: {note}\n"));
        }
    }

    /// The same, with hook files looked for in the usual places.
    pub(crate) fn in_usual_places(&self) -> Self {
        let mut usual = self.clone();
        usual.hooks.claude.config = None;
        usual.hooks.codex.config = None;
        usual
    }
}

impl Hooks {
    fn of(&self, dialect: DialectId) -> &HookOptions {
        match dialect {
            DialectId::Claude => &self.claude,
            DialectId::Codex => &self.codex,
        }
    }

    fn over_by(self, nearer: Self) -> Self {
        Self {
            claude: self.claude.over_by(nearer.claude),
            codex: self.codex.over_by(nearer.codex),
        }
    }
}

impl HookOptions {
    fn over_by(self, nearer: Self) -> Self {
        Self {
            config: nearer.config.or(self.config),
            model: nearer.model.or(self.model),
            default_timeout: nearer.default_timeout.or(self.default_timeout),
            stderr_summary: nearer.stderr_summary.or(self.stderr_summary),
            stop_cap: nearer.stop_cap.or(self.stop_cap),
        }
    }
}

/// One file's options; none is nothing. Paths of a project's file are relative to the `project`; in the
/// user's own they are not relative, or each project would choose the file.
fn read(file: &Path, places: &Places, project: Option<&Path>) -> Result<File, CliError> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(File::default());
        }
        Err(source) => {
            let path = file.to_path_buf();
            return Err(CliError::Unreadable { path, source });
        }
    };
    let parsed: Result<File, _> = toml_edit::de::from_str(&text);
    let wrong = |span, message: &str| wrong(file, &text, span, message, places);
    let mut parsed = parsed.map_err(|error| wrong(error.span(), error.message()))?;
    let hooks = &mut parsed.hooks;
    for (name, options) in [("claude", &mut hooks.claude), ("codex", &mut hooks.codex)] {
        let Some(config) = &options.config else {
            continue;
        };
        let inside = config.strip_prefix("~").ok();
        let path = match (inside, project) {
            (Some(inside), _) => places.roots.home.join(inside),
            (None, Some(project)) => project.join(config),
            (None, None) => config.clone(),
        };
        if !path.is_absolute() {
            let message = format!(
                "`config` of [hooks.{name}] is the relative path {:?}; write it from / or ~/",
                config.display()
            );
            return Err(wrong(span_of(&text, name), &message));
        }
        options.config = Some(path);
    }
    Ok(parsed)
}

/// Where the value of `hooks.NAME.config` stands.
fn span_of(text: &str, name: &str) -> Option<std::ops::Range<usize>> {
    let document = toml_edit::Document::parse(text).ok()?;
    let value = document.get("hooks")?.get(name)?.get("config")?;
    value.span()
}

fn wrong(
    file: &Path,
    text: &str,
    span: Option<std::ops::Range<usize>>,
    message: &str,
    places: &Places,
) -> CliError {
    let span = span.unwrap_or(0..0);
    let finding = Diagnostic {
        severity: Severity::Broken,
        code: "bad-config",
        file: file.to_path_buf(),
        position: Some(Position::of(text, span.start)),
        span: Some((span.start, span.end)),
        handler: None,
        message: message.replace('\n', " "),
        help: Some(HELP.to_owned()),
        managed: false,
    };
    let shown = places.show(file);
    CliError::BadConfig(Box::new(Pointer::new(&finding, &shown, Some(text))))
}

fn named<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let name = String::deserialize(deserializer)?;
    if name.trim().is_empty() {
        return Err(D::Error::invalid_value(
            Unexpected::Str(&name),
            &"the name of a model",
        ));
    }
    Ok(Some(name))
}

fn variable<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let name = String::deserialize(deserializer)?;
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let begins = name.starts_with(|c: char| !c.is_ascii_digit());
    if !begins || !name.chars().all(fits) {
        // A key that was written here by mistake is not repeated.
        return Err(D::Error::custom(
            "the value is not the name of a variable (a key itself is never written here)",
        ));
    }
    Ok(Some(name))
}

fn characters<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<NonZeroUsize>, D::Error> {
    let number = deserializer.deserialize_any(Number("a number of characters, from 1"))?;
    let whole = (number.fract() == 0.0 && number >= 1.0).then_some(number as usize);
    match whole.and_then(NonZeroUsize::new) {
        Some(number) => Ok(Some(number)),
        None => Err(D::Error::invalid_value(
            Unexpected::Float(number),
            &"a number of characters, from 1",
        )),
    }
}

fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let number = deserializer.deserialize_any(Number("a number of seconds above 0"))?;
    match Duration::try_from_secs_f64(number) {
        Ok(time) if !time.is_zero() => Ok(Some(time)),
        _ => Err(D::Error::invalid_value(
            Unexpected::Float(number),
            &"a number of seconds above 0",
        )),
    }
}

/// A whole or broken number, of which this is said.
struct Number(&'static str);

impl Visitor<'_> for Number {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<f64, E> {
        Ok(number as f64)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<f64, E> {
        Ok(number as f64)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<f64, E> {
        Ok(number)
    }
}
