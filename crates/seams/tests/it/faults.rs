//! Errors, panics and dropped dispatches: contained where they happen, recorded once, sticky.

use std::error::Error as _;
use std::future::{Ready, pending};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use futures_util::FutureExt as _;
use seamline_seams::{BoxError, Fault, FaultKind, FaultLog, Next, Reply, Waterfall};

use crate::support::{Pre, Stage, Verdict, recorded, short, yield_once};

type Answer = Result<Reply<Verdict>, BoxError>;

async fn delegate(_: String, next: Next<Pre>) -> Answer {
    Ok(next.run().await?)
}

async fn swallow(_: String, next: Next<Pre>) -> Answer {
    let _ = next.run().await;
    Ok(Verdict::Allow(0).into())
}

#[test]
fn panics_unwind_or_containment_would_be_impossible() {
    const { assert!(cfg!(panic = "unwind")) };
    // And in fact, not only by configuration:
    assert!(std::panic::catch_unwind(|| panic!("contained")).is_err());
}

#[tokio::test]
async fn an_error_is_recorded_once_however_far_it_is_passed_on() {
    let stage = Stage::new();
    stage.seam.on(&stage.scope, "a", delegate);
    stage.seam.on(&stage.scope, "b", delegate);
    stage
        .seam
        .on(&stage.scope, "c", |_, _| async { Err("broken".into()) });
    let fault = stage.dispatch().await.unwrap_err();
    assert_eq!(short(&fault), "c: error broken");
    assert_eq!(stage.faults(), ["c: error broken"]);
}

#[tokio::test]
async fn an_error_that_is_swallowed_still_is_the_answer() {
    let stage = Stage::new();
    stage.seam.on(&stage.scope, "swallow", swallow);
    stage.seam.on(&stage.scope, "broken", |_, _| async {
        Err("broken".into())
    });
    assert_eq!(
        short(&stage.dispatch().await.unwrap_err()),
        "broken: error broken"
    );
    assert_eq!(stage.faults(), ["broken: error broken"]);
}

#[tokio::test]
async fn a_panic_that_is_swallowed_still_is_the_answer() {
    let stage = Stage::new();
    stage.seam.on(&stage.scope, "swallow", swallow);
    stage.seam.on(&stage.scope, "broken", |_, _| async {
        panic!("broken {}", 1)
    });
    assert_eq!(
        short(&stage.dispatch().await.unwrap_err()),
        "broken: panic broken 1"
    );
    assert_eq!(stage.faults(), ["broken: panic broken 1"]);
}

#[tokio::test]
async fn a_fault_on_another_task_sticks_too() {
    let stage = Stage::new();
    stage
        .seam
        .on(&stage.scope, "spawns", |_, next: Next<Pre>| async {
            let _ = tokio::spawn(next.run()).await?;
            Ok(Verdict::Allow(0).into())
        });
    stage.seam.on(&stage.scope, "broken", |_, _| async {
        Err("broken".into())
    });
    assert_eq!(
        short(&stage.dispatch().await.unwrap_err()),
        "broken: error broken"
    );
}

#[tokio::test]
async fn a_second_fault_is_recorded_but_the_first_sticks() {
    let stage = Stage::new();
    stage
        .seam
        .on(&stage.scope, "b", |_, next: Next<Pre>| async {
            let _ = next.run().await;
            Err("second".into())
        });
    stage
        .seam
        .on(&stage.scope, "a", |_, _| async { Err("first".into()) });
    assert_eq!(
        short(&stage.dispatch().await.unwrap_err()),
        "a: error first"
    );
    assert_eq!(stage.faults(), ["a: error first", "b: error second"]);
}

#[tokio::test]
async fn a_fault_of_another_dispatch_is_this_listeners_own_failure() {
    let stage = Stage::new();
    let other = Waterfall::<Pre>::new(&stage.faults);
    other.on(&stage.scope, "inner", |_, _| async { Err("broken".into()) });
    stage.seam.on(&stage.scope, "asks", move |event, next| {
        let other = other.clone();
        async move {
            let inner = other
                .dispatch(event, |_| async { Verdict::Default })
                .await?;
            let (_, riders) = inner.riders();
            Ok(next.run().await?.with_riders_before(riders))
        }
    });
    let fault = stage.dispatch().await.unwrap_err();
    assert_eq!(
        short(&fault),
        "asks: error test.pre: `inner` failed: broken"
    );
    assert_eq!(stage.faults().len(), 2);
}

