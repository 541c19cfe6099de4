//! Hook configurations on a real agent: a scripted model, the real loop, real processes.
//!
//! Each test is named after the rule it protects. Where both clients have the event and agree, one
//! test runs for both.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "in a test a broken expectation is a panic"
)]

mod alone;
mod approval;
mod bench;
mod ending;
mod failing;
mod native;
mod payload;
mod prompt;
mod record;
mod requests;
mod results;
mod rewrite;
mod seeds;
mod session;
mod stop;
mod together;
mod tools;
