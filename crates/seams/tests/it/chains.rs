//! Random chains against a model: the core never runs twice, and no fault is lost, nor a denial
//! that no listener with authority replaced.

use futures_util::FutureExt as _;
use proptest::collection::vec;
use proptest::prelude::*;
use seamline_seams::{BoxError, Next, Reply};

use crate::support::{Pre, Stage, Trace, Verdict, dispatch, short, yield_once};

/// What one listener does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    Delegate,
    /// Suspends, then delegates.
    Suspend,
    Allow,
    Deny,
    /// Delegates, then replaces the answer: that is its authority.
    AllowAfter,
    DenyAfter,
    /// Delegates and allows whatever came back, faults included.
    Swallow,
    Error,
    ErrorAfter,
    /// Delegates and returns a fault that came back inside an error of its own.
    Wrap,
    Panic,
    PanicAfter,
    /// Panics before there is a future.
    PanicAtOnce,
    /// Polls the rest once, drops it, and allows.
    Abandon,
    /// Is not there any more: its scope is disposed.
    Gone,
}

const ACTS: [Act; 15] = [
    Act::Delegate,
    Act::Suspend,
    Act::Allow,
    Act::Deny,
    Act::AllowAfter,
    Act::DenyAfter,
    Act::Swallow,
    Act::Error,
    Act::ErrorAfter,
    Act::Wrap,
    Act::Panic,
    Act::PanicAfter,
    Act::PanicAtOnce,
    Act::Abandon,
    Act::Gone,
];

#[derive(Debug)]
struct Wrapped(BoxError);

impl std::fmt::Display for Wrapped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("wrapped")
    }
}

impl std::error::Error for Wrapped {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.0)
    }
}

async fn act(act: Act, at: usize, next: Next<Pre>) -> Result<Reply<Verdict>, BoxError> {
    let decision = match act {
        Act::Delegate | Act::Gone | Act::PanicAtOnce => return Ok(next.run().await?),
        Act::Suspend => {
            yield_once().await;
            return Ok(next.run().await?);
        }
        Act::Allow => Verdict::Allow(at),
        Act::Deny => Verdict::Deny(at),
        Act::AllowAfter => next.run().await?.map(|_| Verdict::Allow(at)).decision,
        Act::DenyAfter => next.run().await?.map(|_| Verdict::Deny(at)).decision,
        Act::Swallow => next
            .run()
            .await
            .map_or(Verdict::Allow(at), |_| Verdict::Allow(at)),
        Act::Error => return Err("own".into()),
        Act::ErrorAfter => {
            let _ = next.run().await;
            return Err("own".into());
        }
        Act::Wrap => {
            return next
                .run()
                .await
                .map_err(|fault| Wrapped(fault.into()).into());
        }
        Act::Panic => panic!("own"),
        Act::PanicAfter => {
            let _ = next.run().await;
            panic!("own")
        }
        Act::Abandon => next
            .run()
            .now_or_never()
            .map_or(Verdict::Allow(at), |_| Verdict::Allow(at)),
    };
    Ok(decision.into())
}

/// The rules, written a second time and without futures.
struct Model<'a> {
    acts: &'a [Act],
    cores: usize,
    /// Every fault, in the order recorded.
    faults: Vec<String>,
    /// The first that sticks.
    sticky: Option<String>,
}

/// What `next.run()` gives when polled: `Err` is "pending, and then dropped".
type Polled = Result<Option<Verdict>, ()>;

impl Model<'_> {
    fn fault(&mut self, at: usize, what: &str) -> Option<Verdict> {
        let fault = format!("{at}: {what}");
        self.sticky.get_or_insert_with(|| fault.clone());
        self.faults.push(fault);
        None
    }

    /// The rest of the chain from `at`; `once` if it will be polled only once and then dropped.
    fn run(&mut self, at: usize, once: bool) -> Polled {
        let Some(act) = self.acts.get(at).copied() else {
            self.cores += 1;
            return Ok(self.settle(Verdict::Default));
        };
        if act == Act::Gone {
            return self.run(at + 1, once);
        }
        if act == Act::Suspend && once {
            self.faults.push(format!("{at}: dropped"));
            return Err(());
        }
        Ok(match act {
            Act::Delegate | Act::Suspend | Act::Wrap => self.run(at + 1, once)?,
            Act::Allow => self.settle(Verdict::Allow(at)),
            Act::Deny => self.settle(Verdict::Deny(at)),
            Act::AllowAfter => self.run(at + 1, once)?.map(|_| Verdict::Allow(at)),
            Act::DenyAfter => self.run(at + 1, once)?.map(|_| Verdict::Deny(at)),
            Act::Swallow => {
                self.run(at + 1, once)?;
                self.settle(Verdict::Allow(at))
            }
            Act::Error => self.fault(at, "error own"),
            Act::ErrorAfter => {
                self.run(at + 1, once)?;
                self.fault(at, "error own")
            }
            Act::Panic | Act::PanicAtOnce => self.fault(at, "panic own"),
            Act::PanicAfter => {
                self.run(at + 1, once)?;
                self.fault(at, "panic own")
            }
            Act::Abandon => {
                let _ = self.run(at + 1, true);
                self.settle(Verdict::Allow(at))
            }
            Act::Gone => None,
        })
    }

    fn settle(&self, decision: Verdict) -> Option<Verdict> {
        self.sticky.is_none().then_some(decision)
    }
}

fn stage(acts: &[Act]) -> Stage {
    let stage = Stage::new();
    for (at, &what) in acts.iter().enumerate() {
        let plugin = stage.scope.child(at.to_string());
        stage.seam.on(&plugin, at.to_string(), move |_, next| {
            assert!(what != Act::PanicAtOnce, "own");
            act(what, at, next)
        });
        if what == Act::Gone {
            plugin.dispose().now_or_never().unwrap();
        }
    }
    stage
}

fn check(acts: &[Act], drop_it: bool) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let (stage, trace) = (stage(acts), Trace::default());
    let answer = runtime.block_on(async {
        let dispatch = dispatch(&stage.seam, &trace);
        if drop_it {
            dispatch.now_or_never()
        } else {
            Some(dispatch.await)
        }
    });
    let mut model = Model {
        acts,
        cores: 0,
        faults: Vec::new(),
        sticky: None,
    };
    let expected = model.run(0, drop_it);
    let answer = answer.map(|answer| match answer {
        Ok(reply) => Ok(reply.decision),
        Err(fault) => Err(short(&fault)),
    });
    let expected = expected
        .ok()
        .map(|it| it.ok_or_else(|| model.sticky.clone().unwrap()));
    assert_eq!(answer, expected);
    assert_eq!(stage.faults(), model.faults);
    assert_eq!(trace.take().len(), model.cores);
    assert!(model.cores <= 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn a_chain_does_what_the_model_says(
        acts in vec(prop::sample::select(ACTS.to_vec()), 0..8),
        drop_it in any::<bool>(),
    ) {
        check(&acts, drop_it);
    }
}

#[test]
fn every_chain_of_up_to_three_listeners_does_what_the_model_says() {
    // The random chains above are longer; these leave no short one out.
    let mut chains = vec![Vec::new()];
    for _ in 0..3 {
        let longer = chains.iter().flat_map(|chain: &Vec<Act>| {
            ACTS.iter()
                .map(|act| chain.iter().copied().chain([*act]).collect::<Vec<_>>())
        });
        chains = longer.chain([Vec::new()]).collect();
    }
    for chain in chains {
        check(&chain, false);
        check(&chain, true);
    }
}
