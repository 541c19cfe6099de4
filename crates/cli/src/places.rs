//! Where things are: read once from the environment and the command line.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use seamline_hooks::DialectId;
use seamline_hooks::config::Roots;

use crate::error::CliError;
use crate::own::Own;
use crate::render::visible;

/// The folders that every command works with.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    /// Roots of the configuration layers.
    pub roots: Roots,
    /// `$XDG_STATE_HOME/seamline`.
    pub state: PathBuf,
    /// `$XDG_CONFIG_HOME/seamline`.
    config: PathBuf,
    /// What seamline's own configuration says, once it was read.
    pub own: Own,
}

impl Places {
    /// Reads `HOME`, `CODEX_HOME`, `XDG_STATE_HOME` and `XDG_CONFIG_HOME`; `directory` is `-C`.
    pub(crate) fn find(directory: Option<&Path>) -> Result<Self, CliError> {
        let home = folder_variable("HOME").ok_or(CliError::NoHome)?;
        let project = project(directory)?;
        let mut roots = Roots::new(&home, project);
        if let Some(system) = system_under_test() {
            roots.system = system;
        }
        if let Some(codex) = folder_variable("CODEX_HOME") {
            roots.codex_home = codex;
        }
        let state = folder_variable("XDG_STATE_HOME").unwrap_or_else(|| home.join(".local/state"));
        let config = folder_variable("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
        Ok(Self {
            roots,
            state: state.join("seamline"),
            config: config.join("seamline"),
            own: Own::default(),
        })
    }

    /// Where one protocol's layers live.
    pub(crate) fn roots_of(&self, dialect: DialectId) -> Roots {
        let (mut roots, options) = (self.roots.clone(), self.own.of(dialect));
        roots.explicit = roots.explicit.or_else(|| options.config.clone());
        roots.default_timeout = options.default_timeout;
        roots
    }

    /// seamline's own configuration of the user.
    pub(crate) fn own_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// The store of what a person has agreed to.
    pub(crate) fn trust_file(&self) -> PathBuf {
        self.state.join("trust.json")
    }

    /// `path` as it is shown: relative to the project or to the home folder where it lies there.
    pub(crate) fn show(&self, path: &Path) -> String {
        if let Ok(inside) = path.strip_prefix(&self.roots.project) {
            return visible(&inside.display().to_string());
        }
        let shown = match path.strip_prefix(&self.roots.home) {
            Ok(inside) => format!("~/{}", inside.display()),
            Err(_) => path.display().to_string(),
        };
        visible(&shown)
    }
}

/// A variable that names a folder. Empty counts as unset, and so does a relative path, which could
/// mean a different folder in each process.
fn folder_variable(name: &str) -> Option<PathBuf> {
    env::var_os(name)
        .filter(|value: &OsString| !value.is_empty())
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
}

/// Tests stand in for `/etc`, and only tests: a released program has no variable that could take an
/// organisation's hooks away.
fn system_under_test() -> Option<PathBuf> {
    if cfg!(debug_assertions) {
        folder_variable("SEAMLINE_TEST_SYSTEM")
    } else {
        None
    }
}

fn project(directory: Option<&Path>) -> Result<PathBuf, CliError> {
    let wanted = directory.unwrap_or(Path::new("."));
    let path = wanted
        .canonicalize()
        .map_err(|source| CliError::Unreadable {
            path: wanted.to_owned(),
            source,
        })?;
    if path.is_dir() {
        return Ok(path);
    }
    Err(CliError::usage(format!(
        "{} is not a folder",
        wanted.display()
    )))
}
