//! What an observer says is not heard.

use seamline_seams::*;

fn install(observers: &Observers<String>, scope: &Scope) {
    observers.on(scope, "opinionated", |event| event.is_empty());
}

fn main() {}
