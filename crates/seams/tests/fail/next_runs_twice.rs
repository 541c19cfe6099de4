//! `Next` is consumed: the listeners further in are asked once.

use seamline_seams::*;

struct Pre;

impl Policy for Pre {
    const NAME: &'static str = "tools.pre";
    type Event = String;
    type Decision = bool;
}

fn install(seam: &Waterfall<Pre>, scope: &Scope) {
    seam.on(scope, "twice", |_, next| async {
        let first = next.run().await?;
        let second = next.run().await?;
        Ok(second.map(|second| second && first.decision))
    });
}

fn main() {}
