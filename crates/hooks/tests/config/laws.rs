//! Laws that hold for every text.

use proptest::prelude::*;
use seamline_hooks::DialectId;
use seamline_hooks::trust::{hash, references};

use crate::sandbox::Sandbox;

/// Texts that are nearly a configuration: the words of one, in any order.
fn nearly() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"hooks\"",
        "\"PreToolUse\"",
        "\"Stop\"",
        "\"matcher\"",
        "\"type\"",
        "\"command\"",
        "\"timeout\"",
        "\"env\"",
        "null",
        "true",
        "5",
        "-1",
        "1.5",
        "\"é\"",
        "\n",
        " ",
        "\u{feff}",
        "[[hooks.Stop]]\n",
        "[hooks.state]\n",
        "a = 1\n",
        "hooks = ",
        "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]}]}}",
        "[[hooks.Stop.hooks]]\ntype = 'command'\ncommand = 'x'\n",
    ]);
    prop::collection::vec(words, 0..24).prop_map(|words| words.concat())
}

/// A configuration of the right outer shape with anything inside.
fn shaped() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        "\\PC{0,8}|command|http|Bash|\\[".prop_map(Into::into),
    ];
    let key = prop::sample::select(vec![
        "hooks",
        "PreToolUse",
        "Stop",
        "SessionEnd",
        "matcher",
        "type",
        "command",
        "timeout",
        "env",
        "url",
        "if",
        "args",
        "zz",
        "disableAllHooks",
        "description",
    ]);
    let value = leaf.prop_recursive(5, 40, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            prop::collection::vec((key.clone(), inner), 0..4)
                .prop_map(|pairs| { pairs.into_iter().map(|(k, v)| (k.to_owned(), v)).collect() }),
        ]
    });
    value.prop_map(|value| serde_json::json!({ "hooks": value }).to_string())
}

proptest! {
    #[test]
    fn any_text_loads_without_a_panic_and_every_place_is_inside_the_file(
        text in prop_oneof![nearly(), shaped(), "\\PC{0,60}"],
        name in prop::sample::select(vec!["x.json", "x.toml"]),
    ) {
        let sandbox = Sandbox::new();
        for dialect in DialectId::ALL {
            let loaded = sandbox.explicit(dialect, name, &text);
            let lines = text.split('\n').count();
            for found in &loaded.diagnostics {
                if let Some(at) = found.position {
                    prop_assert!((1..=lines).contains(&at.line), "{found:?}");
                    let line = text.split('\n').nth(at.line - 1).unwrap();
                    prop_assert!((1..=line.chars().count() + 1).contains(&at.column), "{found:?}");
                }
                if let Some((start, end)) = found.span {
                    prop_assert!(start <= end && text.get(start..end).is_some(), "{found:?}");
                }
            }
            for handler in &loaded.handlers {
                let places = &loaded.places[&handler.key];
                for (start, end) in [places.event, places.group, places.handler] {
                    prop_assert!(text.get(start..end).is_some());
                }
                prop_assert_eq!(hash(handler).len(), "sha256:".len() + 64);
                let named = references(handler, &loaded.roots);
                prop_assert!(named.iter().all(|file| file.path.is_absolute()));
            }
            prop_assert_eq!(loaded.handlers.len(), loaded.places.len());
        }
    }
}
