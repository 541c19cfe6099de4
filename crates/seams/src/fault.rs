//! Faults: what went wrong inside a listener, as data.

use std::collections::VecDeque;
use std::error::Error;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::contain::contained;
use crate::{BoxError, Name};

/// One listener's failure, caught where it was called.
///
/// Cloning keeps the identity: a clone is the same fault, so that passing it on does not record
/// it a second time.
#[derive(Clone)]
pub struct Fault {
    /// The seam whose listener failed.
    pub seam: &'static str,
    /// The listener, or `core` for the built-in default at the end of a chain.
    pub listener: Name,
    /// What happened.
    pub kind: FaultKind,
    id: u64,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

/// What happened to a listener.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// It returned an error; the text is the error's own.
    Error(String),
    /// It panicked; the text is the panic message.
    Panic(String),
    /// It was running when the future that awaited it was dropped.
    Dropped,
    /// It ignored a cancelled signal for the whole grace and was dropped by us.
    Overdue,
    /// It ran its `Next` or `Inner` after the dispatch had ended; nothing was called.
    Expired,
    /// It was not accepted: the scope was already disposed, or there was nothing to run it on.
    Refused(String),
}

static IDS: AtomicU64 = AtomicU64::new(0);

impl Fault {
    /// A fault unlike every other. Recording it is the caller's business.
    pub fn new(seam: &'static str, listener: Name, kind: FaultKind) -> Self {
        Self {
            seam,
            listener,
            kind,
            id: IDS.fetch_add(1, Ordering::Relaxed),
            source: None,
        }
    }

    /// A fault for an error a listener returned; the error stays reachable as `source()`.
    pub(crate) fn from_error(seam: &'static str, listener: Name, error: BoxError) -> Self {
        let kind = FaultKind::Error(error.to_string());
        Self {
            source: Some(error.into()),
            ..Self::new(seam, listener, kind)
        }
    }

    /// Whether the two are one and the same failure (not merely alike).
    pub fn is_same(&self, other: &Self) -> bool {
        self.id == other.id
    }

    /// Whether `error` is this fault or was caused by it.
    pub(crate) fn caused(&self, error: &(dyn Error + Send + Sync + 'static)) -> bool {
        let mut next: Option<&(dyn Error + 'static)> = Some(error);
        while let Some(error) = next {
            if error
                .downcast_ref::<Self>()
                .is_some_and(|fault| fault.is_same(self))
            {
                return true;
            }
            next = error.source();
        }
        false
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            seam,
            listener,
            kind,
            ..
        } = self;
        match kind {
            FaultKind::Error(text) => write!(f, "{seam}: `{listener}` failed: {text}"),
            FaultKind::Panic(text) => write!(f, "{seam}: `{listener}` panicked: {text}"),
            FaultKind::Dropped => write!(f, "{seam}: `{listener}` was dropped while it ran"),
            FaultKind::Overdue => {
                write!(
                    f,
                    "{seam}: `{listener}` did not stop when cancelled and was dropped"
                )
            }
            FaultKind::Expired => {
                write!(
                    f,
                    "{seam}: `{listener}` went on downstream after the dispatch had ended"
                )
            }
            FaultKind::Refused(text) => write!(f, "{seam}: `{listener}` was refused: {text}"),
        }
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fault")
            .field("seam", &self.seam)
            .field("listener", &self.listener)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

impl Error for Fault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source
            .as_deref()
            .map(|error| error as &(dyn Error + 'static))
    }
}

/// So that `Result<T, Fault>` can be the outcome of an [`Around`](crate::Around).
impl<T> From<Fault> for Result<T, Fault> {
    fn from(fault: Fault) -> Self {
        Err(fault)
    }
}

type Subscriber = Arc<dyn Fn(&Fault) + Send + Sync>;

/// Where every fault is recorded, once. Clones share one log.
///
/// The log keeps the first [`FaultLog::KEPT`] faults that nobody took and counts the rest;
/// subscribers see all of them.
#[derive(Clone, Default)]
pub struct FaultLog(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    faults: VecDeque<Fault>,
    missed: u64,
    subscribers: Vec<Subscriber>,
}

impl FaultLog {
    /// How many faults are kept until [`FaultLog::take`]. Our choice.
    pub const KEPT: usize = 1024;

    /// An empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records a fault and tells every subscriber, in the order they subscribed. A subscriber
    /// that panics is passed over.
    pub fn record(&self, fault: Fault) {
        let subscribers = {
            let mut kept = self.lock();
            let subscribers = kept.subscribers.clone();
            if kept.faults.len() < Self::KEPT {
                kept.faults.push_back(fault.clone());
            } else {
                kept.missed += 1;
            }
            subscribers
        };
        for subscriber in subscribers {
            // Its panic was printed by the panic hook; recording it here could go round for ever.
            let _ = contained(|| subscriber(&fault));
        }
    }

    /// Calls `f` with every fault recorded from now on, on the thread that records it.
    pub fn subscribe(&self, f: impl Fn(&Fault) + Send + Sync + 'static) {
        self.lock().subscribers.push(Arc::new(f));
    }

    /// Takes the kept faults, oldest first.
    pub fn take(&self) -> Vec<Fault> {
        self.lock().faults.drain(..).collect()
    }

    /// How many faults were not kept because nobody took the others in time.
    pub fn missed(&self) -> u64 {
        self.lock().missed
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for FaultLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.lock().faults).finish()
    }
}