#[derive(Debug, PartialEq)]
struct Coded(u16);

impl std::fmt::Display for Coded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "code {}", self.0)
    }
}

impl std::error::Error for Coded {}

#[tokio::test]
async fn the_error_itself_stays_reachable() {
    let stage = Stage::new();
    stage.seam.on(&stage.scope, "coded", |_, _| async {
        Err(Coded(77).into())
    });
    let fault = stage.dispatch().await.unwrap_err();
    assert_eq!(fault.source().unwrap().downcast_ref(), Some(&Coded(77)));
    assert_eq!(fault.kind, FaultKind::Error("code 77".to_owned()));
    assert_eq!(fault.to_string(), "test.pre: `coded` failed: code 77");
}

#[tokio::test]
async fn a_panic_before_there_is_a_future_is_contained() {
    let stage = Stage::new();
    stage
        .seam
        .on(&stage.scope, "broken", |_, _| -> Ready<Answer> {
            panic!("at once")
        });
    assert_eq!(
        short(&stage.dispatch().await.unwrap_err()),
        "broken: panic at once"
    );
}

/// Answers, or not, and panics when it is dropped.
struct BadDrop(bool);

impl Future for BadDrop {
    type Output = Answer;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Answer> {
        if self.0 {
            Poll::Ready(Ok(Verdict::Allow(0).into()))
        } else {
            Poll::Pending
        }
    }
}

impl Drop for BadDrop {
    fn drop(&mut self) {
        panic!("in drop");
    }
}

#[tokio::test]
async fn a_panic_in_a_listeners_destructor_is_contained() {
    let stage = Stage::new();
    stage.seam.on(&stage.scope, "bad", |_, _| BadDrop(true));
    assert_eq!(
        short(&stage.dispatch().await.unwrap_err()),
        "bad: panic in drop"
    );
    assert_eq!(stage.faults(), ["bad: panic in drop"]);
}

#[test]
fn a_panic_in_the_destructor_of_a_dropped_dispatch_is_contained() {
    let stage = Stage::new();
    stage.seam.on(&stage.scope, "bad", |_, _| BadDrop(false));
    assert!(stage.dispatch().now_or_never().is_none());
    assert_eq!(stage.faults(), ["bad: dropped"]);
}

#[tokio::test]
async fn a_panic_without_a_message_is_contained() {
    let stage = Stage::new();
    stage.seam.on(&stage.scope, "odd", |_, _| async {
        std::panic::panic_any(7_u8)
    });
    let fault = stage.dispatch().await.unwrap_err();
    assert_eq!(short(&fault), "odd: panic a panic without a message");
}

#[tokio::test]
async fn a_panic_of_the_core_is_a_fault_with_and_without_listeners() {
    async fn core(_: String) -> Verdict {
        panic!("core broke")
    }
    let stage = Stage::new();
    for _ in 0..2 {
        let answer = stage.seam.dispatch(String::new(), core).await;
        assert_eq!(short(&answer.unwrap_err()), "core: panic core broke");
        assert_eq!(stage.faults(), ["core: panic core broke"]);
        stage.seam.on(&stage.scope, "swallow", swallow);
    }
}

#[test]
fn a_dropped_dispatch_is_recorded_once_under_the_innermost_that_ran() {
    let stage = Stage::new();
    stage.seam.on(&stage.scope, "outer", delegate);
    stage.seam.on(&stage.scope, "inner", |_, _| pending());
    assert!(stage.dispatch().now_or_never().is_none());
    assert_eq!(stage.faults(), ["inner: dropped"]);
}

#[test]
fn a_dispatch_dropped_in_its_core_is_recorded_as_such() {
    let stage = Stage::new();
    stage.seam.on(&stage.scope, "outer", delegate);
    let dispatch = stage.seam.dispatch(String::new(), |_| pending::<Verdict>());
    assert!(dispatch.now_or_never().is_none());
    assert_eq!(stage.faults(), ["core: dropped"]);
}

