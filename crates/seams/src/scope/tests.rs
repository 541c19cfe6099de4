//! The entry check under stress, with the window between the two looks held open.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use futures_util::FutureExt as _;

use crate::{FaultKind, FaultLog, Observers, Policy, Scope, Waterfall};

thread_local! {
    static WINDOW: RefCell<Option<Box<dyn Fn()>>> = const { RefCell::new(None) };
    static ONE_LOOK: Cell<bool> = const { Cell::new(false) };
}

/// Called by [`super::Gate`] after the first look and before it takes the token.
pub(super) fn between_the_looks() {
    WINDOW.with_borrow(|window| window.iter().for_each(|window| window()));
}

/// Whether [`super::Gate`] lets in after one look: the mistake these tests are there to notice.
pub(super) fn second_look_removed() -> bool {
    ONE_LOOK.get()
}

struct Ask;

impl Policy for Ask {
    const NAME: &'static str = "test.ask";
    type Event = ();
    type Decision = ();
}

/// Dispatches on one thread while another disposes; returns in how many rounds a listener was
/// called after `dispose` had returned.
fn rounds_with_a_late_call(rounds: usize, one_look: bool) -> usize {
    (0..rounds)
        .filter(|round| late_call(*round, one_look))
        .count()
}

fn late_call(round: usize, one_look: bool) -> bool {
    let scope = Scope::root("plugin");
    let seam = Waterfall::<Ask>::new(&FaultLog::new());
    let gone = Arc::new(AtomicBool::new(false));
    let late = Arc::new(AtomicBool::new(false));
    let looking = Arc::new(AtomicUsize::new(0));
    let (seen_gone, seen_late) = (Arc::clone(&gone), Arc::clone(&late));
    seam.on(&scope, "listener", move |(), next| {
        if seen_gone.load(Ordering::SeqCst) {
            seen_late.store(true, Ordering::SeqCst);
        }
        async { Ok(next.run().await?) }
    });
    let dispatcher = {
        let (seam, gone, looking) = (seam.clone(), Arc::clone(&gone), Arc::clone(&looking));
        thread::spawn(move || {
            ONE_LOOK.set(one_look);
            let disposed = Arc::clone(&gone);
            WINDOW.set(Some(Box::new(move || {
                looking.fetch_add(1, Ordering::SeqCst);
                // Stay between the looks for a while that differs from round to round.
                let patience = 50 * (round % 8);
                (0..patience)
                    .take_while(|_| !disposed.load(Ordering::SeqCst))
                    .for_each(|_| {
                        thread::yield_now();
                    });
            })));
            while !gone.load(Ordering::SeqCst) {
                let reply = seam.dispatch((), |()| async {}).now_or_never();
                assert!(reply.unwrap().is_ok());
            }
        })
    };
    while looking.load(Ordering::SeqCst) <= round % 3 {
        thread::yield_now();
    }
    block_on(scope.dispose());
    gone.store(true, Ordering::SeqCst);
    dispatcher.join().unwrap();
    late.load(Ordering::SeqCst)
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap()
        .block_on(future)
}

#[test]
fn no_call_comes_in_after_dispose_has_returned() {
    assert_eq!(rounds_with_a_late_call(400, false), 0);
}

#[test]
fn without_the_second_look_late_calls_do_come_in() {
    // The test above can fail: take the second look away and it does.
    assert!(rounds_with_a_late_call(400, true) > 0);
}

#[test]
fn a_registration_that_races_with_dispose_is_removed_or_refused_but_never_stays() {
    for round in 0..400 {
        let (faults, scope) = (FaultLog::new(), Scope::root("plugin"));
        let seam = Observers::<()>::new("test.seen", &faults);
        let registering = {
            let (seam, scope) = (seam.clone(), scope.clone());
            thread::spawn(move || {
                (0..round % 8).for_each(|_| thread::yield_now());
                seam.on(&scope, "observer", |()| ())
            })
        };
        (0..round % 5).for_each(|_| thread::yield_now());
        block_on(scope.dispose());
        let registration = registering.join().unwrap();
        let refused = matches!(
            faults.take().as_slice(),
            [fault] if matches!(fault.kind, FaultKind::Refused(_))
        );
        assert!(!registration.is_active());
        assert!(seam.is_empty());
        assert!(refused || scope.0.lock().holdings.is_empty());
    }
}

#[test]
fn a_scope_lets_go_of_what_ended_by_itself() {
    block_on(async {
        let (scope, seam) = (Scope::root("app"), Waterfall::<Ask>::new(&FaultLog::new()));
        let held = || {
            let state = scope.0.lock();
            (state.holdings.len(), state.children.len())
        };
        for _ in 0..3 {
            scope.spawn(async {});
        }
        let registration = seam.on(&scope, "listener", |(), next| async {
            Ok(next.run().await?)
        });
        let child = scope.child("child");
        assert_eq!(held(), (4, 1));
        registration.remove();
        for _ in 0..10 {
            // The spawned work ends as soon as it has its turn.
            tokio::task::yield_now().await;
        }
        assert_eq!(held(), (0, 1));
        child.dispose().await;
        let _next = scope.child("next");
        assert_eq!(held(), (0, 1), "only the next child is there");
    });
}
