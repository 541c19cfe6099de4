//! The pipeline, station by station, on a bench with one tool.

mod deciding;
mod laws;
mod overtaken;
mod results;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use seamline_seams::{Context, Denial, FaultLog, Notice, Reply, Scope, Source as Speaker, When};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::*;
use crate::content::Content;
use crate::permission::{Mode, Update};
use crate::tools::{
    ApprovalAnswer, Effects, PostDecision, PreDecision, ProposeDecision, Success, Tool,
    ToolContext, ToolError, Validity, code,
};

/// A tool that does what its text says.
#[derive(Default)]
struct Echo {
    runs: Arc<AtomicUsize>,
    finals: Arc<AtomicUsize>,
}

#[derive(Serialize, Deserialize)]
struct Said {
    text: String,
}

impl Tool for Echo {
    type Args = Said;
    type Value = Said;

    fn name(&self) -> &str {
        "Echo"
    }
    fn description(&self) -> &str {
        "Echoes."
    }
    fn schema(&self) -> Value {
        json!({"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}})
    }
    fn effects(&self, args: &Said, _: &std::path::Path) -> Effects {
        match args.text.as_str() {
            "read" => Effects::Reads(Vec::new()),
            "write" => Effects::Writes(Vec::new()),
            _ => Effects::Unknown,
        }
    }
    async fn run(&self, args: Said, context: ToolContext) -> Result<Said, ToolError> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        let source = Speaker::new("echo");
        context.add_context(Context {
            source,
            text: "from the body".to_owned(),
        });
        match args.text.as_str() {
            "fail" => Err(ToolError::new("it failed")),
            "fail verbatim" => Err(ToolError::verbatim("just this")),
            "panic" => panic!("oh no"),
            "wait" => {
                context.signal().cancelled().await;
                Ok(args)
            }
            _ => Ok(args),
        }
    }
    fn render(&self, _: &Said, value: &Said) -> Content {
        assert_ne!(value.text, "unshowable", "cannot be shown");
        Content::text(format!("said {}", value.text))
    }
    fn finalize(&self, _: &Call, outcome: &Outcome) -> Option<Content> {
        self.finals.fetch_add(1, Ordering::SeqCst);
        (outcome.content().to_text() == "said secret").then(|| Content::text("[hidden]"))
    }
}

struct Bench {
    pipeline: Pipeline,
    scope: Scope,
    faults: FaultLog,
    runs: Arc<AtomicUsize>,
    finals: Arc<AtomicUsize>,
    seen: Arc<Mutex<Vec<String>>>,
    signal: Signal,
}

impl Bench {
    fn new(mode: Mode) -> Self {
        let faults = FaultLog::new();
        let echo = Echo::default();
        let (runs, finals) = (Arc::clone(&echo.runs), Arc::clone(&echo.finals));
        let registry = Registry::new();
        registry.add(echo).unwrap();
        let seams = ToolSeams::new(&faults);
        let workspace = Workspace::new(std::env::temp_dir());
        let pipeline = Pipeline::new(seams, registry, Permission::new(mode), workspace);
        let bench = Self {
            pipeline,
            scope: Scope::root_with("test", &faults),
            faults,
            runs,
            finals,
            seen: Arc::default(),
            signal: Signal::new(),
        };
        let seen = Arc::clone(&bench.seen);
        bench
            .pipeline
            .seams()
            .result
            .on(&bench.scope, "witness", move |result| {
                note(&seen, format!("result {:?}", result.ending));
            });
        bench
    }

    fn allowing() -> Self {
        Self::new(Mode::BypassPermissions)
    }

    async fn call(&self, name: &str, arguments: &str) -> Settled {
        let written = Written {
            call_id: "c1".to_owned(),
            name: name.to_owned(),
            arguments: Json::parse(arguments).unwrap(),
        };
        let facts = Arc::new(Facts::outside(std::env::temp_dir()));
        self.pipeline.run(written, facts, self.signal.clone()).await
    }

    async fn echo(&self, text: &str) -> Settled {
        self.call("Echo", &json!({ "text": text }).to_string())
            .await
    }

    fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }

    fn finals(&self) -> usize {
        self.finals.load(Ordering::SeqCst)
    }

    fn seen(&self) -> Vec<String> {
        self.seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn pre(&self, decision: PreDecision) {
        self.pipeline
            .seams()
            .pre
            .on(&self.scope, "pre", move |_, _| {
                let decision = decision.clone();
                async { Ok(Reply::new(decision)) }
            });
    }

    fn rewrite(&self, arguments: Value) {
        let decision = ProposeDecision::rewrite(arguments.into(), speaker());
        self.pipeline
            .seams()
            .propose
            .on(&self.scope, "rewriter", move |_, _| {
                let decision = decision.clone();
                async { Ok(Reply::new(decision)) }
            });
    }

    fn answer(&self, answer: ApprovalAnswer) {
        self.pipeline
            .seams()
            .approval
            .on(&self.scope, "person", move |_, _| {
                let answer = answer.clone();
                async { Some(answer) }
            });
    }

    fn post(&self, decision: PostDecision) {
        let seen = Arc::clone(&self.seen);
        self.pipeline
            .seams()
            .post
            .on(&self.scope, "post", move |event, _| {
                note(
                    &seen,
                    format!(
                        "post {:?} {}",
                        event.ending,
                        event.outcome.content().to_text()
                    ),
                );
                let decision = decision.clone();
                async { Ok(Reply::new(decision)) }
            });
    }
}

fn note(seen: &Mutex<Vec<String>>, what: String) {
    seen.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(what);
}

fn speaker() -> Speaker {
    Speaker::new("test-plugin").with_key("h1")
}

fn context(text: &str) -> Context {
    Context {
        source: speaker(),
        text: text.to_owned(),
    }
}

fn shown(settled: &Settled) -> String {
    settled.result.outcome.content().to_text()
}

fn texts(settled: &Settled) -> Vec<&str> {
    settled
        .contexts
        .iter()
        .map(|context| context.text.as_str())
        .collect()
}

fn deny(reason: &str) -> PreDecision {
    PreDecision::Deny {
        reason: reason.to_owned(),
        by: speaker(),
    }
}

fn ask(reason: Option<&str>) -> PreDecision {
    PreDecision::Ask {
        reason: reason.map(ToOwned::to_owned),
        by: speaker(),
    }
}

fn allow_once(arguments: Option<Value>) -> ApprovalAnswer {
    ApprovalAnswer::AllowOnce {
        arguments: arguments.map(Json::from),
        updates: Vec::new(),
    }
}
