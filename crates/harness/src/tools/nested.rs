//! Calls that a tool makes while it runs.
//!
//! A nested call goes through the whole pipeline like any other: everybody who listens sees it, the
//! log keeps it, under an id of its own and with the call that made it. What is different:
//!
//! * the model is not shown it; the outer call's result speaks for it;
//! * text for the model that comes with it waits for the outer result, and is dropped when that is
//!   blocked;
//! * it cannot be put off.
//!
//! Calls are decided one at a time in the order they were made, and committed and settled in that
//! order. Those that are safe to overlap do; any other waits for those before it, and has the floor
//! until its result stands. When the outer call is cancelled or somebody halts the run at once,
//! those under way are awaited and those not yet begun are given up without a trace in the log.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::StreamExt;
use futures_util::future::{BoxFuture, Either, FutureExt, select};
use futures_util::stream::FuturesUnordered;
use seamline_seams::{Riders, Signal, When};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::call::Proposal;
use super::outcome::{Failure, Outcome, Success};
use super::pipeline::{Decided, Executed, Pipeline, Settled, Written};
use super::tool::ToolContext;
use crate::facts::Facts;
use crate::json::Json;
use crate::session::SessionError;
use crate::session::event::{self, Step};
use crate::tools::{Call, Effects, ToolResult};

/// How many nested calls of one outer call overlap. Our choice, the same as for the model's.
const PARALLEL: usize = 10;

/// Where nested calls are written down, and who is told of them. The agent's side of the matter.
pub(crate) trait Ledger: Send + Sync + 'static {
    /// Where the session stands.
    fn facts(&self) -> Arc<Facts>;
    /// The step the calls belong to.
    fn at(&self) -> Step;
    /// Somebody wants to call a tool.
    fn proposed(&self, proposal: &Proposal);
    /// Writes a decided call down.
    fn call(&self, call: event::ToolCall) -> Result<(), SessionError>;
    /// Waits until the log is on the disk.
    fn checkpoint(&self) -> BoxFuture<'_, Result<(), SessionError>>;
    /// A call is about to run.
    fn started(&self, call: &Call);
    /// Writes a result down.
    fn result(&self, result: event::ToolResult) -> Result<(), SessionError>;
    /// A call has its result.
    fn finished(&self, settled: &Settled);
}

/// The ledger of calls that belong to no agent.
#[derive(Debug)]
pub(crate) struct NoLedger(pub(crate) Arc<Facts>);

impl Ledger for NoLedger {
    fn facts(&self) -> Arc<Facts> {
        Arc::clone(&self.0)
    }
    fn at(&self) -> Step {
        Step { turn: 0, step: 0 }
    }
    fn proposed(&self, _: &Proposal) {}
    fn call(&self, _: event::ToolCall) -> Result<(), SessionError> {
        Ok(())
    }
    fn checkpoint(&self) -> BoxFuture<'_, Result<(), SessionError>> {
        async { Ok(()) }.boxed()
    }
    fn started(&self, _: &Call) {}
    fn result(&self, _: event::ToolResult) -> Result<(), SessionError> {
        Ok(())
    }
    fn finished(&self, _: &Settled) {}
}

/// What a running call needs to make calls of its own.
pub(crate) struct Origin {
    pub(crate) pipeline: Pipeline,
    pub(crate) ledger: Arc<dyn Ledger>,
    /// The running call. Nested calls carry its identity, never the call itself.
    call: Call,
    /// Whether a wrapper may answer in the body's place.
    pub(crate) wrapped: bool,
    /// Whether its body was entered.
    pub(crate) invoked: AtomicBool,
    /// The body's own success, to tell it from one that a wrapper made up.
    pub(crate) success: Mutex<Option<Success>>,
    made: AtomicU32,
    nest: Mutex<Option<Nest>>,
    given_up: AtomicBool,
    riders: Mutex<Riders>,
}

/// The task that works through the nested calls of one call.
struct Nest {
    calls: mpsc::UnboundedSender<Made>,
    work: JoinHandle<()>,
}

/// A nested call that was made and is not decided yet.
struct Made {
    written: Written,
    reply: oneshot::Sender<Result<Success, Failure>>,
}

impl Origin {
    pub(crate) fn new(
        pipeline: Pipeline,
        ledger: Arc<dyn Ledger>,
        call: &Call,
        wrapped: bool,
    ) -> Self {
        Self {
            pipeline,
            ledger,
            call: call.clone(),
            wrapped,
            invoked: AtomicBool::new(false),
            success: Mutex::default(),
            made: AtomicU32::new(0),
            nest: Mutex::default(),
            given_up: AtomicBool::new(false),
            riders: Mutex::default(),
        }
    }

