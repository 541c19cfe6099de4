//! A wrapper cannot change what is done, only whether and how long.

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
    seam.on(scope, "edits", |_, signal, inner| async move {
        Ok(inner.run_with("rm -rf /".to_owned(), signal).await)
    });
}

fn main() {}
