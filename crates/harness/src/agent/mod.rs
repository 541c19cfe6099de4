//! Whose turn it is.
mod event;
mod outcome;
mod seams;
pub use event::AgentEvent;
pub use outcome::TurnOutcome;
pub use seams::*;
