//! The seams, listeners and waiting that the tests share.

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use seamline_seams::{
    BoxError, Fault, FaultKind, FaultLog, Next, Policy, Reply, Scope, Waterfall, Wrap,
};

/// The tests' policy seam.
pub(crate) struct Pre;

impl Policy for Pre {
    const NAME: &'static str = "test.pre";
    type Event = String;
    type Decision = Verdict;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// What the built-in default says.
    Default,
    Allow(usize),
    Deny(usize),
}

/// The tests' wrapper seam.
pub(crate) struct Body;

impl Wrap for Body {
    const NAME: &'static str = "test.body";
    type Event = &'static str;
    type Outcome = Outcome;
}

#[derive(Debug)]
pub(crate) enum Outcome {
    Done(&'static str),
    Failed(Fault),
}

impl From<Fault> for Outcome {
    fn from(fault: Fault) -> Self {
        Self::Failed(fault)
    }
}

/// A list of what happened, in order.
#[derive(Clone, Default)]
pub(crate) struct Trace(Arc<Mutex<Vec<String>>>);

impl Trace {
    pub(crate) fn note(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// A seam, a scope to register with, one log for both, and a trace.
pub(crate) struct Stage {
    pub(crate) faults: FaultLog,
    pub(crate) scope: Scope,
    pub(crate) seam: Waterfall<Pre>,
    pub(crate) trace: Trace,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let faults = FaultLog::new();
        let (scope, seam) = (Scope::root_with("app", &faults), Waterfall::new(&faults));
        Self {
            faults,
            scope,
            seam,
            trace: Trace::default(),
        }
    }

    /// Dispatches to a core that notes `core` and decides [`Verdict::Default`].
    pub(crate) async fn dispatch(&self) -> Result<Reply<Verdict>, Fault> {
        dispatch(&self.seam, &self.trace).await
    }

    /// What was recorded, as `listener: what happened`.
    pub(crate) fn faults(&self) -> Vec<String> {
        recorded(&self.faults)
    }
}

pub(crate) async fn dispatch(
    seam: &Waterfall<Pre>,
    trace: &Trace,
) -> Result<Reply<Verdict>, Fault> {
    let trace = trace.clone();
    let core = move |_| async move {
        trace.note("core");
        Verdict::Default
    };
    seam.dispatch("event".to_owned(), core).await
}

/// A listener that notes its name on the way in and `/name` on the way out.
pub(crate) async fn noting(
    trace: Trace,
    name: &'static str,
    next: Next<Pre>,
) -> Result<Reply<Verdict>, BoxError> {
    trace.note(name);
    let reply = next.run().await?;
    trace.note(format!("/{name}"));
    Ok(reply)
}

/// What a log holds, as `listener: what happened`; takes it.
pub(crate) fn recorded(faults: &FaultLog) -> Vec<String> {
    faults.take().iter().map(short).collect()
}

pub(crate) fn short(fault: &Fault) -> String {
    let what = match &fault.kind {
        FaultKind::Error(text) => format!("error {text}"),
        FaultKind::Panic(text) => format!("panic {text}"),
        FaultKind::Refused(_) => "refused".to_owned(),
        kind => format!("{kind:?}").to_lowercase(),
    };
    format!("{}: {what}", fault.listener)
}

/// Waits until `condition` holds, and fails the test if it never does.
pub(crate) async fn eventually(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < deadline, "never happened: {what}");
        tokio::task::yield_now().await;
    }
}

/// Lets every other task of a single-threaded runtime get as far as it can.
pub(crate) async fn settle() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}

/// A future that is `Pending` once and wakes at once.
pub(crate) fn yield_once() -> impl Future<Output = ()> + Send {
    tokio::task::yield_now()
}
