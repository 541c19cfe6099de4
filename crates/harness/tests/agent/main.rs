//! The loop, driven through the public interface with a scripted model.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "in a test a broken expectation is a panic"
)]

mod approvals;
mod barriers;
mod bench;
mod calls;
mod cancel;
mod causes;
#[cfg(feature = "code-mode")]
mod code;
mod defer;
mod inputs;
mod interleavings;
mod laws;
mod lifecycle;
mod plugin;
mod prompts;
mod requests;
mod resume;
mod rules;
mod steering;
mod tools;
mod turns;
