//! Where the calls that tools make are written down.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::event::AgentEvent;
use super::shared::Shared;
use crate::facts::Facts;
use crate::session::SessionError;
use crate::session::event::{self, Step};
use crate::tools::pipeline::Settled;
use crate::tools::{Call, Ledger, Proposal};

/// The ledger of one step.
pub(super) struct StepLedger {
    pub(super) shared: Arc<Shared>,
    pub(super) at: Step,
}

impl Ledger for StepLedger {
    fn facts(&self) -> Arc<Facts> {
        self.shared.facts()
    }

    fn at(&self) -> Step {
        self.at
    }

    fn proposed(&self, proposal: &Proposal) {
        let proposal = proposal.clone();
        self.shared.notify(&AgentEvent::ToolProposed { proposal });
    }

    fn call(&self, call: event::ToolCall) -> Result<(), SessionError> {
        self.shared.session.append(call).map(|_| ())
    }

    fn checkpoint(&self) -> BoxFuture<'_, Result<(), SessionError>> {
        self.shared.session.checkpoint().boxed()
    }

    fn started(&self, call: &Call) {
        self.shared.notify(&AgentEvent::ToolStarted(call.clone()));
    }

    fn result(&self, result: event::ToolResult) -> Result<(), SessionError> {
        self.shared.session.append(result).map(|_| ())
    }

    fn finished(&self, settled: &Settled) {
        self.shared.tell_of(settled);
    }
}
