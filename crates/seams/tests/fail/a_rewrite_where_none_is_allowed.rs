//! Only a seam that `Rewrites` lets a changed event through.

use seamline_seams::*;

struct Pre;

impl Policy for Pre {
    const NAME: &'static str = "tools.pre";
    type Event = String;
    type Decision = bool;
}

async fn rewrite(_: String, next: Next<Pre>) -> Result<Reply<bool>, BoxError> {
    Ok(next.run_with("ls".to_owned()).await?)
}

fn install(seam: &Waterfall<Pre>, scope: &Scope) {
    seam.on(scope, "rewrites", rewrite);
}

fn main() {}
