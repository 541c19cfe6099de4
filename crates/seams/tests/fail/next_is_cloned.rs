//! Nor can it be copied first.

use seamline_seams::*;

struct Pre;

impl Policy for Pre {
    const NAME: &'static str = "tools.pre";
    type Event = String;
    type Decision = bool;
}

fn install(seam: &Waterfall<Pre>, scope: &Scope) {
    seam.on(scope, "twice", |_, next: Next<Pre>| async move {
        let again = next.clone();
        let _ = next.run().await?;
        Ok(again.run().await?)
    });
}

fn main() {}
