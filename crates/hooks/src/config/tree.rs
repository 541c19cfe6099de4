//! One tree for JSON and TOML: values with the bytes they came from.

use std::collections::HashMap;

use serde_json::Number;

/// A range of bytes in the file, end excluded.
pub(crate) type Span = (usize, usize);

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) span: Span,
    pub(crate) value: Value,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    /// A TOML date or time, which no hook key takes.
    Date(String),
    List(Vec<Node>),
    Table(Table),
}

/// An object; repeated keys are kept.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Table {
    pub(crate) entries: Vec<Entry>,
}

/// One key with its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_span: Span,
    pub(crate) value: Node,
}

impl Table {
    /// The entry of a key. The last one counts when the key is repeated, as in both clients.
    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().rev().find(|entry| entry.key == key)
    }

    /// The value of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The entries that count: of a repeated key only the last, in the place of the last.
    pub(crate) fn effective(&self) -> Vec<&Entry> {
        self.split().0
    }

    /// The entries that do not count, because their key comes again.
    pub(crate) fn overridden(&self) -> Vec<&Entry> {
        self.split().1
    }

    fn split(&self) -> (Vec<&Entry>, Vec<&Entry>) {
        let numbered = || self.entries.iter().enumerate();
        let last: HashMap<&str, usize> = numbered().map(|(at, e)| (e.key.as_str(), at)).collect();
        let mut kept = Vec::new();
        let mut lost = Vec::new();
        for (at, entry) in numbered() {
            let counts = last.get(entry.key.as_str()) == Some(&at);
            if counts { &mut kept } else { &mut lost }.push(entry);
        }
        (kept, lost)
    }
}

impl Node {
    pub(crate) fn as_table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    pub(crate) fn as_list(&self) -> Option<&[Node]> {
        match &self.value {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_bool(&self) -> Option<bool> {
        match self.value {
            Value::Bool(flag) => Some(flag),
            _ => None,
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        self.value == Value::Null
    }

    /// The value in the words of serde's messages: ``integer `-1` ``, `string "5"`, `map`.
    pub(crate) fn describe(&self) -> String {
        match &self.value {
            Value::Null => "null".into(),
            Value::Bool(flag) => format!("boolean `{flag}`"),
            Value::Number(number) if number.is_f64() => format!("floating point `{number}`"),
            Value::Number(number) => format!("integer `{number}`"),
            Value::Text(text) => format!("string {text:?}"),
            Value::Date(date) => format!("datetime `{date}`"),
            Value::List(_) => "sequence".into(),
            Value::Table(_) => "map".into(),
        }
    }

    /// The value without its places; of repeated keys the last stays.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(flag) => (*flag).into(),
            Value::Number(number) => serde_json::Value::Number(number.clone()),
            Value::Text(text) | Value::Date(text) => text.as_str().into(),
            Value::List(items) => items.iter().map(Node::to_json).collect(),
            Value::Table(table) => table
                .effective()
                .into_iter()
                .map(|entry| (entry.key.clone(), entry.value.to_json()))
                .collect(),
        }
    }
}
