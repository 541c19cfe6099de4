//! A JSON object as a hook wrote it: values keep their exact text, of two equal keys the last wins.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::dialect::Kind;

/// An object whose values are still text.
#[derive(Debug, Clone, Default)]
pub(super) struct RawObject(BTreeMap<String, Box<RawValue>>);

impl RawObject {
    /// Parses exactly one object; the error is serde's own text.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(text)
            .map(Self)
            .map_err(|error| error.to_string())
    }

    pub(super) fn get(&self, key: &str) -> Option<&RawValue> {
        self.0.get(key).map(AsRef::as_ref)
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// A key that is there and not `null`.
    pub(super) fn given(&self, key: &str) -> Option<&RawValue> {
        self.get(key).filter(|value| value.get() != "null")
    }

    pub(super) fn text(&self, key: &str) -> Option<String> {
        self.given(key)
            .and_then(|value| serde_json::from_str(value.get()).ok())
    }

    pub(super) fn flag(&self, key: &str) -> Option<bool> {
        self.given(key)
            .and_then(|value| serde_json::from_str(value.get()).ok())
    }

    pub(super) fn object(&self, key: &str) -> Option<Self> {
        self.given(key)
            .and_then(|value| Self::parse(value.get()).ok())
    }
}

/// Whether a value is of a kind; the error says what was wanted.
pub(super) fn check(value: &RawValue, kind: Kind) -> Result<(), String> {
    let parsed: Value =
        serde_json::from_str(value.get()).map_err(|error| format!("is not JSON: {error}"))?;
    let fits = match kind {
        Kind::Text => parsed.is_string(),
        Kind::Flag => parsed.is_boolean(),
        Kind::Object => parsed.is_object(),
        Kind::Any => true,
        Kind::TextList => parsed
            .as_array()
            .is_some_and(|items| items.iter().all(Value::is_string)),
        Kind::OneOf(words) => parsed.as_str().is_some_and(|word| words.contains(&word)),
        Kind::Permission => permission(&parsed),
    };
    if fits {
        Ok(())
    } else {
        Err(format!("must be {}, but is {}", wanted(kind), value.get()))
    }
}

fn permission(value: &Value) -> bool {
    let behavior = value.get("behavior").and_then(Value::as_str);
    let text = |key| value.get(key).is_none_or(Value::is_string);
    let flag = |key| value.get(key).is_none_or(Value::is_boolean);
    let object = |key| value.get(key).is_none_or(Value::is_object);
    let list = |key| value.get(key).is_none_or(Value::is_array);
    match behavior {
        Some("allow") => object("updatedInput") && list("updatedPermissions"),
        Some("deny") => text("message") && flag("interrupt"),
        _ => false,
    }
}

fn wanted(kind: Kind) -> String {
    match kind {
        Kind::Text => "a string".into(),
        Kind::Flag => "true or false".into(),
        Kind::Object => "an object".into(),
        Kind::Any => "any value".into(),
        Kind::TextList => "a list of strings".into(),
        Kind::OneOf(words) => format!("one of {}", words.join(", ")),
        Kind::Permission => "{\"behavior\": \"allow\"} or {\"behavior\": \"deny\"}".into(),
    }
}
