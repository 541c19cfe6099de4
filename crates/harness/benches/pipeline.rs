//! What the pipeline costs around a tool that does nothing: `cargo bench -p seamline-harness --bench
//! pipeline`. Prints nanoseconds per call, minimum and median over batches. A report, not a test:
//! nothing fails on a slow machine.

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use futures_util::FutureExt as _;
use seamline_harness::Facts;
use seamline_harness::content::Content;
use seamline_harness::json::Json;
use seamline_harness::permission::{Mode, Permission};
use seamline_harness::tools::pipeline::{Pipeline, Written};
use seamline_harness::tools::{
    Effects, Registry, Tool, ToolContext, ToolError, ToolSeams, Workspace,
};
use seamline_seams::{FaultLog, Scope, Signal};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A tool that does nothing.
struct Nothing;

#[derive(Serialize, Deserialize)]
struct Empty {}

impl Tool for Nothing {
    type Args = Empty;
    type Value = Empty;

    fn name(&self) -> &str {
        "Nothing"
    }
    fn description(&self) -> &str {
        "Does nothing."
    }
    fn schema(&self) -> Value {
        json!({"type": "object"})
    }
    fn effects(&self, _: &Empty, _: &Path) -> Effects {
        Effects::Reads(Vec::new())
    }
    async fn run(&self, args: Empty, _: ToolContext) -> Result<Empty, ToolError> {
        Ok(args)
    }
    fn render(&self, _: &Empty, _: &Empty) -> Content {
        Content::text("done")
    }
}

/// Ten listeners over all seams that a plain call passes: three on pre, two on dispatch and post, one
/// on propose, guards and result.
fn listen(seams: &ToolSeams, scope: &Scope) {
    seams
        .propose
        .on(scope, "propose", |_, next| async { Ok(next.run().await?) });
    for _ in 0..3 {
        seams
            .pre
            .on(scope, "pre", |_, next| async { Ok(next.run().await?) });
    }
    seams.guards.add(scope, "guard", |call| {
        black_box(call);
        None
    });
    for _ in 0..2 {
        seams
            .dispatch
            .on(scope, "wrap", |_, signal, inner| async move {
                Ok(inner.run(signal).await)
            });
        seams
            .post
            .on(scope, "post", |_, next| async { Ok(next.run().await?) });
    }
    seams.result.on(scope, "look", |result| {
        black_box(result);
    });
}

fn main() -> Result<(), Box<dyn Error>> {
    let scope = Scope::root("bench");
    for listening in [false, true] {
        let faults = FaultLog::new();
        let seams = ToolSeams::new(&faults);
        if listening {
            listen(&seams, &scope);
        }
        let listeners = seams.describe().len();
        let registry = Registry::new();
        registry.add(Nothing)?;
        let folder = std::env::temp_dir();
        let permission = Permission::new(Mode::BypassPermissions);
        let workspace = Workspace::new(&folder);
        let pipeline = Pipeline::new(seams, registry, permission, workspace);
        let facts = Arc::new(Facts::outside(folder));
        let written = Written {
            call_id: "c1".to_owned(),
            name: "Nothing".to_owned(),
            arguments: Json::parse("{}")?,
        };
        let signal = Signal::new();
        measure(listeners, || {
            let run = pipeline.run(written.clone(), Arc::clone(&facts), signal.clone());
            let settled = run.now_or_never();
            assert!(settled.is_some_and(|settled| !settled.result.outcome.is_error()));
        });
    }
    Ok(())
}

fn measure(listeners: usize, mut run: impl FnMut()) {
    const BATCHES: usize = 400;
    const BATCH: usize = 500;
    let mut nanos: Vec<f64> = (0..BATCHES)
        .map(|_| {
            let start = Instant::now();
            (0..BATCH).for_each(|_| run());
            start.elapsed().as_nanos() as f64 / BATCH as f64
        })
        .collect();
    nanos.sort_by(f64::total_cmp);
    let min = nanos.first().copied().unwrap_or_default();
    let median = nanos.get(BATCHES / 2).copied().unwrap_or_default();
    println!("{listeners:>3} listeners: min {min:>8.1} ns, median {median:>8.1} ns");
}
