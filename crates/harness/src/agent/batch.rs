//! The calls of one message.
//!
//! Policies meet the calls in model order, one at a time. A call that is safe to overlap is then
//! left to work in the pool while the next one is decided, up to a cap; any other call waits
//! until the pool is empty and has it for itself. Results are settled and committed in model
//! order, whatever finished first. Text for the model waits until every call has its result.

use std::collections::BTreeMap;
use std::future::Future;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::future::{BoxFuture, Either, FutureExt, select};
use futures_util::stream::FuturesUnordered;
use seamline_seams::{Context, Riders, When};

use super::event::AgentEvent;
use super::ledger::StepLedger;
use super::seams::{BatchDecision, BatchEvent, Change, Changed};
use super::turn::{Broken, Deferral, Flow, Turn};
use crate::session::event::{self, Step, StepEnd, TurnEndReason};
use crate::session::{OpenCall, SessionError, read_arguments};
use crate::tools::pipeline::{Committed, Decided, Executed, Pipeline, Settled, Written};
use crate::tools::{Effects, Proposal, Success, ToolResult, code};

/// The calls of one message on their way.
struct Calls<'t, 'a> {
    turn: &'t mut Turn<'a>,
    pipeline: &'a Pipeline,
    at: Step,
    /// Work under way, by the call's place among those that were committed.
    pool: FuturesUnordered<BoxFuture<'a, (usize, Executed)>>,
    /// Work that is done and not yet settled.
    done: BTreeMap<usize, Executed>,
    /// How many calls were committed, and how many of them are settled.
    committed: usize,
    settled: usize,
    results: Vec<ToolResult>,
    contexts: Vec<Context>,
    /// Why the log would not take a checkpoint. No call starts after that.
    unsafe_log: Option<SessionError>,
}

impl Turn<'_> {
    /// Runs the calls of a message; when it returns, each has its result or is put off.
    pub(super) async fn run_calls(&mut self, at: Step, open: Vec<OpenCall>) -> Result<(), Broken> {
        let pipeline = &self.shared.pipeline;
        let mut calls = Calls {
            turn: self,
            pipeline,
            at,
            pool: FuturesUnordered::new(),
            done: BTreeMap::new(),
            committed: 0,
            settled: 0,
            results: Vec::new(),
            contexts: Vec::new(),
            unsafe_log: None,
        };
        let all = AssertUnwindSafe(calls.all(open)).catch_unwind().await;
        if let Ok(Ok(())) = all {
            return calls.finish().await;
        }
        // What was started is awaited, never abandoned; nobody can record it any more.
        while calls.pool.next().await.is_some() {}
        all.unwrap_or_else(|panic| resume_unwind(panic))
    }

    /// The call a former turn put off goes past everybody again.
    pub(super) async fn take_up_deferred(&mut self) -> Result<Flow, Broken> {
        let Some(call) = self.waiting_deferred() else {
            return Ok(Flow::Over(TurnEndReason::Completed));
        };
        let at = self.open_step()?;
        self.run_calls(at, vec![call]).await?;
        self.close_calls(at)
    }

    /// A prompt came instead of a resume: the call is told that it was not run.
    pub(super) fn abandon_deferred(&mut self) -> Result<(), Broken> {
        let Some(call) = self.waiting_deferred() else {
            return Ok(());
        };
        let at = self.open_step()?;
        self.answer_unstarted(
            at,
            call.id.to_string(),
            "put off, and a new prompt came instead",
        )?;
        self.shared.session.append(StepEnd(at))?;
        Ok(())
    }

    /// The result of a call that was never started.
    pub(super) fn answer_unstarted(
        &self,
        at: Step,
        call_id: String,
        why: &str,
    ) -> Result<(), SessionError> {
        let result = event::ToolResult {
            turn: at.turn,
            step: at.step,
            call_id,
            parent: None,
            content: format!("Error: this tool call was not run: it was {why}.").into(),
            is_error: true,
            error: Some(code::info(code::TOOL_NOT_STARTED)),
        };
        self.shared.session.append(result).map(|_| ())
    }

    fn waiting_deferred(&self) -> Option<OpenCall> {
        self.shared
            .session
            .relations(|relations| relations.waiting_deferred().cloned())
    }

    /// Hears who is interested in a change of directory.
    async fn notice_moves(&mut self) -> Vec<Context> {
        let new = self.shared.pipeline.workspace().cwd();
        let old = std::mem::replace(&mut self.shared.state().cwd, new.clone());
        if old == new {
            return Vec::new();
        }
        let (facts, signal) = (self.facts(), self.signal.clone());
        let event = Changed {
            facts,
            change: Change::Cwd { old, new },
            signal,
        };
        let collected = self
            .shared
            .seams
            .changed
            .collect(event, self.shared.pipeline.deadline())
            .await;
        collected
            .ready
            .into_iter()
            .flat_map(|(_, contexts)| contexts)
            .collect()
    }
}

