//! Frames put together to an answer.

use std::collections::BTreeMap;

use seamline_harness::model::{Chunk, StopReason, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::failure::Words;
use super::frame::{Fields, Frame, Piece};

/// An answer on its way.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    calls: Vec<Call>,
    finish: Option<String>,
    done: bool,
    refused: bool,
    usage: Option<Box<RawValue>>,
    rest: BTreeMap<String, BTreeMap<String, Vec<Box<RawValue>>>>,
}

#[derive(Debug, Default)]
struct Call {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

/// Why an event could not be taken in.
#[derive(Debug)]
pub(super) enum Trouble {
    /// It is not what this format sends.
    Garbage(String),
    /// The server says that it failed.
    Server(Words),
}

impl Assembly {
    /// Takes in an event; what can be handed on at once.
    pub(super) fn take(&mut self, data: &[u8]) -> Result<Vec<Chunk>, Trouble> {
        if data.trim_ascii() == b"[DONE]" {
            self.done = true;
            return Ok(Vec::new());
        }
        let frame = Frame::read(data).map_err(|_| Trouble::Garbage(excerpt(data)))?;
        if let Some(words) = frame.error {
            return Err(Trouble::Server(words));
        }
        let mut chunks = Vec::new();
        let some = |text: &String| !text.is_empty();
        chunks.extend(frame.reasoning.filter(some).map(Chunk::Reasoning));
        chunks.extend(frame.text.filter(some).map(Chunk::Text));
        if let Some(refusal) = frame.refusal.filter(some) {
            self.refused = true;
            chunks.push(Chunk::Text(refusal));
        }
        frame.calls.into_iter().for_each(|piece| self.piece(piece));
        self.finish = frame.finish.or(self.finish.take());
        self.usage = frame.usage.or(self.usage.take());
        for (place, fields) in frame.rest {
            self.keep(place, fields);
        }
        Ok(chunks)
    }

    /// Whether the server said that nothing follows.
    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// Whether the answer is whole; counts may still follow.
    pub(super) fn is_whole(&self) -> bool {
        self.done || self.finish.is_some()
    }

    /// What remains to be handed on when nothing follows.
    pub(super) fn end(self) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        let called = !self.calls.is_empty();
        for (place, call) in self.calls.into_iter().enumerate() {
            let id = match call.id.is_empty() {
                true => format!("call_{place}"),
                false => call.id,
            };
            chunks.push(Chunk::ToolCall {
                id,
                name: call.name,
                arguments: call.arguments,
            });
        }
        let mut rest = self.rest;
        if let Some(usage) = self.usage {
            chunks.push(Chunk::Usage(counts(&usage)));
            rest.entry("chunk".to_owned())
                .or_default()
                .insert("usage".to_owned(), vec![usage]);
        }
        if let Ok(data) = serde_json::to_string(&rest)
            && !rest.is_empty()
        {
            chunks.push(Chunk::Provider(data));
        }
        chunks.push(Chunk::End(match self.finish.as_deref() {
            Some("length") => StopReason::MaxTokens,
            Some("content_filter") => StopReason::Refusal,
            _ if self.refused => StopReason::Refusal,
            _ if called => StopReason::ToolUse,
            _ => StopReason::EndTurn,
        }));
        chunks
    }

    /// Finds the call a piece belongs to: by index; where there is none, a new id begins a new call.
    /// Servers that give every call the index 0 are told apart by id too.
    fn piece(&mut self, piece: Piece) {
        let id = piece.id.filter(|id| !id.is_empty());
        let same = |call: &&mut Call| match (piece.index, &id) {
            (Some(_), _) if call.index != piece.index => false,
            (_, Some(id)) => call.id.is_empty() || call.id == *id,
            _ => true,
        };
        let begins = piece.index.is_none() && id.is_none() && piece.name.is_some();
        let known = self.calls.iter_mut().rev().find(same).filter(|_| !begins);
        let call = match known {
            Some(call) => call,
            None => {
                self.calls.push(Call {
                    index: piece.index,
                    ..Call::default()
                });
                let Some(call) = self.calls.last_mut() else {
                    return;
                };
                call
            }
        };
        if let Some(id) = id {
            call.id = id;
        }
        // A few servers repeat the whole name in every piece.
        if let Some(name) = piece.name.filter(|name| *name != call.name) {
            call.name.push_str(&name);
        }
        call.arguments
            .push_str(&piece.arguments.unwrap_or_default());
    }

    /// Keeps what is not understood: every value a field had, in order, each once in a row.
    fn keep(&mut self, place: String, fields: Fields) {
        let kept = self.rest.entry(place).or_default();
        for (name, value) in fields {
            let values = kept.entry(name).or_default();
            if values.last().is_none_or(|last| last.get() != value.get()) {
                values.push(value);
            }
        }
    }
}

