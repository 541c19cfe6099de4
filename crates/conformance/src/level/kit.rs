//! What every level needs to make an engine of a stage.

use std::sync::Arc;

use seamline_bridges::HookServers;
use seamline_hooks::config::{Loaded, Roots, UnlistedProject, load};
use seamline_hooks::engine::EngineParts;
use seamline_hooks::runner::Exec;
use seamline_hooks::trust::{TrustState, codex_status};
use seamline_hooks::{DialectId, Engine, Handler};

use super::servers::CaseServers;
use super::trace::Reader;
use crate::bench::Bench;
use crate::stage::Stage;

/// The bench, and how hooks are started.
pub struct Kit {
    /// Links to the recorder.
    pub bench: Bench,
    exec: Arc<dyn Exec>,
}

/// Who trusts what.
pub(super) enum Trust {
    /// Everything is trusted.
    All,
    /// The case is about trust: what the configuration itself says.
    AsConfigured,
}

impl Kit {
    /// A kit whose hooks are started by `exec`.
    #[must_use]
    pub fn new(bench: Bench, exec: Arc<dyn Exec>) -> Self {
        Self { bench, exec }
    }

    /// What a client lists before it has started a thread: nothing of a project that it does not
    /// know to be trusted.
    pub(super) fn listed(&self, dialect: DialectId, stage: &Stage) -> Loaded {
        let mut roots = roots(dialect, stage);
        roots.unlisted = UnlistedProject::PassOver;
        roots.session = stage.client.flags.clone();
        load(dialect, &roots)
    }

    /// Loads what is in force in a session on the stage and makes an engine of it.
    pub(super) fn engine(
        &self,
        dialect: DialectId,
        stage: &Stage,
        trust: &Trust,
        servers: &CaseServers,
    ) -> Engine {
        let mut loaded = load(dialect, &roots(dialect, stage));
        let environment: Vec<String> = stage
            .env
            .iter()
            .map(|(name, _)| name.to_string_lossy().into_owned())
            .collect();
        for handler in &mut loaded.handlers {
            stage.pace.set_timeout(handler, &environment);
        }
        let trust = loaded.handlers.iter().map(|handler| {
            let state = trust.of(&loaded, handler);
            (handler.key.clone(), state)
        });
        let trust = trust.collect();
        Engine::new(EngineParts {
            trust,
            exec: Arc::clone(&self.exec),
            mcp: Arc::new(HookServers::new(servers.shared())),
            base_env: stage.env.clone(),
            project: stage.start.clone(),
            home: stage.home.clone(),
            spill_dir: stage.root.join("tmp/spilled"),
            loaded,
        })
    }

    /// Reads traces of a dialect.
    pub(super) fn reader(&self, dialect: DialectId) -> Reader {
        Reader {
            dialect,
            recorder: self.bench.recorder().display().to_string(),
        }
    }
}

fn roots(dialect: DialectId, stage: &Stage) -> Roots {
    let mut roots = Roots::new(&stage.home, &stage.start);
    roots.system = stage.system.clone();
    if dialect == DialectId::Codex {
        roots.codex_home = stage.codex_home();
        roots.session = stage.client.thread.clone();
        roots.unlisted = match stage.client.trusts_on_start {
            true => UnlistedProject::Trust,
            false => UnlistedProject::PassOver,
        };
    }
    roots
}

impl Trust {
    fn of(&self, loaded: &Loaded, handler: &Handler) -> TrustState {
        match self {
            Self::All => TrustState::Trusted,
            Self::AsConfigured => codex_status(handler, loaded),
        }
    }
}
