//! Sets an agent up over a stage, sends the prompts, and sees what came of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use seamline_bridges::{Bridge, BridgeOptions};
use seamline_harness::agent::{Agent, TurnOutcome};
use seamline_harness::model::{Message, Model};
use seamline_harness::permission::{Mode, Update};
use seamline_harness::plugins::{PermissionRules, ShellSyntax};
use seamline_harness::session::Session;
use seamline_harness::session::event::TurnEndReason;
use seamline_harness::testing::Recorder;
use seamline_harness::tools::{ApprovalAnswer, Registry};
use seamline_hooks::{DialectId, Engine};
use seamline_seams::Scope;

use super::watch::Watch;
use crate::level::kit::{Kit, Trust};
use crate::level::servers::CaseServers;
use crate::observed::{Observed, Place, Said};
use crate::rec::{self, NOTES};
use crate::stage::Stage;

/// Who plays.
pub(super) struct Cast {
    /// The dialect of the bridge.
    pub(super) dialect: DialectId,
    /// The scripted model.
    pub(super) model: Arc<dyn Model>,
    /// The tools.
    pub(super) registry: Registry,
    /// The permission mode.
    pub(super) mode: Mode,
    /// Tools that are never asked about.
    pub(super) allowed: Vec<String>,
    /// What is set about the bridge.
    pub(super) options: BridgeOptions,
    /// The client's answer to an approval that no hook decided; `None` when nobody answers.
    pub(super) answers: Option<bool>,
    /// What the user says.
    pub(super) prompts: Vec<String>,
}

impl Cast {
    /// Plays all prompts.
    pub(super) async fn perform(
        self,
        kit: &Kit,
        stage: &Stage,
        servers: &CaseServers,
    ) -> Result<Observed, String> {
        let engine = Arc::new(kit.engine(self.dialect, stage, &Trust::All, servers));
        let watch = Arc::new(Watch::new(kit.reader(self.dialect)));
        let model = Recorder::new(Arc::clone(&self.model));
        let agent = Agent::builder(model.clone(), Session::ephemeral(&stage.start))
            .tools(self.registry.clone())
            .mode(self.mode)
            .build();
        let asked = Arc::new(AtomicU64::new(0));
        let scope = Scope::root("conformance");
        self.register(&agent, &scope, &engine, &watch)?;
        if self.dialect == DialectId::Claude {
            self.rule(&agent, &scope, &engine, stage);
        }
        self.answer(&agent, &scope, &engine, &watch, &asked);
        self.settle(&agent, stage);
        let mut ends = Vec::new();
        for prompt in &self.prompts {
            ends.push(agent.send(prompt.as_str()).await);
        }
        agent
            .close("other")
            .await
            .map_err(|error| error.to_string())?;
        scope.dispose().await;
        engine.dispose().await;
        servers.close().await;
        let mut seen = self.observed(&ends, &watch, stage);
        let requests = model.requests();
        seen.model_requests = u64::try_from(requests.len()).ok();
        seen.model = Some(
            requests
                .last()
                .map(|last| told(&last.messages))
                .unwrap_or_default(),
        );
        seen.approvals_asked = self.answers.map(|_| asked.load(Ordering::SeqCst));
        Ok(seen)
    }

    fn register(
        &self,
        agent: &Agent,
        scope: &Scope,
        engine: &Arc<Engine>,
        watch: &Arc<Watch>,
    ) -> Result<(), String> {
        let witness = Arc::clone(watch);
        let bridge = Bridge::new(Arc::clone(engine), self.options.clone(), None, witness);
        if !bridge.register(scope, &agent.handle()) {
            return Err("the bridge serves another agent".to_owned());
        }
        let watch = Arc::clone(watch);
        let results = &agent.tool_seams().result;
        let _registered = results.on(scope, "watch", move |result| watch.result(result));
        Ok(())
    }

