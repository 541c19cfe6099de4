//! A session that goes on from another one's past.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::error::SessionError;
use super::event::{Event, TurnEndReason};
use super::history::History;
use super::id::SessionId;
use super::load::{Header, Replayed, replay};
use super::place::Place;
use super::relations::Relations;
use super::store::{LogFile, Store, io_error};
use super::{Entry, FORMAT, Session, State, now};

/// Where a forked session comes from. Its log begins with a copy of that past.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The session it was forked from.
    pub session: SessionId,
    /// How many events were taken over; they are the first ones of the log.
    pub events: u64,
}

/// A session that cannot be forked there. Nothing was made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ForkError {
    /// The log cannot be read, or the fork's cannot be written.
    #[error(transparent)]
    Log(#[from] SessionError),
    /// A turn is under way and no boundary was named.
    #[error("turn {turn} of session {session} is open; fork after turn {} or wait for its end", turn - 1)]
    OpenTurn {
        /// The session.
        session: SessionId,
        /// The open turn.
        turn: u32,
    },
    /// There is no such boundary.
    #[error("session {session} has no end of turn {after}; its last ended turn is {last}")]
    InvalidBoundary {
        /// The session.
        session: SessionId,
        /// The turn that was named.
        after: u32,
        /// The last turn that ended; 0 for none.
        last: u32,
    },
    /// A call was left open there: both sessions could run it.
    #[error("turn {after} of session {session} put a call off; resume it first, or fork elsewhere")]
    Deferred {
        /// The session.
        session: SessionId,
        /// The turn.
        after: u32,
    },
}

impl Session {
    /// Starts a new session at `place` from the past of the one in the log file `log`: everything
    /// up to the end of turn `after` (0 for a session without turns), or all of it when no turn is
    /// named. The other session is read and left as it is; it may be in use.
    ///
    /// Turn numbers go on from there. What waits in the other session's queues is not taken over.
    pub fn fork(log: &Path, place: &Place, after: Option<u32>) -> Result<Self, ForkError> {
        let bytes = std::fs::read(log).map_err(|source| io_error("read", log, source))?;
        let parent = replay(log, &bytes)?;
        let events = boundary(&parent, after)?;
        let kept = parent.entries.get(..events).unwrap_or(&parent.entries);
        let origin = Origin {
            session: parent.header.session,
            events: kept.len() as u64,
        };
        Ok(Self::begin(place, Some(origin), kept)?)
    }

    /// Starts a session at `place` whose log begins with these events.
    pub(super) fn begin(
        place: &Place,
        fork: Option<Origin>,
        entries: &[Arc<Entry>],
    ) -> Result<Self, SessionError> {
        let id = SessionId::new();
        let header = Header {
            format: FORMAT,
            session: id,
            created: now(),
            project: place.project.clone(),
            fork,
        };
        let data = |kind: &str, source| SessionError::Data {
            kind: kind.to_owned(),
            source,
        };
        let mut lines = serde_json::to_string(&header).map_err(|error| data("header", error))?;
        let (mut relations, mut history) = (Relations::default(), History::default());
        for entry in entries {
            let line = entry.line();
            lines.push('\n');
            lines.push_str(&line.map_err(|error| data(entry.event.kind(), error))?);
            // They have passed once, as the log they come from was read.
            let _ = relations.advance(&entry.event);
            history.apply(&entry.event);
        }
        let state = State {
            // With its whole past, or not at all.
            store: Store::File(LogFile::create(&place.log(id), &lines)?),
            entries: entries.to_vec(),
            relations,
            history,
        };
        Ok(Self::with(id, place.project.clone(), fork, state))
    }

    /// Where the session was forked from, if it was.
    pub fn origin(&self) -> Option<Origin> {
        self.0.origin
    }
}

/// How many events stand before the boundary.
fn boundary(parent: &Replayed, after: Option<u32>) -> Result<usize, ForkError> {
    let session = parent.header.session;
    let last = ended(parent);
    let after = match (after, parent.relations.open_turn()) {
        (None, Some(turn)) => return Err(ForkError::OpenTurn { session, turn }),
        (None, None) => last,
        (Some(after), _) => after,
    };
    if after == 0 {
        let is_turn = |entry: &Arc<Entry>| matches!(entry.event, Event::TurnStart(_));
        let first = parent.entries.iter().position(is_turn);
        return Ok(first.unwrap_or(parent.entries.len()));
    }
    let end = parent.entries.iter().position(|entry| match &entry.event {
        Event::TurnEnd(end) => end.turn == after,
        _ => false,
    });
    let end = end.ok_or(ForkError::InvalidBoundary {
        session,
        after,
        last,
    })?;
    match parent.entries.get(end).map(|entry| &entry.event) {
        Some(Event::TurnEnd(turn)) if matches!(turn.reason, TurnEndReason::Deferred { .. }) => {
            Err(ForkError::Deferred { session, after })
        }
        _ => Ok(end + 1),
    }
}

/// The last turn that ended.
fn ended(parent: &Replayed) -> u32 {
    let last = parent.relations.last_turn();
    match parent.relations.open_turn() {
        Some(_) => last.saturating_sub(1),
        None => last,
    }
}
