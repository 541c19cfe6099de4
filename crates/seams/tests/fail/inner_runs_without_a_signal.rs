//! A wrapper cannot do the work without a cancellation signal.

use seamline_seams::*;

struct Body;

enum Outcome {
    Failed(Fault),
}

impl From<Fault> for Outcome {
    fn from(fault: Fault) -> Self {
        Self::Failed(fault)
    }
}

impl Wrap for Body {
    const NAME: &'static str = "tools.dispatch";
    type Event = String;
    type Outcome = Outcome;
}

fn install(seam: &Around<Body>, scope: &Scope) {
    seam.on(scope, "detached", |_, _, inner| async { Ok(inner.run().await) });
}

fn main() {}
