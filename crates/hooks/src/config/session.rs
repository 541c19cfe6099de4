//! Settings given on the command line: Codex's session flags, `-c key=value`.
//!
//! The client lays them over the files as one more layer, which has no file; its handlers are
//! named after [`PLACE`] (measured). A dotted key leads into tables, the value is TOML, and a text
//! that is no TOML is a string. What is given later replaces what was given before.

use serde_json::{Map, Value};
use toml_edit::{Array, InlineTable, Key, Value as TomlValue};

use super::toml;

/// The path that stands for them.
pub(crate) const PLACE: &str = "/<session-flags>/config.toml";

/// The tables that say something about hooks.
const TABLES: [&str; 3] = ["hooks", "features", "projects"];

/// Settings given on the command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionFlags {
    settings: Map<String, Value>,
}

/// Why a setting is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FlagError {
    /// There is no `=`.
    #[error("expected KEY=VALUE")]
    NoValue,
    /// A part of the key is empty, or its quotes do not fit.
    #[error("`{0}` is no dotted key, such as hooks.Stop or features.hooks")]
    BadKey(String),
    /// It configures something else.
    #[error("`{0}` says nothing about hooks; only hooks.*, features.* and projects.* are read")]
    Foreign(String),
}

impl SessionFlags {
    /// Whether nothing was given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.settings.is_empty()
    }

    /// Takes `key=value`; the value is TOML, or else a string.
    ///
    /// # Errors
    /// When it is no assignment, or not about hooks; nothing is set then.
    pub fn give(&mut self, text: &str) -> Result<(), FlagError> {
        let (key, value) = text.split_once('=').ok_or(FlagError::NoValue)?;
        let value = value.trim();
        let bare = || Value::from(value.trim_matches(['"', '\'']));
        self.set(key.trim(), toml::value(value).unwrap_or_else(bare))
    }

    /// Takes a value under a dotted key.
    ///
    /// # Errors
    /// When the key is none, or not about hooks; nothing is set then.
    pub fn set(&mut self, key: &str, value: Value) -> Result<(), FlagError> {
        let path = path(key)?;
        let Some((last, tables)) = path.split_last() else {
            return Err(FlagError::BadKey(key.to_owned()));
        };
        let first = tables.first().unwrap_or(last);
        if !TABLES.contains(&first.as_str()) {
            return Err(FlagError::Foreign(key.to_owned()));
        }
        put(&mut self.settings, tables, last, value);
        Ok(())
    }

    /// The settings as a `config.toml`, a line for each second-level key.
    pub(crate) fn text(&self) -> String {
        let mut lines = Vec::new();
        for (table, value) in &self.settings {
            match value {
                Value::Object(entries) => {
                    lines.extend(entries.iter().filter_map(|(key, value)| {
                        Some(format!("{table}.{} = {}\n", Key::new(key), written(value)?))
                    }))
                }
                other => lines.extend(written(other).map(|value| format!("{table} = {value}\n"))),
            }
        }
        lines.concat()
    }
}

/// The parts of a key. Quotes hold a part together; the client knows no quotes here, and cuts at
/// every dot.
fn path(key: &str) -> Result<Vec<String>, FlagError> {
    let bad = || FlagError::BadKey(key.to_owned());
    let parts: Vec<String> = if key.contains(['"', '\'']) {
        let parts = Key::parse(key).map_err(|_| bad())?;
        parts.iter().map(|part| part.get().to_owned()).collect()
    } else {
        key.split('.').map(|part| part.trim().to_owned()).collect()
    };
    if parts.iter().any(String::is_empty) {
        return Err(bad());
    }
    Ok(parts)
}

/// Puts a value at the end of a path; what is no table on the way gives way to one.
fn put(map: &mut Map<String, Value>, tables: &[String], last: &str, value: Value) {
    let Some((table, rest)) = tables.split_first() else {
        map.insert(last.to_owned(), value);
        return;
    };
    let mut inner = match map.remove(table) {
        Some(Value::Object(inner)) => inner,
        _ => Map::new(),
    };
    put(&mut inner, rest, last, value);
    map.insert(table.clone(), Value::Object(inner));
}

