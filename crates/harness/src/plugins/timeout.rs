//! A budget of time for each call of a tool.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};
use seamline_seams::{Inner, Scope, Signal};

use super::Seams;
use crate::tools::{Dispatch, Outcome, code};

/// Cancels a call that takes longer than its tool may, and says so as `TOOL_TIMEOUT`.
///
/// The tool is cancelled through its signal and waited for, never abandoned: what it still does is
/// done when the result is there. Whoever cancels first wins: a turn that was cancelled before the
/// time was up is not a timeout. A tool without a budget runs as if this plugin was not there.
#[derive(Debug, Clone, Default)]
pub struct Timeout {
    general: Option<Duration>,
    tools: BTreeMap<String, Option<Duration>>,
}

/// A budget that no call could keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a budget of less than 1 ms lets no call run: give a longer one, or none")]
pub struct NoTime;

impl Timeout {
    /// The name it registers under.
    pub const NAME: &str = "timeout";

    /// No budget for anything, until [`tool`](Self::tool) gives one.
    pub fn new() -> Self {
        Self::default()
    }

    /// A budget for every tool that has none of its own; a millisecond or more.
    pub fn after(budget: Duration) -> Result<Self, NoTime> {
        let (general, tools) = (Some(usable(budget)?), BTreeMap::new());
        Ok(Self { general, tools })
    }

    /// A budget of its own for one tool.
    pub fn tool(mut self, name: impl Into<String>, budget: Duration) -> Result<Self, NoTime> {
        self.tools.insert(name.into(), Some(usable(budget)?));
        Ok(self)
    }

    /// Lets one tool take its time.
    #[must_use]
    pub fn exempt(mut self, name: impl Into<String>) -> Self {
        self.tools.insert(name.into(), None);
        self
    }

    /// Stands around the calls of these seams until `scope` is disposed.
    pub fn install<'a>(self, scope: &Scope, seams: impl Into<Seams<'a>>) {
        let budgets = Arc::new(self);
        let tools = seams.into().tools;
        tools
            .dispatch
            .on(scope, Self::NAME, move |call, signal, inner| {
                let budget = budgets.of(call.name());
                async move {
                    Ok(match budget {
                        None => inner.run(signal).await,
                        Some(budget) => within(budget, signal, inner).await,
                    })
                }
            });
    }

    fn of(&self, tool: &str) -> Option<Duration> {
        self.tools.get(tool).copied().unwrap_or(self.general)
    }
}

fn usable(budget: Duration) -> Result<Duration, NoTime> {
    (budget.as_millis() > 0).then_some(budget).ok_or(NoTime)
}

async fn within(budget: Duration, signal: Signal, inner: Inner<Dispatch>) -> Outcome {
    let own = signal.child_token();
    let work = pin!(inner.run(own.clone()));
    let timer = pin!(signal.run_until_cancelled(tokio::time::sleep(budget)));
    match select(work, timer).await {
        Either::Left((outcome, _)) => outcome,
        Either::Right((None, work)) => work.await,
        Either::Right((Some(()), work)) => {
            own.cancel();
            let text = format!("tool call timed out after {}ms", budget.as_millis());
            let mut outcome = Outcome::failed(text, Some(code::TOOL_TIMEOUT));
            outcome.contexts = work.await.contexts;
            outcome
        }
    }
}
