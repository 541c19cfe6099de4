//! A contributor contributes; it has no way to refuse.

use seamline_seams::*;

fn install(start: &Contributors<String, Vec<Context>>, scope: &Scope) {
    start.on(scope, "veto", |_| async { Err("not today") });
}

fn main() {}
