//! Scopes: who owns what was registered and spawned, and how it ends.

mod gate;
#[cfg(test)]
mod tests;

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use futures_util::future::{BoxFuture, Either, select};
use tokio::runtime::Handle;
use tokio::sync::Notify;

use self::gate::Keeper;
pub(crate) use self::gate::{Gate, Pass};
use crate::contain::listen;
use crate::{Fault, FaultKind, FaultLog, Name, Signal};

/// Owns a plugin's registrations and spawned work. Clones are handles on one scope; dropping them
/// ends nothing, only [`Scope::dispose`] does.
#[derive(Clone)]
pub struct Scope(Arc<Node>);

struct Node {
    keeper: Arc<Keeper>,
    signal: Signal,
    faults: FaultLog,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    closed: bool,
    children: Vec<Arc<Node>>,
    holdings: Vec<Holding>,
}

#[derive(Clone)]
struct Holding {
    gate: Arc<Gate>,
    table: Option<Weak<dyn Forget>>,
}

/// A listener table that can drop the entry of one gate.
pub(crate) trait Forget: Send + Sync {
    fn forget(&self, gate: &Arc<Gate>);
}

/// One thing a scope holds, seen from outside.
pub(crate) struct Held {
    holding: Holding,
    owner: Weak<Node>,
}

impl Scope {
    /// How long [`Scope::dispose`] lets cancelled work finish before it is dropped. Our choice.
    pub const GRACE: Duration = Duration::from_secs(5);

    /// A scope without a parent, with a fault log of its own: see [`Scope::faults`].
    pub fn root(name: impl Into<Name>) -> Self {
        Self::root_with(name, &FaultLog::new())
    }

    /// A scope without a parent that reports to `faults`.
    pub fn root_with(name: impl Into<Name>, faults: &FaultLog) -> Self {
        Self(Node::new(name.into(), Signal::new(), faults))
    }

    /// A scope inside this one, disposed with it. The child of a disposed scope is disposed from
    /// the start, so what is registered on it is refused and recorded.
    #[must_use = "a child scope nobody registers on is of no use"]
    pub fn child(&self, name: impl Into<Name>) -> Self {
        let parent = &self.0;
        let path = Name::from(format!("{}/{}", parent.keeper.path, name.into()));
        let child = Node::new(path, parent.signal.child_token(), &parent.faults);
        let mut state = parent.lock();
        state.prune();
        if state.closed {
            child.close();
        } else {
            state.children.push(Arc::clone(&child));
        }
        Self(child)
    }

    /// The names from the root to here, joined by `/`.
    pub fn path(&self) -> &Name {
        &self.0.keeper.path
    }

    /// Cancelled when this scope is disposed. Long work should watch it.
    pub fn signal(&self) -> &Signal {
        &self.0.signal
    }

    /// Where faults of spawned work, and refusals, are recorded.
    pub fn faults(&self) -> &FaultLog {
        &self.0.faults
    }

    /// Whether disposal has begun: nothing more is accepted or called.
    pub fn is_disposed(&self) -> bool {
        self.0.lock().closed
    }

    /// The names of what runs at this moment, here and in the children.
    pub fn running(&self) -> Vec<Name> {
        let (children, holdings) = self.0.contents();
        let own = holdings
            .iter()
            .map(|holding| &holding.gate)
            .filter(|gate| gate.is_active());
        let own: Vec<_> = own.map(|gate| gate.name().clone()).collect();
        let below = children.into_iter().flat_map(|child| Self(child).running());
        own.into_iter().chain(below).collect()
    }