    /// What the harness refuses and asks for by itself, by the settings of the case.
    fn rule(&self, agent: &Agent, scope: &Scope, engine: &Engine, stage: &Stage) {
        let policy = engine
            .in_force()
            .loaded()
            .policy(|file| file.display().to_string(), |_| true);
        PermissionRules::new(policy, &stage.home).install(scope, agent);
        ShellSyntax.install(scope, agent);
    }

    /// The client answers what the hooks do not decide, and only then.
    fn answer(
        &self,
        agent: &Agent,
        scope: &Scope,
        engine: &Arc<Engine>,
        watch: &Arc<Watch>,
        asked: &Arc<AtomicU64>,
    ) {
        let Some(accepts) = self.answers else {
            return;
        };
        let (watch, asked) = (Arc::clone(watch), Arc::clone(asked));
        let hooks = engine.listens("PermissionRequest");
        let _registered = agent
            .tool_seams()
            .approval
            .on(scope, "client", move |_, _| {
                let (watch, asked) = (Arc::clone(&watch), Arc::clone(&asked));
                async move {
                    if hooks {
                        watch.undecided().await;
                    }
                    asked.fetch_add(1, Ordering::SeqCst);
                    Some(if accepts {
                        ApprovalAnswer::AllowOnce {
                            arguments: None,
                            updates: Vec::new(),
                        }
                    } else {
                        ApprovalAnswer::Deny {
                            message: None,
                            interrupt: false,
                        }
                    })
                }
            });
    }

    /// The tools work with the variables of the case, and no others of ours that matter.
    fn settle(&self, agent: &Agent, stage: &Stage) {
        let env = stage.env.iter();
        let env = env.map(|(name, value)| {
            (
                name.to_string_lossy().into_owned(),
                value.to_string_lossy().into_owned(),
            )
        });
        agent.workspace().extend_env(env);
        for tool in &self.allowed {
            agent.permission().apply(Update::AllowTool(tool.clone()));
        }
    }

    fn observed(&self, ends: &[TurnOutcome], watch: &Watch, stage: &Stage) -> Observed {
        let watched = watch.take(rec::read(&stage.root.join(NOTES)));
        let turns: Vec<&'static str> = ends.iter().map(|end| self.word(&end.end)).collect();
        let rejected = |end: &TurnOutcome| matches!(end.end, TurnEndReason::Rejected { .. });
        Observed {
            complaints: watched.misread,
            rounds: watched.rounds,
            calls: Some(watched.calls),
            calls_are_complete: true,
            prompts: ends.iter().map(|end| !rejected(end)).collect(),
            turn: turns.first().copied().filter(|_| turns.len() == 1),
            turns: Some(turns),
            emitted: watched.emitted,
            names: stage.names.clone(),
            ..Observed::default()
        }
    }

    /// How the client of the dialect calls the end of a turn. Codex completes what hooks end.
    fn word(&self, end: &TurnEndReason) -> &'static str {
        match (end, self.dialect) {
            (TurnEndReason::Completed, _) => "completed",
            (TurnEndReason::Stopped { .. } | TurnEndReason::Rejected { .. }, DialectId::Codex) => {
                "completed"
            }
            (TurnEndReason::Stopped { .. } | TurnEndReason::Rejected { .. }, _) => "stopped",
            (TurnEndReason::Deferred { .. }, _) => "deferred",
            (TurnEndReason::Aborted { .. } | TurnEndReason::Interrupted, _) => "stopped",
            (TurnEndReason::MaxTokens | TurnEndReason::Error { .. }, _) => "error",
        }
    }
}

/// The texts of a request that are not the model's own, in order.
fn told(messages: &[Arc<Message>]) -> Vec<Said> {
    let said = |message: &Arc<Message>| {
        let (text, place) = match &**message {
            Message::User { content, .. } => (content.to_text(), Place::User),
            Message::Context { text, .. } => (text.clone(), Place::Context),
            Message::ToolResult { content, .. } => (content.to_text(), Place::Result),
            Message::Assistant { .. } => return None,
        };
        Some(Said {
            place,
            ..Said::certain(text)
        })
    };
    messages.iter().filter_map(said).collect()
}
