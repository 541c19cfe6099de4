//! Where the lines of a log go: a file, or nowhere.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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
/// `LockFileEx` on Windows. It belongs to the open file, so it goes when the process goes. Whoever
/// holds it leaves its process id beside the log, in [`WRITER`].
#[derive(Debug)]
pub(super) struct LogFile {
    path: PathBuf,
    file: Arc<File>,
    /// Whether the file's name is on the disk too.
    named: Arc<AtomicBool>,
    /// Bytes that are whole lines.
    len: u64,
    broken: Option<String>,
}

/// What the log of a new session is called until its first lines are in it.
const UNFINISHED: &str = "log.jsonl.new";
/// The file with the process id of the writer.
const WRITER: &str = "writer";

/// What it takes to bring a log to the disk, without holding it.
pub(super) struct Syncing {
    pub(super) path: PathBuf,
    file: Arc<File>,
    named: Arc<AtomicBool>,
}

impl Syncing {
    /// Waits until what was written is on the disk and, the first time, the names that lead to it.
    pub(super) fn run(&self) -> io::Result<()> {
        self.file.sync_data()?;
        if !self.named.load(Ordering::Relaxed) {
            sync_names(&self.path)?;
            self.named.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
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

    /// What syncs the file outside any lock.
    pub(super) fn sync(&self) -> Option<Syncing> {
        match self {
            Self::Memory | Self::Ended => None,
            Self::File(log) => Some(Syncing {
                path: log.path.clone(),
                file: Arc::clone(&log.file),
                named: Arc::clone(&log.named),
            }),
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
    /// Creates the file with its first lines, in a folder of its own, both private to the user,
    /// and takes the lock.
    ///
    /// Under its name the log is there with these lines or not at all: a process that dies in
    /// here leaves a folder without a log, which is no session.
    pub(super) fn create(path: &Path, lines: &str) -> Result<Self, SessionError> {
        let folder = path.parent().unwrap_or(path);
        own_folder(folder).map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => SessionError::Exists {
                path: path.to_owned(),
            },
            _ => io_error("make the folder of", path, source),
        })?;
        Self::fill(path, lines).inspect_err(|_| {
            // Nothing but what was just made is in there.
            let _ = std::fs::remove_dir_all(folder);
        })
    }

    fn fill(path: &Path, lines: &str) -> Result<Self, SessionError> {
        let failed = |what| move |source| io_error(what, path, source);
        let unfinished = path.with_file_name(UNFINISHED);
        let mut options = OpenOptions::new();
        options.append(true).create_new(true);
        let file = private(&mut options).open(&unfinished);
        let mut log = Self::locked(path, file.map_err(failed("create"))?, 0)?;
        log.append(lines)?;
        std::fs::rename(&unfinished, path).map_err(failed("create"))?;
        Ok(log)
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
            Ok(()) => {
                note_writer(&path);
                Ok(Self::held(path, file, len))
            }
            Err(TryLockError::WouldBlock) => Err(SessionError::Locked {
                pid: writer(&path),
                path,
            }),
            Err(TryLockError::Error(source)) => Err(io_error("lock", &path, source)),
        }
    }

    /// A file whose lock is held, or needs none.
    pub(super) fn held(path: PathBuf, file: File, len: u64) -> Self {
        Self {
            path,
            file: Arc::new(file),
            named: Arc::default(),
            len,
            broken: None,
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

/// Makes `folder`, which must not be there yet, and all above it that are missing.
fn own_folder(folder: &Path) -> io::Result<()> {
    if let Some(above) = folder.parent() {
        private_folder(above, true)?;
    }
    private_folder(folder, false)
}

fn private_folder(folder: &Path, recursive: bool) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(recursive);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(folder)
}

/// Leaves our process id beside the log. It only serves a better error, so it may fail; then no
/// other process's id must stay there.
fn note_writer(log: &Path) {
    let note = log.with_file_name(WRITER);
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    let written = private(&mut options)
        .open(&note)
        .and_then(|mut file| writeln!(file, "{}", std::process::id()));
    if written.is_err() {
        let _ = std::fs::remove_file(&note);
    }
}

/// The process id that the holder of the log's lock left.
fn writer(log: &Path) -> Option<u32> {
    let note = std::fs::read_to_string(log.with_file_name(WRITER)).ok()?;
    note.trim().parse().ok()
}

/// Brings the log's name to the disk, and those of the folders that were made for it. File systems
/// that cannot sync a folder are left to themselves.
#[cfg(unix)]
fn sync_names(log: &Path) -> io::Result<()> {
    for folder in log.ancestors().skip(1).take(3) {
        match File::open(folder).and_then(|folder| folder.sync_all()) {
            Err(error)
                if !matches!(
                    error.kind(),
                    io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported
                ) =>
            {
                return Err(error);
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn sync_names(_: &Path) -> io::Result<()> {
    Ok(())
}
