//! Disposal: newest first, children first, waited for by everybody, and final.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use seamline_seams::{Scope, Waterfall};
use tokio::sync::Notify;

use crate::support::{Pre, Stage, Trace, Verdict, dispatch, eventually, noting, settle, short};

/// Work that waits for its scope's signal and then notes that it ended.
fn polite(scope: &Scope, trace: &Trace, name: &'static str) {
    let (signal, trace) = (scope.signal().clone(), trace.clone());
    scope.spawn(async move {
        signal.cancelled().await;
        settle().await;
        trace.note(name);
    });
}

#[tokio::test]
async fn children_go_first_and_the_newest_of_them_before_the_older() {
    let (root, trace) = (Scope::root("root"), Trace::default());
    polite(&root, &trace, "root");
    let older = root.child("older");
    polite(&older, &trace, "older");
    polite(&root.child("newer"), &trace, "newer");
    polite(&older.child("nested"), &trace, "nested");
    root.dispose().await;
    assert_eq!(trace.take(), ["newer", "nested", "older", "root"]);
}

#[tokio::test]
async fn disposing_a_child_leaves_its_parent_and_siblings_alone() {
    let (root, trace) = (Scope::root("root"), Trace::default());
    let (one, other) = (root.child("one"), root.child("other"));
    polite(&one, &trace, "one");
    polite(&other, &trace, "other");
    one.dispose().await;
    assert_eq!(trace.take(), ["one"]);
    assert!(one.is_disposed() && !other.is_disposed() && !root.is_disposed());
    assert_eq!(root.running(), ["root/other"]);
    root.dispose().await;
    assert_eq!(
        trace.take(),
        ["other"],
        "what is gone is not disposed again"
    );
}

#[tokio::test]
async fn disposing_twice_is_disposing_once() {
    let (root, trace) = (Scope::root("root"), Trace::default());
    polite(&root, &trace, "work");
    root.dispose().await;
    root.dispose().await;
    assert_eq!(trace.take(), ["work"]);
}

#[tokio::test]
async fn all_who_dispose_at_once_wait_for_the_end() {
    let stage = Stage::new();
    let gate = Arc::new(Notify::new());
    let wait = Arc::clone(&gate);
    stage.seam.on(&stage.scope, "slow", move |_, _| {
        let gate = Arc::clone(&wait);
        async move {
            gate.notified().await;
            Ok(Verdict::Deny(0).into())
        }
    });
    let mut call = Box::pin(stage.dispatch());
    assert!(futures_util::poll!(&mut call).is_pending());
    assert_eq!(stage.scope.running(), ["slow"]);
    let scopes = [
        stage.scope.clone(),
        stage.scope.clone(),
        stage.scope.clone(),
    ];
    let mut disposers = scopes.each_ref().map(|scope| Box::pin(scope.dispose()));
    for disposer in &mut disposers {
        assert!(futures_util::poll!(disposer).is_pending());
    }
    gate.notify_one();
    // The call in flight ends as it would have.
    assert_eq!(call.await.unwrap().decision, Verdict::Deny(0));
    for disposer in &mut disposers {
        assert!(futures_util::poll!(disposer).is_ready());
    }
    assert!(stage.faults().is_empty());
}

#[tokio::test]
async fn a_disposer_that_is_dropped_leaves_the_rest_to_the_next() {
    let (root, trace) = (Scope::root("root"), Trace::default());
    polite(&root, &trace, "root");
    polite(&root.child("child"), &trace, "child");
    assert!(root.dispose().now_or_never().is_none());
    root.dispose().await;
    assert_eq!(trace.take(), ["child", "root"]);
}

#[tokio::test]
async fn from_the_first_moment_of_dispose_nothing_new_is_called() {
    let stage = Stage::new();
    let plugin = stage.scope.child("plugin");
    let trace = stage.trace.clone();
    stage.seam.on(&plugin, "plugin", move |_, next| {
        noting(trace.clone(), "plugin", next)
    });
    // Work that does not end keeps dispose waiting; the listeners are shut out all the same.
    plugin.spawn(pending());
    plugin.child("child").spawn(pending());
    settle().await;
    let mut dispose = Box::pin(stage.scope.dispose());
    assert!(futures_util::poll!(&mut dispose).is_pending());
    assert!(stage.dispatch().await.is_ok());
    assert_eq!(stage.trace.take(), ["core"]);
}

