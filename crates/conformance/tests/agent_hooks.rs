//! The conformance kit of AGENT-HOOKS-0.1, on the real loop.
//!
//! Its vectors are data of that project (github.com/responsibleai/agent-hooks, `conformance/vectors`)
//! and not part of this one: `AGENT_HOOKS_VECTORS` names the folder they are in.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "in a test a broken expectation is a panic"
)]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use agent_hooks::ctk::{
    Harness, IdentityPair, RunRecord, VectorSetup, async_trait, load_vectors, run_vector,
};
use agent_hooks::{AgentContext, InterceptionEmitter, Transform};
use futures_util::future::BoxFuture;
use seamline_harness::agent::Agent;
use seamline_harness::agent_hooks::AgentHooks;
use seamline_harness::content::Content;
use seamline_harness::json::Json;
use seamline_harness::model::scripted::{Play, ScriptBlock, Scripted, Scripts};
use seamline_harness::permission::Mode;
use seamline_harness::session::Session;
use seamline_harness::session::event::TurnEndReason;
use seamline_harness::tools::{JsonTool, Registry, ToolContext, ToolError};
use seamline_seams::Scope;
use serde_json::{Value, json};

/// What the loop really does; the module says why the others are not among it.
const CAPABILITIES: [&str; 3] = ["model_calls", "tool_calls", "int64_json"];

/// Vectors that need what is not declared, and what that is.
const SKIPPED: [(&str, &str); 5] = [
    ("AH-CTK-091", "bigint_json"),
    ("AH-CTK-110", "incremental_output"),
    ("AH-CTK-111", "incremental_output"),
    ("AH-CTK-112", "incremental_output"),
    ("AH-CTK-113", "incremental_output"),
];

/// A tool of a scenario: answers as its script says, and notes that it was called.
struct ScriptedTool {
    name: String,
    behavior: Vec<Value>,
    called: Arc<Mutex<Vec<Value>>>,
}

impl JsonTool for ScriptedTool {
    fn name(&self) -> &str {
        &self.name
    }
    fn description(&self) -> &str {
        "A tool of a scenario."
    }
    fn schema(&self) -> Value {
        json!({"type": "object"})
    }
    fn run(&self, args: Json, _: ToolContext) -> BoxFuture<'_, Result<Json, ToolError>> {
        Box::pin(async move {
            let (name, args) = (&self.name, args.value());
            self.called
                .lock()
                .unwrap()
                .push(json!({"name": name, "args": args}));
            let fits = |rule: &&Value| rule.get("when_args").is_none_or(|wanted| wanted == args);
            let rule = self.behavior.iter().find(fits);
            let rule = rule.ok_or_else(|| ToolError::new("the scenario has no answer to this"))?;
            match rule["is_error"] == true {
                true => Err(ToolError::new(rule["return"].to_string())),
                false => Ok(Json::from_value(rule["return"].clone())),
            }
        })
    }
    fn check_value(&self, _: &Json) -> Result<(), String> {
        Ok(())
    }
    fn render(&self, _: &Json, value: &Json) -> Result<Content, String> {
        let text = value
            .value()
            .as_str()
            .map_or_else(|| value.text().to_owned(), ToOwned::to_owned);
        Ok(Content::text(text))
    }
}

/// Our agent as the kit drives it.
#[derive(Default)]
struct Seamline {
    scenario: Value,
    emitter: Option<InterceptionEmitter>,
    called: Arc<Mutex<Vec<Value>>>,
}

impl Seamline {
    fn tools(&self) -> Registry {
        let registry = Registry::new();
        for tool in self.scenario["tools"].as_array().into_iter().flatten() {
            let tool = ScriptedTool {
                name: tool["name"].as_str().unwrap().to_owned(),
                behavior: tool["behavior"].as_array().cloned().unwrap_or_default(),
                called: Arc::clone(&self.called),
            };
            registry.add(tool).unwrap();
        }
        registry
    }

    fn script(&self) -> Scripts {
        let steps = self.scenario["model_script"]
            .as_array()
            .into_iter()
            .flatten();
        Scripts::main(steps.map(|step| {
            let respond = &step["respond"];
            let text = respond["content"]
                .as_str()
                .map(|text| ScriptBlock::Text(text.to_owned()));
            let calls = respond["tool_calls"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|call| {
                    let name = call["name"].as_str().unwrap();
                    ScriptBlock::call(name, call["args"].clone())
                        .with_id(call["id"].as_str().unwrap())
                });
            Play::blocks(text.into_iter().chain(calls))
        }))
    }
}