    /// Makes a call. It has its place among the others at once.
    pub(crate) fn make(
        self: &Arc<Self>,
        context: &ToolContext,
        (label, name, arguments): (&str, String, Json),
    ) -> oneshot::Receiver<Result<Success, Failure>> {
        let number = self.made.fetch_add(1, Ordering::Relaxed) + 1;
        let written = Written {
            call_id: format!("{}{label}:{number}", self.call.call_id()),
            name,
            arguments,
        };
        let (reply, answer) = oneshot::channel();
        let mut nest = self.nest.lock().unwrap_or_else(PoisonError::into_inner);
        let nest = nest.get_or_insert_with(|| self.open(context));
        // A closed nest drops the call, and whoever waits for it hears so.
        let _ = nest.calls.send(Made { written, reply });
        answer
    }

    fn open(self: &Arc<Self>, context: &ToolContext) -> Nest {
        let (calls, made) = mpsc::unbounded_channel();
        let worker = Worker {
            origin: Arc::clone(self),
            context: context.clone(),
            pool: FuturesUnordered::new(),
            done: BTreeMap::new(),
            waiting: BTreeMap::new(),
            committed: 0,
            settled: 0,
        };
        let work = tokio::spawn(worker.run(made));
        Nest { calls, work }
    }

    /// The body begins. When it is dropped, what it made is not left to itself for ever.
    pub(crate) fn begin(&self) -> Closing<'_> {
        self.given_up.store(false, Ordering::Release);
        Closing(self)
    }

    /// Gives up the nested calls that have not begun.
    pub(crate) fn give_up(&self) {
        self.given_up.store(true, Ordering::Release);
    }

    /// Takes no more calls, and returns when each that was made has its result.
    pub(crate) async fn settled(&self) {
        let nest = self
            .nest
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(Nest { calls, work }) = nest {
            drop(calls);
            // A worker that panicked has nothing left to wait for.
            let _ = work.await;
        }
    }

    /// Notices and a halt that came with nested calls.
    pub(crate) fn take_riders(&self) -> Riders {
        std::mem::take(&mut *self.riders.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Closes the way for nested calls when a body is over.
pub(crate) struct Closing<'a>(&'a Origin);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        let mut nest = self.0.nest.lock().unwrap_or_else(PoisonError::into_inner);
        if nest.take().is_some() {
            // Its body was dropped half way: nobody waits for the rest.
            self.0.give_up();
        }
    }
}

struct Worker {
    origin: Arc<Origin>,
    context: ToolContext,
    pool: FuturesUnordered<BoxFuture<'static, (usize, Executed)>>,
    done: BTreeMap<usize, Executed>,
    /// Who waits for the calls that were committed.
    waiting: BTreeMap<usize, oneshot::Sender<Result<Success, Failure>>>,
    committed: usize,
    settled: usize,
}

impl Worker {
    async fn run(mut self, mut made: mpsc::UnboundedReceiver<Made>) {
        loop {
            if self.settle_ready().await {
                continue;
            }
            let next = match self.pool.is_empty() {
                true => Either::Left(made.recv().await),
                false => self.next_event(&mut made).await,
            };
            match next {
                Either::Left(Some(call)) => self.take(call).await,
                Either::Left(None) if self.pool.is_empty() => return,
                Either::Left(None) => self.settle_next().await,
                Either::Right((place, executed)) => drop(self.done.insert(place, executed)),
            }
        }
    }

    /// The next call that is made, or the next that has done its work.
    async fn next_event(
        &mut self,
        made: &mut mpsc::UnboundedReceiver<Made>,
    ) -> Either<Option<Made>, (usize, Executed)> {
        let recv = std::pin::pin!(made.recv());
        match select(recv, self.pool.next()).await {
            Either::Left((call, _)) => Either::Left(call),
            Either::Right((Some(done), _)) => Either::Right(done),
            Either::Right((None, _)) => Either::Left(None),
        }
    }

