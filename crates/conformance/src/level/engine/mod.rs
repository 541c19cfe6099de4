//! Plays a case through the hook engine.

mod claude;
mod codex;
mod firing;
mod listing;
mod model;

use std::sync::Arc;

use super::Level;
use super::kit::Kit;
use crate::case::{Case, Row};
use crate::observed::Observed;

/// Plays cases through the [engine](seamline_hooks::Engine).
pub struct EngineLevel {
    kit: Arc<Kit>,
}

impl EngineLevel {
    /// A level over a kit.
    #[must_use]
    pub fn new(kit: Arc<Kit>) -> Self {
        Self { kit }
    }
}

impl Level for EngineLevel {
    fn name(&self) -> &'static str {
        "engine"
    }

    fn plays(&self, _row: &Row) -> Result<(), String> {
        Ok(())
    }

    async fn play(&self, case: &Case) -> Result<Observed, String> {
        match case {
            Case::Claude(case) => self.claude(case).await,
            Case::Codex(case) => self.codex(case).await,
        }
    }
}
