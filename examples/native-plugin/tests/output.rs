//! The README shows what the program prints.
//!
//! `UPDATE_DOCS=1 cargo nextest run -p seamline-example-native-plugin` writes it.

#![expect(
    clippy::unwrap_used,
    reason = "in a test a broken expectation is a panic"
)]

use std::path::Path;
use std::process::Command;

const FENCE: &str = "```text\n";

fn printed() -> String {
    let program = env!("CARGO_BIN_EXE_seamline-example-native-plugin");
    let output = Command::new(program).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Twice the same, and what the README says.
#[test]
fn it_prints_what_the_readme_shows() {
    let printed = printed();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = std::fs::read_to_string(&path).unwrap();
    let (head, shown) = readme.split_once(FENCE).unwrap();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, format!("{head}{FENCE}{printed}```\n")).unwrap();
        return;
    }
    let shown = shown.trim_end().strip_suffix("```").unwrap();
    assert!(
        shown == printed,
        "README.md is out of date: run with UPDATE_DOCS=1\n{printed}"
    );
}

/// The plugin listens on every seam there is, and on none when its scope is disposed.
#[test]
fn it_uses_every_seam_and_leaves_none() {
    let printed = printed();
    let counts: Vec<&str> = printed
        .lines()
        .filter_map(|line| line.strip_suffix(" seams."))
        .filter_map(|line| line.split(' ').next_back())
        .collect();
    let [own, all, afterwards] = counts.as_slice() else {
        panic!("{printed}");
    };
    assert_eq!((own, *afterwards), (all, "0"));
}
