//! Interceptors written for AGENT-HOOKS-0.1, on our seams.
//!
//! That contract is framework-neutral: an interceptor is shown a context at eight points of an agent's
//! life and answers with a verdict (allow, deny, transform); a host folds the verdicts of several
//! into one and acts on it. The folding is the contract's own (`agent_hooks::InterceptionEmitter`:
//! composition profiles, approval, evaluate-only, records); this module is the host: it asks at each
//! point, and gives the answer to the seam that has the authority for it.
//!
//! | point | where | allow | deny | transform |
//! |---|---|---|---|---|
//! | `agent_startup` | `agent.session_start` | – | every prompt is blocked | refused by the contract |
//! | `input` | `agent.prompt` | enters | blocked | enters in other words |
//! | `pre_model_call` | `agent.request` | is made | the turn is halted | refused: what a model sees is the log |
//! | `post_model_call` | around the model | is taken over | the request fails | is taken over changed |
//! | `pre_tool_call` | `tools.propose`, `tools.pre` | no objection | denied | rewritten, as a whole |
//! | `post_tool_call` | `tools.post` | stands | replaced by the reason | the value is replaced |
//! | `output` | `agent.display` | is shown | nothing is shown, the turn is halted | is shown changed |
//! | `agent_shutdown` | `agent.session_end` | – | – | refused by the contract |
//!
//! Arguments that another listener changes after they were judged are judged again at `tools.pre`;
//! nobody rewrites there, so a transform denies the call.
//!
//! What `output` changes or withholds is what is shown: the log, and so the model, keeps the answer.
//!
//! A deny that an approval could lift is asked of the emitter's own resolver. Where it has none, the
//! call is asked about at `tools.approval`, like any other that needs a person's yes.
//!
//! Not declared: `incremental_output` (an answer is judged whole, before any of it is shown),
//! `bigint_json` (integers beyond 64 bits lose their digits in the contract's own JSON type), and
//! `host_declaration` (the host is set up in code).
//!
//! ```
//! use agent_hooks::{AgentContext, EnforcementMode, InterceptionEmitter, Interceptor, Verdict};
//! use seamline_harness::agent::Agent;
//! use seamline_harness::agent_hooks::AgentHooks;
//! use seamline_harness::session::Session;
//! use seamline_harness::testing::{Play, Scripted, Scripts};
//! use seamline_seams::Scope;
//!
//! struct NoSecrets;
//!
//! #[async_trait::async_trait]
//! impl Interceptor for NoSecrets {
//!     async fn intercept(&self, context: &AgentContext) -> Verdict {
//!         let secret = context["target"].to_string().contains("hunter2");
//!         match secret {
//!             true => Verdict::deny(Some("demo:secret".to_owned()), None),
//!             false => Verdict::allow(),
//!         }
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut emitter = InterceptionEmitter::new(EnforcementMode::Enforce, None);
//! emitter.register(Box::new(NoSecrets));
//! let hooks = AgentHooks::new(emitter, "demo");
//!
//! let model = hooks.model(Scripted::new(Scripts::main([Play::text("It is hunter2.")])));
//! let agent = Agent::builder(model, Session::ephemeral("/project")).build();
//! let scope = Scope::root("interceptors");
//! hooks.install(&scope, &agent);
//!
//! let outcome = agent.send("What is the password?").await;
//! assert_eq!(outcome.text, None);
//! agent.close("done").await?;
//! assert_eq!(hooks.records().await.len(), 5);
//! # Ok(())
//! # }
//! ```

mod lifecycle;
mod model;
mod tools;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_hooks::{
    AgentContext, AgentContextBuilder, Decision, EnforcementMode, InterceptionEmitter,
    InterceptionRecord,
};
use seamline_seams::{Halt, Scope, Source, Token, When};
use serde_json::Value;

use crate::agent::AgentHandle;
pub use model::Judged;

/// The name it registers under; halts and denials carry it.
const NAME: &str = "agent-hooks";

/// The interceptors of one agent. Clones are the same ones.
#[derive(Clone)]
pub struct AgentHooks(Arc<Inner>);

