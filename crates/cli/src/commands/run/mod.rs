//! `seamline run`: one prompt, one turn, with the project's hooks in force.

mod approve;
mod ask_trust;
mod debug;
mod hooks;
mod model;
mod rehearsal;
mod scratch;
mod show;

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use seamline_bridges::Witness;
use seamline_harness::agent::{Agent, Pending, TurnOutcome};
use seamline_harness::permission::Mode;
use seamline_harness::session::event::TurnEndReason;
use seamline_harness::session::{Place, Session};
use seamline_harness::tools::builtin;
use seamline_seams::{FaultLog, Scope};

use self::debug::DebugFolder;
use self::hooks::Hooks;
use self::model::{Chosen, ModelName};
use self::show::Screen;
use crate::error::CliError;
use crate::exit;
use crate::places::Places;

/// Run the agent: one prompt, with the project's Claude Code and Codex hooks in force.
///
/// Exit code: 0 the turn was completed, 2 the prompt or the run was refused or stopped by a hook,
/// or a call was put off, 1 the model or the agent failed, 64 usage, 65 broken configuration, 77
/// untrusted hooks, 130 interrupted.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The prompt.
    prompt: String,
    /// `scripted:FILE` plays a file, `rehearsal` goes through the motions in a copy of the project.
    #[arg(long, value_name = "MODEL")]
    model: Option<ModelName>,
    /// Whose hooks are in force: every protocol that has a configuration, one of them, or none.
    #[arg(long, value_enum, default_value_t = Which::Auto)]
    hooks: Which,
    /// Read FILE instead of the user's and the project's hook files.
    #[arg(long, value_name = "FILE")]
    hooks_config: Option<PathBuf>,
    /// How much is allowed without asking: default, acceptEdits, plan, dontAsk, bypassPermissions.
    #[arg(long, value_name = "MODE", default_value_t = Mode::Default)]
    permission_mode: Mode,
    /// Run the project's hooks this once, trusted or not.
    #[arg(long)]
    trust_project_hooks: bool,
    /// Go on with what is in force when part of the configuration is broken (managed files apart).
    #[arg(long)]
    ignore_broken_hooks: bool,
    /// Keep no log.
    #[arg(long)]
    ephemeral: bool,
    /// Keep what every hook read and wrote in DIR, ready for `hooks fire --payload`.
    #[arg(long, value_name = "DIR")]
    debug_hooks: Option<PathBuf>,
    /// Print one JSON object per line instead of text.
    #[arg(long)]
    json: bool,
}

/// A value of `--hooks`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Which {
    /// Every protocol that has a configuration.
    Auto,
    /// Claude Code's only.
    Claude,
    /// Codex's only.
    Codex,
    /// None.
    None,
}

pub(crate) fn run(args: &RunArgs, places: Places) -> Result<u8, CliError> {
    let Some(name) = &args.model else {
        return Err(model::none_chosen());
    };
    let chosen = name.choose(&places)?;
    let hooks = Hooks::read(args, &places, chosen.scratch.as_ref())?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|source| CliError::Write {
            what: "to a runtime of our own".into(),
            source,
        })?;
    runtime.block_on(play(args, &places, chosen, hooks))
}

async fn play(
    args: &RunArgs,
    places: &Places,
    chosen: Chosen,
    hooks: Hooks,
) -> Result<u8, CliError> {
    let project = chosen.project(places);
    let screen = Arc::new(Screen::new(args.json, places.clone(), project.clone()));
    let session = session(args, places, &project)?;
    let tools = builtin::registry().map_err(|error| CliError::Internal {
        message: error.to_string(),
    })?;
    let faults = FaultLog::new();
    let agent = Agent::builder(Arc::clone(&chosen.model), session)
        .model_name(&chosen.name)
        .tools(tools)
        .mode(args.permission_mode)
        .cwd(&project)
        .build();
    let root = Scope::root("seamline");
    screen.watch(&root, agent.seams());
    let debug = args
        .debug_hooks
        .as_deref()
        .map(DebugFolder::create)
        .transpose()?;
    let witness: Arc<dyn Witness> = match debug {
        Some(debug) => Arc::new(vec![
            Arc::clone(&screen) as Arc<dyn Witness>,
            Arc::new(debug),
        ]),
        None => Arc::clone(&screen) as Arc<dyn Witness>,
    };
    screen.begin(&chosen, args, agent.session(), &hooks);
    let bridges = hooks.bridges(places, &project, &witness);
    let plugins = root.child("hooks");
    for bridge in &bridges {
        if !bridge.register(&plugins, &agent) {
            let message = "a bridge could not be registered".to_owned();
            return Err(CliError::Internal { message });
        }
    }
    approve::register(&root, agent.tool_seams(), &bridges, args.json);
    let outcome = turn(&agent, &args.prompt).await;
    let log = agent.session().path().map(PathBuf::from);
    let closed = agent.close("end of the run").await;
    root.dispose().await;
    hooks.sweep(&screen).await;
    screen.end(&outcome, log.as_deref(), &faults.take());
    closed.map_err(|error| CliError::Internal {
        message: error.to_string(),
    })?;
    Ok(exit_code(&outcome))
}

fn session(
    args: &RunArgs,
    places: &Places,
    project: &std::path::Path,
) -> Result<Session, CliError> {
    if args.ephemeral {
        return Ok(Session::ephemeral(project));
    }
    Session::create(&Place::new(&places.state, project)).map_err(|error| CliError::Internal {
        message: error.to_string(),
    })
}

/// Sends the prompt; the first Ctrl-C cancels the turn, a second one ends the process.
async fn turn(agent: &Agent, prompt: &str) -> TurnOutcome {
    let sent = agent.send(prompt);
    let handle = agent.handle();
    let watch = tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            handle.cancel(Pending::Drop);
        }
        if tokio::signal::ctrl_c().await.is_ok() {
            std::process::exit(exit::INTERRUPTED.into());
        }
    });
    let outcome = sent.await;
    watch.abort();
    outcome
}

fn exit_code(outcome: &TurnOutcome) -> u8 {
    match outcome.end {
        TurnEndReason::Completed => exit::OK,
        TurnEndReason::Stopped { .. }
        | TurnEndReason::Rejected { .. }
        | TurnEndReason::Deferred { .. } => exit::REFUSED,
        TurnEndReason::Aborted | TurnEndReason::Interrupted => exit::INTERRUPTED,
        TurnEndReason::Error { .. } | TurnEndReason::MaxTokens => exit::HOOK_FAILED,
    }
}
