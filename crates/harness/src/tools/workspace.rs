//! Where tools work: the project, the current directory, and extra environment.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The place a session's tools work in. Clones are the same place.
///
/// The project never changes. The current directory follows `cd` of the Bash tool, and the
/// environment is what session-start contributors asked for on top of our own.
#[derive(Debug, Clone)]
pub struct Workspace(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    project: PathBuf,
    /// Variables of our own that commands do not inherit.
    hidden: Vec<String>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    cwd: PathBuf,
    env: BTreeMap<String, String>,
}

impl Workspace {
    /// A workspace whose current directory is the project itself. Give an absolute path.
    pub fn new(project: impl Into<PathBuf>) -> Self {
        Self::hiding(project, Vec::new())
    }

    /// The same, where commands do not inherit these of our own variables: the keys of models.
    pub fn hiding(project: impl Into<PathBuf>, hidden: Vec<String>) -> Self {
        let project = project.into();
        let state = State {
            cwd: project.clone(),
            env: BTreeMap::new(),
        };
        Self(Arc::new(Inner {
            project,
            hidden,
            state: Mutex::new(state),
        }))
    }

    /// The project directory.
    pub fn project(&self) -> &Path {
        &self.0.project
    }

    /// The current directory.
    pub fn cwd(&self) -> PathBuf {
        self.state().cwd.clone()
    }

    /// Moves to another directory.
    pub fn set_cwd(&self, cwd: impl Into<PathBuf>) {
        self.state().cwd = cwd.into();
    }

    /// A path as the model wrote it, made absolute against the current directory.
    pub fn resolve(&self, path: &str) -> PathBuf {
        self.state().cwd.join(path)
    }

    /// The variables that commands do not inherit.
    pub fn hidden(&self) -> &[String] {
        &self.0.hidden
    }

    /// The extra environment of commands, sorted by name.
    pub fn env(&self) -> BTreeMap<String, String> {
        self.state().env.clone()
    }

    /// Adds to the extra environment; a later value of a name wins.
    pub fn extend_env(&self, more: impl IntoIterator<Item = (String, String)>) {
        self.state().env.extend(more);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
