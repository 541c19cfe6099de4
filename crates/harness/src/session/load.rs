//! Reading a log back.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::error::SessionError;
use super::event::{Event, Extension, Ignorable, is_extension};
use super::fork::Origin;
use super::history::History;
use super::id::SessionId;
use super::relations::Relations;
use super::{Entry, FORMAT};
use crate::json::Json;

/// The first line of a log.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) format: u64,
    pub(super) session: SessionId,
    /// Milliseconds since 1970.
    pub(super) created: u64,
    pub(super) project: PathBuf,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) fork: Option<Origin>,
}

/// Any further line.
#[derive(Serialize, Deserialize)]
pub(super) struct Line<'a> {
    pub(super) seq: u64,
    pub(super) time: u64,
    #[serde(rename = "type", borrow)]
    pub(super) kind: Cow<'a, str>,
    /// Whether a reader that does not know the event may go on without it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) ignorable: bool,
    /// Extensions only: the turn, or null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) turn: Option<u32>,
    #[serde(borrow)]
    pub(super) data: Cow<'a, RawValue>,
}

/// A log as it was read.
#[derive(Debug)]
pub(super) struct Replayed {
    pub(super) header: Header,
    pub(super) entries: Vec<Arc<Entry>>,
    pub(super) relations: Relations,
    pub(super) history: History,
    /// Bytes of whole lines.
    pub(super) whole: u64,
    /// Whether the last whole line lacks its line break.
    pub(super) unended: bool,
    /// Bytes of a last line that was cut off.
    pub(super) torn: u64,
}

/// Reads all lines of `bytes`. A last line without line break that does not parse is torn, and
/// is left out; any other line that does not parse is an error that names the line.
pub(super) fn replay(path: &Path, bytes: &[u8]) -> Result<Replayed, SessionError> {
    let corrupt = |line: usize, message: String| SessionError::Corrupt {
        path: path.to_owned(),
        line,
        message,
    };
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let first = lines.next().unwrap_or_default();
    let header = read_header(path, first)?;
    let mut replayed = Replayed {
        header,
        entries: Vec::new(),
        relations: Relations::default(),
        history: History::default(),
        whole: first.len() as u64,
        unended: !first.ends_with(b"\n"),
        torn: 0,
    };
    for (index, line) in lines.enumerate() {
        let ended = line.ends_with(b"\n");
        match replayed.take(line) {
            Ok(()) => {
                replayed.whole += line.len() as u64;
                replayed.unended = !ended;
            }
            Err(_) if !ended => replayed.torn = line.len() as u64,
            Err(message) => return Err(corrupt(index + 2, message)),
        }
    }
    Ok(replayed)
}

/// What can be seen of a log, however damaged it is.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) header: Option<Header>,
    pub(super) entries: Vec<Arc<Entry>>,
    pub(super) history: History,
    pub(super) torn: u64,
    pub(super) damage: Vec<Damage>,
}

/// A place of a log that cannot be read, or does not fit what stands before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The line, counting from 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

/// Reads what can be read of `bytes`. Every line that can is among the entries; only the first event
/// that does not fit those before it is named, since everything behind it may follow from that.
pub(super) fn see(path: &Path, bytes: &[u8]) -> Seen {
    let mut seen = Seen::default();
    let mut fits = true;
    let mut relations = Relations::default();
    for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        if index == 0 {
            match read_header(path, line) {
                Ok(header) => seen.header = Some(header),
                Err(error) => seen.damaged(1, error.to_string()),
            }
            continue;
        }
        match read_entry(line) {
            Ok(entry) => {
                let expected = seen.entries.last().map_or(0, |last| last.seq + 1);
                let fit = match entry.seq == expected {
                    true => relations.advance(&entry.event),
                    false => Err(format!(
                        "event {} stands where event {expected} belongs",
                        entry.seq
                    )),
                };
                if let (Err(rule), true) = (fit, fits) {
                    fits = false;
                    seen.damaged(index + 1, format!("{}: {rule}", entry.event.kind()));
                }
                seen.history.apply(&entry.event);
                seen.entries.push(Arc::new(entry));
            }
            Err(_) if !line.ends_with(b"\n") => seen.torn = line.len() as u64,
            Err(message) => {
                fits = false;
                seen.damaged(index + 1, message);
            }
        }
    }
    seen
}

impl Seen {
    fn damaged(&mut self, line: usize, message: String) {
        self.damage.push(Damage { line, message });
    }
}

fn read_entry(line: &[u8]) -> Result<Entry, String> {
    let text = std::str::from_utf8(line).map_err(|error| error.to_string())?;
    let line: Line<'_> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    Ok(Entry {
        seq: line.seq,
        time: line.time,
        event: read_event(&line)?,
    })
}

impl Replayed {
    fn take(&mut self, line: &[u8]) -> Result<(), String> {
        let entry = read_entry(line)?;
        let next = self.entries.len() as u64;
        if entry.seq != next {
            return Err(format!(
                "event {} stands where event {next} belongs",
                entry.seq
            ));
        }
        self.relations
            .advance(&entry.event)
            .map_err(|rule| format!("{}: {rule}", entry.event.kind()))?;
        self.history.apply(&entry.event);
        self.entries.push(Arc::new(entry));
        Ok(())
    }
}

fn read_event(line: &Line<'_>) -> Result<Event, String> {
    let mut data = serde_json::Deserializer::from_str(line.data.get());
    match Event::read(&line.kind, &mut data) {
        Some(event) => event.map_err(|error| format!("{}: {error}", line.kind)),
        None if is_extension(&line.kind) => Ok(Event::Extension(Extension {
            kind: line.kind.clone().into_owned(),
            turn: line.turn,
            data: Json::parse(line.data.get()).map_err(|error| error.to_string())?,
        })),
        None if line.ignorable => Ok(Event::Ignorable(Ignorable {
            kind: line.kind.clone().into_owned(),
            data: Json::parse(line.data.get()).map_err(|error| error.to_string())?,
        })),
        None => Err(format!("there is no event {:?}", line.kind)),
    }
}

fn read_header(path: &Path, line: &[u8]) -> Result<Header, SessionError> {
    #[derive(Deserialize)]
    struct Format {
        format: serde_json::Value,
    }
    let corrupt = |error: serde_json::Error| SessionError::Corrupt {
        path: path.to_owned(),
        line: 1,
        message: format!("the first line must be the header: {error}"),
    };
    let Format { format } = serde_json::from_slice(line).map_err(corrupt)?;
    if format.as_u64() != Some(FORMAT) {
        let found = format.to_string();
        return Err(SessionError::Format {
            path: path.to_owned(),
            found,
        });
    }
    serde_json::from_slice(line).map_err(corrupt)
}