/// As TOML, which has no null.
fn written(value: &Value) -> Option<TomlValue> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(flag) => TomlValue::from(*flag),
        Value::String(text) => TomlValue::from(text.as_str()),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => TomlValue::from(whole),
            None => TomlValue::from(number.as_f64()?),
        },
        Value::Array(items) => TomlValue::from(items.iter().filter_map(written).collect::<Array>()),
        Value::Object(map) => {
            let entries = map
                .iter()
                .filter_map(|(key, value)| Some((Key::new(key), written(value)?)));
            TomlValue::from(entries.collect::<InlineTable>())
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn given(texts: &[&str]) -> Value {
        let mut flags = SessionFlags::default();
        for text in texts {
            flags.give(text).unwrap();
        }
        let text = flags.text();
        let read = toml::parse(&text).unwrap_or_else(|error| panic!("{error:?} in {text}"));
        read.to_json()
    }

    /// Keys and values as the client takes them, and the same values in the text we read.
    #[test]
    fn dotted_keys_lead_into_tables_and_values_are_toml_or_text() {
        for (texts, expected) in [
            (
                &["features.hooks=false"][..],
                json!({"features": {"hooks": false}}),
            ),
            (
                &["features={hooks=false}"],
                json!({"features": {"hooks": false}}),
            ),
            (
                &["hooks.Stop=[{hooks=[{type=\"command\",command=\"a=b\"}]}]"],
                json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a=b"}]}]}}),
            ),
            (
                &["hooks.Stop=[]", "hooks.Stop=[{}]", "hooks.PreToolUse = []"],
                json!({"hooks": {"Stop": [{}], "PreToolUse": []}}),
            ),
            (
                &["hooks=1", "hooks.Stop=[]"],
                json!({"hooks": {"Stop": []}}),
            ),
            (
                &["hooks.state.\"/a.b:stop:0:0\".enabled=false"],
                json!({"hooks": {"state": {"/a.b:stop:0:0": {"enabled": false}}}}),
            ),
            (
                &["projects.\"/p.q\".trust_level=trusted"],
                json!({"projects": {"/p.q": {"trust_level": "trusted"}}}),
            ),
            (&["features.x=it's"], json!({"features": {"x": "it's"}})),
            (
                &["features.x=\"line\\nbreak \\u0001\\u007f\""],
                json!({"features": {"x": "line\nbreak \u{1}\u{7f}"}}),
            ),
        ] {
            assert_eq!(given(texts), expected, "{texts:?}");
        }
    }

    #[test]
    fn what_is_no_setting_about_hooks_is_refused_by_name() {
        let mut flags = SessionFlags::default();
        for (text, error) in [
            ("hooks", "expected KEY=VALUE"),
            ("=1", "`` is no dotted key"),
            ("hooks..Stop=1", "`hooks..Stop` is no dotted key"),
            ("hooks.\"a=1", "is no dotted key"),
            ("model=\"x\"", "`model` says nothing about hooks"),
            ("bypass_hook_trust=true", "`bypass_hook_trust` says nothing"),
        ] {
            let said = flags.give(text).unwrap_err().to_string();
            assert!(said.contains(error), "{text}: {said}");
        }
        assert!(flags.is_empty());
    }

    #[test]
    fn json_values_are_taken_as_they_are_and_nulls_are_left_out() {
        let mut flags = SessionFlags::default();
        let group = json!([{"matcher": null, "hooks": [{"timeout": 5, "x": 1.5}]}]);
        flags.set("hooks.Stop", group).unwrap();
        let read = toml::parse(&flags.text()).unwrap().to_json();
        assert_eq!(
            read,
            json!({"hooks": {"Stop": [{"hooks": [{"timeout": 5, "x": 1.5}]}]}})
        );
    }
}
