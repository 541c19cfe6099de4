//! Runs Claude Code and Codex hook configurations: **config and event payload in, neutral
//! outcome out**.
//!
//! The engine knows nothing of agents. Data flows through small modules in one direction:
//!
//! ```text
//! config layers -> handlers -> matcher -> runner -> codec -> merge -> Outcome (+ Trace)
//! ```
//!
//! Everything in which the two protocols differ is one row per event in [`dialect`]; the code
//! has no branch on the dialect's name where a row can say it. The [`trace::Trace`] of a firing
//! names **every** configured handler with what it did or why it did not run, so that "why did
//! my hook not fire" is answered by the engine and never reconstructed.

pub mod codec;
pub mod config;
pub mod diagnostic;
pub mod dialect;
pub mod engine;
pub mod handler;
pub mod lint;
pub mod matcher;
pub mod mcp;
pub mod merge;
pub mod outcome;
pub mod payload;
pub mod runner;
pub mod spill;
pub mod testing;
pub mod trace;
pub mod trust;

pub use diagnostic::{Diagnostic, Position, Severity};
pub use dialect::{DialectId, EventRow, Profile};
pub use engine::{Engine, Fired, Firing};
pub use handler::{Action, Handler, HandlerKey, Layer};
pub use outcome::{Decision, Outcome};
pub use trace::{Run, RunStatus, SkipReason, Trace};

/// The README, so that its example is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
