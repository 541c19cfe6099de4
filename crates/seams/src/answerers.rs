//! The approval container.

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::{BoxFuture, Either, select};
use futures_util::stream::FuturesUnordered;

use crate::crew::Crew;
use crate::table::{Level, Place};
use crate::{FaultLog, Listener, Name, Registration, Scope, Signal};

/// A question that several may answer.
pub trait Question: Clone + Send + Sync + 'static {
    /// How faults and `describe()` call the seam, for example `tools.approval`.
    const NAME: &'static str;
    /// What an answerer answers.
    type Answer: Send + 'static;
}

/// How a question went. Nothing but [`Asked::Answered`] is an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a question nobody looks at the answer of"]
pub enum Asked<A> {
    /// Somebody answered.
    Answered {
        /// The answer.
        answer: A,
        /// Who gave it.
        by: Name,
    },
    /// Nobody was there, or everybody who was passed.
    Nobody,
    /// The caller's signal was cancelled before anybody answered.
    Cancelled,
}

type Listen<Q> =
    dyn Fn(Q, Signal) -> BoxFuture<'static, Option<<Q as Question>::Answer>> + Send + Sync;

/// Listeners that are all asked at once; the first answer wins.
///
/// Clones are handles on one list.
pub struct Answerers<Q: Question>(Arc<Level<Listen<Q>>>);

impl<Q: Question> Answerers<Q> {
    /// How long those who lost may take to finish once their signal is cancelled. Our choice.
    pub const GRACE: Duration = Duration::from_millis(250);

    /// An empty process-wide seam.
    pub fn new(faults: &FaultLog) -> Self {
        Self(Level::new(Q::NAME, faults))
    }

    /// One agent's answerers: this one's and its own, all asked at once.
    #[must_use]
    pub fn child(&self) -> Self {
        Self(self.0.child())
    }

    /// Adds an answerer. It returns `None` to pass, and should stop soon after its signal is
    /// cancelled.
    pub fn on<F, Fut>(&self, scope: &Scope, name: impl Into<Name>, f: F) -> Registration
    where
        F: Fn(Q, Signal) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Option<Q::Answer>> + Send + 'static,
    {
        let listener =
            move |question, signal| Box::pin(f(question, signal)) as BoxFuture<'static, _>;
        self.0
            .register(scope, name.into(), Place::Last, Box::new(listener))
    }

    /// Asks everybody at once. The first answer wins; the others' signals are cancelled and they
    /// are awaited for at most [`Answerers::GRACE`], then dropped and recorded as overdue.
    ///
    /// An answerer that panics counts as passing. A cancelled `signal` beats an answer that is
    /// ready at the same moment. Needs a tokio runtime with time unless nobody is registered.
    pub async fn ask(&self, question: Q, signal: Signal) -> Asked<Q::Answer> {
        if signal.is_cancelled() {
            return Asked::Cancelled;
        }
        let Some(chain) = self.0.snapshot() else {
            return Asked::Nobody;
        };
        let stop = signal.child_token();
        let _stop = stop.clone().drop_guard();
        let (mut crew, members) = Crew::gather(&self.0, &chain);
        let calls = members.map(|member| {
            let (question, signal) = (question.clone(), stop.child_token());
            member.work(move |listener| listener(question, signal))
        });
        let mut calls: FuturesUnordered<_> = calls.collect();
        let outcome = {
            let answer = pin!(first_answer(&mut crew, &mut calls));
            match select(pin!(signal.cancelled()), answer).await {
                Either::Left(_) => Asked::Cancelled,
                Either::Right((outcome, _)) => outcome,
            }
        };
        stop.cancel();
        drain(crew, calls, Self::GRACE).await;
        outcome
    }

    /// The answerers, in registration order, the parent's first.
    pub fn describe(&self) -> Vec<Listener> {
        self.0.describe()
    }

    /// Whether there is nobody to ask.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A listener's place and, unless it faulted, its answer.
type Call<A> = (usize, Option<Option<A>>);

async fn first_answer<Q: Question>(
    crew: &mut Crew<Listen<Q>>,
    calls: &mut FuturesUnordered<impl Future<Output = Call<Q::Answer>>>,
) -> Asked<Q::Answer> {
    while let Some((position, answer)) = calls.next().await {
        let by = crew.finished(position);
        if let (Some(by), Some(Some(answer))) = (by, answer) {
            return Asked::Answered { answer, by };
        }
    }
    Asked::Nobody
}

async fn drain<Q: Question>(
    mut crew: Crew<Listen<Q>>,
    mut calls: FuturesUnordered<impl Future<Output = Call<Q::Answer>>>,
    grace: Duration,
) {
    if calls.is_empty() {
        return;
    }
    let rest = async {
        while let Some((position, _)) = calls.next().await {
            crew.finished(position);
        }
    };
    if tokio::time::timeout(grace, rest).await.is_err() {
        crew.give_up();
    }
}

impl<Q: Question> Clone for Answerers<Q> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<Q: Question> fmt::Debug for Answerers<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Answerers").field(&self.describe()).finish()
    }
}
