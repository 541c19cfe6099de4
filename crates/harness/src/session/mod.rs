//! What is remembered: an append-only log of typed events.
//!
//! A session *is* its log. Everything a model is shown, everything a resumed session knows and
//! everything a bridge writes into a transcript is read from the log; there is no second copy.
//! [`Session`] is a cheap handle on it:
//!
//! * [`Session::append`] checks an event against the rules of [`relations`](self) (one open
//!   turn, a result needs its call, …), writes one line with one `write(2)`, and only then takes
//!   it in. An event that does not fit is an error and leaves no trace.
//! * [`Session::history`] is the conversation, folded from the events.
//! * [`Session::checkpoint`] makes what was appended survive a power failure (`fdatasync`; a
//!   crash of our own loses nothing that was appended). The agent calls it before a tool with
//!   side effects runs and at the end of each turn.
//! * [`Session::load`] reads a log back and closes what a dead process left open, so that the
//!   session can go on.
//!
//! The file is JSON lines. The first line is the header, `{"format":1,…}`; a format we do not
//! know is refused. The file is private to the user (mode 0600) and locked while it is open.
//! An ephemeral session has the same interface and no file.

mod error;
pub mod event;
mod fork;
mod history;
mod id;
mod load;
mod place;
mod relations;
mod repair;
mod store;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::model::{Message, Request};
pub use error::SessionError;
pub use event::Event;
use event::TurnEndReason;
pub use fork::{ForkError, Origin};
use history::History;
pub(crate) use history::read_arguments;
pub use id::{SessionId, project_folder};
pub use load::Damage;
use load::Line;
pub use place::Place;
pub(crate) use relations::{OpenCall, Relations, received_calls};
use store::{LogFile, Store};

/// The only log format there is.
const FORMAT: u64 = 1;

/// One event in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Position in the log, counting from 0.
    pub seq: u64,
    /// When it was appended, in milliseconds since 1970.
    pub time: u64,
    /// What happened.
    pub event: Event,
}

/// A session's log, open for appending. Clones are the same session.
#[derive(Clone)]
pub struct Session(Arc<Inner>);

struct Inner {
    id: SessionId,
    project: PathBuf,
    path: Option<PathBuf>,
    origin: Option<Origin>,
    state: Mutex<State>,
}

struct State {
    store: Store,
    entries: Vec<Arc<Entry>>,
    relations: Relations,
    history: History,
}

/// A loaded session and what loading it had to do.
#[derive(Debug)]
pub struct Loaded {
    /// The session, ready to go on.
    pub session: Session,
    /// Bytes of a last line that had been cut off, and was dropped; 0 for none.
    pub torn_bytes: u64,
    /// The turn that had been left open, and was closed.
    pub repaired_turn: Option<u32>,
}

/// A log that was only read. See [`Session::read`].
#[derive(Debug)]
pub struct View {
    /// The session's id; `None` when the first line is damaged.
    pub id: Option<SessionId>,
    /// The project it belongs to; `None` when the first line is damaged.
    pub project: Option<PathBuf>,
    /// When it was begun, in milliseconds since 1970; `None` when the first line is damaged.
    pub created: Option<u64>,
    /// Where it was forked from, if it was.
    pub origin: Option<Origin>,
    /// Its events.
    pub entries: Vec<Arc<Entry>>,
    /// The conversation so far.
    pub history: Vec<Arc<Message>>,
    /// Bytes of a last line that was cut off (perhaps still being written); 0 for none.
    pub torn_bytes: u64,
    /// What is wrong with it; [`Session::load`] would refuse a log with any of this.
    pub damage: Vec<Damage>,
}

impl Session {
    /// Starts a new session at `place`, with a log file of its own.
    pub fn create(place: &Place) -> Result<Self, SessionError> {
        Self::begin(place, None, &[])
    }

    /// Starts a new session that leaves nothing behind.
    pub fn ephemeral(project: impl Into<PathBuf>) -> Self {
        Self::with(
            SessionId::new(),
            project.into(),
            None,
            State::empty(Store::Memory),
        )
    }

    /// Opens the log file `path` to go on with it.
    ///
    /// A last line that was cut off is dropped. A turn that was left open is closed: each
    /// unanswered call gets a result that says what is known about it, then `turn/end
    /// {interrupted}`. Both are reported. A line that cannot be read anywhere else, or an event
    /// that does not fit those before it, refuses the log and changes nothing.
    pub fn load(path: &Path) -> Result<Loaded, SessionError> {
        let mut file = LogFile::open(path)?;
        let replayed = load::replay(path, &file.read()?)?;
        file.keep(replayed.whole)?;
        if replayed.unended {
            file.end_line()?;
        }
        let repaired_turn = replayed.relations.open_turn();
        let header = replayed.header;
        let session = Self::with(
            header.session,
            header.project,
            header.fork,
            State {
                store: Store::File(file),
                entries: replayed.entries,
                relations: replayed.relations,
                history: replayed.history,
            },
        );
        session.close_turn(TurnEndReason::Interrupted)?;
        Ok(Loaded {
            session,
            torn_bytes: replayed.torn,
            repaired_turn,
        })
    }

