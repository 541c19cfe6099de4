//! Public bug reports about agent hooks, each with the behaviour that would have been right. The
//! number in a test's words is the report's in its own tracker.

mod both;
mod codex;
