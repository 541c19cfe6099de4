//! The levels at which a case is played.
//!
//! *Engine*: the configuration is loaded from disk, and every moment of the case is fired through
//! the hook engine with real processes. *Turn*: the whole turn runs through the harness.

mod engine;

use std::future::Future;

use crate::case::Case;
use crate::observed::Observed;

pub use engine::EngineLevel;

/// Plays cases.
pub trait Level: Send + Sync {
    /// The level's name.
    fn name(&self) -> &'static str;

    /// Plays one case. The error says why it could not be played.
    fn play(&self, case: &Case) -> impl Future<Output = Result<Observed, String>> + Send;
}
