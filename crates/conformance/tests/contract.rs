//! The contract is held: every mapped test is there, and the page shows what does not hold.

use std::path::{Path, PathBuf};

use seamline_conformance::contract;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn every_row_is_held_or_explained() {
    let (rows, mapping) = contract::read(&root()).unwrap();
    let report = contract::check(&root(), &rows, &mapping);
    assert!(
        report.is_whole(),
        "{:#?}\n{:#?}",
        report.unmapped,
        report.wrong
    );
    assert_eq!(report.total().rows, 401, "rows are lost or doubled");
}

/// `UPDATE_DOCS=1` writes the page.
#[test]
fn the_page_says_which_rows_do_not_hold() {
    let path = root().join("docs/why.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (rows, mapping) = contract::read(&root()).unwrap();
    let wanted = contract::page(&text, &rows, &mapping).unwrap();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &wanted).unwrap();
        return;
    }
    assert!(
        text == wanted,
        "docs/why.md is out of date: run with UPDATE_DOCS=1"
    );
}
