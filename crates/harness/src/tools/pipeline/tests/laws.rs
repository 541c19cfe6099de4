//! What holds of every call, whoever listens, fails or cancels.

use proptest::prelude::*;
use seamline_seams::{BoxError, Next};

use super::*;

/// What a listener does. Each seam knows some of these; what it does not know is to let things be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    LetBe,
    /// Answers by itself without asking those further in.
    Answer,
    Deny,
    Ask,
    Defer,
    Change,
    /// Changes to something the tool does not take.
    ChangeBadly,
    Fail,
    Panic,
    /// Asks those further in, and says that all is well whatever they said or did.
    Swallow,
    /// Does the work twice.
    Twice,
    /// Asks a person, and denies what that person made of it.
    AskThenDeny,
    /// Cancels the turn, then lets things be.
    Cancel,
    /// Lets things be, then cancels the turn.
    CancelAfter,
}

use Act::{
    Answer, Ask, AskThenDeny, Cancel, CancelAfter, Change, ChangeBadly, Defer, Deny, Fail, LetBe,
    Panic, Swallow, Twice,
};

/// Who listens, by seam.
#[derive(Debug, Clone)]
struct Cast {
    text: &'static str,
    propose: Vec<Act>,
    pre: Vec<Act>,
    approval: Vec<Act>,
    guards: Vec<Act>,
    dispatch: Vec<Act>,
    post: Vec<Act>,
    result: Vec<Act>,
    cancelled_before: bool,
}

/// Mostly harmless ones, so that calls get far enough.
fn acts(of: &'static [Act]) -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![3 => Just(LetBe), 2 => proptest::sample::select(of)];
    proptest::collection::vec(act, 0..4)
}

fn cast() -> impl Strategy<Value = Cast> {
    let texts = &[
        "hi",
        "read",
        "write",
        "fail",
        "fail verbatim",
        "panic",
        "unshowable",
        "secret",
    ];
    let gates = (
        acts(&[
            Change,
            ChangeBadly,
            Fail,
            Panic,
            Swallow,
            Cancel,
            CancelAfter,
        ]),
        acts(&[
            Answer,
            Deny,
            Ask,
            AskThenDeny,
            AskThenDeny,
            Defer,
            Fail,
            Panic,
            Swallow,
            Cancel,
            CancelAfter,
        ]),
        acts(&[Answer, Answer, Change, ChangeBadly, Deny, Panic, Cancel]),
        acts(&[Deny, Panic, Cancel]),
    );
    let work = (
        acts(&[
            Answer,
            ChangeBadly,
            Deny,
            Fail,
            Panic,
            Swallow,
            Twice,
            Cancel,
            CancelAfter,
        ]),
        acts(&[
            Answer,
            Change,
            ChangeBadly,
            Deny,
            Fail,
            Panic,
            Swallow,
            Cancel,
            CancelAfter,
        ]),
        acts(&[Panic]),
    );
    let text = proptest::sample::select(texts);
    let before = proptest::bool::weighted(0.05);
    (text, gates, work, before).prop_map(|(text, gates, work, cancelled_before)| {
        let ((propose, pre, approval, guards), (dispatch, post, result)) = (gates, work);
        Cast {
            text,
            propose,
            pre,
            approval,
            guards,
            dispatch,
            post,
            result,
            cancelled_before,
        }
    })
}

/// What was seen from outside all listeners.
#[derive(Debug, Default)]
struct Seen {
    /// What the policy saw, each time it was asked, and what it said in the end. `None`: it failed.
    asked: Vec<(Vec<String>, Option<PreDecision>)>,
    guards_denied: bool,
    approval_denied: bool,
    /// A listener before the work failed.
    faulted: bool,
    /// The arguments the work was done with, each time.
    ran_with: Vec<String>,
    posts: usize,
    told: Vec<Outcome>,
}

type Shared = Arc<Mutex<Seen>>;

fn see<T>(seen: &Shared, what: impl FnOnce(&mut Seen) -> T) -> T {
    what(&mut seen.lock().unwrap_or_else(PoisonError::into_inner))
}

fn said(text: &str) -> Json {
    json!({ "text": text }).into()
}

/// Lets things be, with a cancellation before or after.
async fn let_be<S: seamline_seams::Policy>(
    act: Act,
    next: Next<S>,
    signal: Signal,
) -> Result<Reply<S::Decision>, BoxError> {
    if act == Cancel {
        signal.cancel();
    }
    // Others get their turn in between.
    tokio::task::yield_now().await;
    let reply = next.run().await;
    if act == CancelAfter {
        signal.cancel();
    }
    Ok(reply?)
}

impl Bench {
    fn seat(&self, cast: &Cast, seen: &Shared) {
        self.seat_policies(cast, seen);
        self.seat_deciders(cast, seen);
        self.seat_work(cast, seen);
        self.seat_witnesses(cast, seen);
    }

