//! Conditions as Claude Code 2.1.332 was seen to decide them.
//!
//! Each row of `fixtures/measured.json` is one recorded tool call of one case: the `if` texts
//! whose handlers ran for it, and those whose handlers did not.

use std::path::Path;

use seamline_rules::{Call, Condition, Places};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Recorded {
    case: String,
    tool: String,
    input: Value,
    passes: Vec<String>,
    fails: Vec<String>,
}

#[test]
fn conditions_decide_as_measured() {
    let rows: Vec<Recorded> =
        serde_json::from_str(include_str!("fixtures/measured.json")).expect("the fixture is JSON");
    let places = Places {
        cwd: Path::new("/tmp/case/cwd"),
        project: Path::new("/tmp/case/cwd"),
        home: Path::new("/tmp/case/home"),
    };
    let (mut checked, mut wrong) = (0, Vec::new());
    for row in &rows {
        let call = Call::new(&row.tool, &row.input, places);
        let expected = row
            .passes
            .iter()
            .map(|r| (r, true))
            .chain(row.fails.iter().map(|r| (r, false)));
        for (text, passes) in expected {
            let condition = Condition::parse(text);
            if condition.passes(&call) != passes {
                let verdict = condition.verdict(&call);
                wrong.push(format!("{} `{text}` on {}: {verdict}", row.case, row.input));
            }
            checked += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked >= 550, "the fixture lost rows: {checked}");
}