/// Token counts as the servers name them. Not every one has them, and a wrong type is none.
fn counts(usage: &RawValue) -> Usage {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Counts {
        prompt_tokens: Option<u64>,
        completion_tokens: Option<u64>,
        prompt_tokens_details: Option<Details>,
        prompt_cache_hit_tokens: Option<u64>,
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Details {
        cached_tokens: Option<u64>,
    }
    let counts: Counts = serde_json::from_str(usage.get()).unwrap_or_default();
    let cached = counts.prompt_tokens_details.and_then(|it| it.cached_tokens);
    Usage {
        input_tokens: counts.prompt_tokens.unwrap_or_default(),
        output_tokens: counts.completion_tokens.unwrap_or_default(),
        cache_read_input_tokens: cached
            .or(counts.prompt_cache_hit_tokens)
            .unwrap_or_default(),
        cache_creation_input_tokens: 0,
    }
}

/// The beginning of something unexpected.
pub(super) fn excerpt(data: &[u8]) -> String {
    let text = String::from_utf8_lossy(data);
    let text: String = text.trim().chars().take(200).collect();
    text.replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(frames: &[&str]) -> Vec<Chunk> {
        let mut assembly = Assembly::default();
        let mut chunks = Vec::new();
        for frame in frames {
            chunks.extend(assembly.take(frame.as_bytes()).unwrap());
        }
        chunks.extend(assembly.end());
        chunks
    }

    fn calls(chunks: &[Chunk]) -> Vec<(&str, &str, &str)> {
        let mut calls = Vec::new();
        for chunk in chunks {
            if let Chunk::ToolCall {
                id,
                name,
                arguments,
            } = chunk
            {
                calls.push((id.as_str(), name.as_str(), arguments.as_str()));
            }
        }
        calls
    }

    fn delta(calls: &str) -> String {
        format!(r#"{{"choices":[{{"index":0,"delta":{{"tool_calls":{calls}}}}}]}}"#)
    }

    /// Calls are told apart in each of the ways that servers number them.
    #[test]
    fn pieces_of_calls_find_their_call() {
        let whole = [("a", "R", "{1}"), ("b", "W", "{2}")];
        let numbered = [
            delta(
                r#"[{"index":0,"id":"a","function":{"name":"R","arguments":"{"}},{"index":1,"id":"b","function":{"name":"W"}}]"#,
            ),
            delta(
                r#"[{"index":1,"function":{"arguments":"{2}"}},{"index":0,"function":{"arguments":"1}"}}]"#,
            ),
        ];
        let all_zero = [
            delta(r#"[{"index":0,"id":"a","function":{"name":"R","arguments":"{1}"}}]"#),
            delta(r#"[{"index":0,"id":"b","function":{"name":"W","arguments":"{"}}]"#),
            delta(r#"[{"index":0,"id":"","function":{"arguments":"2}"}}]"#),
        ];
        let unnumbered = [
            delta(r#"[{"id":"a","function":{"name":"R","arguments":"{1"}}]"#),
            delta(
                r#"[{"function":{"arguments":"}"}},{"id":"b","function":{"name":"W","arguments":"{2}"}}]"#,
            ),
        ];
        let cases: [&[String]; 3] = [&numbered, &all_zero, &unnumbered];
        for frames in cases {
            let frames: Vec<&str> = frames.iter().map(String::as_str).collect();
            assert_eq!(calls(&answer(&frames)), whole, "{frames:#?}");
        }
        let nameless = [delta(
            r#"[{"function":{"name":"R","arguments":{"n":1.50}}},{"function":{"name":"W"}}]"#,
        )];
        let chunks = answer(&[&nameless[0]]);
        assert_eq!(
            calls(&chunks),
            [("call_0", "R", r#"{"n":1.50}"#), ("call_1", "W", "")]
        );
    }

    /// Nothing that a server sends is lost, wherever it stands and whatever type it has.
    #[test]
    fn unknown_fields_are_kept_with_their_digits() {
        let chunks = answer(&[
            r#"{"id":"x","new":1.50,"choices":[{"index":0,"odd":[1],"delta":{"content":7,"sig":"s1","tool_calls":[{"index":0,"id":"a","extra":{"t":9007199254740993},"function":{"name":"R","strict":true}}]}},{"index":1,"delta":{"content":"other"}}]}"#,
            r#"{"id":"x","new":1.50,"choices":[{"index":0,"delta":{"sig":"s2"},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":4,"odd_tokens":5}}"#,
        ]);
        let kept = chunks.iter().find_map(|chunk| match chunk {
            Chunk::Provider(data) => Some(data.as_str()),
            _ => None,
        });
        assert_eq!(
            kept.unwrap(),
            concat!(
                r#"{"choice":{"odd":[[1]]},"choice 1":{"delta":[{"content":"other"}]},"#,
                r#""chunk":{"id":["x"],"new":[1.50],"usage":[{"prompt_tokens":3,"completion_tokens":4,"odd_tokens":5}]},"#,
                r#""delta":{"content":[7],"sig":["s1","s2"]},"function":{"strict":[true]},"#,
                r#""tool call 0":{"extra":[{"t":9007199254740993}]}}"#
            )
        );
    }
}