struct Inner {
    agent: String,
    /// One emission at a time: contexts are numbered.
    host: tokio::sync::Mutex<Host>,
    state: Mutex<State>,
}

struct Host {
    emitter: InterceptionEmitter,
    /// Made when the session is known.
    builder: Option<AgentContextBuilder>,
}

#[derive(Default)]
struct State {
    /// Why the session was refused at its start.
    refused: Option<String>,
    /// Whether anything was blocked so that a turn could not be completed.
    blocked: bool,
    /// What was decided of calls that wait for `tools.pre`, and of which arguments.
    calls: HashMap<Token, (Value, Judgement)>,
    /// Whether the model's last message calls tools. Not known of a model that is not judged: what
    /// it says is taken for the turn's output then.
    calls_tools: bool,
    /// Texts of the answer that wait for its last one.
    held: Vec<String>,
}

/// What was decided of a call.
#[derive(Debug, Clone)]
enum Judgement {
    Proceed,
    Deny(String),
    /// A deny that an approval can lift.
    Ask(String),
}

/// What came of one emission.
struct Emitted {
    record: InterceptionRecord,
    /// The context after the fold.
    context: AgentContext,
}

impl AgentHooks {
    /// The interceptors that are registered with an emitter. `agent` is the agent's id in contexts.
    pub fn new(emitter: InterceptionEmitter, agent: impl Into<String>) -> Self {
        Self(Arc::new(Inner {
            agent: agent.into(),
            host: tokio::sync::Mutex::new(Host {
                emitter,
                builder: None,
            }),
            state: Mutex::default(),
        }))
    }

    /// Asks the interceptors at each point of this agent's life, until the scope is disposed. Its
    /// model has to be one of [`model`](Self::model) for `post_model_call` to be among them; with
    /// another, `output` is asked about what each step says.
    pub fn install(&self, scope: &Scope, agent: &AgentHandle) {
        self.install_lifecycle(scope, agent);
        self.install_tools(scope, agent.tool_seams());
    }

    /// A model whose answers the interceptors judge before anybody else sees them.
    pub fn model<M>(&self, inner: M) -> Judged<M> {
        Judged::new(self.clone(), inner)
    }

    /// The emitter's records so far, oldest first.
    pub async fn records(&self) -> Vec<InterceptionRecord> {
        self.0.host.lock().await.emitter.records().to_vec()
    }

    /// Asks at one point.
    async fn emit(
        &self,
        context: impl FnOnce(&mut AgentContextBuilder) -> AgentContext,
    ) -> Emitted {
        let mut host = self.0.host.lock().await;
        let Host { emitter, builder } = &mut *host;
        let fresh = || AgentContextBuilder::new(&self.0.agent, "seamline", "");
        let mut context = context(builder.get_or_insert_with(fresh));
        let record = emitter.emit_unchecked(&mut context).await;
        Emitted { record, context }
    }

    async fn begin(&self, session: &str) {
        let builder = AgentContextBuilder::new(&self.0.agent, "seamline", session);
        self.0.host.lock().await.builder = Some(builder);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn halt(&self, reason: String) -> Halt {
        self.state().blocked = true;
        Halt {
            when: When::Now,
            reason: Some(reason),
            by: source(),
        }
    }
}

impl Emitted {
    /// Why the action is blocked; `None` when it goes on.
    fn blocked(&self) -> Option<String> {
        let verdict = &self.record.verdict;
        let words = verdict.message.as_ref().or(verdict.reason.as_ref());
        let words = || {
            words
                .cloned()
                .unwrap_or_else(|| "denied by an interceptor".to_owned())
        };
        (!self.record.proceeds()).then(words)
    }

    /// Whether the action goes on changed. Interceptors that only evaluate change nothing.
    fn transforms(&self) -> bool {
        self.record.mode == EnforcementMode::Enforce
            && self.record.proceeds()
            && self.record.verdict.decision == Decision::Transform
    }
}

fn source() -> Source {
    Source::new(NAME)
}
