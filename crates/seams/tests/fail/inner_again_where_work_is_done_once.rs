//! The work is had again only where the seam repeats.

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
    seam.on(scope, "retry", |_, signal, inner| async move {
        inner.again().run(signal.clone()).await;
        Ok(inner.run(signal).await)
    });
}

fn main() {}
