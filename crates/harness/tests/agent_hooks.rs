//! What the kit of AGENT-HOOKS-0.1 does not ask of the adapter: interceptors beside other listeners,
//! a model that is not judged, and interceptors that only watch.

#![cfg(feature = "agent-hooks")]
#![expect(
    clippy::unwrap_used,
    reason = "in a test a broken expectation is a panic"
)]

use std::sync::{Arc, Mutex};

use agent_hooks::{
    AgentContext, Decision, EnforcementMode, InterceptionEmitter, Interceptor, Transform, Verdict,
};
use futures_util::future::BoxFuture;
use seamline_harness::agent::Agent;
use seamline_harness::agent_hooks::AgentHooks;
use seamline_harness::content::Content;
use seamline_harness::json::Json;
use seamline_harness::model::Model;
use seamline_harness::permission::Mode;
use seamline_harness::session::Session;
use seamline_harness::session::event::TurnEndReason;
use seamline_harness::testing::{Play, ScriptBlock, Scripted, Scripts};
use seamline_harness::tools::{JsonTool, ProposeDecision, Registry, ToolContext, ToolError};
use seamline_seams::{Scope, Source};
use serde_json::{Value, json};

/// A tool that keeps the arguments it ran with and answers `done`.
struct Note(Arc<Mutex<Vec<Value>>>);

impl JsonTool for Note {
    fn name(&self) -> &str {
        "note"
    }
    fn description(&self) -> &str {
        "Keeps its arguments."
    }
    fn schema(&self) -> Value {
        json!({"type": "object"})
    }
    fn run(&self, args: Json, _: ToolContext) -> BoxFuture<'_, Result<Json, ToolError>> {
        self.0.lock().unwrap().push(args.value().clone());
        Box::pin(async { Ok(Json::from_value(json!("done"))) })
    }
    fn check_value(&self, _: &Json) -> Result<(), String> {
        Ok(())
    }
    fn render(&self, _: &Json, value: &Json) -> Result<Content, String> {
        Ok(Content::text(value.text().to_owned()))
    }
}

/// An interceptor that answers from a function, and keeps the points it was asked at.
struct Says<F>(F, Arc<Mutex<Vec<Value>>>);

#[async_trait::async_trait]
impl<F: Fn(&AgentContext) -> Verdict + Send + Sync> Interceptor for Says<F> {
    async fn intercept(&self, context: &AgentContext) -> Verdict {
        let context_json = json!(context);
        self.1.lock().unwrap().push(context_json);
        (self.0)(context)
    }
}

