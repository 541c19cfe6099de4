//! The two notations of a case file: long strings and placeholders.
//!
//! A *long string* is written as an object, `{"repeat":"x","times":3}` for `xxx` or
//! `{"concat":[…]}` for parts put together, so that a row with a megabyte of output stays one
//! short line. A *placeholder* is a name behind a dollar sign (`$CWD`) for a value that differs at
//! each run.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::Value;

/// Replaces every long string in `value` by the string it stands for.
///
/// An object counts only when it has exactly the keys of the notation; anything else stays.
#[must_use]
pub fn expand(value: Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.into_iter().map(expand).collect()),
        Value::Object(map) => {
            if let Some(text) = long_string(&map) {
                return Value::String(text);
            }
            Value::Object(map.into_iter().map(|(k, v)| (k, expand(v))).collect())
        }
        other => other,
    }
}

fn long_string(map: &serde_json::Map<String, Value>) -> Option<String> {
    match (
        map.len(),
        map.get("repeat"),
        map.get("times"),
        map.get("concat"),
    ) {
        (2, Some(Value::String(unit)), Some(times), None) => {
            Some(unit.repeat(usize::try_from(times.as_u64()?).ok()?))
        }
        (1, None, None, Some(Value::Array(parts))) => parts.iter().map(part).collect(),
        _ => None,
    }
}

/// Writes out the runs of equal characters that payloads show as `<x*12000>`.
#[must_use]
pub fn unshorten(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(written_out(text)),
        Value::Array(items) => items.iter().map(unshorten).collect(),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(k, v)| (k.clone(), unshorten(v))).collect())
        }
        other => other.clone(),
    }
}

fn written_out(text: &str) -> String {
    static RUN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"<(.)\*(\d{2,8})>").ok());
    let Some(pattern) = RUN.as_ref().filter(|_| text.contains('*')) else {
        return text.to_owned();
    };
    let long = |found: &Captures<'_>| {
        let (unit, times) = (
            found.get(1),
            found.get(2).and_then(|n| n.as_str().parse().ok()),
        );
        unit.map_or("", |unit| unit.as_str())
            .repeat(times.unwrap_or(1))
    };
    pattern.replace_all(text, long).into_owned()
}

fn part(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Object(map) => long_string(map),
        _ => None,
    }
}

/// The values of the placeholders of one run.
///
/// `$UUID1` and `$UUID_12` need no entry: each number has a fixed value.
#[derive(Debug, Clone, Default)]
pub struct Names(BTreeMap<String, String>);

impl Names {
    /// Sets the value of `$name`.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.insert(name.into(), value.into());
    }

    /// The value of a name, without the dollar sign.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned().or_else(|| numbered(name))
    }

    /// Replaces each known placeholder in `text`.
    ///
    /// A name ends where its letters, digits and underscores end, so that `$CASE_DIR` is not
    /// `$CASE` with a tail. Unknown names and `${…}` stay: they belong to a shell.
    #[must_use]
    pub fn fill(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            out.push_str(before);
            let end = after.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            let (name, tail) = after.split_at(end.unwrap_or(after.len()));
            match self.get(name) {
                Some(value) => out.push_str(&value),
                None => {
                    out.push('$');
                    out.push_str(name);
                }
            }
            rest = tail;
        }
        out.push_str(rest);
        out
    }

    /// Replaces placeholders in every string of `value`, keys included.
    #[must_use]
    pub fn fill_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.fill(text)),
            Value::Array(items) => items.iter().map(|v| self.fill_value(v)).collect(),
            Value::Object(map) => Value::Object(
                map.iter()
                    .map(|(k, v)| (self.fill(k), self.fill_value(v)))
                    .collect(),
            ),
            other => other.clone(),
        }
    }
}

fn numbered(name: &str) -> Option<String> {
    let digits = name.strip_prefix("UUID")?;
    let digits = digits.strip_prefix('_').unwrap_or(digits);
    uuid(digits.parse().ok()?)
}

fn uuid(n: u32) -> Option<String> {
    (n < 1_000_000).then(|| format!("00000000-0000-7000-8000-{n:012}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn long_strings_are_expanded_where_a_string_belongs() {
        let row = json!({"stderr": {"repeat": "ab", "times": 2},
            "o": [{"concat": ["<", {"repeat": "x", "times": 3}, ">"]}]});
        assert_eq!(expand(row), json!({"stderr": "abab", "o": ["<xxx>"]}));
    }

    #[test]
    fn objects_that_only_look_like_long_strings_stay() {
        for other in [
            json!({"repeat": "x"}),
            json!({"repeat": "x", "times": -1}),
            json!({"repeat": "x", "times": 1, "more": 1}),
            json!({"concat": "x"}),
            json!({"concat": ["x", 1]}),
        ] {
            assert_eq!(expand(other.clone()), other);
        }
    }

    #[test]
    fn shortened_runs_are_written_out() {
        let value = json!({"a": ["<x*12>y<b*1>", 1]});
        assert_eq!(unshorten(&value), json!({"a": ["xxxxxxxxxxxxy<b*1>", 1]}));
    }

    #[test]
    fn a_name_ends_where_its_letters_end() {
        let mut names = Names::default();
        names.set("CASE", "/c");
        names.set("CWD", "/c/cwd");
        assert_eq!(
            names.fill("$CASE/x $CASE_DIR $CWD. $$CWD ${CWD} $"),
            "/c/x $CASE_DIR /c/cwd. $/c/cwd ${CWD} $"
        );
    }

    #[test]
    fn numbered_ids_are_stable_and_distinct() {
        let names = Names::default();
        assert_eq!(names.fill("$UUID_3"), names.fill("$UUID3"));
        assert_ne!(names.fill("$UUID1"), names.fill("$UUID12"));
        assert_eq!(names.fill("$UUID"), "$UUID");
    }

    #[test]
    fn values_are_filled_with_their_keys() {
        let mut names = Names::default();
        names.set("CWD", "/p");
        assert_eq!(
            names.fill_value(&json!({"$CWD": ["$CWD/a", 1]})),
            json!({"/p": ["/p/a", 1]})
        );
    }
}