    fn seat_policies(&self, cast: &Cast, seen: &Shared) {
        let seams = self.pipeline.seams();
        for &act in &cast.propose {
            let (seen, signal) = (Arc::clone(seen), self.signal.clone());
            seams.propose.on(&self.scope, "p", move |_, next| {
                let (seen, signal) = (Arc::clone(&seen), signal.clone());
                async move {
                    see(&seen, |seen| seen.faulted |= matches!(act, Fail | Panic));
                    match act {
                        Change => Ok(Reply::new(ProposeDecision::rewrite(said("new"), speaker()))),
                        ChangeBadly => Ok(Reply::new(ProposeDecision::rewrite(
                            json!({"text": 1}).into(),
                            speaker(),
                        ))),
                        Fail => Err("bug".into()),
                        Panic => panic!("bug"),
                        Swallow => {
                            let _ = next.run().await;
                            Ok(Reply::new(ProposeDecision::Keep))
                        }
                        _ => let_be(act, next, signal).await,
                    }
                }
            });
        }
        self.seat_pre(cast, seen);
    }

    fn seat_pre(&self, cast: &Cast, seen: &Shared) {
        let pre = &self.pipeline.seams().pre;
        let outermost = Arc::clone(seen);
        pre.on(&self.scope, "outermost", move |event, next| {
            let seen = Arc::clone(&outermost);
            async move {
                let saw = vec![event.arguments().text().to_owned()];
                see(&seen, |seen| seen.asked.push((saw, None)));
                let reply = next.run().await?;
                let decision = reply.decision.clone();
                see(&seen, |seen| {
                    seen.asked.last_mut().unwrap().1 = Some(decision)
                });
                Ok(reply)
            }
        });
        let allow = PreDecision::Allow { pre_approved: true };
        for &act in &cast.pre {
            let (seen, signal) = (Arc::clone(seen), self.signal.clone());
            let allow = allow.clone();
            pre.on(&self.scope, "p", move |event, next| {
                let (seen, signal) = (Arc::clone(&seen), signal.clone());
                let allow = allow.clone();
                async move {
                    let saw = event.arguments().text().to_owned();
                    let amended = saw.contains("amended");
                    see(&seen, |seen| {
                        seen.asked.last_mut().unwrap().0.push(saw);
                        seen.faulted |= matches!(act, Fail | Panic);
                    });
                    let by = speaker();
                    match act {
                        Answer => Ok(Reply::new(allow)),
                        Deny => Ok(Reply::new(deny("no"))),
                        AskThenDeny if amended => Ok(Reply::new(deny("no"))),
                        Ask | AskThenDeny => Ok(Reply::new(ask(None))),
                        Defer => Ok(Reply::new(PreDecision::Defer { reason: None, by })),
                        Fail => Err("bug".into()),
                        Panic => panic!("bug"),
                        Swallow => {
                            let _ = next.run().await;
                            Ok(Reply::new(allow))
                        }
                        _ => let_be(act, next, signal).await,
                    }
                }
            });
        }
    }

    fn seat_deciders(&self, cast: &Cast, seen: &Shared) {
        let seams = self.pipeline.seams();
        // One person at most: which of several answers first is anybody's guess.
        for &act in cast.approval.iter().filter(|&&act| act != LetBe).take(1) {
            let (seen, signal) = (Arc::clone(seen), self.signal.clone());
            seams.approval.on(&self.scope, "person", move |_, _| {
                let (seen, signal) = (Arc::clone(&seen), signal.clone());
                async move {
                    see(&seen, |seen| seen.approval_denied |= act == Deny);
                    match act {
                        Answer => Some(allow_once(None)),
                        Change => Some(allow_once(Some(json!({"text": "amended"})))),
                        ChangeBadly => Some(allow_once(Some(json!({"text": 1})))),
                        Deny => Some(ApprovalAnswer::Deny {
                            message: None,
                            interrupt: false,
                        }),
                        Panic => panic!("bug"),
                        _ => {
                            signal.cancel();
                            None
                        }
                    }
                }
            });
        }
        for &act in &cast.guards {
            let (seen, signal) = (Arc::clone(seen), self.signal.clone());
            seams.guards.add(&self.scope, "g", move |_| {
                see(&seen, |seen| {
                    seen.guards_denied |= matches!(act, Deny | Panic)
                });
                match act {
                    Deny => return Some(Denial::new("no")),
                    Panic => panic!("bug"),
                    Cancel => signal.cancel(),
                    _ => {}
                }
                None
            });
        }
    }