    /// Reads the log file `path` without opening, locking or repairing it. However damaged it is,
    /// what can be read is there; the error is the file system's.
    pub fn read(path: &Path) -> Result<View, SessionError> {
        let bytes = std::fs::read(path).map_err(|source| store::io_error("read", path, source))?;
        let seen = load::see(path, &bytes);
        let header = seen.header.as_ref();
        Ok(View {
            id: header.map(|header| header.session),
            project: header.map(|header| header.project.clone()),
            created: header.map(|header| header.created),
            origin: header.and_then(|header| header.fork),
            entries: seen.entries,
            history: seen.history.messages().to_vec(),
            torn_bytes: seen.torn,
            damage: seen.damage,
        })
    }

    fn with(id: SessionId, project: PathBuf, origin: Option<Origin>, state: State) -> Self {
        let path = state.store.path().map(Path::to_owned);
        Self(Arc::new(Inner {
            id,
            project,
            path,
            origin,
            state: Mutex::new(state),
        }))
    }

    /// The session's id.
    pub fn id(&self) -> SessionId {
        self.0.id
    }

    /// The project directory the session belongs to.
    pub fn project(&self) -> &Path {
        &self.0.project
    }

    /// The log file; `None` for an ephemeral session.
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// Appends one event and returns its position.
    pub fn append(&self, event: impl Into<Event>) -> Result<u64, SessionError> {
        self.state().append(event.into())
    }

    /// All events so far.
    pub fn entries(&self) -> Vec<Arc<Entry>> {
        self.state().entries.clone()
    }

    /// The conversation so far, as the next request carries it.
    pub fn history(&self) -> Vec<Arc<Message>> {
        self.state().history.messages().to_vec()
    }

    /// The request that would be made now, rebuilt from the log and nothing else: the conversation
    /// and the header that was last logged. `None` before the first header.
    ///
    /// In debug builds the loop compares it with each request before that is sent.
    pub fn rebuilt_request(&self) -> Option<Request> {
        let entries = self.entries();
        let header = entries.iter().rev().find_map(|entry| match &entry.event {
            Event::RequestHeader(header) => Some(header.clone()),
            _ => None,
        })?;
        Some(Request {
            model: header.model,
            system: header.system,
            messages: History::of(&entries).messages().to_vec(),
            tools: header.tools.into(),
        })
    }

    /// Lets go of the log file and its lock: from here on nothing can be appended, by any handle,
    /// and another process may open the session. What is in the log can still be looked at.
    pub fn close(&self) {
        self.state().store = Store::Ended;
    }

    /// Waits until everything appended so far is on disk.
    pub async fn checkpoint(&self) -> Result<(), SessionError> {
        let Some(sync) = self.state().store.sync() else {
            return Ok(());
        };
        let path = sync.path.clone();
        let synced = tokio::task::spawn_blocking(move || sync.run()).await;
        let synced = synced.unwrap_or_else(|lost| Err(std::io::Error::other(lost)));
        synced.map_err(|source| store::io_error("sync", &path, source))
    }

    /// Closes the open turn, whatever state it is in: a call without a result gets one that
    /// says what is known about it, an open step ends. Without an open turn nothing happens.
    pub(crate) fn close_turn(&self, reason: TurnEndReason) -> Result<(), SessionError> {
        let mut state = self.state();
        for event in repair::closing_events(&state.relations, reason) {
            state.append(event)?;
        }
        Ok(())
    }

    /// Runs `look` on the rules' view of the log.
    pub(crate) fn relations<T>(&self, look: impl FnOnce(&Relations) -> T) -> T {
        look(&self.state().relations)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn empty(store: Store) -> Self {
        Self {
            store,
            entries: Vec::new(),
            relations: Relations::default(),
            history: History::default(),
        }
    }

    fn append(&mut self, event: Event) -> Result<u64, SessionError> {
        let mut relations = self.relations.clone();
        relations
            .advance(&event)
            .map_err(|message| SessionError::Relation {
                kind: event.kind().to_owned(),
                message,
            })?;
        let entry = Entry {
            seq: self.entries.len() as u64,
            time: now(),
            event,
        };
        let line = entry.line().map_err(|source| SessionError::Data {
            kind: entry.event.kind().to_owned(),
            source,
        })?;
        self.store.append(&line)?;
        self.relations = relations;
        self.history.apply(&entry.event);
        let seq = entry.seq;
        self.entries.push(Arc::new(entry));
        Ok(seq)
    }
}

impl Entry {
    /// The entry as its line in the log, without the line break.
    pub fn line(&self) -> Result<String, serde_json::Error> {
        let data = self.event.data()?;
        let turn = match &self.event {
            Event::Extension(extension) => extension.turn,
            _ => None,
        };
        serde_json::to_string(&Line {
            seq: self.seq,
            time: self.time,
            kind: Cow::Borrowed(self.event.kind()),
            ignorable: matches!(self.event, Event::Ignorable(_)),
            turn,
            data: Cow::Owned(data),
        })
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("id", &self.0.id)
            .field("path", &self.0.path)
            .finish()
    }
}

/// Milliseconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
