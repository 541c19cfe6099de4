//! Rules of the contributor container.

use std::future::{pending, ready};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt as _;
use seamline_seams::{Contributors, FaultLog, Scope};
use tokio::sync::oneshot;

use crate::support::{Trace, eventually, recorded, yield_once};

struct Stage {
    faults: FaultLog,
    scope: Scope,
    seam: Contributors<&'static str, String>,
}

const LONG: Duration = Duration::from_secs(3600);

impl Stage {
    fn new() -> Self {
        let faults = FaultLog::new();
        let scope = Scope::root_with("app", &faults);
        Self {
            scope,
            seam: Contributors::new("test.start", &faults),
            faults,
        }
    }

    /// A contributor that contributes what it is sent.
    fn on_sent(&self, name: &'static str) -> oneshot::Sender<&'static str> {
        let (sender, receiver) = oneshot::channel::<&str>();
        let receiver = Mutex::new(Some(receiver));
        self.seam.on(&self.scope, name, move |_| {
            let receiver = receiver.lock().unwrap().take().unwrap();
            receiver.map(|text| text.unwrap().to_owned())
        });
        sender
    }
}

#[tokio::test]
async fn all_run_at_once_and_results_come_in_registration_order() {
    let stage = Stage::new();
    let agent = stage.seam.child();
    let (sender, receiver) = oneshot::channel();
    let (sender, receiver) = (Mutex::new(Some(sender)), Mutex::new(Some(receiver)));
    agent.on(&stage.scope, "agent", move |_| {
        sender
            .lock()
            .unwrap()
            .take()
            .unwrap()
            .send("woken")
            .unwrap();
        ready("agent".to_owned())
    });
    // Registered outside and finished last: it waits for the one further in.
    stage.seam.on(&stage.scope, "app", move |event| {
        let receiver = receiver.lock().unwrap().take().unwrap();
        receiver.map(move |text| format!("{event} {}", text.unwrap()))
    });
    let collected = agent.collect("start", LONG).await;
    let expected = [
        ("app".into(), "start woken".into()),
        ("agent".into(), "agent".into()),
    ];
    assert_eq!(collected.ready, expected);
    assert!(collected.late.is_empty());
}

#[tokio::test]
async fn one_that_panics_contributes_nothing() {
    let stage = Stage::new();
    stage
        .seam
        .on(&stage.scope, "broken", |_| async { panic!("oh") });
    stage
        .seam
        .on(&stage.scope, "well", |_| ready("well".to_owned()));
    let collected = stage.seam.collect("start", LONG).await;
    assert_eq!(collected.ready, [("well".into(), "well".into())]);
    assert!(collected.late.is_empty());
    assert_eq!(recorded(&stage.faults), ["broken: panic oh"]);
}

#[tokio::test(start_paused = true)]
async fn those_who_miss_the_deadline_can_be_awaited_one_by_one() {
    let stage = Stage::new();
    let first = stage.on_sent("first");
    stage
        .seam
        .on(&stage.scope, "quick", |_| ready("quick".to_owned()));
    let second = stage.on_sent("second");
    stage.seam.on(&stage.scope, "broken", |_| async {
        tokio::time::sleep(2 * LONG).await;
        panic!("oh")
    });
    let mut collected = stage.seam.collect("start", LONG).await;
    assert_eq!(collected.ready, [("quick".into(), "quick".into())]);
    assert_eq!(collected.late.names(), ["first", "second", "broken"]);
    second.send("2").unwrap();
    assert_eq!(
        collected.late.next().await,
        Some(("second".into(), "2".to_owned()))
    );
    first.send("1").unwrap();
    assert_eq!(
        collected.late.next().await,
        Some(("first".into(), "1".to_owned()))
    );
    assert_eq!(collected.late.next().await, None);
    assert!(collected.late.is_empty());
    assert_eq!(recorded(&stage.faults), ["broken: panic oh"]);
}

#[tokio::test(start_paused = true)]
async fn the_late_keep_running_without_being_awaited() {
    let stage = Stage::new();
    let trace = Trace::default();
    let noted = trace.clone();
    stage.seam.on(&stage.scope, "late", move |_| {
        let trace = noted.clone();
        async move {
            tokio::time::sleep(2 * LONG).await;
            trace.note("done");
            "late".to_owned()
        }
    });
    let collected = stage.seam.collect("start", LONG).await;
    let seen = Mutex::new(Vec::new());
    // Time only moves on when everything waits.
    tokio::time::sleep(2 * LONG).await;
    eventually("the late contributor finishes", || {
        seen.lock().unwrap().extend(trace.take());
        seen.lock().unwrap().len() == 1
    })
    .await;
    // It finished and was not fetched: nothing was cut off.
    drop(collected);
    assert!(recorded(&stage.faults).is_empty());
}

/// Says when it is dropped.
struct Noticed(Trace);

impl Drop for Noticed {
    fn drop(&mut self) {
        self.0.note("dropped");
    }
}

#[tokio::test(start_paused = true)]
async fn dropping_late_cancels_which_is_recorded_once() {
    let stage = Stage::new();
    let trace = Trace::default();
    let noted = trace.clone();
    stage.seam.on(&stage.scope, "a", move |_| {
        let noticed = Noticed(noted.clone());
        async move {
            let _noticed = noticed;
            pending().await
        }
    });
    stage.seam.on(&stage.scope, "b", |_| pending());
    let collected = stage.seam.collect("start", LONG).await;
    assert!(collected.ready.is_empty() && trace.take().is_empty());
    drop(collected);
    let dropped = Mutex::new(Vec::new());
    eventually("the contributor is dropped", || {
        dropped.lock().unwrap().extend(trace.take());
        !dropped.lock().unwrap().is_empty()
    })
    .await;
    assert_eq!(recorded(&stage.faults), ["a, b: dropped"]);
}

#[tokio::test]
async fn with_no_time_at_all_everybody_still_gets_one_turn() {
    let stage = Stage::new();
    stage.seam.on(&stage.scope, "a", |_| ready("a".to_owned()));
    stage.seam.on(&stage.scope, "slow", |_| async {
        yield_once().await;
        pending().await
    });
    stage.seam.on(&stage.scope, "b", |_| ready("b".to_owned()));
    let collected = stage.seam.collect("start", Duration::ZERO).await;
    let names: Vec<_> = collected
        .ready
        .iter()
        .map(|(name, _)| name.to_string())
        .collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(collected.late.names(), ["slow"]);
}

#[test]
fn a_dropped_collection_is_recorded_once() {
    let stage = Stage::new();
    stage.seam.on(&stage.scope, "a", |_| pending());
    stage.seam.on(&stage.scope, "b", |_| pending());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let _inside = runtime.enter();
    assert!(stage.seam.collect("start", LONG).now_or_never().is_none());
    assert_eq!(recorded(&stage.faults), ["a, b: dropped"]);
}

#[tokio::test(start_paused = true)]
async fn dispose_ends_the_late_after_its_grace() {
    let stage = Stage::new();
    let plugin = stage.scope.child("plugin");
    stage.seam.on(&plugin, "deaf", |_| pending());
    let mut collected = stage.seam.collect("start", LONG).await;
    let late = Arc::new(Mutex::new(None));
    let slot = Arc::clone(&late);
    let waiting = tokio::spawn(async move {
        *slot.lock().unwrap() = Some(collected.late.next().await);
    });
    plugin.dispose().await;
    waiting.await.unwrap();
    assert_eq!(*late.lock().unwrap(), Some(None));
    assert_eq!(recorded(&stage.faults), ["deaf: overdue"]);
}
