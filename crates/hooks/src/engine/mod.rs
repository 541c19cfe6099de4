//! Fires one event: selects handlers, runs them all at once, reads their output, folds it.
//!
//! An [`Engine`] is one dialect's configuration made ready: matchers compiled, conditions parsed.
//! [`Engine::fire`] starts every handler that fits before it waits for the first, because both
//! clients do and because hooks may wait for each other; it returns when the slowest is done.
//! Handlers in background are started and not awaited; what they say later is fetched with
//! [`Engine::take_background`]. [`Engine::dispose`] ends whatever still runs and returns when
//! nothing does.

mod background;
mod env_file;
mod in_force;
mod launch;
mod select;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio_util::sync::CancellationToken;

pub use background::BackgroundRun;
pub use env_file::{EnvFile, LeftVariables};
pub use in_force::{InForce, Reread};
pub use select::Selection;

use self::background::Background;
use self::in_force::Current;
use self::launch::Job;
use crate::codec::{self, Effect, Reading};
use crate::config::Loaded;
use crate::dialect::{Dialect, EventRow};
use crate::handler::{Handler, HandlerKey};
use crate::mcp::McpCaller;
use crate::merge::{Wish, merge};
use crate::outcome::{By, Decision, Notice, NoticeKind, Outcome};
use crate::payload::Payload;
use crate::runner::{Exec, Finished};
use crate::spill::SpillFolder;
use crate::trace::{Run, RunStatus, Trace};
use crate::trust::TrustState;

/// What an engine is made of.
pub struct EngineParts {
    /// The configuration.
    pub loaded: Loaded,
    /// Trust per handler; a handler that is not named here is untrusted.
    pub trust: BTreeMap<HandlerKey, TrustState>,
    /// Starts the processes.
    pub exec: Arc<dyn Exec>,
    /// Asks MCP servers; [`NoServers`](crate::mcp::NoServers) where there are none.
    pub mcp: Arc<dyn McpCaller>,
    /// The environment every child starts from (the agent's own, usually).
    pub base_env: Vec<(OsString, OsString)>,
    /// The project root: `CLAUDE_PROJECT_DIR` and the anchor of `if` path rules.
    pub project: PathBuf,
    /// The user's home folder, anchor of `~/` in `if` path rules.
    pub home: PathBuf,
    /// Where outputs too long for the model are kept whole.
    pub spill_dir: PathBuf,
}

/// One event to fire.
#[derive(Debug, Clone)]
pub struct Firing {
    /// The event's name as the dialect spells it.
    pub event: &'static str,
    /// What every hook reads.
    pub payload: Payload,
    /// The folder hooks run in: the session's current one.
    pub cwd: PathBuf,
    /// Variables that belong to this firing (`CLAUDE_ENV_FILE`, ...).
    pub env: Vec<(String, String)>,
    /// Ends the hooks of this firing.
    pub signal: CancellationToken,
    /// Commands that run for the same moment under another dialect, with the handlers that run
    /// them: here they are duplicates.
    pub ran_elsewhere: Vec<(String, HandlerKey)>,
}

/// A firing whose handlers are selected and not yet started.
#[derive(Debug, Clone)]
pub struct Prepared {
    row: Option<&'static EventRow>,
    firing: Firing,
    selection: Selection,
}

impl Prepared {
    /// What would run and what would not.
    #[must_use]
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// What is fired.
    #[must_use]
    pub fn firing(&self) -> &Firing {
        &self.firing
    }
}

/// What came of it.
#[derive(Debug, Clone, Default)]
pub struct Fired {
    /// The merged outcome.
    pub outcome: Outcome,
    /// Every handler.
    pub trace: Trace,
}

/// One dialect's hooks, ready to fire.
pub struct Engine {
    table: &'static Dialect,
    current: Current,
    around: Around,
    spill: SpillFolder,
    account_shell: PathBuf,
    background: Background,
}

/// What does not change with the configuration.
struct Around {
    exec: Arc<dyn Exec>,
    mcp: Arc<dyn McpCaller>,
    base_env: Vec<(OsString, OsString)>,
    project: PathBuf,
    home: PathBuf,
}

