//! Rules of the wrapper container.

use std::future::pending;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use seamline_seams::{Around, BoxError, Fault, FaultLog, Inner, Scope, Signal};

use crate::support::{Body, Outcome, Trace, recorded, short};

struct Stage {
    faults: FaultLog,
    scope: Scope,
    seam: Around<Body>,
    trace: Trace,
}

type Answer = Result<Outcome, BoxError>;

async fn through(_: &'static str, signal: Signal, inner: Inner<Body>) -> Answer {
    Ok(inner.run(signal).await)
}

impl Stage {
    fn new() -> Self {
        let faults = FaultLog::new();
        let (scope, seam) = (Scope::root("app"), Around::new(&faults));
        Self {
            faults,
            scope,
            seam,
            trace: Trace::default(),
        }
    }

    /// Does work that ends at once.
    async fn dispatch(&self) -> Outcome {
        let trace = self.trace.clone();
        let core = move |event, _| {
            trace.note("core");
            async move { Outcome::Done(event) }
        };
        self.seam.dispatch("done", Signal::new(), core).await
    }

    /// Does work that ends when its signal is cancelled.
    fn dispatch_until_cancelled(&self, signal: &Signal) -> impl Future<Output = Outcome> {
        let core = |_, signal: Signal| async move {
            signal.cancelled().await;
            Outcome::Done("cancelled")
        };
        self.seam.dispatch("", signal.clone(), core)
    }
}

#[tokio::test]
async fn wrappers_stand_around_the_work_outermost_first() {
    let stage = Stage::new();
    for name in ["a", "b"] {
        let trace = stage.trace.clone();
        stage.seam.on(&stage.scope, name, move |_, signal, inner| {
            let trace = trace.clone();
            async move {
                trace.note(name);
                let outcome = inner.run(signal).await;
                trace.note(format!("/{name}"));
                Ok(outcome)
            }
        });
    }
    let trace = stage.trace.clone();
    stage
        .seam
        .on_first(&stage.scope, "c", move |event, signal, inner| {
            trace.note("c");
            through(event, signal, inner)
        });
    assert!(matches!(stage.dispatch().await, Outcome::Done("done")));
    assert_eq!(stage.trace.take(), ["c", "a", "b", "core", "/b", "/a"]);
}

#[tokio::test]
async fn a_wrapper_may_answer_without_doing_the_work() {
    let stage = Stage::new();
    stage.seam.on(&stage.scope, "cached", |_, _, _| async {
        Ok(Outcome::Done("cached"))
    });
    assert!(matches!(stage.dispatch().await, Outcome::Done("cached")));
    assert!(stage.trace.take().is_empty());
}

#[tokio::test]
async fn a_wrapper_cannot_hold_back_the_callers_cancellation() {
    let stage = Stage::new();
    stage.seam.on(&stage.scope, "detaches", |_, _, inner| {
        inner.run(Signal::new()).map(Ok)
    });
    let signal = Signal::new();
    let mut dispatch = Box::pin(stage.dispatch_until_cancelled(&signal));
    assert!(futures_util::poll!(&mut dispatch).is_pending());
    signal.cancel();
    assert!(matches!(dispatch.await, Outcome::Done("cancelled")));
}

#[tokio::test]
async fn a_wrapper_can_cancel_what_it_wraps_but_not_what_is_around_it() {
    // By the signal it was given, or by one of its own.
    for own in [None, Some(Signal::new())] {
        let stage = Stage::new();
        let trace = stage.trace.clone();
        stage
            .seam
            .on(&stage.scope, "outer", move |_, signal: Signal, inner| {
                let trace = trace.clone();
                async move {
                    let outcome = inner.run(signal.clone()).await;
                    trace.note(format!("outer cancelled: {}", signal.is_cancelled()));
                    Ok(outcome)
                }
            });
        let now = Signal::new();
        let timer = now.clone();
        stage
            .seam
            .on(&stage.scope, "timeout", move |_, given: Signal, inner| {
                let (timer, signal) = (timer.clone(), own.clone().unwrap_or(given));
                async move {
                    let expire = async {
                        timer.cancelled().await;
                        signal.cancel();
                    };
                    Ok(
                        futures_util::future::join(inner.run(signal.clone()), expire)
                            .await
                            .0,
                    )
                }
            });
        let caller = Signal::new();
        let mut dispatch = Box::pin(stage.dispatch_until_cancelled(&caller));
        assert!(futures_util::poll!(&mut dispatch).is_pending());
        now.cancel();
        assert!(matches!(dispatch.await, Outcome::Done("cancelled")));
        assert!(!caller.is_cancelled());
        assert_eq!(stage.trace.take(), ["outer cancelled: false"]);
    }
}