impl Calls<'_, '_> {
    async fn all(&mut self, open: Vec<OpenCall>) -> Result<(), Broken> {
        for call in open {
            self.next(call).await?;
        }
        self.drain().await
    }

    /// Takes one call as far as it gets without waiting for its own work, if it is safe to
    /// overlap; to its very end, if it is not.
    async fn next(&mut self, call: OpenCall) -> Result<(), Broken> {
        let (facts, signal) = (self.turn.facts(), self.turn.signal.clone());
        let arguments = read_arguments(&call.arguments);
        let written = Written {
            call_id: call.id.to_string(),
            name: call.name.to_string(),
            arguments,
        };
        let proposal = self.pipeline.propose(written, facts, signal);
        if self.is_over() || !proposal.is_concurrency_safe() {
            self.drain().await?;
        }
        if self.is_over() {
            return self.never_started(&proposal);
        }
        self.turn.notify(&AgentEvent::ToolProposed {
            proposal: proposal.clone(),
        });
        let pipeline = self.pipeline;
        let decided = self.meanwhile(pipeline.decide(proposal)).await;
        let Some(decided) = self.put_off(decided)? else {
            return Ok(());
        };
        self.turn.halt_with(decided.halt().cloned());
        let committed = self.commit(decided).await?;
        self.start(committed).await
    }

    /// Whether no further call may start.
    fn is_over(&self) -> bool {
        let now = self
            .turn
            .halt
            .as_ref()
            .is_some_and(|halt| halt.when == When::Now);
        now || self.turn.signal.is_cancelled() || self.unsafe_log.is_some()
    }

    /// Leaves a deferred call open: one a turn, so that it is clear what a resume takes up. What
    /// rode beside the decision is heard when the call is decided again, except for the user.
    fn put_off(&mut self, decided: Decided) -> Result<Option<Decided>, Broken> {
        let (reason, by) = match decided.deferral() {
            None => return Ok(Some(decided)),
            Some((reason, by)) => (reason.map(ToOwned::to_owned), by.clone()),
        };
        if self.turn.deferred.is_some() {
            let reason = "another call of this message was put off already, and only one can be";
            return Ok(Some(decided.deny(reason)));
        }
        let proposal = decided.proposal().clone();
        let call_id = proposal.call_id().to_owned();
        self.turn.deferred = Some(Deferral {
            call_id,
            reason: reason.clone(),
            by,
        });
        self.turn
            .notify(&AgentEvent::ToolDeferred { proposal, reason });
        let Riders { notices, halt, .. } = decided.into_riders();
        self.turn.ride(Riders {
            contexts: Vec::new(),
            notices,
            halt,
        })?;
        Ok(None)
    }

    /// Puts the call into the log, and the log onto the disk if the call has side effects.
    async fn commit(&mut self, decided: Decided) -> Result<Committed, Broken> {
        let session = &self.turn.shared.session;
        let record = |call| session.append(call).map(|_| ());
        let committed = self.pipeline.commit(decided, self.at, record)?;
        if !committed.will_run() || matches!(committed.call().effects(), Effects::Reads(_)) {
            return Ok(committed);
        }
        match session.checkpoint().await {
            Ok(()) => Ok(committed),
            Err(error) => {
                self.unsafe_log = Some(error);
                Ok(committed.withdraw())
            }
        }
    }

    async fn start(&mut self, committed: Committed) -> Result<(), Broken> {
        let overlaps = committed.is_concurrency_safe() || !committed.will_run();
        if !overlaps {
            self.drain().await?;
        }
        self.make_room().await?;
        let committed = match self.is_over() {
            true => committed.withdraw(),
            false => committed,
        };
        if committed.will_run() {
            let call = committed.call().clone();
            self.turn.notify(&AgentEvent::ToolStarted(call));
        }
        let (place, pipeline) = (self.committed, self.pipeline);
        self.committed += 1;
        let ledger = Arc::new(StepLedger {
            shared: Arc::clone(self.turn.shared),
            at: self.at,
        });
        let work = pipeline
            .execute_for(committed, ledger)
            .map(move |executed| (place, executed));
        self.pool.push(work.boxed());
        if !overlaps {
            self.drain().await?;
        }
        Ok(())
    }

