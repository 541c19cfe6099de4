//! Rules of the approval container.

use std::future::{pending, ready};
use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use seamline_seams::{Answerers, Asked, FaultLog, Question, Scope, Signal};

use crate::support::{Trace, recorded, settle, yield_once};

#[derive(Clone)]
pub(crate) struct MayI;

impl Question for MayI {
    const NAME: &'static str = "test.approval";
    type Answer = &'static str;
}

struct Stage {
    faults: FaultLog,
    scope: Scope,
    seam: Answerers<MayI>,
    trace: Trace,
}

impl Stage {
    fn new() -> Self {
        let faults = FaultLog::new();
        let (scope, seam) = (Scope::root_with("app", &faults), Answerers::new(&faults));
        Self {
            faults,
            scope,
            seam,
            trace: Trace::default(),
        }
    }

    /// An answerer that waits for its signal and takes a moment to clean up.
    fn on_polite(&self, name: &'static str) {
        let trace = self.trace.clone();
        self.seam.on(&self.scope, name, move |_, signal: Signal| {
            let trace = trace.clone();
            async move {
                signal.cancelled().await;
                yield_once().await;
                trace.note(format!("{name} cleaned up"));
                Some("too late")
            }
        });
    }
}

fn answered(answer: &'static str, by: &'static str) -> Asked<&'static str> {
    Asked::Answered {
        answer,
        by: by.into(),
    }
}

#[tokio::test]
async fn nobody_answered_is_not_yes() {
    let stage = Stage::new();
    assert_eq!(stage.seam.ask(MayI, Signal::new()).await, Asked::Nobody);
    stage.seam.on(&stage.scope, "passes", |_, _| ready(None));
    stage
        .seam
        .on(&stage.scope, "breaks", |_, _| async { panic!("oh") });
    assert_eq!(stage.seam.ask(MayI, Signal::new()).await, Asked::Nobody);
    assert_eq!(recorded(&stage.faults), ["breaks: panic oh"]);
}

#[tokio::test]
async fn all_are_asked_at_once_and_the_first_answer_wins() {
    let stage = Stage::new();
    stage.on_polite("slow");
    stage.seam.on(&stage.scope, "passes", |_, _| ready(None));
    stage.seam.on(&stage.scope, "later", |_, _| async {
        yield_once().await;
        yield_once().await;
        Some("later")
    });
    stage.seam.on(&stage.scope, "quick", |_, _| async {
        yield_once().await;
        Some("quick")
    });
    assert_eq!(
        stage.seam.ask(MayI, Signal::new()).await,
        answered("quick", "quick")
    );
    assert!(recorded(&stage.faults).is_empty());
}

#[tokio::test]
async fn of_two_that_answer_at_once_the_first_registered_wins() {
    let stage = Stage::new();
    let agent = stage.seam.child();
    agent.on(&stage.scope, "agent", |_, _| ready(Some("agent")));
    stage
        .seam
        .on(&stage.scope, "app", |_, _| ready(Some("app")));
    assert_eq!(agent.ask(MayI, Signal::new()).await, answered("app", "app"));
}

#[tokio::test]
async fn those_who_lost_are_cancelled_and_drained_before_the_answer_is_given() {
    let stage = Stage::new();
    stage.on_polite("a");
    stage
        .seam
        .on(&stage.scope, "quick", |_, _| ready(Some("yes")));
    stage.on_polite("b");
    assert_eq!(
        stage.seam.ask(MayI, Signal::new()).await,
        answered("yes", "quick")
    );
    let mut cleaned = stage.trace.take();
    cleaned.sort();
    assert_eq!(cleaned, ["a cleaned up", "b cleaned up"]);
    assert!(recorded(&stage.faults).is_empty());
}

#[tokio::test(start_paused = true)]
async fn one_who_ignores_its_signal_is_dropped_after_the_grace_and_recorded() {
    let stage = Stage::new();
    stage.seam.on(&stage.scope, "deaf", |_, _| pending());
    stage
        .seam
        .on(&stage.scope, "quick", |_, _| ready(Some("yes")));
    assert_eq!(
        stage.seam.ask(MayI, Signal::new()).await,
        answered("yes", "quick")
    );
    assert_eq!(recorded(&stage.faults), ["deaf: overdue"]);
}

#[tokio::test]
async fn a_cancelled_question_is_not_answered() {
    let stage = Stage::new();
    stage.on_polite("polite");
    let signal = Signal::new();
    let mut ask = Box::pin(stage.seam.ask(MayI, signal.clone()));
    assert!(futures_util::poll!(&mut ask).is_pending());
    signal.cancel();
    // Its answer comes after the cancellation and does not count.
    assert_eq!(ask.await, Asked::Cancelled);
    assert_eq!(stage.trace.take(), ["polite cleaned up"]);
}

#[tokio::test]
async fn a_question_cancelled_before_it_is_asked_is_put_to_nobody() {
    let stage = Stage::new();
    let trace = stage.trace.clone();
    stage.seam.on(&stage.scope, "eager", move |_, _| {
        trace.note("asked");
        ready(Some("yes"))
    });
    let signal = Signal::new();
    signal.cancel();
    assert_eq!(stage.seam.ask(MayI, signal).await, Asked::Cancelled);
    assert!(stage.trace.take().is_empty());
}

#[tokio::test]
async fn a_cancellation_beats_an_answer_that_is_ready_at_the_same_moment() {
    let stage = Stage::new();
    let (sender, receiver) = tokio::sync::oneshot::channel::<()>();
    let receiver = Mutex::new(Some(receiver));
    stage.seam.on(&stage.scope, "asked", move |_, _| {
        let answer = receiver.lock().unwrap().take().unwrap();
        answer.map(|_| Some("yes"))
    });
    let signal = Signal::new();
    let mut ask = Box::pin(stage.seam.ask(MayI, signal.clone()));
    assert!(futures_util::poll!(&mut ask).is_pending());
    sender.send(()).unwrap();
    signal.cancel();
    assert_eq!(ask.await, Asked::Cancelled);
}

#[tokio::test]
async fn an_answerer_cannot_cancel_the_others() {
    let stage = Stage::new();
    stage
        .seam
        .on(&stage.scope, "rude", |_, signal: Signal| async move {
            signal.cancel();
            pending().await
        });
    stage
        .seam
        .on(&stage.scope, "other", |_, signal: Signal| async move {
            settle().await;
            Some(if signal.is_cancelled() {
                "was cancelled"
            } else {
                "was not cancelled"
            })
        });
    let asked = stage.seam.ask(MayI, Signal::new()).await;
    assert_eq!(asked, answered("was not cancelled", "other"));
}

#[test]
fn a_dropped_question_cancels_its_answerers_and_is_recorded_once() {
    let stage = Stage::new();
    let signals = Arc::new(Mutex::new(Vec::new()));
    for name in ["a", "b"] {
        let signals = Arc::clone(&signals);
        stage.seam.on(&stage.scope, name, move |_, signal| {
            signals.lock().unwrap().push(signal);
            pending()
        });
    }
    stage.seam.on(&stage.scope, "c", |_, _| ready(None));
    assert!(stage.seam.ask(MayI, Signal::new()).now_or_never().is_none());
    let signals = signals.lock().unwrap();
    assert!(signals.len() == 2 && signals.iter().all(Signal::is_cancelled));
    assert_eq!(recorded(&stage.faults), ["a, b: dropped"]);
}
