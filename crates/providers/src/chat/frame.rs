//! One event of an answer, taken apart without losing anything.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::failure::Words;

/// The fields of one object. Those that are understood are taken out; the rest stays.
pub(super) type Fields = BTreeMap<String, Box<RawValue>>;

/// One event.
#[derive(Debug, Default)]
pub(super) struct Frame {
    /// The server says that it failed.
    pub(super) error: Option<Words>,
    pub(super) usage: Option<Box<RawValue>>,
    pub(super) text: Option<String>,
    pub(super) reasoning: Option<String>,
    pub(super) refusal: Option<String>,
    pub(super) calls: Vec<Piece>,
    pub(super) finish: Option<String>,
    /// What is not understood, by where it stood.
    pub(super) rest: Vec<(String, Fields)>,
}

/// A piece of a tool call.
#[derive(Debug, Default)]
pub(super) struct Piece {
    pub(super) index: Option<u64>,
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) arguments: Option<String>,
}

impl Frame {
    /// Reads an event's data.
    pub(super) fn read(data: &[u8]) -> Result<Self, serde_json::Error> {
        let mut fields: Fields = serde_json::from_slice(data)?;
        let mut frame = Self::default();
        if let Some(error) = fields.remove("error").filter(|error| error.get() != "null") {
            frame.error = Some(Words::of_error(error.get()));
        }
        frame.usage = fields.remove("usage").filter(|usage| usage.get() != "null");
        // Random letters that only hide how long an answer is.
        fields.remove("obfuscation");
        let choices = take::<Vec<Fields>>(&mut fields, "choices").unwrap_or_default();
        frame.keep("chunk", fields);
        for (place, choice) in choices.into_iter().enumerate() {
            frame.choice(place, choice);
        }
        Ok(frame)
    }

    fn choice(&mut self, place: usize, mut choice: Fields) {
        let index = take::<u64>(&mut choice, "index").unwrap_or(place as u64);
        if index != 0 {
            // One answer was asked for.
            return self.keep(&format!("choice {index}"), choice);
        }
        if let Some(finish) = take(&mut choice, "finish_reason") {
            self.finish = finish;
        }
        if let Some(mut delta) = take::<Fields>(&mut choice, "delta") {
            take::<Option<String>>(&mut delta, "role");
            self.text = take(&mut delta, "content").flatten();
            let thoughts = take(&mut delta, "reasoning_content").flatten();
            self.reasoning = match thoughts {
                None => take(&mut delta, "reasoning").flatten(),
                some => some,
            };
            self.refusal = take(&mut delta, "refusal").flatten();
            let calls = take::<Option<Vec<Fields>>>(&mut delta, "tool_calls").flatten();
            for call in calls.into_iter().flatten() {
                self.call(call);
            }
            self.keep("delta", delta);
        }
        self.keep("choice", choice);
    }

    fn call(&mut self, mut call: Fields) {
        let mut piece = Piece {
            index: take(&mut call, "index").flatten(),
            id: take(&mut call, "id").flatten(),
            ..Piece::default()
        };
        take::<Option<String>>(&mut call, "type");
        if let Some(mut function) = take::<Fields>(&mut call, "function") {
            piece.name = take(&mut function, "name").flatten();
            piece.arguments = match function.remove("arguments") {
                None => None,
                Some(raw) if raw.get() == "null" => None,
                // Some servers send the object itself instead of its text.
                Some(raw) => Some(serde_json::from_str(raw.get()).unwrap_or(raw.get().to_owned())),
            };
            self.keep("function", function);
        }
        let place = piece.index.unwrap_or(self.calls.len() as u64);
        self.keep(&format!("tool call {place}"), call);
        self.calls.push(piece);
    }

    fn keep(&mut self, place: &str, fields: Fields) {
        if !fields.is_empty() {
            self.rest.push((place.to_owned(), fields));
        }
    }
}

/// Takes a field out, if it is there and what it should be.
fn take<T: for<'de> Deserialize<'de>>(fields: &mut Fields, name: &str) -> Option<T> {
    let value = serde_json::from_str(fields.get(name)?.get()).ok()?;
    fields.remove(name);
    Some(value)
}
