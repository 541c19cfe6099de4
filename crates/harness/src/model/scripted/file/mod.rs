//! Reading scripts from a file.
//!
//! JSON and YAML go through the same readers; they differ only in what keeps the arguments of a
//! call: JSON arguments keep their own text, YAML arguments have none.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::script::{Play, Say, ScriptBlock, Scripts};
use crate::json::Json;
use crate::model::{ModelError, StopReason, Usage};

/// A script file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// It cannot be read.
    #[error("cannot read the script {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// It does not say what a script can say.
    #[error("{path}:{line}:{column}: {message}")]
    Parse {
        /// The file.
        path: PathBuf,
        /// Counting from 1; 0 where the place is not known.
        line: usize,
        /// Counting from 1; 0 where the place is not known.
        column: usize,
        /// What is wrong.
        message: String,
    },
}

/// Reads a file by its extension.
pub(super) fn read(path: &Path) -> Result<Scripts, ScriptError> {
    let text = std::fs::read_to_string(path).map_err(|source| ScriptError::Io {
        path: path.to_owned(),
        source,
    })?;
    let json = path
        .extension()
        .is_some_and(|extension| extension == "json");
    let parsed = if json {
        from_json(&text)
    } else {
        from_yaml(&text)
    };
    parsed.map_err(|(line, column, message)| {
        let path = path.to_owned();
        ScriptError::Parse {
            path,
            line,
            column,
            message,
        }
    })
}

type Misread = (usize, usize, String);

fn from_json(text: &str) -> Result<Scripts, Misread> {
    let file = serde_json::from_str::<File<Json>>(text);
    file.map(|file| file.0).map_err(|error| {
        let text = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        (
            error.line(),
            error.column(),
            text.trim_end_matches(&place).to_owned(),
        )
    })
}

fn from_yaml(text: &str) -> Result<Scripts, Misread> {
    let file = yaml_serde::from_str::<File<Value>>(text);
    file.map(|file| file.0).map_err(|error| {
        let (line, column) = error
            .location()
            .map_or((0, 0), |at| (at.line(), at.column()));
        let text = error.to_string();
        let place = format!(" at line {line} column {column}");
        (line, column, text.replace(&place, ""))
    })
}

/// What keeps the arguments of a call.
trait Input: DeserializeOwned + Into<Json> {}
impl<T: DeserializeOwned + Into<Json>> Input for T {}

struct File<I>(Scripts, PhantomData<I>);

/// One turn in any of its forms.
struct Turn<I>(Play, PhantomData<I>);

/// One block in any of its forms.
struct Block<I>(ScriptBlock, PhantomData<I>);

/// A mapping in place of a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound = "I: Input")]
struct FileFields<I> {
    scripts: BTreeMap<String, Vec<Turn<I>>>,
}

/// A mapping in place of a turn or a block; which keys go together is checked by hand, so that
/// the error can say what is wrong.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound = "I: Input")]
struct Fields<I> {
    tool: Option<String>,
    input: Option<I>,
    id: Option<String>,
    text: Option<String>,
    blocks: Option<Vec<Block<I>>>,
    stop_reason: Option<StopReason>,
    delay: Option<f64>,
    usage: Option<Usage>,
    error: Option<u16>,
    #[serde(rename = "type")]
    kind: Option<String>,
    message: Option<String>,
}

impl<I: Input> Fields<I> {
    fn play(self) -> Result<Play, String> {
        match (&self.blocks, self.error) {
            (Some(_), None) => self.say().map(Play::Say),
            (None, Some(status)) => self.fail(status).map(Play::Fail),
            (None, None) => self.block().map(|block| Play::blocks([block])),
            (Some(_), Some(_)) => Err("a turn is either `blocks` or `error`".to_owned()),
        }
    }

    fn say(self) -> Result<Say, String> {
        self.only(&["blocks", "stop_reason", "delay", "usage"])?;
        let delay = Duration::try_from_secs_f64(self.delay.unwrap_or_default())
            .map_err(|error| format!("`delay` is a number of seconds: {error}"))?;
        let blocks = self
            .blocks
            .into_iter()
            .flatten()
            .map(|block| block.0)
            .collect();
        Ok(Say {
            blocks,
            stop: self.stop_reason,
            delay,
            usage: self.usage,
        })
    }

