//! The key order of every payload that was captured from the real clients is the order of our rows.

use std::collections::BTreeMap;

use seamline_hooks::DialectId;
use serde::Deserialize;

#[derive(Deserialize)]
struct Captured {
    event: String,
    keys: Vec<String>,
    newline: bool,
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
    let text = include_str!("fixtures/payload_keys.json");
    let all: BTreeMap<String, BTreeMap<String, Captured>> = serde_json::from_str(text).unwrap();
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