    /// Waits until there is room in the pool. Whoever finishes makes it; results are settled as soon
    /// as those before them are.
    async fn make_room(&mut self) -> Result<(), Broken> {
        while self.pool.len() >= self.turn.shared.settings.parallel.get() {
            if let Some((place, executed)) = self.pool.next().await {
                self.done.insert(place, executed);
            }
            while self.done.contains_key(&self.settled) {
                self.settle_next().await?;
            }
        }
        Ok(())
    }

    /// Awaits something while the pool goes on working.
    async fn meanwhile<T>(&mut self, something: impl Future<Output = T>) -> T {
        let mut something = std::pin::pin!(something);
        loop {
            if self.pool.is_empty() {
                return something.await;
            }
            match select(something.as_mut(), self.pool.next()).await {
                Either::Left((output, _)) => return output,
                Either::Right((Some((place, executed)), _)) => {
                    self.done.insert(place, executed);
                }
                Either::Right((None, _)) => {}
            }
        }
    }

    /// Settles every call that was started.
    async fn drain(&mut self) -> Result<(), Broken> {
        while self.settled < self.committed {
            self.settle_next().await?;
        }
        Ok(())
    }

    /// Settles the first call that is not settled yet and commits its result.
    async fn settle_next(&mut self) -> Result<(), Broken> {
        let executed = loop {
            if let Some(executed) = self.done.remove(&self.settled) {
                break executed;
            }
            match self.pool.next().await {
                Some((place, executed)) => self.done.insert(place, executed),
                // Nothing works and nothing is done: there is nothing to settle.
                None => return Ok(()),
            };
        };
        self.settled += 1;
        let pipeline = self.pipeline;
        let settled = self.meanwhile(pipeline.settle(executed)).await;
        self.record(settled)?;
        let told = self.turn.notice_moves().await;
        self.contexts.extend(told);
        Ok(())
    }

    fn record(&mut self, settled: Settled) -> Result<(), Broken> {
        let shared = self.turn.shared;
        let result = &settled.result;
        let line = result.outcome.record(result.call.call_id(), self.at);
        shared.session.append(line)?;
        shared.tell_of(&settled);
        let Settled {
            result,
            contexts,
            notices,
            halt,
            ..
        } = settled;
        let concludes = |success: &Success| success.concludes;
        self.turn.concluded |= result.outcome.result.as_ref().is_ok_and(concludes);
        self.results.push(result);
        self.contexts.extend(contexts);
        self.turn.shared.tell_all(notices)?;
        self.turn.halt_with(halt);
        Ok(())
    }

    /// A call that comes too late still has to be answered, for the conversation's sake.
    fn never_started(&mut self, proposal: &Proposal) -> Result<(), Broken> {
        let session = &self.turn.shared.session;
        let (call, result) = Pipeline::never_started(proposal, self.at);
        session.append(call)?;
        session.append(result)?;
        Ok(())
    }

    /// Adds the text that waited, and lets policy see the whole batch.
    async fn finish(self) -> Result<(), Broken> {
        let turn = self.turn;
        self.contexts
            .into_iter()
            .try_for_each(|context| turn.add_context(context))?;
        if let Some(error) = self.unsafe_log {
            return Err(error.into());
        }
        let goes_on = matches!(turn.checked(), Flow::On) && turn.deferred.is_none();
        if !goes_on || self.results.is_empty() {
            return Ok(());
        }
        let (facts, signal) = (turn.facts(), turn.signal.clone());
        let event = BatchEvent {
            facts,
            results: self.results,
            signal,
        };
        let seam = &turn.shared.seams.batch;
        let reply = seam
            .dispatch(event, |_| async { BatchDecision::Proceed })
            .await?;
        let (decision, riders) = reply.riders();
        turn.ride(riders)?;
        if let BatchDecision::EndTurn { reason, by } = decision {
            let halt = seamline_seams::Halt {
                when: When::AfterBatch,
                reason,
                by,
            };
            turn.halt_with(Some(halt));
        }
        Ok(())
    }
}