    fn fail(self, status: u16) -> Result<ModelError, String> {
        self.only(&["error", "type", "message"])?;
        let kind = self.kind.unwrap_or_else(|| "api_error".to_owned());
        let message = self.message.unwrap_or_else(|| "scripted error".to_owned());
        Ok(ModelError {
            status: Some(status),
            kind,
            message,
        })
    }

    fn block(self) -> Result<ScriptBlock, String> {
        match (&self.tool, &self.text) {
            (Some(_), None) => self.only(&["tool", "input", "id"])?,
            (None, Some(_)) => self.only(&["text"])?,
            _ => return Err("a block is either `tool` or `text`".to_owned()),
        }
        Ok(match (self.tool, self.input, self.text) {
            (Some(name), input, _) => {
                let none = || Json::from_value(Value::Object(serde_json::Map::new()));
                let input = input.map_or_else(none, Into::into);
                ScriptBlock::Call {
                    name,
                    input,
                    id: self.id,
                }
            }
            (None, _, text) => ScriptBlock::Text(text.unwrap_or_default()),
        })
    }

    /// Refuses keys that do not go with `allowed`.
    fn only(&self, allowed: &[&str]) -> Result<(), String> {
        let set = [
            ("tool", self.tool.is_some()),
            ("input", self.input.is_some()),
            ("id", self.id.is_some()),
            ("text", self.text.is_some()),
            ("blocks", self.blocks.is_some()),
            ("stop_reason", self.stop_reason.is_some()),
            ("delay", self.delay.is_some()),
            ("usage", self.usage.is_some()),
            ("error", self.error.is_some()),
            ("type", self.kind.is_some()),
            ("message", self.message.is_some()),
        ];
        match set.iter().find(|(key, set)| *set && !allowed.contains(key)) {
            Some((key, _)) => Err(format!(
                "`{key}` does not go here; allowed: {}",
                allowed.join(", ")
            )),
            None => Ok(()),
        }
    }
}

impl<'de, I: Input> Deserialize<'de> for File<I> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let scripts = deserializer.deserialize_any(Forms {
            expecting: "scripts by name under `scripts`, or the list of turns of the script main",
            text: |_| Err("a text is no script".to_owned()),
            list: |turns: Vec<Turn<I>>| Ok(Scripts::main(turns.into_iter().map(|turn| turn.0))),
            map: |fields: FileFields<I>| {
                let named = fields.scripts.into_iter();
                let plays = |turns: Vec<Turn<I>>| turns.into_iter().map(|turn| turn.0);
                Ok(named.fold(Scripts::default(), |all, (name, turns)| {
                    all.with(name, plays(turns))
                }))
            },
            marker: PhantomData,
        })?;
        Ok(Self(scripts, PhantomData))
    }
}

impl<'de, I: Input> Deserialize<'de> for Turn<I> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let play = deserializer.deserialize_any(Forms {
            expecting: "a text, a block, a list of blocks, or a mapping with `blocks` or `error`",
            text: |text| Ok(Play::text(text)),
            list: |blocks: Vec<Block<I>>| Ok(Play::blocks(blocks.into_iter().map(|block| block.0))),
            map: Fields::<I>::play,
            marker: PhantomData,
        })?;
        Ok(Self(play, PhantomData))
    }
}

impl<'de, I: Input> Deserialize<'de> for Block<I> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let block = deserializer.deserialize_any(Forms {
            expecting: "a text, or a mapping with `tool` or `text`",
            text: |text| Ok(ScriptBlock::Text(text)),
            list: |_: Vec<IgnoredAny>| Err("a block is a text or a mapping, not a list".to_owned()),
            map: Fields::<I>::block,
            marker: PhantomData,
        })?;
        Ok(Self(block, PhantomData))
    }
}

/// Reads a thing that may be written as a text, a list or a mapping.
struct Forms<Text, List, Map, L, M> {
    expecting: &'static str,
    text: Text,
    list: List,
    map: Map,
    marker: PhantomData<(L, M)>,
}

impl<'de, T, Text, List, Map, L, M> Visitor<'de> for Forms<Text, List, Map, L, M>
where
    Text: FnOnce(String) -> Result<T, String>,
    List: FnOnce(Vec<L>) -> Result<T, String>,
    Map: FnOnce(M) -> Result<T, String>,
    L: Deserialize<'de>,
    M: Deserialize<'de>,
{
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expecting)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        (self.text)(text.to_owned()).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<T, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        (self.list)(list).map_err(A::Error::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        let fields = M::deserialize(MapAccessDeserializer::new(map))?;
        (self.map)(fields).map_err(A::Error::custom)
    }
}
