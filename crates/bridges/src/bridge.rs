//! One dialect's hooks as a plugin.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use seamline_harness::agent::AgentHandle;
use seamline_harness::tools::ToolSeams;
use seamline_hooks::outcome::HaltRequest;
use seamline_hooks::{DialectId, Engine, HandlerKey, Outcome};
use seamline_seams::{Context, Halt, Name, Notice, Riders, Scope, Signal, Source, Token, When};
use tokio_util::task::TaskTracker;

use crate::approval::Asking;
use crate::record::Witness;
use crate::tools::Remembered;

/// The default of [`BridgeOptions::stderr_summary`].
const STDERR_SUMMARY: NonZeroUsize = NonZeroUsize::MIN.saturating_add(499);

/// What may be set about a bridge.
#[derive(Debug, Clone)]
pub struct BridgeOptions {
    /// How often in a row Stop hooks may keep a turn going; 0 is as often as they like. Claude Code
    /// has 8 (measured), Codex has no cap (measured) and 50 is ours.
    pub stop_cap: u32,
    /// Whether a person sits at the terminal. Without one, a PermissionRequest hook is not asked
    /// about a call that another hook wants a person to be asked about (measured, Claude Code).
    pub attended: bool,
    /// The longest summary of a hook's standard error that is kept in the log, in characters.
    pub stderr_summary: NonZeroUsize,
    /// What payloads call the model; `None` is the name of the one that runs.
    pub model: Option<String>,
}

impl BridgeOptions {
    /// The dialect's own.
    #[must_use]
    pub fn of(dialect: DialectId) -> Self {
        let stop_cap = match dialect {
            DialectId::Claude => 8,
            DialectId::Codex => 50,
        };
        Self {
            stop_cap,
            attended: false,
            stderr_summary: STDERR_SUMMARY,
            model: None,
        }
    }
}

/// One dialect's hooks. Cheap to clone through its `Arc`.
pub struct Bridge {
    pub(crate) engine: Arc<Engine>,
    pub(crate) options: BridgeOptions,
    pub(crate) elder: Option<Arc<Bridge>>,
    pub(crate) memory: Mutex<HashMap<Token, Remembered>>,
    /// Codex's SessionStart `continue: false`, answered at the first prompt.
    pub(crate) refused_start: Mutex<Option<HaltRequest>>,
    pub(crate) asking: Asking,
    /// Hooks that run beside what goes on; the end of the session waits for them.
    pub(crate) beside: TaskTracker,
    witness: Arc<dyn Witness>,
    agent: OnceLock<AgentHandle>,
    /// Cancelled when the scope it is registered in is disposed of.
    disposed: OnceLock<Signal>,
}

impl Bridge {
    /// A bridge over an engine. `elder` is the bridge that is registered before it: a command that
    /// both would run for one moment runs under the elder.
    #[must_use]
    pub fn new(
        engine: Arc<Engine>,
        options: BridgeOptions,
        elder: Option<Arc<Self>>,
        witness: Arc<dyn Witness>,
    ) -> Arc<Self> {
        Arc::new(Self {
            engine,
            options,
            elder,
            memory: Mutex::default(),
            refused_start: Mutex::default(),
            asking: Asking::default(),
            beside: TaskTracker::new(),
            witness,
            agent: OnceLock::new(),
            disposed: OnceLock::new(),
        })
    }

    /// The engine.
    #[must_use]
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Its dialect.
    #[must_use]
    pub fn dialect(&self) -> DialectId {
        self.engine.table().id
    }

    /// Registers the bridge on every seam of the agent that it answers; `hook/*` events go into the
    /// agent's log. A bridge serves one agent: a second registration is refused with `false`.
    ///
    /// Disposing of `scope` removes the bridge, ends its running hooks and returns when none is
    /// left.
    #[must_use = "a bridge that is not registered gates nothing"]
    pub fn register(self: &Arc<Self>, scope: &Scope, agent: &AgentHandle) -> bool {
        if self.disposed.set(scope.signal().clone()).is_err() {
            return false;
        }
        let _ = self.agent.set(agent.clone());
        self.register_tools(scope, agent.tool_seams());
        self.register_approval(scope, agent.tool_seams());
        self.register_session(scope, agent.seams());
        self.register_prompt(scope, agent.seams());
        self.register_stop(scope, agent.seams());
        self.register_requests(scope, agent.seams());
        let (bridge, signal) = (Arc::clone(self), scope.signal().clone());
        let agent = agent.clone();
        scope.spawn(async move {
            let told = bridge.tell_background(&agent);
            tokio::select! {
                () = told => {}
                () = signal.cancelled() => {
                    bridge.engine.dispose().await;
                    let turn = agent.facts().turn.map(|turn| turn.number);
                    for ended in bridge.engine.take_background() {
                        bridge.record_result(turn, &ended.run);
                        bridge.witness.ended(&ended.run);
                    }
                }
            }
        });
        true
    }

