//! The shipped plugins, compiled *outside* the crate.
//!
//! `plugins` below is the crate's own source. Here `crate` is this test, which has only what
//! `seamline_harness` makes public: a plugin that reaches for anything private does not compile.

#![expect(
    clippy::unwrap_used,
    reason = "in a test a broken expectation is a panic"
)]
use seamline_harness::{Facts, agent, content, json, permission, session, tools};

#[path = "../../src/plugins/mod.rs"]
pub mod plugins;

mod counting;
mod reminding;
mod retrying;
mod shape;
mod timing;
mod worker;
