//! Tests of the command as a person uses it, and of the workspace it is built from.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod reference;
mod seamline;
mod workspace;

use std::path::PathBuf;

/// The root of the workspace.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}