impl Engine {
    /// Prepares the handlers: matchers are compiled, conditions parsed.
    #[must_use]
    pub fn new(parts: EngineParts) -> Self {
        let EngineParts {
            loaded,
            trust,
            exec,
            mcp,
            base_env,
            project,
            home,
            spill_dir,
        } = parts;
        let table = loaded.table();
        Self {
            table,
            current: Current::new(InForce::new(loaded, trust)),
            around: Around {
                exec,
                mcp,
                base_env,
                project,
                home,
            },
            spill: SpillFolder::new(table.spill, &spill_dir),
            account_shell: crate::runner::shell::account_shell(),
            background: Background::default(),
        }
    }

    /// The same engine, which reads its configuration again when a file of it is edited: see
    /// [`Engine::refresh`].
    #[must_use]
    pub fn reread_by(mut self, reread: Arc<dyn Reread>) -> Self {
        self.current.reread_by(reread);
        self
    }

    /// Whether the configuration may change while the engine is at work.
    #[must_use]
    pub fn can_change(&self) -> bool {
        self.current.can_change()
    }

    /// Looks whether a file of the configuration was edited since the last look, and if so reads it
    /// again: the next event runs by what is there now. A configuration that is broken, or that
    /// nobody has agreed to, takes no effect, and what was in force stays. Returns what the user
    /// has to hear of it.
    pub fn refresh(&self) -> Option<String> {
        self.current.refresh()
    }

    /// The dialect's table.
    #[must_use]
    pub fn table(&self) -> &'static Dialect {
        self.table
    }

    /// What is in force now.
    #[must_use]
    pub fn in_force(&self) -> Arc<InForce> {
        self.current.get()
    }

    /// Selects the handlers of one event: which run, and why the others do not. Nothing is started.
    /// An event that the dialect does not have selects nothing.
    #[must_use]
    pub fn prepare(&self, firing: Firing) -> Prepared {
        let row = self.table.event(firing.event);
        let selection = row
            .map(|row| select::select(self, row, &firing))
            .unwrap_or_default();
        Prepared {
            row,
            firing,
            selection,
        }
    }

    /// Whether any handler of this event could run for some payload.
    #[must_use]
    pub fn listens(&self, event: &str) -> bool {
        self.in_force().listens(event)
    }

    /// Fires one event and waits for its hooks: [`Engine::prepare`] and [`Engine::run`] in one.
    pub async fn fire(&self, firing: Firing) -> Fired {
        self.run(self.prepare(firing)).await
    }

    /// Starts what was selected, all at once, and waits for the slowest.
    pub async fn run(&self, prepared: Prepared) -> Fired {
        let Prepared {
            row: Some(row),
            firing,
            selection,
        } = prepared
        else {
            return Fired::default();
        };
        let _in_flight = self.background.in_flight();
        let stdin = self.stdin(&firing.payload);
        for handler in &selection.background {
            let job = self.job(handler, &firing, Arc::clone(&stdin));
            self.background.start(self, row, Arc::clone(handler), job);
        }
        let jobs = selection
            .run
            .iter()
            .map(|handler| self.job(handler, &firing, Arc::clone(&stdin)))
            .collect();
        let ran = self
            .run_all(row, &selection.run, jobs, firing.signal.child_token())
            .await;
        self.conclude(selection, ran)
    }

    fn stdin(&self, payload: &Payload) -> Arc<[u8]> {
        let newline = self.table.trailing_newline;
        let mut bytes = payload.text().as_bytes().to_vec();
        if newline {
            bytes.push(b'\n');
        }
        Arc::from(bytes)
    }

    /// Runs all handlers at once; the results are in configured order.
    async fn run_all(
        &self,
        row: &EventRow,
        handlers: &[Arc<Handler>],
        jobs: Vec<Job>,
        signal: CancellationToken,
    ) -> Vec<Ran> {
        let mut running: FuturesUnordered<_> = handlers
            .iter()
            .zip(jobs)
            .enumerate()
            .map(|(index, (handler, job))| {
                let (argv, cwd) = (job.argv(), job.cwd());
                let run = self.start(job, signal.clone());
                async move { (index, Arc::clone(handler), argv, cwd, run.await) }
            })
            .collect();
        let mut ran: Vec<Ran> = Vec::with_capacity(handlers.len());
        let mut decided = false;
        loop {
            let next = tokio::select! {
                next = running.next() => next,
                () = self.background.disposed(), if !signal.is_cancelled() => {
                    signal.cancel();
                    continue;
                }
            };
            let Some((index, handler, argv, cwd, finished)) = next else {
                break;
            };
            let mut reading = codec::read(row, &handler, &finished, &self.spill);
            if row.first_decision_wins && reading.effect.decision != Decision::None {
                if decided {
                    reading.effect = Effect::default();
                }
                decided = true;
                signal.cancel();
            }
            let run = run_of(handler, reading.clone(), finished, ran.len(), argv, cwd);
            ran.push(Ran {
                index,
                run,
                effect: reading.effect,
            });
        }
        ran.sort_by_key(|ran| ran.index);
        ran
    }

    fn conclude(&self, selection: Selection, ran: Vec<Ran>) -> Fired {
        let wishes: Vec<Wish> = ran
            .iter()
            .map(|ran| Wish {
                by: ran.run.handler.key.clone(),
                finished: ran.run.finished,
                effect: ran.effect.clone(),
            })
            .collect();
        let mut outcome = merge(self.table, &wishes);
        outcome.notices.extend(selection.notices);
        outcome
            .notices
            .extend(ran.iter().flat_map(|ran| notices(&ran.run)));
        let runs = ran.into_iter().map(|ran| ran.run).collect();
        Fired {
            outcome,
            trace: Trace {
                runs,
                skipped: selection.skipped,
                started: selection.background,
            },
        }
    }

    /// Waits until a handler in background has ended whose run was not taken yet.
    pub async fn background_ended(&self) {
        self.background.any_ended().await;
    }

    /// What handlers in background have said since the last call.
    #[must_use]
    pub fn take_background(&self) -> Vec<BackgroundRun> {
        self.background.take()
    }

    /// Ends every run, awaited or in background, and returns when none is left.
    pub async fn dispose(&self) {
        self.background.dispose().await;
    }
}

