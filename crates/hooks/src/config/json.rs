//! Reads strict JSON into a tree with places.
//!
//! Both clients take strict JSON: no comments, no trailing commas, no single quotes. `serde_json`
//! decides what is valid, and its words say what is not; the second parser only gives the places.

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::tree::{Entry, Node, Span, Table, Value};

/// Why a text is not JSON, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    pub(crate) message: String,
    pub(crate) offset: usize,
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

/// Parses a text. Spans count from the start of `text`.
pub(crate) fn parse(text: &str) -> Result<Node, SyntaxError> {
    if let Err(error) = serde_json::from_str::<serde_json::Value>(text) {
        return Err(from_serde(text, &error));
    }
    let parsed = parse_to_ast(text, &CollectOptions::default(), &STRICT);
    match parsed.map(|result| result.value.as_ref().map(node)) {
        Ok(Some(node)) => Ok(node),
        Ok(None) => Err(SyntaxError {
            message: "the file is empty".into(),
            offset: 0,
        }),
        Err(error) => Err(SyntaxError {
            message: error.kind().to_string(),
            offset: error.range().start,
        }),
    }
}

/// serde's own words without their place, and the place as a byte offset.
pub(crate) fn from_serde(text: &str, error: &serde_json::Error) -> SyntaxError {
    let full = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let message = full.strip_suffix(&place).unwrap_or(&full).to_owned();
    let line_start: usize = text
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1))
        .map(str::len)
        .sum();
    let offset = (line_start + error.column().saturating_sub(1)).min(text.len());
    SyntaxError { message, offset }
}

fn node(value: &ast::Value<'_>) -> Node {
    let range = value.range();
    Node {
        span: (range.start, range.end),
        value: match value {
            ast::Value::NullKeyword(_) => Value::Null,
            ast::Value::BooleanLit(literal) => Value::Bool(literal.value),
            ast::Value::NumberLit(literal) => number(literal.value),
            ast::Value::StringLit(literal) => Value::Text(literal.value.clone().into_owned()),
            ast::Value::Array(array) => Value::List(array.elements.iter().map(node).collect()),
            ast::Value::Object(object) => Value::Table(Table {
                entries: object.properties.iter().map(entry).collect(),
            }),
        },
    }
}

fn number(literal: &str) -> Value {
    match literal.parse() {
        Ok(number) => Value::Number(number),
        // Not reached for text that serde accepted; kept as text rather than lost.
        Err(_) => Value::Text(literal.to_owned()),
    }
}

fn entry(property: &ast::ObjectProp<'_>) -> Entry {
    let range = property.name.range();
    let key_span: Span = (range.start, range.end);
    let key = match &property.name {
        ast::ObjectPropName::String(literal) => literal.value.clone().into_owned(),
        ast::ObjectPropName::Word(word) => word.value.to_owned(),
    };
    Entry {
        key,
        key_span,
        value: node(&property.value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_the_bytes_they_came_from() {
        let text = "{ \"a\": [1, \"é\", null],\n \"b\": {\"c\": true} }";
        let root = parse(text).unwrap();
        let table = root.as_table().unwrap();
        let list = table.get("a").unwrap();
        assert_eq!(&text[list.span.0..list.span.1], "[1, \"é\", null]");
        let inner = table.get("b").unwrap().as_table().unwrap();
        let flag = inner.entry("c").unwrap();
        assert_eq!(&text[flag.key_span.0..flag.key_span.1], "\"c\"");
        assert_eq!(&text[flag.value.span.0..flag.value.span.1], "true");
        assert_eq!(
            root.to_json().to_string(),
            "{\"a\":[1,\"é\",null],\"b\":{\"c\":true}}"
        );
    }

    #[test]
    fn nothing_but_strict_json_is_accepted() {
        for bad in [
            "",
            " ",
            "{a:1}",
            "{'a':1}",
            "[1,]",
            "{\"a\":1,}",
            "[1 2]",
            "/*c*/{}",
            "{} // c",
            "[0x1]",
            "[+1]",
            "[.5]",
            "[NaN]",
            "[01]",
            "{}{}",
            "\u{feff}{}",
            "[\"\u{1}\"]",
            "{\"a\":",
        ] {
            let error = parse(bad).unwrap_err();
            assert!(error.offset <= bad.len(), "{bad:?}: {error:?}");
        }
    }

    /// The places of the real client's own messages (measured on Codex 0.171.0).
    #[test]
    fn syntax_errors_carry_serdes_words_and_place() {
        let error = parse("{\"hooks\": {").unwrap_err();
        assert_eq!(error.message, "EOF while parsing an object");
        assert_eq!(error.offset, 10);
        let error = parse("{\"hooks\":{/*c*/}}").unwrap_err();
        assert_eq!(error.message, "key must be a string");
        assert_eq!(error.offset, 10);
    }

    #[test]
    fn of_a_repeated_key_the_last_counts() {
        let root = parse("{\"a\":1,\"b\":2,\"a\":3}").unwrap();
        let table = root.as_table().unwrap();
        assert_eq!(table.get("a").unwrap().to_json(), 3);
        let keys: Vec<_> = table.effective().iter().map(|e| e.key.as_str()).collect();
        assert_eq!(keys, ["b", "a"]);
        assert_eq!(table.overridden().len(), 1);
    }
}
