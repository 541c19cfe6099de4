//! No case that has passed may fail again: the imported cases are played, and each event must
//! pass as often as `fixtures/floor.json` says. Raise the floor when more pass.
#![expect(
    clippy::unwrap_used,
    reason = "a test may stop at what it does not expect"
)]

use std::collections::BTreeMap;
use std::process::Command;

use seamline_conformance::cli::fixtures;
use serde_json::Value;

/// Passed cases by event.
type Floor = BTreeMap<String, u64>;

/// Plays all cases of a dialect with the built command.
fn report(dialect: &str) -> Value {
    let program = env!("CARGO_BIN_EXE_conformance");
    let output = Command::new(program)
        .args([dialect, "--json"])
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

fn floor(dialect: &str) -> Floor {
    let text = std::fs::read_to_string(fixtures().join("floor.json")).unwrap();
    let mut all: BTreeMap<String, Floor> = serde_json::from_str(&text).unwrap();
    all.remove(dialect).unwrap()
}

fn no_event_falls_below_its_floor(dialect: &str) {
    let report = report(dialect);
    let passed = |event: &str| report.pointer(&format!("/events/{event}/passed"));
    for (event, least) in floor(dialect) {
        let passed = passed(&event).and_then(Value::as_u64).unwrap_or(0);
        let failed: Vec<&str> = report
            .get("cases")
            .and_then(Value::as_array)
            .unwrap()
            .iter()
            .filter(|case| case.get("event").and_then(Value::as_str) == Some(&event))
            .filter(|case| case.get("result").and_then(Value::as_str) == Some("failed"))
            .filter_map(|case| case.get("id")?.as_str())
            .collect();
        assert!(
            passed >= least,
            "{event}: {passed} passed, not {least}; failed: {failed:?}"
        );
    }
}

#[test]
fn no_codex_case_is_lost() {
    no_event_falls_below_its_floor("codex");
}

#[test]
fn no_claude_case_is_lost() {
    no_event_falls_below_its_floor("claude");
}
