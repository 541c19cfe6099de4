//! JSON and TOML as one tree that knows its places.

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use toml_edit::{Document, Item, Table, Value as Toml};

/// Start and end in bytes.
pub(super) type Span = (usize, usize);

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) span: Span,
    pub(super) value: Value,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Text(String),
    Number(f64),
    Bool(bool),
    /// Null, a date: nothing that a key of ours takes.
    Other(String),
    List(Vec<Node>),
    Table(Vec<Entry>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) key_span: Span,
    pub(super) node: Node,
}

/// Why a text cannot be read, and the byte where it stops making sense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NoText {
    pub(super) message: String,
    pub(super) offset: usize,
}

impl Node {
    /// A value of a table; the last one where a key is repeated.
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        let entries = self.table()?.iter().rev();
        let mut found = entries.filter(|entry| entry.key == key);
        found.next().map(|entry| &entry.node)
    }

    pub(super) fn table(&self) -> Option<&[Entry]> {
        match &self.value {
            Value::Table(entries) => Some(entries),
            _ => None,
        }
    }

    /// What it is, for a message: `"text"`, `5`, `a list`.
    pub(super) fn describe(&self) -> String {
        match &self.value {
            Value::Text(text) => format!("{text:?}"),
            Value::Number(number) => number.to_string(),
            Value::Bool(flag) => flag.to_string(),
            Value::Other(words) => words.clone(),
            Value::List(_) => "a list".to_owned(),
            Value::Table(_) => "an object".to_owned(),
        }
    }
}

const STRICT: ParseOptions = ParseOptions {
    allow_comments: false,
    allow_loose_object_property_names: false,
    allow_trailing_commas: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Reads strict JSON.
pub(super) fn json(text: &str) -> Result<Node, NoText> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &STRICT);
    let parsed = parsed.map_err(|error| NoText {
        message: error.kind().to_string(),
        offset: error.range().start,
    })?;
    let root = parsed.value.as_ref().map(from_json);
    root.ok_or_else(|| NoText {
        message: "the file is empty".to_owned(),
        offset: 0,
    })
}

fn from_json(value: &ast::Value<'_>) -> Node {
    let range = value.range();
    let read = match value {
        ast::Value::NullKeyword(_) => Value::Other("null".to_owned()),
        ast::Value::BooleanLit(literal) => Value::Bool(literal.value),
        ast::Value::NumberLit(literal) => match literal.value.parse() {
            Ok(number) => Value::Number(number),
            Err(_) => Value::Other(literal.value.to_owned()),
        },
        ast::Value::StringLit(literal) => Value::Text(literal.value.clone().into_owned()),
        ast::Value::Array(array) => Value::List(array.elements.iter().map(from_json).collect()),
        ast::Value::Object(object) => {
            Value::Table(object.properties.iter().map(property).collect())
        }
    };
    Node {
        span: (range.start, range.end),
        value: read,
    }
}

fn property(property: &ast::ObjectProp<'_>) -> Entry {
    let range = property.name.range();
    let key = match &property.name {
        ast::ObjectPropName::String(literal) => literal.value.clone().into_owned(),
        ast::ObjectPropName::Word(word) => word.value.to_owned(),
    };
    Entry {
        key,
        key_span: (range.start, range.end),
        node: from_json(&property.value),
    }
}

/// Reads TOML.
pub(super) fn toml(text: &str) -> Result<Node, NoText> {
    let document = Document::parse(text).map_err(|error| NoText {
        message: error.message().trim().replace('\n', ", "),
        offset: error.span().map_or(0, |span| span.start),
    })?;
    Ok(Node {
        span: (0, text.len()),
        value: Value::Table(entries(document.as_table(), (0, text.len()))),
    })
}

fn entries(table: &Table, outer: Span) -> Vec<Entry> {
    let entries = table.iter().map(|(key, item)| {
        let span = table.key(key).and_then(toml_edit::Key::span);
        let key_span = span.map_or(outer, |span| (span.start, span.end));
        Entry {
            key: key.to_owned(),
            key_span,
            node: from_item(item, key_span),
        }
    });
    entries.collect()
}

/// A table that exists only by the name of a child has no place of its own: its key's stands in.
fn from_item(item: &Item, outer: Span) -> Node {
    let span = item.span().map_or(outer, |span| (span.start, span.end));
    let value = match item {
        Item::Value(value) => return from_toml(value, span),
        Item::Table(table) => Value::Table(entries(table, span)),
        Item::ArrayOfTables(_) => Value::Other("a list of tables".to_owned()),
        Item::None => Value::Other("nothing".to_owned()),
    };
    Node { span, value }
}

fn from_toml(value: &Toml, outer: Span) -> Node {
    let span = value.span().map_or(outer, |span| (span.start, span.end));
    let read = match value {
        Toml::String(text) => Value::Text(text.value().clone()),
        #[expect(
            clippy::cast_precision_loss,
            reason = "the numbers here are seconds, and a century has fewer digits"
        )]
        Toml::Integer(number) => Value::Number(*number.value() as f64),
        Toml::Float(number) => Value::Number(*number.value()),
        Toml::Boolean(flag) => Value::Bool(*flag.value()),
        Toml::Datetime(date) => Value::Other(date.value().to_string()),
        Toml::Array(items) => Value::List(items.iter().map(|i| from_toml(i, span)).collect()),
        Toml::InlineTable(table) => {
            let entries = table.iter().map(|(key, value)| {
                let at = table.key(key).and_then(toml_edit::Key::span);
                let key_span = at.map_or(span, |at| (at.start, at.end));
                Entry {
                    key: key.to_owned(),
                    key_span,
                    node: from_toml(value, key_span),
                }
            });
            Value::Table(entries.collect())
        }
    };
    Node { span, value: read }
}