#[test]
fn a_dropped_dispatch_in_which_no_listener_ran_records_nothing() {
    let stage = Stage::new();
    // No listener at all: only the owner's own core was running.
    assert!(
        stage
            .seam
            .dispatch(String::new(), |_| pending::<Verdict>())
            .now_or_never()
            .is_none()
    );
    // Never polled: nothing was running.
    stage.seam.on(&stage.scope, "outer", delegate);
    drop(stage.dispatch());
    assert!(stage.faults().is_empty());
}

#[test]
fn a_listener_may_abandon_the_rest_which_is_recorded_and_does_not_stick() {
    let stage = Stage::new();
    stage
        .seam
        .on(&stage.scope, "hasty", |_, next: Next<Pre>| async {
            assert!(next.run().now_or_never().is_none());
            Ok(Verdict::Deny(0).into())
        });
    stage.seam.on(&stage.scope, "slow", |_, _| pending());
    let reply = stage.dispatch().now_or_never().unwrap().unwrap();
    assert_eq!(reply.decision, Verdict::Deny(0));
    assert_eq!(stage.faults(), ["slow: dropped"]);
}

#[test]
fn a_dispatch_dropped_after_a_listener_abandoned_the_rest_is_another_drop() {
    let stage = Stage::new();
    stage
        .seam
        .on(&stage.scope, "hasty", |_, next: Next<Pre>| async {
            assert!(next.run().now_or_never().is_none());
            yield_once().await;
            pending().await
        });
    stage.seam.on(&stage.scope, "slow", |_, _| pending());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut dispatch = Box::pin(stage.dispatch());
        assert!(futures_util::poll!(&mut dispatch).is_pending());
        assert!(futures_util::poll!(&mut dispatch).is_pending());
    });
    assert_eq!(stage.faults(), ["slow: dropped", "hasty: dropped"]);
}

#[tokio::test]
async fn next_cannot_be_run_after_its_dispatch_has_ended() {
    let stage = Stage::new();
    let kept = Arc::new(Mutex::new(None));
    let slot = Arc::clone(&kept);
    stage.seam.on(&stage.scope, "keeps", move |_, next| {
        *slot.lock().unwrap() = Some(next);
        async { Ok(Verdict::Deny(0).into()) }
    });
    assert!(stage.dispatch().await.is_ok());
    let next = kept.lock().unwrap().take().unwrap();
    assert_eq!(short(&next.run().await.unwrap_err()), "keeps: expired");
    assert!(stage.trace.take().is_empty(), "the core must not run");
    assert_eq!(stage.faults(), ["keeps: expired"]);
}

#[test]
fn the_log_keeps_the_first_faults_counts_the_rest_and_tells_subscribers_of_all() {
    let log = FaultLog::new();
    let seen = Arc::new(Mutex::new(0));
    let count = Arc::clone(&seen);
    log.subscribe(|_| panic!("a subscriber may be broken, too"));
    log.subscribe(move |_| *count.lock().unwrap() += 1);
    for at in 0..FaultLog::KEPT + 3 {
        log.record(Fault::new(
            "test",
            at.to_string().into(),
            FaultKind::Dropped,
        ));
    }
    assert_eq!(*seen.lock().unwrap(), FaultLog::KEPT + 3);
    assert_eq!(log.missed(), 3);
    let kept = recorded(&log);
    assert_eq!(
        (kept.len(), kept[0].as_str()),
        (FaultLog::KEPT, "0: dropped")
    );
    log.record(Fault::new("test", "again".into(), FaultKind::Dropped));
    assert_eq!(recorded(&log), ["again: dropped"]);
}

#[test]
fn every_kind_of_fault_says_who_where_and_what() {
    let text = |kind| Fault::new("tools.pre", "audit".into(), kind).to_string();
    let kinds = [
        (
            FaultKind::Error("no".into()),
            "tools.pre: `audit` failed: no",
        ),
        (
            FaultKind::Panic("no".into()),
            "tools.pre: `audit` panicked: no",
        ),
        (
            FaultKind::Dropped,
            "tools.pre: `audit` was dropped while it ran",
        ),
        (
            FaultKind::Overdue,
            "tools.pre: `audit` did not stop when cancelled and was dropped",
        ),
        (
            FaultKind::Expired,
            "tools.pre: `audit` went on downstream after the dispatch had ended",
        ),
        (
            FaultKind::Refused("too late".into()),
            "tools.pre: `audit` was refused: too late",
        ),
    ];
    for (kind, expected) in kinds {
        assert_eq!(text(kind), expected);
    }
}
