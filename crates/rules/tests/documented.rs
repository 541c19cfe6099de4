//! Rules as the public documentation describes them, and the choices of ours where it is silent.
//!
//! `fixtures/documented.json` holds groups of rows; `source` says where a group comes from. A row
//! is a rule, the value of the group's input field (or the whole input), and the answer, which
//! holds in each of the group's readings.

use std::path::Path;

use seamline_rules::{Answer, Call, Places, Reading, Rule};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Group {
    source: String,
    readings: Vec<String>,
    tool: String,
    field: Option<String>,
    rows: Vec<(String, Value, String)>,
}

fn reading(name: &str) -> Reading {
    match name {
        "condition" => Reading::Condition,
        "deny" => Reading::Deny,
        "ask" => Reading::Ask,
        "allow" => Reading::Allow,
        other => unreachable!("no reading is called {other}"),
    }
}

fn answer(name: &str) -> Answer {
    match name {
        "yes" => Answer::Yes,
        "no" => Answer::No,
        "unknown" => Answer::Unknown,
        other => unreachable!("no answer is called {other}"),
    }
}

#[test]
fn rules_answer_as_documented() {
    let groups: Vec<Group> = serde_json::from_str(include_str!("fixtures/documented.json"))
        .expect("the fixture is JSON");
    let places = Places {
        cwd: Path::new("/home/u/p/sub"),
        project: Path::new("/home/u/p"),
        home: Path::new("/home/u"),
    };
    let (mut checked, mut wrong) = (0, Vec::new());
    for group in &groups {
        for (text, value, expected) in &group.rows {
            let input = match &group.field {
                Some(field) => json!({ field.as_str(): value }),
                None => value.clone(),
            };
            let rule = Rule::parse(text).unwrap_or_else(|e| panic!("{e}"));
            let call = Call::new(&group.tool, &input, places);
            for name in &group.readings {
                let verdict = rule.verdict(reading(name), &call);
                checked += 1;
                if verdict.answer != answer(expected) {
                    let shown: String = input.to_string().chars().take(120).collect();
                    wrong.push(format!(
                        "{name} `{text}` on {} {shown}: expected {expected}, got {verdict} [{}]",
                        group.tool, group.source
                    ));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {checked}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(checked >= 1000, "the fixture lost rows: {checked}");
}
