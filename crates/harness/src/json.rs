//! JSON text that is kept exactly as it was written, with a parsed view beside it.
//!
//! Arguments, canonical values and the data of extension events travel as [`Json`]: cloning is
//! one reference count, the text is never re-serialized (`1.0` stays `1.0`, a 30-digit integer
//! keeps its digits), and looking inside costs one parse for all readers together. Where the
//! text and the view disagree (numbers wider than 64 bits), the text is the authority.

use std::fmt;
use std::sync::Arc;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// One JSON value: its text and its parsed view, shared.
///
/// The text never holds a line break (outside strings a line break is only white space and is
/// replaced by a space), so that it fits on one line of the log unchanged.
#[derive(Clone)]
pub struct Json(Arc<Inner>);

struct Inner {
    raw: Box<RawValue>,
    view: Value,
}

impl Json {
    /// Reads JSON text. Fails on text that is not JSON and on values a reader could not look
    /// into (nested deeper than 128 levels, numbers outside the range of a double).
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let raw = RawValue::from_string(text.replace(['\n', '\r'], " "))?;
        let view = serde_json::from_str(raw.get())?;
        Ok(Self(Arc::new(Inner { raw, view })))
    }

    /// The compact text of a value that already is JSON.
    pub fn from_value(view: Value) -> Self {
        let raw =
            serde_json::value::to_raw_value(&view).unwrap_or_else(|_| RawValue::NULL.to_owned());
        Self(Arc::new(Inner { raw, view }))
    }

    /// Serializes any value. Fails only where `T` itself refuses (for example a map whose keys
    /// are not strings).
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        Self::parse(&serde_json::to_string(value)?)
    }

    /// The text.
    pub fn text(&self) -> &str {
        self.0.raw.get()
    }

    /// The text, as serde_json's own raw value.
    pub fn raw(&self) -> &RawValue {
        &self.0.raw
    }

    /// The parsed view.
    pub fn value(&self) -> &Value {
        &self.0.view
    }

    /// Reads a typed value from the text, so that nothing passes through the view.
    pub fn to<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.text())
    }

    /// The same object with `key` set to `value` where the key is missing; anything that is not
    /// an object, and an object that has the key, comes back unchanged. The rest of the text is
    /// not touched.
    #[must_use]
    pub fn with_default(&self, key: &str, value: &Value) -> Self {
        let Value::Object(map) = self.value() else {
            return self.clone();
        };
        let Some(body) = self.text().strip_suffix('}') else {
            return self.clone();
        };
        if map.contains_key(key) {
            return self.clone();
        }
        let comma = if map.is_empty() { "" } else { "," };
        let key = Value::String(key.to_owned());
        Self::parse(&format!("{body}{comma}{key}:{value}}}")).unwrap_or_else(|_| self.clone())
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        Self::from_value(value)
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for Json {}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::parse(raw.get()).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Text is the authority: no number is rewritten, no key order is lost.
    #[test]
    fn text_survives_untouched() {
        for text in [
            r#"{"b":1.0,"a":123456789012345678901234567890,"c":1e2}"#,
            r#"{"x":-0.0,"y":"\u00e9","x":2}"#,
            "[ 1 ,  2 ]",
        ] {
            let json = Json::parse(text).unwrap();
            assert_eq!(json.text(), text);
            let line = serde_json::to_string(&json).unwrap();
            assert_eq!(serde_json::from_str::<Json>(&line).unwrap(), json);
        }
    }

    /// A pretty-printed argument text must not tear a log line apart.
    #[test]
    fn line_breaks_between_tokens_become_spaces() {
        let json = Json::parse("{\n  \"a\": \"x\\ny\"\r\n}").unwrap();
        assert!(!json.text().contains(['\n', '\r']));
        assert_eq!(json.value(), &json!({"a": "x\ny"}));
    }

    /// Filling in a default leaves the model's own text as it was.
    #[test]
    fn defaults_are_added_without_rewriting() {
        let cases = [
            (r#"{"n":1.50}"#, r#"{"n":1.50,"all":false}"#),
            ("{ }", r#"{ "all":false}"#),
            (r#"{"all":true}"#, r#"{"all":true}"#),
            ("[1]", "[1]"),
        ];
        for (before, after) in cases {
            let json = Json::parse(before)
                .unwrap()
                .with_default("all", &json!(false));
            assert_eq!(json.text(), after);
        }
    }
}
