//! The loop, driven through the public interface with a scripted model.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "in a test a broken expectation is a panic"
)]

mod bench;
mod calls;
mod cancel;
#[cfg(feature = "code-mode")]
mod code;
mod defer;
mod laws;
mod lifecycle;
mod prompts;
mod resume;
mod rules;
mod tools;
mod turns;
