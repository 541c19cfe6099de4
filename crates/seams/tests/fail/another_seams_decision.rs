//! A listener decides what its seam asks, nothing else.

use seamline_seams::*;

struct Pre;

impl Policy for Pre {
    const NAME: &'static str = "tools.pre";
    type Event = String;
    type Decision = bool;
}

struct Stop;

impl Policy for Stop {
    const NAME: &'static str = "agent.continuation";
    type Event = String;
    type Decision = u32;
}

async fn stop(_: String, next: Next<Stop>) -> Result<Reply<u32>, BoxError> {
    Ok(next.run().await?)
}

fn install(seam: &Waterfall<Pre>, scope: &Scope) {
    seam.on(scope, "decides elsewhere", |_, _| async { Ok(Reply::new(7_u32)) });
    seam.on(scope, "listens elsewhere", stop);
}

fn main() {}
