//! The contract of this repository holds, and the page says where it does not.

use std::path::{Path, PathBuf};
use std::process::Command;

use seamline_conformance::contract::{check, regenerate, text};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn every_row_is_mapped_to_tests_that_are_there_or_to_a_sentence() {
    let check = check(&repository()).unwrap();
    assert!(check.holds(), "{}", text(&check));
}

/// `UPDATE_DOCS=1` writes the list.
#[test]
fn the_page_lists_the_rows_that_do_not_hold() {
    let file = repository().join("docs/why.md");
    let document = std::fs::read_to_string(&file).unwrap();
    let check = check(&repository()).unwrap();
    let wanted = regenerate(&document, &check).expect("docs/why.md has the markers");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, wanted).unwrap();
        return;
    }
    assert!(
        document == wanted,
        "docs/why.md is out of date: run with UPDATE_DOCS=1"
    );
}

#[test]
fn the_command_says_by_its_exit_code_whether_the_contract_holds() {
    let output = Command::new(env!("CARGO_BIN_EXE_contract"))
        .arg("--json")
        .output()
        .unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let holds = report.get("holds").and_then(serde_json::Value::as_bool);
    assert_eq!(output.status.success(), holds.unwrap());
    let rows = report
        .pointer("/all/rows")
        .and_then(serde_json::Value::as_u64);
    assert_eq!(rows, Some(check(&repository()).unwrap().rows.len() as u64));
    let usage = Command::new(env!("CARGO_BIN_EXE_contract"))
        .arg("--what")
        .output()
        .unwrap();
    assert_eq!(usage.status.code(), Some(64));
}