    fn is_over(&self) -> bool {
        let halted = |riders: &Riders| riders.halt.as_ref().is_some_and(|h| h.when == When::Now);
        self.signal().is_cancelled()
            || self.origin.given_up.load(Ordering::Acquire)
            || halted(
                &self
                    .origin
                    .riders
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner),
            )
    }

    fn signal(&self) -> &Signal {
        self.context.signal()
    }

    /// Takes one call as far as it gets without waiting for its own work, if it may overlap; to its
    /// very end, if it may not.
    async fn take(&mut self, made: Made) {
        let Made { written, reply } = made;
        if self.is_over() {
            // The waiter hears that it was never begun; the log says nothing of it.
            let _ = reply.send(Outcome::not_started().result);
            return;
        }
        let origin = Arc::clone(&self.origin);
        let pipeline = &origin.pipeline;
        let facts = origin.ledger.facts();
        let signal = self.signal().clone();
        let proposal = pipeline.propose_nested(written, facts, signal, origin.call.token());
        origin.ledger.proposed(&proposal);
        if !proposal.is_concurrency_safe() {
            self.drain().await;
        }
        let decided = self.meanwhile(pipeline.decide(proposal)).await;
        let decided = match decided.is_deferred() {
            true => decided.deny("a call made by a tool cannot be put off"),
            false => decided,
        };
        self.start(decided, reply).await;
    }

    async fn start(&mut self, decided: Decided, reply: oneshot::Sender<Result<Success, Failure>>) {
        let origin = Arc::clone(&self.origin);
        let (pipeline, ledger) = (&origin.pipeline, &origin.ledger);
        let record = |mut call: event::ToolCall| {
            call.parent = Some(origin.call.call_id().to_owned());
            ledger.call(call)
        };
        let mut committed = match pipeline.commit(decided, ledger.at(), record) {
            Ok(committed) => committed,
            Err(error) => {
                let _ = reply.send(Outcome::failed(error.to_string(), None).result);
                return;
            }
        };
        let reads = matches!(committed.call().effects(), Effects::Reads(_));
        if committed.will_run() && !reads && ledger.checkpoint().await.is_err() {
            committed = committed.withdraw();
        }
        let overlaps = committed.is_concurrency_safe() || !committed.will_run();
        if !overlaps {
            self.drain().await;
        }
        while self.pool.len() >= PARALLEL {
            self.settle_next().await;
        }
        if committed.will_run() {
            ledger.started(committed.call());
        }
        let place = self.committed;
        self.committed += 1;
        self.waiting.insert(place, reply);
        let (pipeline, ledger) = (pipeline.clone(), Arc::clone(ledger));
        let work = async move { (place, pipeline.execute_for(committed, ledger).await) };
        self.pool.push(work.boxed());
        if !overlaps {
            self.drain().await;
        }
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

    async fn drain(&mut self) {
        while self.settled < self.committed {
            self.settle_next().await;
        }
    }

    /// Settles the next call in order if its work is done.
    async fn settle_ready(&mut self) -> bool {
        let ready = self.done.contains_key(&self.settled);
        if ready {
            self.settle_next().await;
        }
        ready
    }

    async fn settle_next(&mut self) {
        let executed = loop {
            if let Some(executed) = self.done.remove(&self.settled) {
                break executed;
            }
            match self.pool.next().await {
                Some((place, executed)) => self.done.insert(place, executed),
                None => return,
            };
        };
        let place = self.settled;
        self.settled += 1;
        let origin = Arc::clone(&self.origin);
        let settled = self.meanwhile(origin.pipeline.settle(executed)).await;
        let recorded = self.record(&settled);
        let Settled {
            result,
            contexts,
            notices,
            halt,
            ..
        } = settled;
        contexts
            .into_iter()
            .for_each(|context| self.context.add_context(context));
        origin.ride(Riders {
            contexts: Vec::new(),
            notices,
            halt,
        });
        if let Some(reply) = self.waiting.remove(&place) {
            let result = match recorded {
                Ok(()) => result.outcome.result,
                Err(error) => Outcome::failed(error.to_string(), None).result,
            };
            // A program that no longer waits has no use for it.
            let _ = reply.send(result);
        }
    }

    fn record(&self, settled: &Settled) -> Result<(), SessionError> {
        let Origin {
            ledger,
            call: outer,
            ..
        } = &*self.origin;
        let ToolResult { call, outcome, .. } = &settled.result;
        let mut result = outcome.record(call.call_id(), ledger.at());
        result.parent = Some(outer.call_id().to_owned());
        let recorded = ledger.result(result);
        ledger.finished(settled);
        recorded
    }
}

impl Origin {
    fn ride(&self, later: Riders) {
        let mut riders = self.riders.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::take(&mut *riders);
        let reply = seamline_seams::Reply::new(()).with_riders_after(before);
        *riders = reply.with_riders_after(later).riders().1;
    }
}
