//! One firing, from made ready to done.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use seamline_bridges::HookServers;
use seamline_hooks::engine::{BackgroundRun, EngineParts, EnvFile, Prepared};
use seamline_hooks::payload::Payload;
use seamline_hooks::runner::Supervisor;
use seamline_hooks::trace::{Skip, SkipReason};
use seamline_hooks::trust::TrustState;
use seamline_hooks::{Action, DialectId, Engine, EventRow, Firing, HandlerKey};
use seamline_providers::mcp::Servers;

use crate::assemble::{self, Ingredients};
use crate::error::CliError;
use crate::hit::Hit;
use crate::interrupt::Interrupts;
use crate::places::Places;
use crate::render::left_behind;
use crate::setup::Setup;
use crate::{output, runtime};

/// One firing, ready.
pub(super) struct Shot {
    pub(super) setup: Setup,
    engine: Engine,
    supervisor: Arc<Supervisor>,
    prepared: Prepared,
    /// The file that hooks may write variables to, for the events that have one.
    env_file: Option<EnvFile>,
}

/// What the shots of one command have in common.
pub(super) struct Orders<'a> {
    pub(super) ingredients: &'a Ingredients,
    pub(super) trust_project: bool,
    pub(super) places: &'a Places,
    /// Started when a hook asks one.
    pub(super) servers: &'a Servers,
}

impl Shot {
    /// Makes a firing ready; `others` are those that come before it.
    pub(super) fn new(
        setup: Setup,
        row: &'static EventRow,
        orders: &Orders<'_>,
        others: &[Self],
    ) -> Result<Self, CliError> {
        let Orders {
            ingredients,
            trust_project,
            places,
            servers,
        } = orders;
        let dialect = setup.loaded.dialect;
        let payload = ingredients.payload(dialect, row, &places.roots.project)?;
        if let Some(odd) = assemble::odd_tool(dialect, &payload) {
            output::diagnostic(&format!("note: {odd}\n"));
        }
        let env_file = env_file(dialect, row)?;
        let (loaded, left_out) = setup.with_trusted_variables(*trust_project);
        if left_out {
            output::diagnostic("note: `env` of the project is left out, since it is not trusted\n");
        }
        let supervisor = Arc::new(Supervisor::new());
        let engine = Engine::new(EngineParts {
            loaded,
            trust: trust(&setup, *trust_project),
            exec: Arc::clone(&supervisor) as Arc<dyn seamline_hooks::runner::Exec>,
            mcp: Arc::new(HookServers::new(Arc::new((*servers).clone()))),
            base_env: places.own.environment(),
            project: places.roots.project.clone(),
            home: places.roots.home.clone(),
            spill_dir: places.state.join("hook-outputs"),
        });
        let prepared = engine.prepare(Firing {
            event: row.name,
            cwd: working_folder(&payload, places),
            env: env_file.iter().map(EnvFile::variable).collect(),
            payload,
            signal: CancellationToken::new(),
            ran_elsewhere: others.iter().flat_map(Self::commands).collect(),
        });
        Ok(Self {
            setup,
            engine,
            supervisor,
            prepared,
            env_file,
        })
    }

    /// Commands that this firing runs, with the handlers that run them.
    fn commands(&self) -> impl Iterator<Item = (String, HandlerKey)> {
        self.prepared
            .selection()
            .run
            .iter()
            .filter_map(|handler| match &handler.action {
                Action::Command(command) => Some((command.command.clone(), handler.key.clone())),
                _ => None,
            })
    }

    /// Whether a hook that runs asks an MCP server.
    pub(super) fn asks_servers(&self) -> bool {
        let mut run = self.prepared.selection().run.iter();
        run.any(|handler| matches!(handler.action, Action::McpTool { .. }))
    }

    /// Handlers that would run if they were trusted.
    pub(super) fn untrusted(&self) -> impl Iterator<Item = &Skip> {
        let skipped = self.prepared.selection().skipped.iter();
        skipped.filter(|skip| skip.reason == SkipReason::Trust)
    }
}

/// Trust as the engine is to see it.
fn trust(setup: &Setup, trust_project: bool) -> BTreeMap<HandlerKey, TrustState> {
    let seen = |handler| {
        let state = setup.trust_of(handler);
        if trust_project && !state.runs() {
            TrustState::Trusted
        } else {
            state
        }
    };
    setup
        .loaded
        .handlers
        .iter()
        .map(|handler| (handler.key.clone(), seen(handler)))
        .collect()
}

/// Hooks run where the payload says the session is, if that is here, or else in the project.
fn working_folder(payload: &Payload, places: &Places) -> PathBuf {
    payload
        .str_field("cwd")
        .map(PathBuf::from)
        .filter(|folder| folder.is_absolute() && folder.is_dir())
        .unwrap_or_else(|| places.roots.project.clone())
}

fn env_file(dialect: DialectId, row: &EventRow) -> Result<Option<EnvFile>, CliError> {
    let what = "a file for CLAUDE_ENV_FILE".to_owned();
    EnvFile::of(dialect, row).map_err(|source| CliError::Write { what, source })
}

/// Fires one after the other, in order, and ends the servers that hooks have asked.
pub(super) fn fire(shots: Vec<Shot>, servers: &Servers) -> Result<Vec<Hit>, CliError> {
    runtime::block_on(async {
        let hits = fire_all(shots).await;
        servers.close().await;
        hits
    })
}

async fn fire_all(shots: Vec<Shot>) -> Result<Vec<Hit>, CliError> {
    let mut hits = Vec::new();
    for shot in shots {
        let hit = shot.fire().await?;
        let interrupted = hit.interrupted;
        hits.push(hit);
        if interrupted {
            break;
        }
    }
    Ok(hits)
}

impl Shot {
    async fn fire(self) -> Result<Hit, CliError> {
        let mut interrupts = Interrupts::listen()?;
        let Firing {
            event,
            payload,
            signal,
            ..
        } = self.prepared.firing().clone();
        let watch = tokio::spawn({
            let signal = signal.clone();
            async move {
                interrupts.next().await;
                signal.cancel();
            }
        });
        let fired = self.engine.run(self.prepared).await;
        let background = settled(&self.engine, fired.trace.started.len(), &signal).await;
        self.engine.dispose().await;
        let swept = self.supervisor.shutdown().await;
        if let Some(note) = left_behind(swept.ended) {
            output::diagnostic(&format!("note: {note}\n"));
        }
        watch.abort();
        let environment = self
            .env_file
            .and_then(|file| std::fs::read_to_string(file.path()).ok());
        let looked_in = self.setup.looked_in();
        Ok(Hit {
            dialect: self.setup.loaded.dialect,
            event,
            payload,
            fired,
            background,
            environment: environment.filter(|text| !text.is_empty()),
            looked_in,
            interrupted: signal.is_cancelled(),
        })
    }
}

/// Waits for the hooks in background. An agent would go on; here somebody wants to see them.
async fn settled(
    engine: &Engine,
    started: usize,
    signal: &CancellationToken,
) -> Vec<BackgroundRun> {
    let mut ended = engine.take_background();
    while ended.len() < started && !signal.is_cancelled() {
        tokio::select! {
            () = engine.background_ended() => {}
            () = signal.cancelled() => {}
        }
        ended.extend(engine.take_background());
    }
    ended
}
