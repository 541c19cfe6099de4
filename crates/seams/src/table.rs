//! The copy-on-write listener table behind every container.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, Weak};

use crate::scope::{Forget, Gate, Held};
use crate::{Fault, FaultKind, FaultLog, Name, Scope};

/// What `describe()` says about one listener.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listener {
    /// The seam it listens on.
    pub seam: &'static str,
    /// Its own name.
    pub name: Name,
    /// The path of the scope that owns it, for example `app/audit`.
    pub scope: Name,
    /// 0 for process-wide, 1 for an agent's, 2 for a child of that, and so on.
    pub level: usize,
}

/// A handle on one registration. Dropping it changes nothing.
#[derive(Debug)]
pub struct Registration(Option<Held>);

impl Registration {
    /// Whether the listener can still be called.
    pub fn is_active(&self) -> bool {
        self.0.as_ref().is_some_and(Held::is_open)
    }

    /// Takes the listener out. It is not called again, not even by a dispatch that is under way;
    /// a call already running goes on (only [`Scope::dispose`] waits for it).
    pub fn remove(self) {
        if let Some(held) = self.0 {
            held.remove();
        }
    }
}

pub(crate) struct Entry<L: ?Sized> {
    pub(crate) gate: Arc<Gate>,
    pub(crate) listener: Box<L>,
}

/// The listeners of one dispatch, outermost first.
pub(crate) type Chain<L> = Arc<[Arc<Entry<L>>]>;

struct Table<L: ?Sized> {
    entries: RwLock<Chain<L>>,
    /// The length of `entries`, readable without the lock.
    len: AtomicUsize,
}

impl<L: ?Sized> Table<L> {
    fn read(&self) -> Chain<L> {
        Arc::clone(&self.entries.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn update(&self, change: impl FnOnce(&mut Vec<Arc<Entry<L>>>)) {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        let mut list = entries.to_vec();
        change(&mut list);
        self.len.store(list.len(), Ordering::Release);
        *entries = list.into();
    }
}

impl<L: ?Sized + Send + Sync> Forget for Table<L> {
    fn forget(&self, gate: &Arc<Gate>) {
        self.update(|entries| entries.retain(|entry| !Arc::ptr_eq(&entry.gate, gate)));
    }
}

/// Where a new listener goes in its level.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    First,
    Last,
}

/// One level of a seam: the process's, or one agent's with the process's above it.
pub(crate) struct Level<L: ?Sized> {
    pub(crate) seam: &'static str,
    pub(crate) faults: FaultLog,
    table: Arc<Table<L>>,
    parent: Option<Arc<Level<L>>>,
    depth: usize,
}

impl<L: ?Sized + Send + Sync + 'static> Level<L> {
    pub(crate) fn new(seam: &'static str, faults: &FaultLog) -> Arc<Self> {
        Self::build(seam, faults, None, 0)
    }

    pub(crate) fn child(self: &Arc<Self>) -> Arc<Self> {
        Self::build(
            self.seam,
            &self.faults,
            Some(Arc::clone(self)),
            self.depth + 1,
        )
    }

    fn build(
        seam: &'static str,
        faults: &FaultLog,
        parent: Option<Arc<Self>>,
        depth: usize,
    ) -> Arc<Self> {
        let table = Table {
            entries: RwLock::new(Arc::from([])),
            len: AtomicUsize::new(0),
        };
        Arc::new(Self {
            seam,
            faults: faults.clone(),
            table: Arc::new(table),
            parent,
            depth,
        })
    }

    /// Adds a listener; on a disposed scope records the refusal instead.
    pub(crate) fn register(
        &self,
        scope: &Scope,
        name: Name,
        place: Place,
        listener: Box<L>,
    ) -> Registration {
        let forget: Weak<dyn Forget> =
            Arc::downgrade(&(Arc::clone(&self.table) as Arc<dyn Forget>));
        let held = scope.hold(name.clone(), Some(forget), |gate| {
            let entry = Arc::new(Entry {
                gate: Arc::clone(gate),
                listener,
            });
            self.table.update(|entries| match place {
                Place::First => entries.insert(0, entry),
                Place::Last => entries.push(entry),
            });
        });
        if held.is_none() {
            let why = format!("scope `{}` is disposed", scope.path());
            self.faults
                .record(Fault::new(self.seam, name, FaultKind::Refused(why)));
        }
        Registration(held)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.table.len.load(Ordering::Acquire) == 0
            && self.parent.as_ref().is_none_or(|parent| parent.is_empty())
    }

    /// The listeners of all levels, the parent's first; `None` (and no allocation) if there are
    /// none.
    pub(crate) fn snapshot(&self) -> Option<Chain<L>> {
        let above = self.parent.as_ref().and_then(|parent| parent.snapshot());
        let own = self.own();
        match (above, own) {
            (Some(above), Some(own)) => Some(above.iter().chain(own.iter()).cloned().collect()),
            (above, own) => above.or(own),
        }
    }

    fn own(&self) -> Option<Chain<L>> {
        (self.table.len.load(Ordering::Acquire) > 0).then(|| self.table.read())
    }

    /// Visits the listeners of all levels, the parent's first, without joining them.
    pub(crate) fn visit<B>(
        &self,
        f: &mut impl FnMut(&Entry<L>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let own = self.own();
        if let Some(parent) = &self.parent {
            parent.visit(f)?;
        }
        own.iter()
            .flat_map(|chain| chain.iter())
            .try_for_each(|entry| f(entry))
    }

    pub(crate) fn describe(&self) -> Vec<Listener> {
        let mut list = self
            .parent
            .as_ref()
            .map_or_else(Vec::new, |parent| parent.describe());
        list.extend(self.table.read().iter().map(|entry| Listener {
            seam: self.seam,
            name: entry.gate.name().clone(),
            scope: entry.gate.scope().clone(),
            level: self.depth,
        }));
        list
    }

    pub(crate) fn record(&self, listener: &Name, kind: FaultKind) {
        self.faults
            .record(Fault::new(self.seam, listener.clone(), kind));
    }
}
