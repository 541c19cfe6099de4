//! One walk down a chain: what `Waterfall` and `Around` have in common.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use futures_util::future::BoxFuture;

use crate::contain::{Call, contained_async};
use crate::scope::{Gate, Pass};
use crate::table::{Chain, Level};
use crate::{BoxError, Fault, FaultKind, Name};

/// The name under which the built-in default at the end of a chain appears in faults.
pub(crate) const CORE: Name = Name::from_static("core");

/// One dispatch through at least one listener.
pub(crate) struct Run<L: ?Sized> {
    pub(crate) level: Arc<Level<L>>,
    pub(crate) chain: Chain<L>,
    /// The first fault: from then on it is the answer.
    first: OnceLock<Fault>,
    ended: AtomicBool,
    /// Whether the drop now under way has been recorded.
    dropping: AtomicBool,
}

impl<L: ?Sized + Send + Sync + 'static> Run<L> {
    pub(crate) fn new(level: &Arc<Level<L>>, chain: Chain<L>) -> Arc<Self> {
        Arc::new(Self {
            level: Arc::clone(level),
            chain,
            first: OnceLock::new(),
            ended: AtomicBool::new(false),
            dropping: AtomicBool::new(false),
        })
    }

    /// The next listener at or after `position` that lets us in, and the position after it.
    pub(crate) fn admit(&self, position: usize) -> Option<(&L, Pass<&Gate>, usize)> {
        let rest = self.chain.iter().zip(1..).skip(position);
        rest.filter_map(|(entry, next)| Some((&*entry.listener, entry.gate.enter()?, next)))
            .next()
    }

    /// `value`, unless something in this dispatch has faulted.
    pub(crate) fn settle<T>(&self, value: T) -> Result<T, Fault> {
        self.first
            .get()
            .map_or(Ok(value), |fault| Err(fault.clone()))
    }

    /// Records a fault and makes it stick; returns the one that sticks, which is the first.
    pub(crate) fn fail(&self, listener: &Name, kind: FaultKind) -> Fault {
        self.raise(Fault::new(self.level.seam, listener.clone(), kind))
    }

    /// The same for an error a listener returned. One that only passes on the sticky fault is not
    /// another fault.
    pub(crate) fn fail_with(&self, listener: &Name, error: BoxError) -> Fault {
        match self.first.get() {
            Some(first) if first.caused(&*error) => first.clone(),
            _ => self.raise(Fault::from_error(self.level.seam, listener.clone(), error)),
        }
    }

    fn raise(&self, fault: Fault) -> Fault {
        let first = self.first.get_or_init(|| fault.clone()).clone();
        self.level.faults.record(fault);
        first
    }

    /// Refuses to go on downstream once the dispatch has ended.
    pub(crate) fn check_open(&self, position: usize) -> Result<(), Fault> {
        if !self.ended.load(Ordering::Acquire) {
            return Ok(());
        }
        let owner = position.checked_sub(1).and_then(|at| self.chain.get(at));
        let owner = owner.map_or(CORE, |entry| entry.gate.name().clone());
        Err(self.fail(&owner, FaultKind::Expired))
    }

    /// Marks the dispatch as ended when the value is dropped.
    pub(crate) fn end_on_drop(self: &Arc<Self>) -> Ending<L> {
        Ending(Arc::clone(self))
    }

    /// Calls a listener; records it if the call is dropped half-way.
    pub(crate) async fn listen<T>(
        &self,
        pass: &Pass<&Gate>,
        start: impl FnOnce() -> BoxFuture<'static, T>,
    ) -> Result<T, FaultKind> {
        let mut watch = Watch {
            run: self,
            name: pass.name(),
            done: false,
        };
        let mut start = Some(start);
        let mut call = Call::new(pass);
        let result = poll_fn(|cx| {
            watch.alive();
            call.poll(&mut start, cx)
        });
        let result = result.await;
        watch.done = true;
        result
    }

    /// Awaits the built-in default at the end of the chain; records it if it is dropped half-way.
    pub(crate) async fn core<T>(
        &self,
        start: impl FnOnce() -> BoxFuture<'static, T>,
    ) -> Result<T, String> {
        let mut watch = Watch {
            run: self,
            name: &CORE,
            done: false,
        };
        let result = contained_async(start).await;
        watch.done = true;
        result
    }
}

pub(crate) struct Ending<L: ?Sized>(Arc<Run<L>>);

impl<L: ?Sized> Drop for Ending<L> {
    fn drop(&mut self) {
        self.0.ended.store(true, Ordering::Release);
    }
}

/// Declared before the future it watches, so that it is dropped after it: when a whole stack of
/// listeners is dropped the innermost reports first, and the others see that it did.
struct Watch<'a, L: ?Sized> {
    run: &'a Run<L>,
    name: &'a Name,
    done: bool,
}

impl<L: ?Sized> Watch<'_, L> {
    /// Whatever was dropped before this moment, the rest lives on.
    fn alive(&self) {
        self.run.dropping.store(false, Ordering::Relaxed);
    }
}

impl<L: ?Sized> Drop for Watch<'_, L> {
    fn drop(&mut self) {
        if !self.done && !self.run.dropping.swap(true, Ordering::Relaxed) {
            let level = &self.run.level;
            level.faults.record(Fault::new(
                level.seam,
                self.name.clone(),
                FaultKind::Dropped,
            ));
        }
    }
}