    /// Runs `work` on the current tokio runtime as this scope's own. It should stop soon after
    /// [`Scope::signal`] is cancelled. A panic is recorded. On a disposed scope, or outside a
    /// runtime, the work is dropped and the refusal recorded.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let Ok(runtime) = Handle::try_current() else {
            return self.record(FaultKind::Refused("no tokio runtime here".to_owned()));
        };
        let mut pass = None;
        let held = self.hold(self.path().clone(), None, |gate| pass = gate.enter_owned());
        let (Some(held), Some(pass)) = (held, pass) else {
            return self.record(FaultKind::Refused("the scope is disposed".to_owned()));
        };
        let scope = self.clone();
        runtime.spawn(async move {
            if let Err(kind) = listen(&pass, || Box::pin(work)).await {
                scope.record(kind);
            }
            drop(pass);
            held.remove();
        });
    }

    /// Ends the scope, with [`Scope::GRACE`]: see [`Scope::dispose_within`].
    pub async fn dispose(&self) {
        self.dispose_within(Self::GRACE).await;
    }

    /// Ends the scope and returns only when nothing of it runs and nothing of it will be called.
    /// What has not finished `grace` after its signal was cancelled is dropped and recorded as
    /// overdue. May be called any number of times, also at once, and from within a listener of
    /// this scope: see [`crate::guide::disposal`].
    ///
    /// Needs a tokio runtime with time if anything still runs.
    pub async fn dispose_within(&self, grace: Duration) {
        self.0.close();
        Arc::clone(&self.0).drain(grace).await;
    }

    fn record(&self, kind: FaultKind) {
        self.0
            .faults
            .record(Fault::new("scope", self.path().clone(), kind));
    }

    /// Takes something into the scope, or `None` if it is disposed. `keep` runs while disposal is
    /// locked out: whatever it stores, a later disposal finds.
    pub(crate) fn hold(
        &self,
        name: Name,
        table: Option<Weak<dyn Forget>>,
        keep: impl FnOnce(&Arc<Gate>),
    ) -> Option<Held> {
        let mut state = self.0.lock();
        state.prune();
        if state.closed {
            return None;
        }
        let holding = Holding {
            gate: Gate::new(name, Arc::clone(&self.0.keeper)),
            table,
        };
        keep(&holding.gate);
        state.holdings.push(holding.clone());
        Some(Held {
            holding,
            owner: Arc::downgrade(&self.0),
        })
    }
}

impl Held {
    pub(crate) fn is_open(&self) -> bool {
        !self.holding.gate.is_closed()
    }

    pub(crate) fn remove(self) {
        self.holding.gate.close();
        self.holding.forget();
        if let Some(owner) = self.owner.upgrade() {
            owner.lock().prune();
        }
    }
}

impl Holding {
    fn forget(&self) {
        if let Some(table) = self.table.as_ref().and_then(Weak::upgrade) {
            table.forget(&self.gate);
        }
    }

    fn is_over(&self) -> bool {
        self.gate.is_closed() && !self.gate.is_active()
    }
}

impl State {
    /// Lets go of what ended by itself.
    fn prune(&mut self) {
        self.holdings.retain(|holding| !holding.is_over());
        self.children.retain(|child| !child.is_over());
    }
}

impl Node {
    fn new(path: Name, signal: Signal, faults: &FaultLog) -> Arc<Self> {
        let keeper = Arc::new(Keeper {
            left: Notify::new(),
            evict: Signal::new(),
            path,
        });
        Arc::new(Self {
            keeper,
            signal,
            faults: faults.clone(),
            state: Mutex::default(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn contents(&self) -> (Vec<Arc<Node>>, Vec<Holding>) {
        let state = self.lock();
        (state.children.clone(), state.holdings.clone())
    }

    /// From here on nothing is accepted and nobody new comes in, here and below.
    fn close(&self) {
        let children = {
            let mut state = self.lock();
            state.closed = true;
            state
                .holdings
                .iter()
                .for_each(|holding| holding.gate.close());
            state.children.clone()
        };
        children.iter().for_each(|child| child.close());
    }

    fn is_over(&self) -> bool {
        let state = self.lock();
        state.closed
            && state.holdings.iter().all(Holding::is_over)
            && state.children.iter().all(|child| child.is_over())
    }

    /// Children first, newest first: cancel, take out of the tables, wait. Several disposers may
    /// do this at once; each step is idempotent and each of them waits for itself.
    fn drain(self: Arc<Self>, grace: Duration) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let (children, holdings) = self.contents();
            for child in children.into_iter().rev() {
                child.drain(grace).await;
            }
            self.signal.cancel();
            holdings.iter().rev().for_each(Holding::forget);
            self.wait_out(&holdings, grace).await;
            self.lock().prune();
        })
    }

    async fn wait_out(&self, holdings: &[Holding], grace: Duration) {
        if holdings.iter().all(|holding| holding.gate.is_quiet()) {
            return;
        }
        let quiet = pin!(self.quiet(holdings));
        let patience = pin!(tokio::time::sleep(grace));
        if let Either::Right(((), quiet)) = select(quiet, patience).await {
            self.keeper.evict.cancel();
            quiet.await;
        }
    }

    async fn quiet(&self, holdings: &[Holding]) {
        loop {
            let mut left = pin!(self.keeper.left.notified());
            left.as_mut().enable();
            if holdings.iter().all(|holding| holding.gate.is_quiet()) {
                return;
            }
            left.await;
        }
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Scope").field(self.path()).finish()
    }
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Held")
            .field(self.holding.gate.name())
            .finish()
    }
}