#[tokio::test]
async fn what_is_registered_on_a_disposed_scope_is_refused_and_recorded() {
    let stage = Stage::new();
    stage.scope.dispose().await;
    let late = stage.scope.child("late");
    assert!(late.is_disposed() && late.signal().is_cancelled());
    let registration = stage.seam.on(&late, "listener", |_, next| {
        noting(Trace::default(), "", next)
    });
    assert!(!registration.is_active() && stage.seam.is_empty());
    registration.remove();
    late.spawn(async { unreachable!("refused") });
    settle().await;
    assert_eq!(stage.faults(), ["listener: refused", "app/late: refused"]);
}

#[test]
fn work_spawned_outside_a_runtime_is_refused_and_recorded() {
    let stage = Stage::new();
    stage.scope.spawn(pending());
    assert_eq!(stage.faults(), ["app: refused"]);
}

#[tokio::test]
async fn a_panic_of_spawned_work_is_recorded_and_ends_only_that_work() {
    let stage = Stage::new();
    stage.scope.spawn(async { panic!("oh") });
    polite(&stage.scope, &stage.trace, "other");
    eventually("the panic ends the work", || {
        stage.scope.running().len() == 1
    })
    .await;
    assert_eq!(stage.faults(), ["app: panic oh"]);
    stage.scope.dispose().await;
    assert_eq!(stage.trace.take(), ["other"]);
}

#[tokio::test]
async fn a_panic_that_ends_the_last_work_is_recorded_before_dispose_returns() {
    let stage = Stage::new();
    let signal = stage.scope.signal().clone();
    stage.scope.spawn(async move {
        signal.cancelled().await;
        panic!("at the end")
    });
    settle().await;
    stage.scope.dispose().await;
    assert_eq!(stage.faults(), ["app: panic at the end"]);
}