    /// Registers the bridge on the seams of a pipeline that no agent has, for a program that calls
    /// tools by itself: calls and their results are judged, no log keeps the runs, and nobody is
    /// told what handlers in background say. Refused with `false` like [`Bridge::register`].
    #[must_use = "a bridge that is not registered gates nothing"]
    pub fn register_without_agent(self: &Arc<Self>, scope: &Scope, tools: &ToolSeams) -> bool {
        if self.disposed.set(scope.signal().clone()).is_err() {
            return false;
        }
        self.register_tools(scope, tools);
        self.register_approval(scope, tools);
        let (bridge, signal) = (Arc::clone(self), scope.signal().clone());
        scope.spawn(async move {
            signal.cancelled().await;
            bridge.engine.dispose().await;
        });
        true
    }

    /// Hands on what handlers in background say when they end: contexts to the model at the next
    /// step, messages to the user.
    async fn tell_background(&self, agent: &AgentHandle) {
        loop {
            self.engine.background_ended().await;
            for ended in self.engine.take_background() {
                let source = self.source(&ended.run.handler.key);
                let turn = agent.facts().turn.map(|turn| turn.number);
                self.record_result(turn, &ended.run);
                self.witness.ended(&ended.run);
                for text in ended.contexts {
                    agent.inject(Context {
                        source: source.clone(),
                        text,
                    });
                }
                if let Some(text) = ended.message {
                    self.tell(Notice { source, text });
                }
            }
        }
    }

    pub(crate) fn name(&self) -> Name {
        Name::from(name_of(self.dialect()))
    }

    pub(crate) fn source(&self, key: &HandlerKey) -> Source {
        Source::new(self.name()).with_key(key.0.clone())
    }

    pub(crate) fn witness(&self) -> &Arc<dyn Witness> {
        &self.witness
    }

    /// Cancelled when it is disposed of.
    pub(crate) fn signal(&self) -> Signal {
        self.disposed.get().cloned().unwrap_or_default()
    }

    /// Whether it is registered and not disposed of.
    pub(crate) fn is_at_work(&self) -> bool {
        let disposed = self.disposed.get();
        disposed.is_some_and(|disposed| !disposed.is_cancelled())
    }

    pub(crate) fn agent(&self) -> Option<&AgentHandle> {
        self.agent.get()
    }

    /// Tells the user something, once there is an agent. A log that cannot be written is reported by the
    /// loop itself.
    pub(crate) fn tell(&self, notice: Notice) {
        if let Some(agent) = self.agent() {
            let _ = agent.tell(notice);
        }
    }

    /// Contexts, notices and the halt of an outcome, each with its source.
    pub(crate) fn riders(&self, outcome: &Outcome) -> Riders {
        Riders {
            contexts: outcome
                .contexts
                .iter()
                .map(|by| Context {
                    source: self.source(&by.by),
                    text: by.value.clone(),
                })
                .collect(),
            notices: self.notices(outcome),
            halt: outcome.halt.as_ref().map(|halt| self.halt(halt)),
        }
    }

    pub(crate) fn notices(&self, outcome: &Outcome) -> Vec<Notice> {
        outcome
            .notices
            .iter()
            .map(|by| Notice {
                source: self.source(&by.by),
                text: by.value.text.clone(),
            })
            .collect()
    }

    /// A halt waits for the batch: what was decided before it is committed first.
    pub(crate) fn halt(&self, halt: &HaltRequest) -> Halt {
        Halt {
            when: When::AfterBatch,
            reason: halt.reason.clone(),
            by: self.source(&halt.by),
        }
    }

    pub(crate) fn with_memory<T>(&self, f: impl FnOnce(&mut HashMap<Token, Remembered>) -> T) -> T {
        f(&mut self.memory.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn name_of(dialect: DialectId) -> &'static str {
    match dialect {
        DialectId::Claude => "hooks-claude",
        DialectId::Codex => "hooks-codex",
    }
}

/// Whether a plugin of this name is a bridge.
pub(crate) fn is_one(plugin: &Name) -> bool {
    DialectId::ALL
        .into_iter()
        .any(|dialect| plugin.as_str() == name_of(dialect))
}
