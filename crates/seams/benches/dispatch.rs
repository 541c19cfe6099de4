//! What a dispatch costs: `cargo bench -p seamline-seams`. Prints nanoseconds, minimum and median
//! over batches. A report, not a test: nothing fails on a slow machine.

use std::hint::black_box;
use std::time::Instant;

use futures_util::FutureExt as _;
use seamline_seams::{
    Around, BoxError, Fault, FaultLog, Guards, Inner, Next, Observers, Policy, Reply, Scope,
    Signal, Waterfall, Wrap,
};

struct Pre;

impl Policy for Pre {
    const NAME: &'static str = "bench.pre";
    type Event = u64;
    type Decision = u64;
}

struct Body;

impl Wrap for Body {
    const NAME: &'static str = "bench.body";
    type Event = u64;
    type Outcome = Outcome;
}

struct Outcome(Result<u64, Fault>);

impl From<Fault> for Outcome {
    fn from(fault: Fault) -> Self {
        Self(Err(fault))
    }
}

async fn delegate(_: u64, next: Next<Pre>) -> Result<Reply<u64>, BoxError> {
    Ok(next.run().await?)
}

async fn through(_: u64, signal: Signal, inner: Inner<Body>) -> Result<Outcome, BoxError> {
    Ok(inner.run(signal).await)
}

fn main() {
    let faults = FaultLog::new();
    let scope = Scope::root("bench");
    for count in [0, 1, 10, 100] {
        let waterfall = Waterfall::<Pre>::new(&faults);
        let around = Around::<Body>::new(&faults);
        let guards = Guards::<u64>::new("bench.guards", &faults);
        let observers = Observers::<u64>::new("bench.observers", &faults);
        for _ in 0..count {
            waterfall.on(&scope, "delegate", delegate);
            around.on(&scope, "through", through);
            guards.add(&scope, "abstain", |event| {
                black_box(event);
                None
            });
            observers.on(&scope, "look", |event| {
                black_box(event);
            });
        }
        let signal = Signal::new();
        measure("waterfall", count, || {
            let reply = waterfall
                .dispatch(1, |event| async move { event })
                .now_or_never();
            black_box(reply);
        });
        measure("around", count, || {
            let core = |event, _| async move { Outcome(Ok(event)) };
            black_box(
                around
                    .dispatch(1, signal.clone(), core)
                    .now_or_never()
                    .map(|end| end.0),
            );
        });
        measure("guards", count, || {
            black_box(guards.check(&1));
        });
        measure("observers", count, || observers.notify(black_box(&1)));
    }
}

fn measure(what: &str, listeners: usize, mut run: impl FnMut()) {
    const BATCHES: usize = 400;
    let batch = 20_000 / (listeners + 4);
    let mut nanos: Vec<f64> = (0..BATCHES)
        .map(|_| {
            let start = Instant::now();
            (0..batch).for_each(|_| run());
            start.elapsed().as_nanos() as f64 / batch as f64
        })
        .collect();
    nanos.sort_by(f64::total_cmp);
    let min = nanos.first().copied().unwrap_or_default();
    let median = nanos.get(BATCHES / 2).copied().unwrap_or_default();
    println!("{what:<10} {listeners:>3} listeners: min {min:>8.1} ns, median {median:>8.1} ns");
}
