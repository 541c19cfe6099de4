//! What can go wrong with a log.

use std::io;
use std::path::PathBuf;

/// An error of the session log. Each says which file, and what to do where something can be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The file system refused.
    #[error("cannot {what} the session log {path}: {source}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// Another process writes this session.
    #[error("the session log {path} is in use by {}; end that one first", holder(*pid))]
    Locked {
        /// The file.
        path: PathBuf,
        /// That process's id, where it is known.
        pid: Option<u32>,
    },
    /// There is a session of that id already. Nothing was changed.
    #[error("the session log {path} is there already, or its folder is")]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The log was written in a format this version does not know.
    #[error("the session log {path} has format {found}; this version reads format 1 only")]
    Format {
        /// The file.
        path: PathBuf,
        /// What the first line says.
        found: String,
    },
    /// A line before the last one cannot be read. Nothing was changed.
    #[error("{path}:{line}: the session log is damaged: {message}")]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The line, counting from 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
    /// An event that does not fit what the log already says.
    #[error("the event {kind} does not fit the session: {message}")]
    Relation {
        /// The event.
        kind: String,
        /// The rule it breaks.
        message: String,
    },
    /// An event whose data is not JSON.
    #[error("the event {kind} carries data that is not JSON: {source}")]
    Data {
        /// The event.
        kind: String,
        /// Why.
        source: serde_json::Error,
    },
    /// The session was closed.
    #[error("the session is closed and takes no more events")]
    Ended,
    /// An earlier write failed and could not be undone; the log takes no more events.
    #[error("the session log {path} takes no more events since a write failed: {first}")]
    Closed {
        /// The file.
        path: PathBuf,
        /// The first failure.
        first: String,
    },
}

fn holder(pid: Option<u32>) -> String {
    pid.map_or_else(
        || "another process".to_owned(),
        |pid| format!("process {pid}"),
    )
}
