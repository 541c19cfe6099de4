//! A tool that does what its arguments say, and a pipeline to run it in.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use seamline_harness::Facts;
use seamline_harness::content::Content;
use seamline_harness::permission::{Mode, Permission};
use seamline_harness::tools::pipeline::{Pipeline, Settled, Written};
use seamline_harness::tools::{
    Effects, Registry, Tool, ToolContext, ToolError, ToolSeams, Workspace,
};
use seamline_seams::{Context, FaultLog, Scope, Signal, Source};
use serde::Deserialize;
use serde_json::{Value, json};

/// What the tool is asked to do.
#[derive(Deserialize)]
pub(crate) struct Order {
    #[serde(default)]
    name: String,
    /// How long it takes unless it is cancelled.
    #[serde(default)]
    secs: u64,
    /// Whether it goes on after it was cancelled, until it is let go.
    #[serde(default)]
    stubborn: bool,
    /// How many of its runs under this name fail before one succeeds.
    #[serde(default)]
    failures: u32,
    #[serde(default)]
    effects: String,
}

#[derive(Clone, Default)]
pub(crate) struct Worker {
    pub(crate) runs: Arc<Mutex<HashMap<String, u32>>>,
    pub(crate) let_go: Signal,
    pub(crate) cancelled: Arc<AtomicU32>,
}

impl Tool for Worker {
    type Args = Order;
    type Value = String;

    fn name(&self) -> &str {
        "Work"
    }
    fn description(&self) -> &str {
        "Works."
    }
    fn schema(&self) -> Value {
        json!({"type": "object", "properties": {"secs": {"type": "integer"}}})
    }
    fn effects(&self, args: &Order, cwd: &Path) -> Effects {
        match args.effects.as_str() {
            "reads" => Effects::Reads(vec!["/anywhere".into()]),
            "writes" => Effects::Writes(vec![cwd.join("x")]),
            "" => Effects::Unknown,
            command => Effects::Command(command.to_owned()),
        }
    }
    async fn run(&self, args: Order, context: ToolContext) -> Result<String, ToolError> {
        let run = {
            let mut runs = self.runs.lock().unwrap();
            let run = runs.entry(args.name).or_default();
            *run += 1;
            *run
        };
        let text = format!("context of run {run}");
        let source = Source::new("worker");
        context.add_context(Context { source, text });
        let work = tokio::time::sleep(Duration::from_secs(args.secs));
        if context.signal().run_until_cancelled(work).await.is_none() {
            self.cancelled.fetch_add(1, Ordering::SeqCst);
            if args.stubborn {
                self.let_go.cancelled().await;
            }
            return Ok("cancelled".to_owned());
        }
        match run <= args.failures {
            true => Err(ToolError::new(format!("failure {run}"))),
            false => Ok(format!("done in run {run}")),
        }
    }
    fn render(&self, _: &Order, value: &String) -> Content {
        Content::text(value.clone())
    }
}

/// The tool in a pipeline where everything may run.
pub(crate) struct Shop {
    pub(crate) scope: Scope,
    pub(crate) agent: crate::agent::AgentSeams,
    pub(crate) seams: ToolSeams,
    pub(crate) worker: Worker,
    pub(crate) facts: Arc<Facts>,
    pipeline: Pipeline,
}

impl Shop {
    pub(crate) fn new() -> Self {
        let faults = FaultLog::new();
        let (seams, worker, registry) =
            (ToolSeams::new(&faults), Worker::default(), Registry::new());
        registry.add(worker.clone()).unwrap();
        let project = std::env::current_dir().unwrap();
        let permission = Permission::new(Mode::BypassPermissions);
        let pipeline = Pipeline::new(
            seams.clone(),
            registry,
            permission,
            Workspace::new(project.clone()),
        );
        Self {
            scope: Scope::root("plugins"),
            agent: crate::agent::AgentSeams::new(&faults),
            facts: Arc::new(Facts::outside(project)),
            seams,
            worker,
            pipeline,
        }
    }

    /// What a plugin is installed on.
    pub(crate) fn at(&self) -> (&crate::agent::AgentSeams, &ToolSeams) {
        (&self.agent, &self.seams)
    }

    pub(crate) async fn call(&self, order: Value) -> Settled {
        self.call_under(order, Signal::new()).await
    }

    pub(crate) async fn call_under(&self, order: Value, signal: Signal) -> Settled {
        let written = Written {
            call_id: "c".to_owned(),
            name: "Work".to_owned(),
            arguments: order.into(),
        };
        let run = self.pipeline.run(written, Arc::clone(&self.facts), signal);
        run.await
    }

    /// How often the tool ran, under whatever name.
    pub(crate) fn runs(&self) -> u32 {
        self.worker.runs.lock().unwrap().values().sum()
    }
}

/// What the model is shown.
pub(crate) fn shown(settled: &Settled) -> String {
    settled.result.outcome.content().to_text()
}

pub(crate) fn contexts(settled: &Settled) -> Vec<&str> {
    settled.contexts.iter().map(|it| it.text.as_str()).collect()
}