#[async_trait]
impl Harness for Seamline {
    fn name(&self) -> &str {
        "seamline"
    }

    fn capabilities(&self) -> Vec<String> {
        CAPABILITIES.map(str::to_owned).to_vec()
    }

    fn setup(&mut self, setup: VectorSetup) {
        let mut emitter = InterceptionEmitter::new(setup.mode, setup.resolver);
        emitter.set_composition(setup.composition);
        if emitter
            .set_identity_provider(setup.identity_provider)
            .is_err()
        {
            panic!("the kit names its providers well");
        }
        if !setup.redact_for_approval.is_empty() {
            let paths = setup.redact_for_approval;
            emitter.set_approval_redactor(move |context| redacted(context, &paths));
        }
        for interceptor in setup.interceptors {
            emitter.register(interceptor);
        }
        self.scenario = setup.scenario;
        self.called = Arc::default();
        self.emitter = Some(emitter);
    }

    async fn run(&mut self) -> RunRecord {
        let hooks = AgentHooks::new(self.emitter.take().unwrap(), "agent");
        let model = hooks.model(Scripted::new(self.script()));
        let agent = Agent::builder(model, Session::ephemeral("/project"))
            .model_name("mock")
            .tools(self.tools())
            .mode(Mode::BypassPermissions)
            .build();
        let scope = Scope::root("interceptors");
        hooks.install(&scope, &agent);
        let input = self.scenario["input"]["content"]
            .as_str()
            .unwrap_or_default();
        let outcome = agent.send(input).await;
        agent.close("done").await.unwrap();
        scope.dispose().await;
        let completed = outcome.end == TurnEndReason::Completed;
        let records = hooks.records().await;
        RunRecord {
            outcome: if completed { "completed" } else { "blocked" }.to_owned(),
            final_output: match outcome.text {
                Some(text) if completed => Value::String(text),
                _ => Value::Null,
            },
            tool_invocations: self.called.lock().unwrap().clone(),
            identities: records
                .iter()
                .map(|record| IdentityPair {
                    input_identity: record.input_identity.clone(),
                    enforced_identity: record.enforced_identity.clone(),
                })
                .collect(),
            records: records
                .iter()
                .map(|record| serde_json::to_value(record).unwrap())
                .collect(),
            ..RunRecord::default()
        }
    }

    fn teardown(&mut self) {
        self.emitter = None;
    }
}

/// The kit's convention: each path of the target is replaced, those that are not there are left.
fn redacted(context: &AgentContext, paths: &[String]) -> AgentContext {
    let mut context = context.clone();
    for path in paths {
        let transform = Transform {
            path: path.clone(),
            value: Value::String("[redacted]".to_owned()),
        };
        let _ = agent_hooks::apply_transform_to_ctx(&mut context, &transform);
    }
    context
}

fn vectors() -> Option<PathBuf> {
    std::env::var_os("AGENT_HOOKS_VECTORS").map(PathBuf::from)
}

/// Every vector for what is declared passes; those that are skipped are known, with the reason.
#[tokio::test]
async fn the_kit_passes_on_the_real_loop() {
    let Some(folder) = vectors() else {
        eprintln!(
            "skipped: set AGENT_HOOKS_VECTORS to the folder conformance/vectors of a checkout of \
             github.com/responsibleai/agent-hooks"
        );
        return;
    };
    let (mut passed, mut skipped, mut failed) = (0, Vec::new(), Vec::new());
    for vector in load_vectors(Path::new(&folder)).unwrap() {
        let result = run_vector(&mut Seamline::default(), &vector).await;
        match result.status {
            "pass" => passed += 1,
            "skip" => skipped.push(result.id),
            _ => failed.push(format!("{}: {:?}", result.id, result.failures)),
        }
    }
    println!("{passed} passed");
    for id in &skipped {
        let why = SKIPPED.iter().find(|(known, _)| known == id);
        println!("skipped {id}: {}", why.map_or("not known", |(_, why)| why));
    }
    assert!(failed.is_empty(), "{failed:#?}");
    assert_eq!(skipped, SKIPPED.map(|(id, _)| id.to_owned()));
    assert!(passed >= 46, "vectors are missing: {passed}");
}
