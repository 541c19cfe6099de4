//! The invariant container.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::contain::contained;
use crate::table::{Entry, Level, Place};
use crate::{FaultKind, FaultLog, Listener, Name, Registration, Scope};

/// A reason why not. There is no value that says "allow".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    /// The reason, in words for whoever asked.
    pub reason: String,
}

/// A denial and the guard it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied {
    /// The denial.
    pub denial: Denial,
    /// The guard.
    pub by: Name,
}

type Listen<E> = dyn Fn(&E) -> Option<Denial> + Send + Sync;

/// What must hold whatever else was decided: each guard denies or abstains.
///
/// Clones are handles on one list.
pub struct Guards<E>(Arc<Level<Listen<E>>>);

impl Denial {
    /// A denial with this reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
        }
    }
}

impl<E: 'static> Guards<E> {
    /// An empty process-wide seam called `seam`, for example `tools.guards`.
    pub fn new(seam: &'static str, faults: &FaultLog) -> Self {
        Self(Level::new(seam, faults))
    }

    /// One agent's guards: this one's, which are asked first, and then its own.
    #[must_use]
    pub fn child(&self) -> Self {
        Self(self.0.child())
    }

    /// Adds a guard after those registered so far on this level.
    pub fn add(
        &self,
        scope: &Scope,
        name: impl Into<Name>,
        f: impl Fn(&E) -> Option<Denial> + Send + Sync + 'static,
    ) -> Registration {
        self.0
            .register(scope, name.into(), Place::Last, Box::new(f))
    }

    /// The first denial, the parent's guards first. A guard that panics denies.
    pub fn check(&self, event: &E) -> Option<Denied> {
        self.0
            .visit(&mut |guard| self.ask(guard, event))
            .break_value()
    }

    fn ask(&self, guard: &Entry<Listen<E>>, event: &E) -> ControlFlow<Denied> {
        let Some(pass) = guard.gate.enter() else {
            return ControlFlow::Continue(());
        };
        let answer = pass.within(|| contained(|| (guard.listener)(event)));
        let denial = answer.unwrap_or_else(|text| {
            self.0.record(pass.name(), FaultKind::Panic(text));
            Some(Denial::new(format!("guard `{}` panicked", pass.name())))
        });
        match denial {
            Some(denial) => ControlFlow::Break(Denied {
                denial,
                by: pass.name().clone(),
            }),
            None => ControlFlow::Continue(()),
        }
    }

    /// The guards, in the order they are asked.
    pub fn describe(&self) -> Vec<Listener> {
        self.0.describe()
    }

    /// Whether there is no guard.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<E> Clone for Guards<E> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<E: 'static> fmt::Debug for Guards<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Guards").field(&self.describe()).finish()
    }
}
