//! An answer is a return value: there is only one.

use seamline_seams::*;

#[derive(Clone)]
struct MayI;

impl Question for MayI {
    const NAME: &'static str = "tools.approval";
    type Answer = bool;
}

fn install(approval: &Answerers<MayI>, scope: &Scope) {
    approval.on(scope, "eager", |_, _| async { [Some(true), Some(false)] });
}

fn main() {}
