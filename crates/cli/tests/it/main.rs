//! Tests of the command as a person uses it, and of the workspace it is built from.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests fail by panicking"
)]

mod bad_input;
mod bugs;
mod example;
mod field;
mod fire;
mod layers;
mod list;
mod readme;
mod reference;
mod run;
mod seamline;
mod sessions;
mod trust;
mod workspace;

use std::path::PathBuf;

/// The root of the workspace.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}
