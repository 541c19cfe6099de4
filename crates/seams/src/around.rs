//! The wrapper container.

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;

use futures_util::future::{BoxFuture, Either, select};

use crate::chain::{CORE, Run};
use crate::contain::contained_async;
use crate::table::{Level, Place};
use crate::{BoxError, Fault, FaultKind, FaultLog, Listener, Name, Registration, Scope, Signal};

/// One seam where listeners stand around a piece of work: its name, its event, its outcome.
pub trait Wrap: Send + Sync + 'static {
    /// How faults and `describe()` call the seam, for example `tools.dispatch`.
    const NAME: &'static str;
    /// What listeners are told, and cannot change. Cloned once per listener, so keep it cheap.
    type Event: Clone + Send + Sync + 'static;
    /// What the work ends in; a fault is one of its failures. `Result<T, Fault>` will do.
    type Outcome: From<Fault> + Send + 'static;
}

type Answer<S> = Result<<S as Wrap>::Outcome, BoxError>;
type Listen<S> =
    dyn Fn(<S as Wrap>::Event, Signal, Inner<S>) -> BoxFuture<'static, Answer<S>> + Send + Sync;
type Core<S> = Arc<
    dyn Fn(<S as Wrap>::Event, Signal) -> BoxFuture<'static, <S as Wrap>::Outcome> + Send + Sync,
>;

/// A seam whose work may be done more than once for one dispatch: only there is [`Inner::again`].
pub trait Repeats: Wrap {}

/// A stack of wrappers around a piece of work; the first registered is the outermost.
///
/// Clones are handles on one stack.
pub struct Around<S: Wrap>(Arc<Level<Listen<S>>>);

/// The wrapped work, to be run at most once and only under a signal. Where the seam [`Repeats`] it
/// can be had [`again`](Inner::again).
#[must_use = "without running it the work is not done"]
pub struct Inner<S: Wrap> {
    run: Arc<Run<Listen<S>>>,
    position: usize,
    event: S::Event,
    /// The signal the wrapper that holds this was called with.
    signal: Signal,
    core: Core<S>,
}

impl<S: Wrap> Around<S> {
    /// An empty process-wide seam.
    pub fn new(faults: &FaultLog) -> Self {
        Self(Level::new(S::NAME, faults))
    }

    /// One agent's seam: this one's wrappers, outermost, and then its own.
    #[must_use]
    pub fn child(&self) -> Self {
        Self(self.0.child())
    }