struct Bench {
    agent: Agent,
    hooks: AgentHooks,
    scope: Scope,
    ran: Arc<Mutex<Vec<Value>>>,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Bench {
    /// An agent whose model calls `note` once and then says `bye`.
    fn new(
        mode: EnforcementMode,
        judged: bool,
        says: impl Fn(&AgentContext) -> Verdict + Send + Sync + 'static,
    ) -> Self {
        let (ran, asked) = (Arc::default(), Arc::default());
        let mut emitter = InterceptionEmitter::new(mode, None);
        emitter.register(Box::new(Says(says, Arc::clone(&asked))));
        let hooks = AgentHooks::new(emitter, "agent");
        let call = ScriptBlock::call("note", json!({"what": "asked"}));
        let model = Scripted::new(Scripts::main([Play::blocks([call]), Play::text("bye")]));
        let scope = Scope::root("interceptors");
        let agent = match judged {
            true => agent(hooks.model(model), Arc::clone(&ran)),
            false => agent(model, Arc::clone(&ran)),
        };
        hooks.install(&scope, &agent);
        Self {
            agent,
            hooks,
            scope,
            ran,
            asked,
        }
    }

    /// A listener further in than the interceptors, that writes other arguments.
    fn rewrite(&self) {
        let seams = self.agent.tool_seams();
        let _registered = seams
            .propose
            .on(&self.scope, "rewriter", |_, next| async move {
                let reply = next.run().await?;
                let other = Json::from_value(json!({"what": "rewritten"}));
                Ok(reply.map(|said: ProposeDecision| said.after(other, Source::new("rewriter"))))
            });
    }

    fn asked_at(&self, point: &str) -> Vec<Value> {
        let asked = self.asked.lock().unwrap();
        let there = asked
            .iter()
            .filter(|context| context["interception_point"] == point);
        there.cloned().collect()
    }
}

fn agent(model: impl Model, ran: Arc<Mutex<Vec<Value>>>) -> Agent {
    let registry = Registry::new();
    registry.add(Note(ran)).unwrap();
    Agent::builder(model, Session::ephemeral("/project"))
        .tools(registry)
        .mode(Mode::BypassPermissions)
        .build()
}

fn at(context: &AgentContext, point: &str) -> bool {
    context["interception_point"] == point
}

fn transform(path: &str, value: Value) -> Verdict {
    let path = path.to_owned();
    Verdict {
        decision: Decision::Transform,
        transform: Some(Transform { path, value }),
        ..Verdict::allow()
    }
}

/// Interceptors that only evaluate change nothing and halt nothing, whatever they say.
#[tokio::test]
async fn evaluating_changes_nothing() {
    let says = |context: &AgentContext| match () {
        () if at(context, "pre_model_call") => transform("$target[0].content", json!("x")),
        () if at(context, "pre_tool_call") => transform("$target.what", json!("changed")),
        () if at(context, "output") => transform("$target", json!("changed")),
        () => Verdict::deny(Some("no".to_owned()), None),
    };
    let bench = Bench::new(EnforcementMode::EvaluateOnly, true, says);
    let outcome = bench.agent.send("go").await;
    assert_eq!(outcome.end, TurnEndReason::Completed);
    assert_eq!(outcome.text.as_deref(), Some("bye"));
    assert_eq!(*bench.ran.lock().unwrap(), [json!({"what": "asked"})]);
    let records = bench.hooks.records().await;
    let changes = records
        .iter()
        .filter(|record| record.verdict.decision == Decision::Transform);
    assert!(changes.count() >= 3, "{records:#?}");
}

/// Arguments that somebody changed after they were judged are judged again before the tool runs.
#[tokio::test]
async fn rewritten_arguments_are_judged() {
    let says = |context: &AgentContext| match json!(context).to_string().contains("rewritten") {
        true => Verdict::deny(Some("not those".to_owned()), None),
        false => Verdict::allow(),
    };
    let bench = Bench::new(EnforcementMode::Enforce, true, says);
    bench.rewrite();
    bench.agent.send("go").await;
    assert!(bench.ran.lock().unwrap().is_empty());
    assert_eq!(bench.asked_at("pre_tool_call").len(), 2);
}

/// Where others rewrote last, an interceptor's own rewrite cannot take place any more: a denial.
#[tokio::test]
async fn a_late_transform_denies() {
    let says = |context: &AgentContext| match json!(context).to_string().contains("rewritten") {
        true if at(context, "pre_tool_call") => transform("$target.what", json!("mine")),
        _ => Verdict::allow(),
    };
    let bench = Bench::new(EnforcementMode::Enforce, true, says);
    bench.rewrite();
    bench.agent.send("go").await;
    assert!(bench.ran.lock().unwrap().is_empty());
}

/// With a model that is not judged, the output is: what each step says.
#[tokio::test]
async fn the_output_of_any_model_is_judged() {
    let says = |context: &AgentContext| match at(context, "output") {
        true => Verdict::deny(Some("not that".to_owned()), None),
        false => Verdict::allow(),
    };
    let bench = Bench::new(EnforcementMode::Enforce, false, says);
    let outcome = bench.agent.send("go").await;
    assert_ne!(outcome.end, TurnEndReason::Completed);
    assert_eq!(bench.asked_at("output").len(), 1);
}

/// What a model is asked with is shown with the calls that were made.
#[tokio::test]
async fn requests_show_the_calls() {
    let bench = Bench::new(EnforcementMode::Enforce, true, |_: &AgentContext| {
        Verdict::allow()
    });
    bench.agent.send("go").await;
    let asked = bench.asked_at("pre_model_call");
    let messages = asked.last().unwrap().to_string();
    assert!(
        messages.contains(r#""args":{"what":"asked"}"#),
        "{messages}"
    );
}