#[tokio::test]
async fn an_old_cancellation_is_seen_by_the_work_from_its_start() {
    let stage = Stage::new();
    for wrappers in 0..3 {
        let core = |_, signal: Signal| async move {
            Outcome::Done(if signal.is_cancelled() {
                "cancelled before"
            } else {
                "not cancelled"
            })
        };
        let signal = Signal::new();
        signal.cancel();
        let outcome = stage.seam.dispatch("", signal, core).await;
        assert!(
            matches!(outcome, Outcome::Done("cancelled before")),
            "{wrappers} wrappers"
        );
        stage.seam.on(&stage.scope, "detaches", |_, _, inner| {
            inner.run(Signal::new()).map(Ok)
        });
    }
}

#[test]
fn dropping_a_dispatch_cancels_the_signal_of_what_it_started_and_is_recorded_once() {
    let stage = Stage::new();
    stage.seam.on(&stage.scope, "outer", through);
    let seen = Arc::new(Mutex::new(None));
    let slot = Arc::clone(&seen);
    let caller = Signal::new();
    let core = move |_, signal| {
        *slot.lock().unwrap() = Some(signal);
        pending()
    };
    assert!(
        stage
            .seam
            .dispatch("", caller.clone(), core)
            .now_or_never()
            .is_none()
    );
    assert!(
        seen.lock()
            .unwrap()
            .as_ref()
            .is_some_and(Signal::is_cancelled)
    );
    assert!(!caller.is_cancelled());
    assert_eq!(recorded(&stage.faults), ["core: dropped"]);
}

#[tokio::test]
async fn a_fault_becomes_the_outcome_and_sticks() {
    for broken in ["error", "panic"] {
        let stage = Stage::new();
        let trace = stage.trace.clone();
        stage
            .seam
            .on(&stage.scope, "swallow", move |_, signal, inner| {
                let trace = trace.clone();
                async move {
                    // It is told of an ordinary failed outcome ...
                    if let Outcome::Failed(fault) = inner.run(signal).await {
                        trace.note(short(&fault));
                    }
                    // ... and cannot talk it away.
                    Ok(Outcome::Done("all is well"))
                }
            });
        stage
            .seam
            .on(&stage.scope, "broken", move |_, _, _| async move {
                assert!(broken == "error", "oh");
                Err("oh".into())
            });
        let Outcome::Failed(fault) = stage.dispatch().await else {
            panic!("swallowed")
        };
        let expected = format!("broken: {broken} oh");
        assert_eq!(short(&fault), expected);
        assert_eq!(stage.trace.take(), [expected.as_str()]);
        assert_eq!(recorded(&stage.faults), [expected.as_str()]);
    }
}

#[tokio::test]
async fn a_panic_of_the_work_is_an_ordinary_outcome_that_a_wrapper_may_replace() {
    async fn broken(_: &'static str, _: Signal) -> Outcome {
        panic!("the tool broke")
    }
    let stage = Stage::new();
    let outcome = stage.seam.dispatch("", Signal::new(), broken).await;
    assert!(matches!(outcome, Outcome::Failed(_)));
    stage
        .seam
        .on(&stage.scope, "fallback", |_, signal, inner| async move {
            let Outcome::Failed(_) = inner.run(signal).await else {
                return Err("no failure".into());
            };
            Ok(Outcome::Done("fallback"))
        });
    let outcome = stage.seam.dispatch("", Signal::new(), broken).await;
    assert!(matches!(outcome, Outcome::Done("fallback")));
    let expected = ["core: panic the tool broke"; 2];
    assert_eq!(recorded(&stage.faults), expected);
}

#[tokio::test]
async fn the_work_cannot_be_done_after_its_dispatch_has_ended() {
    let stage = Stage::new();
    let kept = Arc::new(Mutex::new(None));
    let slot = Arc::clone(&kept);
    stage.seam.on(&stage.scope, "keeps", move |_, _, inner| {
        *slot.lock().unwrap() = Some(inner);
        async { Ok(Outcome::Done("without it")) }
    });
    assert!(matches!(
        stage.dispatch().await,
        Outcome::Done("without it")
    ));
    let inner = kept.lock().unwrap().take().unwrap();
    let Outcome::Failed(fault) = inner.run(Signal::new()).await else {
        panic!("it ran")
    };
    assert_eq!(short(&fault), "keeps: expired");
    assert!(stage.trace.take().is_empty());
}