    /// Adds a wrapper inside all those registered so far on this level.
    pub fn on<F, Fut>(&self, scope: &Scope, name: impl Into<Name>, f: F) -> Registration
    where
        F: Fn(S::Event, Signal, Inner<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<S::Outcome, BoxError>> + Send + 'static,
    {
        self.add(scope, name.into(), Place::Last, f)
    }

    /// Adds a wrapper outside all those registered so far on this level.
    pub fn on_first<F, Fut>(&self, scope: &Scope, name: impl Into<Name>, f: F) -> Registration
    where
        F: Fn(S::Event, Signal, Inner<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<S::Outcome, BoxError>> + Send + 'static,
    {
        self.add(scope, name.into(), Place::First, f)
    }

    fn add<F, Fut>(&self, scope: &Scope, name: Name, place: Place, f: F) -> Registration
    where
        F: Fn(S::Event, Signal, Inner<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<S::Outcome, BoxError>> + Send + 'static,
    {
        let listener =
            move |event, signal, inner| Box::pin(f(event, signal, inner)) as BoxFuture<'static, _>;
        self.0.register(scope, name, place, Box::new(listener))
    }

    /// Runs `core` inside the wrappers, at most once unless the seam [`Repeats`]. With at least one wrapper the signal they
    /// and `core` get is a child of `signal` that is cancelled when the dispatch ends or is
    /// dropped.
    ///
    /// A wrapper's fault becomes the outcome, whatever the wrappers around it made of it. A panic
    /// of `core` becomes an ordinary outcome, which the wrappers may handle like any other.
    pub async fn dispatch<C, Fut>(&self, event: S::Event, signal: Signal, core: C) -> S::Outcome
    where
        C: Fn(S::Event, Signal) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = S::Outcome> + Send + 'static,
    {
        let Some(chain) = self.0.snapshot() else {
            return self.bare(event, signal, core).await;
        };
        let run = Run::new(&self.0, chain);
        let _ending = run.end_on_drop();
        let signal = signal.child_token();
        let _stop = signal.clone().drop_guard();
        let core: Core<S> = Arc::new(move |event, signal| Box::pin(core(event, signal)));
        Inner {
            run,
            position: 0,
            event,
            signal: signal.clone(),
            core,
        }
        .run(signal)
        .await
    }

    /// Without wrappers: no allocation of ours.
    async fn bare<C, Fut>(&self, event: S::Event, signal: Signal, core: C) -> S::Outcome
    where
        C: FnOnce(S::Event, Signal) -> Fut,
        Fut: Future<Output = S::Outcome>,
    {
        contained_async(|| core(event, signal))
            .await
            .unwrap_or_else(|text| {
                let fault = Fault::new(S::NAME, CORE, FaultKind::Panic(text));
                self.0.faults.record(fault.clone());
                fault.into()
            })
    }

    /// The wrappers, outermost first.
    pub fn describe(&self) -> Vec<Listener> {
        self.0.describe()
    }

    /// Whether a dispatch would go straight to its core.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<S: Wrap> Inner<S> {
    /// Does the wrapped work. It is cancelled as soon as `signal` is, or the signal the wrapper
    /// was called with: a wrapper can cancel earlier, but not hold a cancellation back.
    pub async fn run(self, signal: Signal) -> S::Outcome {
        let Self {
            run,
            position,
            event,
            signal: own,
            core,
        } = self;
        if let Err(fault) = run.check_open(position).and_then(|()| run.settle(())) {
            return fault.into();
        }
        if own == signal {
            return further_in(run, position, event, own, core).await;
        }
        fused(own, signal, |signal| {
            further_in(run, position, event, signal, core)
        })
        .await
    }
}

impl<S: Repeats> Inner<S> {
    /// The same work once more: those further in are called again, with the same event. After a
    /// fault of one of them nothing is done again, and running it gives the fault.
    pub fn again(&self) -> Self {
        Self {
            run: Arc::clone(&self.run),
            position: self.position,
            event: self.event.clone(),
            signal: self.signal.clone(),
            core: Arc::clone(&self.core),
        }
    }
}

async fn further_in<S: Wrap>(
    run: Arc<Run<Listen<S>>>,
    position: usize,
    event: S::Event,
    signal: Signal,
    core: Core<S>,
) -> S::Outcome {
    let Some((listener, pass, position)) = run.admit(position) else {
        return at_core(&run, event, signal, core).await;
    };
    // A signal of its own: what this wrapper cancels, those around it do not see.
    let signal = signal.child_token();
    let inner = Inner {
        run: Arc::clone(&run),
        position,
        event: event.clone(),
        signal: signal.clone(),
        core,
    };
    let outcome = match run.listen(&pass, || listener(event, signal, inner)).await {
        Ok(Ok(outcome)) => run.settle(outcome),
        Ok(Err(error)) => Err(run.fail_with(pass.name(), error)),
        Err(kind) => Err(run.fail(pass.name(), kind)),
    };
    outcome.unwrap_or_else(S::Outcome::from)
}

async fn at_core<S: Wrap>(
    run: &Run<Listen<S>>,
    event: S::Event,
    signal: Signal,
    core: Core<S>,
) -> S::Outcome {
    run.core(|| core(event, signal))
        .await
        .unwrap_or_else(|text| {
            let fault = Fault::new(S::NAME, CORE, FaultKind::Panic(text));
            run.level.faults.record(fault.clone());
            fault.into()
        })
}

/// Runs `body` under a signal that is cancelled by whichever of the two is first.
async fn fused<F: Future>(
    outer: Signal,
    inner: Signal,
    body: impl FnOnce(Signal) -> F,
) -> F::Output {
    let fused = inner.child_token();
    let body = pin!(body(fused.clone()));
    // `select` looks at `outer` first, so that an old cancellation is seen before the body starts.
    match select(pin!(outer.cancelled()), body).await {
        Either::Left(((), body)) => {
            fused.cancel();
            body.await
        }
        Either::Right((output, _)) => output,
    }
}

impl<S: Wrap> Clone for Around<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S: Wrap> fmt::Debug for Around<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Around").field(&self.describe()).finish()
    }
}

impl<S: Wrap> fmt::Debug for Inner<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inner")
            .field("seam", &S::NAME)
            .finish_non_exhaustive()
    }
}
