//! The policy container.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::chain::{CORE, Run};
use crate::contain::contained_async;
use crate::table::{Level, Place};
use crate::{BoxError, Fault, FaultKind, FaultLog, Listener, Name, Registration, Reply, Scope};

/// One seam where listeners decide: its name, its event, its decision.
pub trait Policy: Send + Sync + 'static {
    /// How faults and `describe()` call the seam, for example `tools.pre`.
    const NAME: &'static str;
    /// What listeners are told. Cloned once per listener, so keep it cheap.
    type Event: Clone + Send + Sync + 'static;
    /// What they decide.
    type Decision: Send + 'static;
}

/// A policy whose listeners may hand a changed event downstream.
pub trait Rewrites: Policy {}

type Answer<S> = Result<Reply<<S as Policy>::Decision>, BoxError>;
type Listen<S> =
    dyn Fn(<S as Policy>::Event, Next<S>) -> BoxFuture<'static, Answer<S>> + Send + Sync;
type Core<S> = Box<
    dyn FnOnce(<S as Policy>::Event) -> BoxFuture<'static, Reply<<S as Policy>::Decision>> + Send,
>;

/// A stack of listeners around a built-in default; the first registered is the outermost.
///
/// Clones are handles on one stack.
pub struct Waterfall<S: Policy>(Arc<Level<Listen<S>>>);

/// The rest of the chain, to be run at most once. Dropping it is how a listener decides alone.
#[must_use = "without running it the listeners further in are not asked"]
pub struct Next<S: Policy> {
    run: Arc<Run<Listen<S>>>,
    position: usize,
    event: S::Event,
    core: Core<S>,
}

impl<S: Policy> Waterfall<S> {
    /// An empty process-wide seam.
    pub fn new(faults: &FaultLog) -> Self {
        Self(Level::new(S::NAME, faults))
    }

    /// One agent's seam: this one's listeners, outermost, and then its own.
    #[must_use]
    pub fn child(&self) -> Self {
        Self(self.0.child())
    }

    /// Adds a listener inside all those registered so far on this level.
    pub fn on<F, Fut>(&self, scope: &Scope, name: impl Into<Name>, f: F) -> Registration
    where
        F: Fn(S::Event, Next<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Reply<S::Decision>, BoxError>> + Send + 'static,
    {
        self.add(scope, name.into(), Place::Last, f)
    }

    /// Adds a listener outside all those registered so far on this level.
    pub fn on_first<F, Fut>(&self, scope: &Scope, name: impl Into<Name>, f: F) -> Registration
    where
        F: Fn(S::Event, Next<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Reply<S::Decision>, BoxError>> + Send + 'static,
    {
        self.add(scope, name.into(), Place::First, f)
    }

    fn add<F, Fut>(&self, scope: &Scope, name: Name, place: Place, f: F) -> Registration
    where
        F: Fn(S::Event, Next<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Reply<S::Decision>, BoxError>> + Send + 'static,
    {
        self.0.register(
            scope,
            name,
            place,
            Box::new(move |event, next| Box::pin(f(event, next))),
        )
    }

    /// Asks the listeners, outermost first; `core` is the built-in default, run at most once.
    /// It may return a decision or a whole [`Reply`]. Dropping the future cancels the dispatch,
    /// which is recorded once: see [`crate::guide::faults`].
    ///
    /// # Errors
    ///
    /// The first [`Fault`] of any listener or of `core`, whatever the listeners around it made
    /// of it.
    pub async fn dispatch<C, Fut>(
        &self,
        event: S::Event,
        core: C,
    ) -> Result<Reply<S::Decision>, Fault>
    where
        C: FnOnce(S::Event) -> Fut + Send + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Into<Reply<S::Decision>>,
    {
        let Some(chain) = self.0.snapshot() else {
            return self.bare(event, core).await;
        };
        let run = Run::new(&self.0, chain);
        let _ending = run.end_on_drop();
        let core: Core<S> = Box::new(|event| Box::pin(async { core(event).await.into() }));
        Next {
            run,
            position: 0,
            event,
            core,
        }
        .run()
        .await
    }

    /// Without listeners: no allocation of ours.
    async fn bare<C, Fut>(&self, event: S::Event, core: C) -> Result<Reply<S::Decision>, Fault>
    where
        C: FnOnce(S::Event) -> Fut,
        Fut: Future<Output: Into<Reply<S::Decision>>>,
    {
        match contained_async(|| core(event)).await {
            Ok(decision) => Ok(decision.into()),
            Err(text) => {
                let fault = Fault::new(S::NAME, CORE, FaultKind::Panic(text));
                self.0.faults.record(fault.clone());
                Err(fault)
            }
        }
    }

    /// The listeners, outermost first.
    pub fn describe(&self) -> Vec<Listener> {
        self.0.describe()
    }

    /// Whether a dispatch would go straight to its core.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<S: Policy> Next<S> {
    /// Runs the rest of the chain with the event as it came.
    ///
    /// # Errors
    ///
    /// The dispatch's first [`Fault`], which no listener can take back; pass it on with `?`.
    pub async fn run(self) -> Result<Reply<S::Decision>, Fault> {
        let Self {
            run,
            position,
            event,
            core,
        } = self;
        run.check_open(position)?;
        let Some((listener, pass, position)) = run.admit(position) else {
            return at_core(&run, event, core).await;
        };
        let next = Self {
            run: Arc::clone(&run),
            position,
            event: event.clone(),
            core,
        };
        match run.listen(&pass, || listener(event, next)).await {
            Ok(Ok(reply)) => run.settle(reply),
            Ok(Err(error)) => Err(run.fail_with(pass.name(), error)),
            Err(kind) => Err(run.fail(pass.name(), kind)),
        }
    }
}

impl<S: Rewrites> Next<S> {
    /// Runs the rest of the chain with another event.
    ///
    /// # Errors
    ///
    /// As [`Next::run`].
    pub async fn run_with(self, event: S::Event) -> Result<Reply<S::Decision>, Fault> {
        Self { event, ..self }.run().await
    }
}

async fn at_core<S: Policy>(
    run: &Run<Listen<S>>,
    event: S::Event,
    core: Core<S>,
) -> Result<Reply<S::Decision>, Fault> {
    match run.core(|| core(event)).await {
        Ok(reply) => run.settle(reply),
        Err(text) => Err(run.fail(&CORE, FaultKind::Panic(text))),
    }
}

impl<S: Policy> Clone for Waterfall<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S: Policy> fmt::Debug for Waterfall<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Waterfall").field(&self.describe()).finish()
    }
}

impl<S: Policy> fmt::Debug for Next<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next")
            .field("seam", &S::NAME)
            .finish_non_exhaustive()
    }
}
