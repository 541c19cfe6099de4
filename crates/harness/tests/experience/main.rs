//! What the model sees of each decision: `docs/model-experience.md` is generated from these runs
//! through the real loop.
//!
//! `UPDATE_DOCS=1 cargo nextest run -p seamline-harness --test experience` writes it.

#![expect(
    clippy::unwrap_used,
    reason = "in a test a broken expectation is a panic"
)]

mod page;
mod play;
mod scenes;

use std::path::Path;

use crate::play::Run;

/// The page is what the runs say.
#[tokio::test]
async fn the_page_says_what_the_model_sees() {
    let mut runs = Vec::new();
    for scene in scenes::all() {
        runs.push(Run::of(scene).await);
    }
    let wanted = page::page(&runs);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/model-experience.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &wanted).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == wanted,
        "docs/model-experience.md is out of date: run with UPDATE_DOCS=1\n{wanted}"
    );
}

/// Whatever is decided, what was sent once is sent again: only a change of the request's own
/// settings breaks the prefix.
#[tokio::test]
async fn requests_extend_each_other_whatever_is_decided() {
    for scene in scenes::all() {
        let settings = scene.name.starts_with("agent.request:");
        let run = Run::of(scene).await;
        assert_eq!(run.keeps_prefix(), !settings, "{}", run.scene.name);
    }
}
