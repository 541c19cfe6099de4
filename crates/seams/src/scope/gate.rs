//! The entry check: look, take the token, look again.

use std::borrow::Borrow;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::sync::Notify;
use tokio_util::sync::WaitForCancellationFutureOwned;

use crate::{Name, Signal};

/// The door of one registration or one piece of spawned work.
///
/// `closed` and `active` are a handshake between a caller and a disposer: the caller raises
/// `active` and then reads `closed`, the disposer sets `closed` and then reads `active`. All four
/// are sequentially consistent, so at least one of the two sees the other.
pub(crate) struct Gate {
    name: Name,
    closed: AtomicBool,
    active: AtomicUsize,
    keeper: Arc<Keeper>,
}

/// What all gates of one scope share.
pub(crate) struct Keeper {
    /// Woken when a call leaves a closed gate.
    pub(crate) left: Notify,
    /// Cancelled when the calls still inside are to be dropped.
    pub(crate) evict: Signal,
    /// The scope's path, for `describe()`.
    pub(crate) path: Name,
}

/// The right to call through a gate, held until the call is over and its future dropped.
///
/// `G` is how it holds the gate: borrowed in a dispatch, shared in spawned work.
pub(crate) struct Pass<G: Borrow<Gate>>(G);

thread_local! {
    /// The gates whose calls are being polled on this thread, outermost first.
    static INSIDE: RefCell<Vec<*const Gate>> = const { RefCell::new(Vec::new()) };
}

impl Gate {
    pub(crate) fn new(name: Name, keeper: Arc<Keeper>) -> Arc<Self> {
        let (closed, active) = (AtomicBool::new(false), AtomicUsize::new(0));
        Arc::new(Self {
            name,
            closed,
            active,
            keeper,
        })
    }

    pub(crate) fn name(&self) -> &Name {
        &self.name
    }

    pub(crate) fn scope(&self) -> &Name {
        &self.keeper.path
    }

    /// Lets a caller in, unless the gate is closed.
    pub(crate) fn enter(&self) -> Option<Pass<&Self>> {
        Self::enter_as(self)
    }

    /// The same with a pass that may outlive the borrow.
    pub(crate) fn enter_owned(self: &Arc<Self>) -> Option<Pass<Arc<Self>>> {
        Self::enter_as(Arc::clone(self))
    }

    fn enter_as<G: Borrow<Self>>(held: G) -> Option<Pass<G>> {
        // Look: most of those who come too late are turned away without touching the counter.
        if held.borrow().is_closed() {
            return None;
        }
        #[cfg(test)]
        super::tests::between_the_looks();
        // Take the token.
        held.borrow().active.fetch_add(1, Ordering::SeqCst);
        let pass = Pass(held);
        // Look again: a disposer that closed the gate in between may not have seen the token.
        #[cfg(test)]
        if super::tests::second_look_removed() {
            return Some(pass);
        }
        (!pass.gate().is_closed()).then_some(pass)
    }

    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    pub(crate) fn is_active(&self) -> bool {
        self.active.load(Ordering::SeqCst) > 0
    }

    /// Whether nobody is inside but, perhaps, the caller of this very function.
    pub(crate) fn is_quiet(&self) -> bool {
        let this: *const Self = self;
        let count = |inside: &RefCell<Vec<*const Self>>| {
            inside.borrow().iter().filter(|gate| **gate == this).count()
        };
        let own = INSIDE.try_with(count).unwrap_or(0);
        self.active.load(Ordering::SeqCst) <= own
    }
}

impl<G: Borrow<Gate>> Pass<G> {
    fn gate(&self) -> &Gate {
        self.0.borrow()
    }

    /// Runs `f` with this thread marked as being inside the gate. (While the thread is being torn
    /// down there is nothing to mark, and nobody left to ask.)
    pub(crate) fn within<T>(&self, f: impl FnOnce() -> T) -> T {
        struct Mark;
        impl Drop for Mark {
            fn drop(&mut self) {
                let _ = INSIDE.try_with(|inside| inside.borrow_mut().pop());
            }
        }
        let gate = std::ptr::from_ref(self.gate());
        let _ = INSIDE.try_with(|inside| inside.borrow_mut().push(gate));
        let _mark = Mark;
        f()
    }

    /// Completes when the scope no longer waits for this call.
    pub(crate) fn evicted(&self) -> WaitForCancellationFutureOwned {
        self.gate().keeper.evict.clone().cancelled_owned()
    }

    pub(crate) fn name(&self) -> &Name {
        &self.gate().name
    }
}

impl<G: Borrow<Gate>> Drop for Pass<G> {
    fn drop(&mut self) {
        let gate = self.gate();
        gate.active.fetch_sub(1, Ordering::SeqCst);
        if gate.is_closed() {
            gate.keeper.left.notify_waiters();
        }
    }
}
