//! Reads TOML into the same tree as JSON.

use toml_edit::{Document, Item, Table as TomlTable, Value as TomlValue};

use super::json::SyntaxError;
use super::tree::{Entry, Node, Span, Table, Value};

/// Parses a text.
pub(crate) fn parse(text: &str) -> Result<Node, SyntaxError> {
    let document = Document::parse(text).map_err(|error| SyntaxError {
        message: error.message().trim().replace('\n', ", "),
        offset: error.span().map_or(0, |span| span.start),
    })?;
    Ok(Node {
        span: (0, text.len()),
        value: Value::Table(table(document.as_table(), (0, text.len()))),
    })
}

/// One value as JSON; nothing when the text is no TOML value.
pub(crate) fn value(text: &str) -> Option<serde_json::Value> {
    let value: TomlValue = text.parse().ok()?;
    Some(scalar(&value, (0, text.len())).to_json())
}

fn table(toml: &TomlTable, outer: Span) -> Table {
    let entries = toml.iter().map(|(key, item)| {
        let key_span = toml.key(key).and_then(toml_edit::Key::span);
        let key_span = key_span.map_or(outer, |span| (span.start, span.end));
        entry(key, key_span, item)
    });
    Table {
        entries: entries.collect(),
    }
}

fn entry(key: &str, key_span: Span, item: &Item) -> Entry {
    Entry {
        key: key.to_owned(),
        key_span,
        value: node(item, key_span),
    }
}

/// Tables that exist only by the name of a child have no span of their own: the key stands in.
fn node(item: &Item, outer: Span) -> Node {
    let span = item.span().map_or(outer, |span| (span.start, span.end));
    let value = match item {
        Item::None => Value::Null,
        Item::Value(value) => return scalar(value, span),
        Item::Table(inner) => Value::Table(table(inner, span)),
        Item::ArrayOfTables(tables) => Value::List(
            tables
                .iter()
                .map(|inner| {
                    let span = inner.span().map_or(span, |span| (span.start, span.end));
                    Node {
                        span,
                        value: Value::Table(table(inner, span)),
                    }
                })
                .collect(),
        ),
    };
    Node { span, value }
}

fn scalar(value: &TomlValue, outer: Span) -> Node {
    let span = value.span().map_or(outer, |span| (span.start, span.end));
    let value = match value {
        TomlValue::String(text) => Value::Text(text.value().clone()),
        TomlValue::Integer(number) => Value::Number((*number.value()).into()),
        // TOML has infinities, JSON has not; no hook key takes either.
        TomlValue::Float(number) => serde_json::Number::from_f64(*number.value())
            .map_or_else(|| Value::Text(number.value().to_string()), Value::Number),
        TomlValue::Boolean(flag) => Value::Bool(*flag.value()),
        TomlValue::Datetime(date) => Value::Date(date.value().to_string()),
        TomlValue::Array(items) => {
            Value::List(items.iter().map(|item| scalar(item, span)).collect())
        }
        TomlValue::InlineTable(inner) => {
            let entries = inner.iter().map(|(key, value)| {
                let key_span = inner.key(key).and_then(toml_edit::Key::span);
                let key_span = key_span.map_or(span, |span| (span.start, span.end));
                Entry {
                    key: key.to_owned(),
                    key_span,
                    value: scalar(value, key_span),
                }
            });
            Value::Table(Table {
                entries: entries.collect(),
            })
        }
    };
    Node { span, value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_arrays_and_inline_tables_give_the_tree_of_the_same_json() {
        let text = "[features]\nhooks = true\n\n[[hooks.PreToolUse]]\nmatcher = '^Bash$'\n\
                    [[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = 'x'\ntimeout = 5\n\
                    [hooks.state.\"a:b\"]\nenabled = false\n[other]\nt = [{a = 1.5}, 1979-05-27]\n";
        let root = parse(text).unwrap();
        let expected = serde_json::json!({
            "features": {"hooks": true},
            "hooks": {
                "PreToolUse": [{
                    "matcher": "^Bash$",
                    "hooks": [{"type": "command", "command": "x", "timeout": 5}],
                }],
                "state": {"a:b": {"enabled": false}},
            },
            "other": {"t": [{"a": 1.5}, "1979-05-27"]},
        });
        assert_eq!(root.to_json(), expected);
        let hooks = root.as_table().unwrap().get("hooks").unwrap();
        let event = hooks.as_table().unwrap().entry("PreToolUse").unwrap();
        assert_eq!(&text[event.key_span.0..event.key_span.1], "PreToolUse");
        let group = &event.value.as_list().unwrap()[0];
        assert!(text[group.span.0..].starts_with("[[hooks.PreToolUse]]"));
        let matcher = group.as_table().unwrap().get("matcher").unwrap();
        assert_eq!(&text[matcher.span.0..matcher.span.1], "'^Bash$'");
    }

    #[test]
    fn a_syntax_error_has_words_and_a_place() {
        let error = parse("a = 1\nb = = 2\n").unwrap_err();
        assert!(error.offset >= 6, "{error:?}");
        assert!(!error.message.is_empty());
    }
}
