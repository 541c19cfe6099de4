//! The folders, files and variables of one case, all below a temporary folder.

mod claude;
mod client;
mod codex;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

pub use self::client::Client;
use crate::pace::Pace;
use crate::text::Names;

/// A case set up on disk. Dropping it removes the folder.
#[derive(Debug)]
pub struct Stage {
    /// Keeps the folder alive; `$CASE` of Claude, `$OUT` of Codex.
    _folder: TempDir,
    /// The same without symbolic links.
    pub root: PathBuf,
    /// The project folder.
    pub project: PathBuf,
    /// Where the client was started.
    pub start: PathBuf,
    /// The home folder.
    pub home: PathBuf,
    /// What stands for the system's configuration folder.
    pub system: PathBuf,
    /// A Codex client's own knowledge.
    pub client: Client,
    /// Values of the placeholders.
    pub names: Names,
    /// The environment hooks start from.
    pub env: Vec<(OsString, OsString)>,
    /// How fast sleeps and timeouts go.
    pub pace: Pace,
}

/// Why a case could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// A file or folder could not be made.
    #[error("cannot set up {}: {source}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The case asks for something the runner does not do.
    #[error("{0}")]
    Unsupported(String),
}

impl Stage {
    fn new(project: &str, home: &str, pace: Pace) -> Result<Self, StageError> {
        let at = |path: &Path| {
            let path = path.to_owned();
            move |source| StageError::Io { path, source }
        };
        let temp = std::env::temp_dir();
        let folder = TempDir::with_prefix("conformance-").map_err(at(&temp))?;
        let root = folder.path().canonicalize().map_err(at(folder.path()))?;
        let (project, home, system) = (root.join(project), root.join(home), root.join("etc"));
        for path in [&project, &home] {
            std::fs::create_dir_all(path).map_err(at(path))?;
        }
        let (start, names, env) = (project.clone(), Names::default(), Vec::new());
        Ok(Self {
            _folder: folder,
            root,
            project,
            start,
            home,
            system,
            client: Client::default(),
            names,
            env,
            pace,
        })
    }

    /// Writes a file and the folders above it.
    fn write(&self, path: &Path, text: &str) -> Result<(), StageError> {
        let parent = path.parent().unwrap_or(&self.root);
        std::fs::create_dir_all(parent)
            .and_then(|()| std::fs::write(path, text))
            .map_err(|source| StageError::Io {
                path: path.to_owned(),
                source,
            })
    }

    /// Makes a folder of the stage unless it is there. Folders elsewhere are left alone.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn make_folder(&self, path: &Path) -> Result<(), StageError> {
        if !path.starts_with(&self.root) {
            return Ok(());
        }
        std::fs::create_dir_all(path).map_err(|source| StageError::Io {
            path: path.to_owned(),
            source,
        })
    }

    fn name_paths(&mut self, named: &[(&str, &Path)]) {
        for (name, path) in named {
            self.names.set(*name, path.display().to_string());
        }
    }

    fn set_env(&mut self, name: &str, value: impl Into<OsString>) {
        self.env.push((name.into(), value.into()));
    }
}
