//! Scripts in both notations, and mistakes in them.

use super::*;
use serde_json::json;

const YAML: &str = "
scripts:
  main:
    - {tool: Bash, input: {command: ls}, id: toolu_1}
    - [one, {text: two}, {tool: Read, input: {file_path: a}}]
    - {error: 429, type: rate_limit_error, message: slow down}
    - {blocks: [cut], stop_reason: max_tokens, delay: 0.5, usage: {input_tokens: 9}}
    - the end
  sub: []
";

/// Both notations say the same.
#[test]
fn every_form_in_both_notations() {
    let read = ScriptBlock::call("Read", json!({"file_path": "a"}));
    let texts = ["one", "two"].map(|text| ScriptBlock::Text(text.to_owned()));
    let expected = Scripts::main([
        Play::blocks([ScriptBlock::call("Bash", json!({"command": "ls"})).with_id("toolu_1")]),
        Play::blocks(texts.into_iter().chain([read])),
        Play::Fail(ModelError {
            status: Some(429),
            kind: "rate_limit_error".to_owned(),
            message: "slow down".to_owned(),
        }),
        Play::Say(Say {
            blocks: vec![ScriptBlock::Text("cut".to_owned())],
            stop: Some(StopReason::MaxTokens),
            delay: Duration::from_millis(500),
            usage: Some(Usage {
                input_tokens: 9,
                ..Usage::default()
            }),
        }),
        Play::text("the end"),
    ])
    .with("sub", []);
    assert_eq!(from_yaml(YAML).unwrap(), expected);
    let value: Value = yaml_serde::from_str(YAML).unwrap();
    assert_eq!(from_json(&value.to_string()).unwrap(), expected);
}

/// A list at the top is the script main.
#[test]
fn a_list_is_main() {
    assert_eq!(
        from_yaml("- hi").unwrap(),
        Scripts::main([Play::text("hi")])
    );
    assert_eq!(
        from_json(r#"["hi"]"#).unwrap(),
        Scripts::main([Play::text("hi")])
    );
}

/// Arguments in JSON keep their text, digits and all.
#[test]
fn json_arguments_are_not_rewritten() {
    let text = r#"[{"tool":"T","input":{"n":1.50,"big":123456789012345678901234567890}}]"#;
    let scripts = from_json(text).unwrap();
    let Some(Play::Say(say)) = scripts.0["main"].first() else {
        panic!("{scripts:?}")
    };
    let [ScriptBlock::Call { input, .. }] = &say.blocks[..] else {
        panic!("{say:?}")
    };
    assert_eq!(
        input.text(),
        r#"{"n":1.50,"big":123456789012345678901234567890}"#
    );
}

/// A mistake is named with its place.
#[test]
fn mistakes_are_placed() {
    let cases = [
        (
            "scripts:\n  main:\n    - {tool: Bash, inputs: {}}\n",
            3,
            "inputs",
        ),
        (
            "- ok\n- {tool: Bash, text: x}\n",
            2,
            "either `tool` or `text`",
        ),
        ("- {error: 429, delay: 1}\n", 1, "`delay` does not go here"),
        ("- {blocks: [], stop_reason: later}\n", 1, "later"),
        ("- {blocks: [], delay: -1}\n", 1, "`delay`"),
        ("- [[x]]\n", 1, "not a list"),
        ("script: {}\n", 1, "script"),
        ("just text\n", 1, "no script"),
        ("- {text: 'open\n", 2, ""),
    ];
    for (text, line, part) in cases {
        let (at, column, message) = from_yaml(text).unwrap_err();
        assert!(message.contains(part), "{text:?}: {message}");
        assert_eq!(at, line, "{text:?}: {at}:{column}: {message}");
        let place = format!(" at line {at} column {column}");
        assert!(
            !message.contains(&place),
            "the place stands in front: {message}"
        );
    }
    let (line, column, message) = from_json("[\n {\"tool\": 5}]").unwrap_err();
    assert_eq!((line, column > 0), (2, true), "{message}");
    assert!(
        message.contains("integer `5`") && !message.contains(" at line "),
        "{message}"
    );
}
