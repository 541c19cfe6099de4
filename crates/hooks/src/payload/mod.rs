//! What hooks read on standard input.

use std::sync::Arc;

use serde_json::Value;

/// One event's payload: its exact text and a parsed view, shared.
#[derive(Debug, Clone)]
pub struct Payload {
    text: Arc<str>,
    value: Arc<Value>,
}

impl Payload {
    /// Takes a payload as text, without a trailing newline.
    ///
    /// # Errors
    /// When the text is not one JSON object.
    pub fn from_text(text: impl Into<Arc<str>>) -> Result<Self, serde_json::Error> {
        let text = text.into();
        let value: serde_json::Map<String, Value> = serde_json::from_str(&text)?;
        Ok(Self {
            text,
            value: Arc::new(Value::Object(value)),
        })
    }

    /// The exact text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The parsed view.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// A string field.
    #[must_use]
    pub fn str_field(&self, key: &str) -> Option<&str> {
        self.value.get(key).and_then(Value::as_str)
    }
}
