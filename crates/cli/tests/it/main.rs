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
mod guide;
mod layers;
mod list;
#[path = "../../../providers/tests/chat/server.rs"]
#[expect(
    dead_code,
    reason = "it is shared with the tests of the adapter, which use all of it"
)]
mod model_server;
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
