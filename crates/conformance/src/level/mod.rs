//! The levels at which a case is played.
//!
//! *Engine*: the configuration is loaded from disk, and every moment of the case is fired through
//! the hook engine with real processes. *Turn*: the whole turn runs through the harness, with the
//! scripted model, the bridge and the tools.

mod engine;
mod kit;
mod servers;
mod trace;
mod turn;

use std::future::Future;

use crate::case::{Case, Row};
use crate::observed::Observed;

pub use engine::EngineLevel;
pub use kit::Kit;
pub use turn::TurnLevel;

/// Plays cases.
pub trait Level: Send + Sync {
    /// The level's name.
    fn name(&self) -> &'static str;

    /// Whether a row can be played here. The error names the moment, tool or feature that is
    /// missing.
    fn plays(&self, row: &Row) -> Result<(), String>;

    /// Plays one case. The error says why it could not be played.
    fn play(&self, case: &Case) -> impl Future<Output = Result<Observed, String>> + Send;
}
