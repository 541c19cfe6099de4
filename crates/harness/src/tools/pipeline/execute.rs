//! Guards and dispatch: the work itself.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use seamline_seams::Signal;

use super::{Committed, Executed, Pipeline, Verdict};
use crate::json::Json;
use crate::tools::call::Call;
use crate::tools::code;
use crate::tools::nested::{Ledger, NoLedger, Origin};
use crate::tools::outcome::{Ending, Outcome, Success};
use crate::tools::seams::{DenyCause, ToolDenied};
use crate::tools::tool::ToolContext;

impl Pipeline {
    /// Asks the guards and does the work. A call that was denied, is invalid or came too late
    /// only gets its result. Calls that the tool makes in its turn belong to no agent.
    pub async fn execute(&self, committed: Committed) -> Executed {
        let facts = Arc::new(committed.call().facts().clone());
        self.execute_for(committed, Arc::new(NoLedger(facts))).await
    }

    /// The same for an agent, whose ledger keeps the calls that the tool makes in its turn.
    pub(crate) async fn execute_for(
        &self,
        committed: Committed,
        ledger: Arc<dyn Ledger>,
    ) -> Executed {
        let Committed {
            call,
            signal,
            verdict,
            riders,
        } = committed;
        let mut executed = Executed {
            call,
            signal,
            outcome: Outcome::nothing(),
            ending: Ending::NotStarted,
            elapsed: Duration::ZERO,
            denial: None,
            riders,
        };
        match verdict {
            Verdict::Go if executed.signal.is_cancelled() => {
                executed.outcome = Outcome::not_started();
            }
            Verdict::Go => match self.0.seams.guards.check(&executed.call) {
                Some(denied) => executed.deny(denied.denial.reason, DenyCause::Guard),
                None => self.dispatch(&mut executed, ledger).await,
            },
            Verdict::Denied { reason, cause, .. } => executed.deny(reason, cause),
            Verdict::Over(outcome, ending) => {
                executed.outcome = outcome;
                executed.ending = ending;
            }
            // The agent leaves a deferred call open and never executes it.
            Verdict::Deferred { .. } => executed.outcome = Outcome::not_started(),
        }
        executed
    }

    async fn dispatch(&self, executed: &mut Executed, ledger: Arc<dyn Ledger>) {
        let wrapped = !self.0.seams.dispatch.is_empty();
        let origin = Arc::new(Origin::new(self.clone(), ledger, &executed.call, wrapped));
        let inner = Arc::clone(&origin);
        let core = move |call: Call, signal| {
            let origin = Arc::clone(&inner);
            async move { body(&call, signal, origin).await }
        };
        let started = Instant::now();
        let seam = &self.0.seams.dispatch;
        let outcome = seam
            .dispatch(executed.call.clone(), executed.signal.clone(), core)
            .await;
        executed.elapsed = started.elapsed();
        executed.outcome = match wrapped {
            true => reviewed(&executed.call, outcome, &origin),
            false => outcome,
        };
        executed.ending = Ending::Ran;
        executed.spoil(origin.invoked.load(Ordering::Acquire));
        executed.ride(origin.take_riders());
    }
}

impl Executed {
    fn deny(&mut self, reason: String, cause: DenyCause) {
        self.outcome = Outcome::failed(reason.clone(), None);
        self.ending = Ending::Denied;
        let (call, signal) = (self.call.clone(), self.signal.clone());
        self.denial = Some(ToolDenied {
            call,
            reason,
            cause,
            signal,
        });
    }

    /// A success that a cancellation overtook is none. Failures keep their own story.
    pub(super) fn spoil(&mut self, invoked: bool) {
        if !self.signal.is_cancelled() || self.outcome.is_error() {
            return;
        }
        let contexts = std::mem::take(&mut self.outcome.contexts);
        self.outcome = match invoked {
            true => Outcome::aborted(),
            false => Outcome::not_started(),
        };
        self.outcome.contexts = contexts;
    }
}

/// The innermost part of the dispatch: the tool's own work, normalized.
async fn body(call: &Call, signal: Signal, origin: Arc<Origin>) -> Outcome {
    let Some(known) = call.tool() else {
        return Outcome::not_started();
    };
    if signal.is_cancelled() {
        return Outcome::not_started();
    }
    origin.invoked.store(true, Ordering::Release);
    let _closing = origin.begin();
    let workspace = origin.pipeline.workspace().clone();
    let context = ToolContext::nested(workspace, signal, Arc::clone(&origin));
    let work = async {
        known
            .tool
            .run(call.arguments().clone(), context.clone())
            .await
    };
    let mut outcome = match AssertUnwindSafe(work).catch_unwind().await {
        Ok(Ok(value)) => shown(call, value).concluding(context.concludes()),
        Ok(Err(error)) => error.into(),
        Err(panic) => {
            let text = panic_text(panic.as_ref());
            Outcome::failed(format!("tool {:?} panicked: {text}", call.name()), None)
        }
    };
    // What the body began is awaited, whether it waited for it or not.
    origin.settled().await;
    outcome.contexts = context.take_contexts();
    if let (Ok(success), true) = (&outcome.result, origin.wrapped) {
        *origin
            .success
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(success.clone());
    }
    outcome
}

/// A value with what the model is shown for it.
pub(super) fn shown(call: &Call, value: Json) -> Outcome {
    let Some(known) = call.tool() else {
        return Outcome::not_started();
    };
    let render = || known.tool.render(call.arguments(), &value);
    let rendered = std::panic::catch_unwind(AssertUnwindSafe(render))
        .unwrap_or_else(|panic| Err(panic_text(panic.as_ref())));
    match rendered {
        Ok(content) => Success::new(value, content).into(),
        Err(error) => invalid_output(call, &format!("output.render failed: {error}")),
    }
}

pub(super) fn invalid_output(call: &Call, violation: &str) -> Outcome {
    let message = format!(
        "tool {:?} returned invalid output: {violation}",
        call.name()
    );
    Outcome::failed(message, Some(code::INVALID_TOOL_OUTPUT))
}

/// A wrapper that answered by itself, or with another call's result, is checked like a tool: the
/// value is the authority and is shown anew.
fn reviewed(call: &Call, outcome: Outcome, origin: &Origin) -> Outcome {
    let Outcome { result, contexts } = outcome;
    let success = match result {
        Ok(success) => success,
        Err(failure) => {
            return Outcome {
                result: Err(failure),
                contexts,
            };
        }
    };
    let own = origin
        .success
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    let mut outcome = match own {
        Some(own) if own == success => success.into(),
        _ => replaced(call, success.value).concluding(success.concludes),
    };
    outcome.contexts = contexts;
    outcome
}

/// A value from outside the tool: checked, then shown.
pub(super) fn replaced(call: &Call, value: Json) -> Outcome {
    match call.check_value(&value) {
        Ok(()) => shown(call, value),
        Err(violation) => invalid_output(call, &format!("value: {violation}")),
    }
}

pub(super) fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "<unprintable panic>".to_owned())
}