struct Ran {
    index: usize,
    run: Run,
    effect: Effect,
}

fn run_of(
    handler: Arc<Handler>,
    reading: Reading,
    finished: Finished,
    place: usize,
    argv: Vec<String>,
    cwd: PathBuf,
) -> Run {
    Run {
        handler,
        status: reading.status,
        decision: reading.effect.decision,
        exit: finished.exit,
        entries: reading.entries,
        notes: reading.notes,
        duration: finished.duration,
        finished: place,
        stdout: finished.stdout,
        stderr: finished.stderr,
        argv,
        cwd,
    }
}

/// What the user must hear of a run that did not go well: which hook, where from, and why.
fn notices(run: &Run) -> Vec<By<Notice>> {
    let lost = run.notes.iter().find(|note| note.code == "decision-lost");
    let timed_out = run.exit == crate::runner::Exit::TimedOut;
    let mut texts = Vec::new();
    if run.status == RunStatus::Failed || timed_out && run.status == RunStatus::Cancelled {
        let why = run
            .entries
            .iter()
            .rev()
            .find(|e| e.kind == crate::trace::EntryKind::Error);
        let why = why.map_or("failed", |entry| {
            entry.text.lines().next().unwrap_or("failed")
        });
        texts.push(format!("failed: {why}"));
    }
    texts.extend(lost.map(|note| note.text.clone()));
    let handler = &run.handler;
    texts
        .into_iter()
        .map(|text| {
            let (event, file, line) = (
                handler.event,
                handler.source.display(),
                handler.position.line,
            );
            let text = format!("{event} hook {file}:{line} {text}");
            By {
                value: Notice {
                    kind: NoticeKind::Engine,
                    text,
                },
                by: handler.key.clone(),
            }
        })
        .collect()
}
