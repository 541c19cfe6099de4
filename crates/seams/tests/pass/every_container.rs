//! Every container, used within its authority.

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

struct Pre;

impl Policy for Pre {
    const NAME: &'static str = "tools.pre";
    type Event = String;
    type Decision = bool;
}

impl Rewrites for Pre {}

#[derive(Clone)]
struct MayI;

impl Question for MayI {
    const NAME: &'static str = "tools.approval";
    type Answer = bool;
}

fn install(
    scope: &Scope,
    (waterfall, around): (&Waterfall<Pre>, &Around<Body>),
    (guards, observers): (&Guards<String>, &Observers<String>),
    (approval, start): (&Answerers<MayI>, &Contributors<String, Vec<Context>>),
) {
    waterfall.on(scope, "once", |_, next| async { Ok(next.run().await?) });
    waterfall.on(scope, "rewrites", |_, next| async { Ok(next.run_with("ls".into()).await?) });
    waterfall.on(scope, "decides", |_, _| async { Ok(Reply::new(true)) });
    around.on(scope, "once", |_, signal, inner| async { Ok(inner.run(signal).await) });
    guards.add(scope, "denies", |_| Some(Denial::new("no")));
    observers.on(scope, "looks", |_| ());
    approval.on(scope, "answers", |_, _| async { Some(true) });
    start.on(scope, "contributes", |_| async { Vec::new() });
}

fn main() {
    let mint = TokenMint::new();
    assert!(mint.mint() != mint.mint());
    let faults = FaultLog::new();
    install(
        &Scope::root("app"),
        (&Waterfall::new(&faults), &Around::new(&faults)),
        (&Guards::new("tools.guards", &faults), &Observers::new("tools.result", &faults)),
        (&Answerers::new(&faults), &Contributors::new("agent.session_start", &faults)),
    );
}