#[tokio::test(start_paused = true)]
async fn work_that_ignores_its_signal_is_dropped_after_the_grace_and_recorded() {
    let stage = Stage::new();
    stage.scope.spawn(pending());
    stage.scope.dispose().await;
    assert_eq!(stage.faults(), ["app: overdue"]);
    assert!(stage.scope.running().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_outlasts_the_grace_is_dropped_and_its_dispatch_faults() {
    let stage = Stage::new();
    let seam = stage.seam.clone();
    stage.seam.on(&stage.scope, "hangs", |_, _| pending());
    let call = tokio::spawn(async move { dispatch(&seam, &Trace::default()).await });
    eventually("the call is inside", || !stage.scope.running().is_empty()).await;
    stage.scope.dispose_within(Duration::from_secs(1)).await;
    let fault = call.await.unwrap().unwrap_err();
    assert_eq!(short(&fault), "hangs: overdue");
    assert_eq!(stage.faults(), ["hangs: overdue"]);
}

#[tokio::test]
async fn a_listener_may_dispose_its_own_scope() {
    let stage = Stage::new();
    let plugin = stage.scope.child("plugin");
    let (own, above) = (plugin.clone(), stage.scope.clone());
    stage.seam.on(&plugin, "leaves", move |_, next| {
        let (own, above) = (own.clone(), above.clone());
        async move {
            // It cannot wait for the call it is part of, so it waits for everything else.
            own.dispose().await;
            above.dispose().await;
            Ok(next.run().await?)
        }
    });
    polite(&plugin, &stage.trace, "work");
    assert_eq!(
        stage.dispatch().now_or_never().map(|it| it.is_ok()),
        None,
        "it waits for the work"
    );
    // That dispatch was dropped, and with it the call: now the rest can end.
    stage.scope.dispose().await;
    assert_eq!(stage.trace.take(), ["work"]);
    assert_eq!(stage.faults(), ["leaves: dropped"]);
}

#[tokio::test]
async fn a_listener_that_disposes_its_own_scope_goes_on_and_others_wait_for_it() {
    let stage = Stage::new();
    let plugin = stage.scope.child("plugin");
    let (disposed, gate) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (own, tell, wait) = (plugin.clone(), Arc::clone(&disposed), Arc::clone(&gate));
    stage.seam.on(&plugin, "leaves", move |_, next| {
        let (own, tell, wait) = (own.clone(), Arc::clone(&tell), Arc::clone(&wait));
        async move {
            own.dispose().await;
            tell.notify_one();
            wait.notified().await;
            Ok(next.run().await?)
        }
    });
    let mut call = Box::pin(stage.dispatch());
    assert!(futures_util::poll!(&mut call).is_pending());
    disposed.notified().await;
    assert_eq!(stage.scope.running(), ["leaves"]);
    let mut dispose = Box::pin(stage.scope.dispose());
    assert!(
        futures_util::poll!(&mut dispose).is_pending(),
        "the call still runs"
    );
    gate.notify_one();
    assert!(call.await.is_ok());
    dispose.await;
    assert!(stage.faults().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_waits_for_its_own_disposal_on_another_task_loses_after_the_grace() {
    let stage = Stage::new();
    let own = stage.scope.clone();
    stage.seam.on(&stage.scope, "knot", move |_, next| {
        let own = own.clone();
        async move {
            tokio::spawn(async move { own.dispose().await }).await?;
            Ok(next.run().await?)
        }
    });
    // Nothing can tell that the other task works for the listener. It ends nevertheless.
    assert_eq!(short(&stage.dispatch().await.unwrap_err()), "knot: overdue");
    stage.scope.dispose().await;
}

#[tokio::test]
async fn spawned_work_may_dispose_its_own_scope() {
    let stage = Stage::new();
    let (own, trace) = (stage.scope.clone(), stage.trace.clone());
    stage.scope.spawn(async move {
        own.dispose().await;
        trace.note("went on");
    });
    eventually("the work ends", || stage.scope.is_disposed()).await;
    stage.scope.dispose().await;
    assert_eq!(stage.trace.take(), ["went on"]);
    assert!(stage.faults().is_empty());
}

#[tokio::test]
async fn the_destructor_of_a_call_runs_before_dispose_returns() {
    struct Noticed(Trace);
    impl Drop for Noticed {
        fn drop(&mut self) {
            self.0.note("dropped");
        }
    }
    let stage = Stage::new();
    let trace = stage.trace.clone();
    let seam: Waterfall<Pre> = stage.seam.clone();
    seam.on(&stage.scope, "holds", move |_, next| {
        let noticed = Noticed(trace.clone());
        async move {
            let reply = next.run().await?;
            settle().await;
            drop(noticed);
            Ok(reply)
        }
    });
    let call = tokio::spawn(async move { dispatch(&seam, &Trace::default()).await.is_ok() });
    eventually("the call is inside", || !stage.scope.running().is_empty()).await;
    stage.scope.dispose().await;
    assert_eq!(stage.trace.take(), ["dropped"]);
    assert!(call.await.unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_dispose_returns_nothing_of_the_scope_runs_while_others_keep_dispatching() {
    for _ in 0..50 {
        let stage = Stage::new();
        let gone = Arc::new(AtomicBool::new(false));
        let late = Arc::new(AtomicBool::new(false));
        let (is_gone, is_late) = (Arc::clone(&gone), Arc::clone(&late));
        stage.seam.on(&stage.scope, "watched", move |_, next| {
            let (gone, late) = (Arc::clone(&is_gone), Arc::clone(&is_late));
            async move {
                tokio::task::yield_now().await;
                let reply = next.run().await?;
                late.fetch_or(gone.load(Ordering::SeqCst), Ordering::SeqCst);
                Ok(reply)
            }
        });
        let callers: Vec<_> = (0..4)
            .map(|_| {
                let (seam, gone) = (stage.seam.clone(), Arc::clone(&gone));
                tokio::spawn(async move {
                    while !gone.load(Ordering::SeqCst) {
                        assert!(dispatch(&seam, &Trace::default()).await.is_ok());
                        // Once the listener is gone a dispatch suspends nowhere.
                        tokio::task::yield_now().await;
                    }
                })
            })
            .collect();
        tokio::task::yield_now().await;
        stage.scope.dispose().await;
        gone.store(true, Ordering::SeqCst);
        for caller in callers {
            caller.await.unwrap();
        }
        assert!(!late.load(Ordering::SeqCst));
    }
}
