//! The agent harness.

pub mod content;
pub mod json;
pub mod model;
pub mod session;
pub mod tools;
