//! The contributor container.

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use crate::crew::Crew;
use crate::table::{Level, Place};
use crate::{FaultLog, Listener, Name, Registration, Scope};

type Listen<E, C> = dyn Fn(E) -> BoxFuture<'static, C> + Send + Sync;

/// Listeners that each add something, all at once, under a deadline.
///
/// Clones are handles on one list.
pub struct Contributors<E: 'static, C: 'static>(Arc<Level<Listen<E, C>>>);

/// What came in time, and what is still on its way.
#[derive(Debug)]
pub struct Collected<C: Send + 'static> {
    /// What came in time, in registration order.
    pub ready: Vec<(Name, C)>,
    /// Those who are late.
    pub late: Late<C>,
}

/// Contributors that missed the deadline and go on running. Dropping this cancels them, which is
/// recorded.
pub struct Late<C: Send + 'static> {
    crew: Option<Box<dyn Waiting>>,
    arrivals: mpsc::UnboundedReceiver<(usize, Option<C>)>,
    task: Option<AbortHandle>,
}

impl<E: Clone + Send + Sync + 'static, C: Send + 'static> Contributors<E, C> {
    /// An empty process-wide seam called `seam`, for example `agent.session_start`.
    pub fn new(seam: &'static str, faults: &FaultLog) -> Self {
        Self(Level::new(seam, faults))
    }

    /// One agent's contributors: this one's and its own, all run at once.
    #[must_use]
    pub fn child(&self) -> Self {
        Self(self.0.child())
    }

    /// Adds a contributor after those registered so far on this level.
    pub fn on<F, Fut>(&self, scope: &Scope, name: impl Into<Name>, f: F) -> Registration
    where
        F: Fn(E) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = C> + Send + 'static,
    {
        let listener = move |event| Box::pin(f(event)) as BoxFuture<'static, _>;
        self.0
            .register(scope, name.into(), Place::Last, Box::new(listener))
    }

    /// Runs everybody at once and returns when all have finished or `deadline` has passed. One
    /// that panics contributes nothing and is recorded.
    ///
    /// Needs a tokio runtime with time unless nobody is registered.
    pub async fn collect(&self, event: E, deadline: Duration) -> Collected<C> {
        let Some(chain) = self.0.snapshot() else {
            return Collected {
                ready: Vec::new(),
                late: Late::none(),
            };
        };
        let (mut crew, members) = Crew::gather(&self.0, &chain);
        let mut ready: Vec<_> = chain.iter().map(|_| None).collect();
        let calls = members.map(|member| {
            let event = event.clone();
            member.work(move |listener| listener(event))
        });
        let mut calls: FuturesUnordered<_> = calls.collect();
        let in_time = async {
            while let Some((position, result)) = calls.next().await {
                let name = crew.finished(position);
                if let Some(slot) = ready.get_mut(position) {
                    *slot = name.zip(result);
                }
            }
        };
        let all = tokio::time::timeout(deadline, pin!(in_time)).await.is_ok();
        let late = if all {
            Late::none()
        } else {
            Late::go_on(crew, calls)
        };
        Collected {
            ready: ready.into_iter().flatten().collect(),
            late,
        }
    }

    /// The contributors, in registration order, the parent's first.
    pub fn describe(&self) -> Vec<Listener> {
        self.0.describe()
    }

    /// Whether nobody contributes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<C: Send + 'static> Late<C> {
    fn none() -> Self {
        Self {
            crew: None,
            arrivals: mpsc::unbounded_channel().1,
            task: None,
        }
    }

    /// Moves what is unfinished to a task of its own.
    fn go_on<L, F>(crew: Crew<L>, mut calls: FuturesUnordered<F>) -> Self
    where
        L: ?Sized + Send + Sync + 'static,
        F: Future<Output = (usize, Option<C>)> + Send + 'static,
    {
        let (sender, arrivals) = mpsc::unbounded_channel();
        let task = tokio::spawn(async move {
            while let Some(result) = calls.next().await {
                // The receiver is gone only if we are being aborted.
                let _ = sender.send(result);
            }
        });
        Self {
            crew: Some(Box::new(crew)),
            arrivals,
            task: Some(task.abort_handle()),
        }
    }

    /// The next one to finish, or `None` when nobody is left.
    pub async fn next(&mut self) -> Option<(Name, C)> {
        let crew = self.crew.as_mut()?;
        while let Some((position, result)) = self.arrivals.recv().await {
            let name = crew.finished(position);
            if let Some(result) = name.zip(result) {
                return Some(result);
            }
        }
        None
    }

    /// Those whose result has not been taken yet, in registration order.
    pub fn names(&self) -> Vec<Name> {
        self.crew
            .as_ref()
            .map_or_else(Vec::new, |crew| crew.names())
    }

    /// Whether nobody is late.
    pub fn is_empty(&self) -> bool {
        self.names().is_empty()
    }
}

/// A crew whose listener type is of no interest any more.
trait Waiting: Send + Sync {
    fn finished(&mut self, position: usize) -> Option<Name>;
    fn names(&self) -> Vec<Name>;
}

impl<L: ?Sized + Send + Sync + 'static> Waiting for Crew<L> {
    fn finished(&mut self, position: usize) -> Option<Name> {
        Crew::finished(self, position)
    }

    fn names(&self) -> Vec<Name> {
        self.waiting().cloned().collect()
    }
}

impl<C: Send + 'static> Drop for Late<C> {
    fn drop(&mut self) {
        // What has arrived was not cut off, only not fetched.
        while let (Some(crew), Ok((position, _))) = (&mut self.crew, self.arrivals.try_recv()) {
            crew.finished(position);
        }
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

impl<C: Send + 'static> fmt::Debug for Late<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Late").field(&self.names()).finish()
    }
}

impl<E: 'static, C: 'static> Clone for Contributors<E, C> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<E: Clone + Send + Sync + 'static, C: Send + 'static> fmt::Debug for Contributors<E, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Contributors")
            .field(&self.describe())
            .finish()
    }
}
