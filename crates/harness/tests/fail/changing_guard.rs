//! A guard cannot change the call it is shown.

use seamline_harness::tools::ToolSeams;
use seamline_seams::Scope;

fn install(seams: &ToolSeams, scope: &Scope) {
    seams.guards.add(scope, "meddler", |call| {
        call.arguments = "{}".into();
        None
    });
}

fn main() {}
