//! The agent harness.

pub mod agent;
pub mod content;
mod facts;
pub mod json;
pub mod model;
pub mod permission;
pub mod session;
pub mod testing;
pub mod tools;

pub use facts::{Facts, TurnFacts};
