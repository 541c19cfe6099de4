//! Where logs live.

use std::path::{Path, PathBuf};

use super::error::SessionError;
use super::id::{SessionId, project_folder};
use super::store::io_error;

/// The place of one project's sessions:
/// `<state root>/sessions/<project folder>/<session id>/log.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Our state folder, usually `$XDG_STATE_HOME/seamline`.
    pub root: PathBuf,
    /// The project directory, absolute.
    pub project: PathBuf,
}

impl Place {
    /// The place of `project` under `root`.
    pub fn new(root: impl Into<PathBuf>, project: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            project: project.into(),
        }
    }

    /// The folder all of this project's sessions are in. It need not exist.
    pub fn folder(&self) -> PathBuf {
        self.root
            .join("sessions")
            .join(project_folder(&self.project))
    }

    /// The log file of one session. It need not exist.
    pub fn log(&self, id: SessionId) -> PathBuf {
        self.folder().join(id.to_string()).join("log.jsonl")
    }

    /// The project's sessions, newest first. Folders that are not named by a session id or have no
    /// log are passed over; a project without sessions has none.
    pub fn sessions(&self) -> Result<Vec<SessionId>, SessionError> {
        let folder = self.folder();
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(listing(&folder, error)),
        };
        let mut ids = Vec::new();
        for entry in entries {
            let name = entry.map_err(|error| listing(&folder, error))?.file_name();
            ids.extend(
                name.to_str()
                    .and_then(|name| name.parse::<SessionId>().ok()),
            );
        }
        ids.retain(|id| self.log(*id).exists());
        ids.sort_unstable_by(|one, other| other.cmp(one));
        Ok(ids)
    }
}

fn listing(folder: &Path, error: std::io::Error) -> SessionError {
    io_error("list the folder of", folder, error)
}
