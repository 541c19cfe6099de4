//! Where the lines of a log go: a file, or nowhere.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::SessionError;

/// The bytes of one log.
#[derive(Debug)]
pub(super) enum Store {
    /// Nothing is kept beyond the process.
    Memory,
    /// One file, locked for us.
    File(LogFile),
    /// The session was closed.
    Ended,
}

/// An open log file.
///
/// The lock is the advisory one of the standard library: `flock` on Linux and macOS,
/// `LockFileEx` on Windows. It belongs to the open file, so it goes when the process goes.
#[derive(Debug)]
pub(super) struct LogFile {
    path: PathBuf,
    file: Arc<File>,
    /// Bytes that are whole lines.
    len: u64,
    broken: Option<String>,
}

impl Store {
    /// Appends one line. On failure the file is cut back to the lines it had.
    pub(super) fn append(&mut self, line: &str) -> Result<(), SessionError> {
        match self {
            Self::Memory => Ok(()),
            Self::File(file) => file.append(line),
            Self::Ended => Err(SessionError::Ended),
        }
    }

    /// The file, for syncing it outside any lock.
    pub(super) fn file(&self) -> Option<(Arc<File>, PathBuf)> {
        match self {
            Self::Memory | Self::Ended => None,
            Self::File(log) => Some((Arc::clone(&log.file), log.path.clone())),
        }
    }

    /// The log's path.
    pub(super) fn path(&self) -> Option<&Path> {
        match self {
            Self::Memory | Self::Ended => None,
            Self::File(log) => Some(&log.path),
        }
    }
}

impl LogFile {
    /// Creates the file and its folders, private to the user, and takes the lock.
    pub(super) fn create(path: &Path) -> Result<Self, SessionError> {
        let failed = |what| move |source| io_error(what, path, source);
        if let Some(folder) = path.parent() {
            private_folder(folder).map_err(failed("make the folder of"))?;
        }
        let mut options = OpenOptions::new();
        options.append(true).create_new(true);
        let file = private(&mut options).open(path).map_err(failed("create"))?;
        Self::locked(path, file, 0)
    }

    /// Opens an existing file for appending and takes the lock.
    pub(super) fn open(path: &Path) -> Result<Self, SessionError> {
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .open(path)
            .map_err(|source| io_error("open", path, source))?;
        Self::locked(path, file, 0)
    }

    fn locked(path: &Path, file: File, len: u64) -> Result<Self, SessionError> {
        let path = path.to_owned();
        match file.try_lock() {
            Ok(()) => Ok(Self {
                path,
                file: Arc::new(file),
                len,
                broken: None,
            }),
            Err(TryLockError::WouldBlock) => Err(SessionError::Locked { path }),
            Err(TryLockError::Error(source)) => Err(io_error("lock", &path, source)),
        }
    }

    /// Reads the whole file.
    pub(super) fn read(&self) -> Result<Vec<u8>, SessionError> {
        std::fs::read(&self.path).map_err(|source| io_error("read", &self.path, source))
    }

    /// Says that the file's first `len` bytes are whole lines and drops the rest.
    pub(super) fn keep(&mut self, len: u64) -> Result<(), SessionError> {
        self.file
            .set_len(len)
            .map_err(|source| io_error("repair", &self.path, source))?;
        self.len = len;
        Ok(())
    }

    /// Ends a last line that lacks only its line break.
    pub(super) fn end_line(&mut self) -> Result<(), SessionError> {
        self.append("")
    }

    fn append(&mut self, line: &str) -> Result<(), SessionError> {
        if let Some(first) = &self.broken {
            return Err(SessionError::Closed {
                path: self.path.clone(),
                first: first.clone(),
            });
        }
        let mut bytes = String::with_capacity(line.len() + 1);
        bytes.push_str(line);
        bytes.push('\n');
        match (&*self.file).write_all(bytes.as_bytes()) {
            Ok(()) => {
                self.len += bytes.len() as u64;
                Ok(())
            }
            Err(source) => Err(self.undo(source)),
        }
    }

    fn undo(&mut self, failure: io::Error) -> SessionError {
        let back = self.file.set_len(self.len);
        let back = back.and_then(|()| (&*self.file).seek(SeekFrom::End(0)));
        if back.is_err() {
            self.broken = Some(failure.to_string());
        }
        io_error("append to", &self.path, failure)
    }
}

pub(super) fn io_error(what: &'static str, path: &Path, source: io::Error) -> SessionError {
    SessionError::Io {
        what,
        path: path.to_owned(),
        source,
    }
}

#[cfg(unix)]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600)
}

#[cfg(not(unix))]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(folder)
}