#[tokio::test]
async fn an_agents_wrappers_are_inside_the_processs() {
    let stage = Stage::new();
    let agent = stage.seam.child();
    agent.on(&stage.scope, "agent", through);
    stage.seam.on(&stage.scope, "app", through);
    let names: Vec<_> = agent
        .describe()
        .iter()
        .map(|it| it.name.to_string())
        .collect();
    assert_eq!(names, ["app", "agent"]);
    assert!(!stage.seam.is_empty() && stage.seam.describe().len() == 1);
}

/// A seam whose work fails until it was done three times.
struct Job;
impl seamline_seams::Wrap for Job {
    const NAME: &'static str = "test.job";
    type Event = ();
    type Outcome = Result<u32, seamline_seams::Fault>;
}
impl seamline_seams::Repeats for Job {}

fn counted(trace: Trace) -> impl Fn((), Signal) -> std::future::Ready<Result<u32, Fault>> {
    let runs = AtomicU32::new(0);
    move |(), _| {
        trace.note("core");
        std::future::ready(Ok(runs.fetch_add(1, Ordering::Relaxed) + 1))
    }
}

/// Repeats until the third time or a fault.
async fn thrice((): (), signal: Signal, inner: Inner<Job>) -> Result<Result<u32, Fault>, BoxError> {
    loop {
        let outcome = inner.again().run(signal.clone()).await;
        if outcome.as_ref().map_or(true, |&run| run == 3) {
            return Ok(outcome);
        }
    }
}

#[tokio::test]
async fn where_a_seam_repeats_those_further_in_are_called_again() {
    let (trace, faults) = (Trace::default(), FaultLog::new());
    let (scope, seam) = (Scope::root("app"), Around::<Job>::new(&faults));
    seam.on(&scope, "again", thrice);
    let inner = trace.clone();
    seam.on(&scope, "inner", move |(), signal, work| {
        inner.note("inner");
        async { Ok(work.run(signal).await) }
    });
    let outcome = seam
        .dispatch((), Signal::new(), counted(trace.clone()))
        .await;
    assert_eq!(outcome.unwrap(), 3);
    assert_eq!(trace.take(), ["inner", "core"].repeat(3));
    assert!(recorded(&faults).is_empty());
}

#[tokio::test]
async fn after_a_fault_nothing_is_done_again() {
    let (trace, faults) = (Trace::default(), FaultLog::new());
    let (scope, seam) = (Scope::root("app"), Around::<Job>::new(&faults));
    let told = trace.clone();
    seam.on(&scope, "stubborn", move |(), signal: Signal, inner| {
        let told = told.clone();
        async move {
            for _ in 0..3 {
                let fault = inner.again().run(signal.clone()).await.unwrap_err();
                told.note(short(&fault));
            }
            Ok(Ok(7))
        }
    });
    let called = trace.clone();
    seam.on(&scope, "broken", move |(), _, _| {
        called.note("called");
        async { Err("oh".into()) }
    });
    let fault = seam
        .dispatch((), Signal::new(), counted(trace.clone()))
        .await
        .unwrap_err();
    let oh = "broken: error oh";
    assert_eq!(short(&fault), oh);
    assert_eq!(trace.take(), ["called", oh, oh, oh]);
    assert_eq!(recorded(&faults), [oh]);
}

#[test]
fn an_empty_seam_allocates_nothing() {
    let (stage, signal) = (Stage::new(), Signal::new());
    let counted = allocation_counter::measure(|| {
        let core = |event, _| async move { Outcome::Done(event) };
        assert!(
            stage
                .seam
                .dispatch("", signal.clone(), core)
                .now_or_never()
                .is_some()
        );
    });
    assert_eq!(counted.count_total, 0);
}

#[tokio::test]
async fn a_plain_result_is_outcome_enough() {
    struct Plain;
    impl seamline_seams::Wrap for Plain {
        const NAME: &'static str = "test.plain";
        type Event = ();
        type Outcome = Result<u8, seamline_seams::Fault>;
    }
    let (scope, seam) = (Scope::root("app"), Around::<Plain>::new(&FaultLog::new()));
    let core = |(), _| async { Ok(7) };
    assert_eq!(seam.dispatch((), Signal::new(), core).await.unwrap(), 7);
    seam.on(&scope, "broken", |(), _, _| async { Err("oh".into()) });
    let fault = seam.dispatch((), Signal::new(), core).await.unwrap_err();
    assert_eq!(short(&fault), "broken: error oh");
}
