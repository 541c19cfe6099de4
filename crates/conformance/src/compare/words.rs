//! Whose words a text is made of.

use serde_json::Value;

use crate::observed::Observed;

/// Everything the hooks of a case put out: whole streams, and every string of a stream that is
/// JSON.
pub(super) struct Words {
    texts: Vec<String>,
}

impl Words {
    pub(super) fn of(seen: &Observed) -> Self {
        let mut texts: Vec<String> = Vec::new();
        for stream in seen.emitted.iter().chain(&seen.scripted) {
            texts.push(stream.clone());
            if let Ok(value) = serde_json::from_str(stream.trim()) {
                strings(&value, &mut texts);
            }
        }
        Self { texts }
    }

    /// Whether the hooks put this text out, and nothing but this.
    pub(super) fn own(&self, text: &str) -> bool {
        self.texts.iter().any(|own| own.trim() == text.trim())
    }

    /// Whether a text is the expected one: the same when it is a hook's own, any when it is the
    /// client's (`None`, or a text no hook put out).
    pub(super) fn agree(&self, expected: Option<&str>, got: &str) -> bool {
        expected.is_none_or(|expected| expected == got || !self.own(expected))
    }

    /// Strings that a hook may have meant for the model: whole plain streams, and the strings of
    /// JSON ones, without the words of the protocol.
    pub(super) fn sayings(seen: &Observed) -> Vec<String> {
        let mut all = Vec::new();
        for stream in &seen.scripted {
            match serde_json::from_str::<Value>(stream.trim()) {
                Ok(value @ Value::Object(_)) => said(&value, &mut all),
                _ => all.push(stream.trim().to_owned()),
            }
        }
        all.retain(|text| !text.trim().is_empty());
        all.sort();
        all.dedup();
        all
    }
}

fn strings(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::String(text) => into.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| strings(item, into)),
        Value::Object(map) => map.values().for_each(|item| strings(item, into)),
        _ => {}
    }
}

/// Strings below keys whose text is free.
fn said(value: &Value, into: &mut Vec<String>) {
    const FREE: [&str; 6] = [
        "reason",
        "stopReason",
        "systemMessage",
        "additionalContext",
        "permissionDecisionReason",
        "message",
    ];
    let Value::Object(map) = value else {
        return;
    };
    for (key, value) in map {
        match value {
            Value::String(text) if FREE.contains(&key.as_str()) => into.push(text.clone()),
            other => said(other, into),
        }
    }
}