    fn seat_work(&self, cast: &Cast, seen: &Shared) {
        let dispatch = &self.pipeline.seams().dispatch;
        for &act in &cast.dispatch {
            let turn = self.signal.clone();
            dispatch.on(&self.scope, "w", move |_, signal, inner| {
                let turn = turn.clone();
                async move {
                    let made_up = |text: &str| {
                        let value = said(text);
                        Outcome::from(Success::new(value, Content::text("made up")))
                    };
                    match act {
                        Answer => return Ok(made_up("cached")),
                        ChangeBadly => return Ok(made_up("unshowable")),
                        Deny => return Ok(Outcome::failed("made up", None)),
                        Fail => return Err("bug".into()),
                        Panic => panic!("bug"),
                        Twice => drop(inner.again().run(signal.clone()).await),
                        Cancel => turn.cancel(),
                        _ => {}
                    }
                    tokio::task::yield_now().await;
                    let outcome = inner.run(signal).await;
                    match act {
                        Swallow => return Ok(made_up("all is well")),
                        CancelAfter => turn.cancel(),
                        _ => {}
                    }
                    Ok(outcome)
                }
            });
        }
        let seen = Arc::clone(seen);
        let runs = Arc::clone(&self.runs);
        dispatch.on(&self.scope, "innermost", move |call, signal, inner| {
            let (seen, runs) = (Arc::clone(&seen), Arc::clone(&runs));
            async move {
                let before = runs.load(Ordering::SeqCst);
                let outcome = inner.run(signal).await;
                if runs.load(Ordering::SeqCst) > before {
                    let arguments = call.arguments().text().to_owned();
                    see(&seen, |seen| seen.ran_with.push(arguments));
                }
                Ok(outcome)
            }
        });
    }

    fn seat_witnesses(&self, cast: &Cast, seen: &Shared) {
        let seams = self.pipeline.seams();
        let first = Arc::clone(seen);
        seams.post.on(&self.scope, "outermost", move |_, next| {
            see(&first, |seen| seen.posts += 1);
            async { Ok(next.run().await?) }
        });
        for &act in &cast.post {
            let signal = self.signal.clone();
            seams.post.on(&self.scope, "p", move |_, next| {
                let signal = signal.clone();
                async move {
                    let block = |keep_output| PostDecision::Block {
                        feedback: "look again".to_owned(),
                        keep_output,
                    };
                    let decision = match act {
                        Answer => PostDecision::ReplaceContent(Content::text("shown")),
                        Change => PostDecision::ReplaceValue(said("replaced")),
                        ChangeBadly => PostDecision::ReplaceValue(json!({"text": 1}).into()),
                        Deny => block(false),
                        Fail => return Err("bug".into()),
                        Panic => panic!("bug"),
                        Swallow => {
                            let _ = next.run().await;
                            PostDecision::Accept
                        }
                        _ => return let_be(act, next, signal).await,
                    };
                    Ok(Reply::new(decision))
                }
            });
        }
        for &act in &cast.result {
            seams.result.on(&self.scope, "o", move |_| {
                assert_ne!(act, Panic, "bug");
            });
        }
        let seen = Arc::clone(seen);
        seams.result.on(&self.scope, "last", move |result| {
            see(&seen, |seen| seen.told.push(result.outcome.clone()));
        });
    }
}

/// Checks the laws on one call.
fn holds(cast: &Cast, bench: &Bench, seen: &Seen, settled: &Settled) {
    let outcome = &settled.result.outcome;
    assert_eq!(seen.told.len(), 1, "one result");
    assert_eq!(
        seen.told[0].result, outcome.result,
        "what was told is what there is"
    );
    assert_eq!(bench.finals(), 1, "finalize once");
    assert!(seen.posts <= 1, "post at most once");
    let twice = cast.dispatch.iter().filter(|&&act| act == Twice).count();
    assert!(bench.runs() <= 1 << twice, "the work is done once");

    let denies = |decision: &Option<PreDecision>| match decision {
        Some(decision) => matches!(
            decision,
            PreDecision::Deny { .. } | PreDecision::Defer { .. }
        ),
        None => true,
    };
    // What is put off the second time was put to a person before: only a denial counts.
    let denied = seen
        .asked
        .iter()
        .enumerate()
        .any(|(place, (_, decision))| match place {
            0 => denies(decision),
            _ => matches!(decision, None | Some(PreDecision::Deny { .. })),
        });
    let refused = denied || seen.guards_denied || seen.approval_denied || seen.faulted;
    if refused || cast.cancelled_before {
        assert_eq!(bench.runs(), 0, "never an allow after a denial");
        assert!(outcome.is_error());
    }
    if bench.signal.is_cancelled() {
        assert!(outcome.is_error(), "a success that was overtaken is none");
    }
    for arguments in &seen.ran_with {
        let (saw, _) = seen.asked.last().unwrap();
        assert!(
            saw.iter().all(|saw| saw == arguments),
            "policies saw what runs"
        );
        assert_eq!(arguments, settled.result.call.arguments().text());
    }
    assert_eq!(bench.runs(), seen.ran_with.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    /// Whoever listens, fails and cancels: one result, finalized once; no work after a denial or
    /// a fault; no success after a cancellation; policies saw the arguments that were executed.
    #[test]
    fn one_result_whatever_happens(cast in cast()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let bench = Bench::allowing();
            let seen = Shared::default();
            bench.seat(&cast, &seen);
            if cast.cancelled_before {
                bench.signal.cancel();
            }
            let settled = bench.echo(cast.text).await;
            see(&seen, |seen| holds(&cast, &bench, seen, &settled));
        });
    }
}
