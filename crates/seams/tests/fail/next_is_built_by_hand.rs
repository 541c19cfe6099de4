//! Only a dispatch makes a `Next`.

use seamline_seams::*;

struct Pre;

impl Policy for Pre {
    const NAME: &'static str = "tools.pre";
    type Event = String;
    type Decision = bool;
}

fn make() -> Next<Pre> {
    Next { position: 0, event: String::new() }
}

fn main() {}
