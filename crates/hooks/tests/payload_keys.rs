//! Every payload that was captured from the real clients has the keys of our rows in the order of our
//! rows, and values of the kinds that ours have.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot be set up shall fail"
)]

use std::collections::BTreeMap;

use seamline_hooks::DialectId;
use seamline_hooks::payload::{Sample, sample};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Captured {
    event: String,
    keys: Vec<String>,
    /// The JSON type of each key's value.
    types: Vec<String>,
    newline: bool,
}

/// The payloads of each dialect, by the name of their file.
fn all() -> BTreeMap<String, BTreeMap<String, Captured>> {
    serde_json::from_str(include_str!("fixtures/payload_keys.json")).unwrap()
}

/// `(file, what is wrong with it)`.
fn compare(dialect: DialectId, name: &str, captured: &Captured) -> Option<String> {
    let table = dialect.table();
    let Some(row) = table.event(&captured.event) else {
        return Some(format!("{name}: no row for {}", captured.event));
    };
    let mut expected = Vec::new();
    for key in row.keys {
        let bare = key.trim_end_matches('?');
        if *key == bare || captured.keys.iter().any(|k| k == bare) {
            expected.push(bare.to_owned());
        }
    }
    if captured.newline != table.trailing_newline {
        return Some(format!("{name}: trailing newline is {}", captured.newline));
    }
    (expected != captured.keys).then(|| format!("{name}: {:?} is not {expected:?}", captured.keys))
}

#[test]
fn rows_have_the_key_order_of_every_captured_payload() {
    let all = all();
    let mut wrong = Vec::new();
    for dialect in DialectId::ALL {
        let captured = all.get(dialect.as_str()).unwrap();
        assert!(captured.len() > 60, "{dialect}: the fixture is not empty");
        wrong.extend(
            captured
                .iter()
                .filter_map(|(name, c)| compare(dialect, name, c)),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// What a key may hold: a captured `null` says that it may be empty, and what a tool answered has
/// the tool's own shape.
#[test]
fn values_have_the_types_of_every_captured_payload() {
    let all = all();
    let mut wrong = Vec::new();
    for dialect in DialectId::ALL {
        for (name, captured) in all.get(dialect.as_str()).unwrap() {
            let row = dialect.table().event(&captured.event).unwrap();
            let ours = sample(dialect, row, &Sample::default(), &[]);
            assert_eq!(captured.keys.len(), captured.types.len(), "{name}");
            for (key, captured) in captured.keys.iter().zip(&captured.types) {
                let Some(ours) = ours.get(key).map(type_of) else {
                    continue;
                };
                let of_a_tool = key == "tool_response";
                if ours != captured && ours != "null" && captured != "null" && !of_a_tool {
                    wrong.push(format!(
                        "{dialect} {name}: `{key}` is {ours}, was {captured}"
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
