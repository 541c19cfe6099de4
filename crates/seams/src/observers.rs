//! The witness container.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::contain::contained;
use crate::table::{Level, Place};
use crate::{FaultKind, FaultLog, Listener, Name, Registration, Scope};

type Listen<E> = dyn Fn(&E) + Send + Sync;

/// Listeners that are told and can affect nothing.
///
/// Clones are handles on one list.
pub struct Observers<E>(Arc<Level<Listen<E>>>);

impl<E: 'static> Observers<E> {
    /// An empty process-wide seam called `seam`, for example `tools.result`.
    pub fn new(seam: &'static str, faults: &FaultLog) -> Self {
        Self(Level::new(seam, faults))
    }

    /// One agent's observers: this one's, which are told first, and then its own.
    #[must_use]
    pub fn child(&self) -> Self {
        Self(self.0.child())
    }

    /// Adds an observer after those registered so far on this level. It must not block: it runs
    /// on the thread that notifies.
    pub fn on(
        &self,
        scope: &Scope,
        name: impl Into<Name>,
        f: impl Fn(&E) + Send + Sync + 'static,
    ) -> Registration {
        self.0
            .register(scope, name.into(), Place::Last, Box::new(f))
    }

    /// Tells every observer, the parent's first. One that panics is recorded, and the next is
    /// still told.
    pub fn notify(&self, event: &E) {
        let _: ControlFlow<()> = self.0.visit(&mut |observer| {
            if let Some(pass) = observer.gate.enter()
                && let Err(text) = pass.within(|| contained(|| (observer.listener)(event)))
            {
                self.0.record(pass.name(), FaultKind::Panic(text));
            }
            ControlFlow::Continue(())
        });
    }

    /// The observers, in the order they are told.
    pub fn describe(&self) -> Vec<Listener> {
        self.0.describe()
    }

    /// Whether nobody watches.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<E> Clone for Observers<E> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<E: 'static> fmt::Debug for Observers<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Observers").field(&self.describe()).finish()
    }
}
