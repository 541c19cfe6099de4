//! `seamline run`: one prompt, one turn, with the project's hooks in force.

mod approve;
mod ask_trust;
mod debug;
mod hooks;
mod model;
mod rehearsal;
mod reread;
mod rules;
mod scratch;
mod served;
mod session;
mod show;

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use seamline_bridges::Witness;
use seamline_harness::agent::{Agent, AgentHandle, AgentSeams, Pending, TurnOutcome};
use seamline_harness::mcp::{self, McpServers};
use seamline_harness::permission::Mode;
use seamline_harness::plugins::ShellSyntax;
use seamline_harness::session::Session;
use seamline_harness::session::event::TurnEndReason;
use seamline_harness::tools::builtin::{self, ApplyPatch};
use seamline_harness::tools::{CodeMode, Registry, ToolSeams};
use seamline_seams::{Fault, FaultLog, Scope};

use self::debug::DebugFolder;
use self::hooks::Hooks;
use self::model::{Chosen, ModelName};
use self::session::Begin;
use self::show::Screen;
pub(crate) use self::show::ending;
use crate::args::{ProfileName, Settings};
use crate::error::CliError;
use crate::interrupt::Interrupts;
use crate::places::Places;
use crate::{exit, runtime};

/// Run the agent: one prompt, with the project's Claude Code and Codex hooks in force.
///
/// Exit code: 0 the turn was completed, 2 the prompt or the run was refused or stopped by a hook,
/// or a call was put off, 1 the model or the agent failed, 64 usage, 65 broken configuration, 77
/// untrusted hooks, 130 interrupted.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The prompt. May be left out when a session is taken up that put a call off.
    prompt: Option<String>,
    /// `SERVER/MODEL` asks a server: ollama, vllm, lmstudio, deepseek, openai, or a `[models.SERVER]` of
    /// your configuration. `scripted:FILE` plays a file, `rehearsal` goes through the motions in a copy of the project.
    #[arg(long, value_name = "MODEL")]
    model: Option<ModelName>,
    /// Whose hooks are in force: every protocol that has a configuration, one of them, or none.
    #[arg(long, value_enum, default_value_t = Which::Auto)]
    hooks: Which,
    /// Read FILE instead of the user's and the project's hook files.
    #[arg(long, value_name = "FILE")]
    hooks_config: Option<PathBuf>,
    /// By which description of the protocols hooks are read and run.
    #[arg(long, value_enum, value_name = "NAME", default_value_t = ProfileName::Measured)]
    profile: ProfileName,
    #[command(flatten)]
    settings: Settings,
    /// How much is allowed without asking: default, acceptEdits, plan, dontAsk, bypassPermissions.
    #[arg(long, value_name = "MODE", default_value_t = Mode::Default)]
    permission_mode: Mode,
    /// Whether the model may write programs that call tools: `beside` the tools, or `only` so.
    #[arg(long, value_enum, value_name = "MODE", default_value_t = Programs::Off)]
    code_mode: Programs,
    /// Run the project's hooks and start the MCP servers of its `.mcp.json` this once, trusted or not.
    #[arg(long)]
    trust_project_hooks: bool,
    /// Go on with what is in force when part of the configuration is broken (managed files apart).
    #[arg(long)]
    ignore_broken_hooks: bool,
    #[command(flatten)]
    begin: Begin,
    /// Keep no log.
    #[arg(long, conflicts_with_all = ["resume", "continue", "fork"])]
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

/// A value of `--code-mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Programs {
    /// The model calls tools one by one.
    Off,
    /// It may also run a program that calls them.
    Beside,
    /// It runs programs, and reaches the tools in no other way.
    Only,
}

impl From<Programs> for CodeMode {
    fn from(programs: Programs) -> Self {
        match programs {
            Programs::Off => Self::Off,
            Programs::Beside => Self::Beside,
            Programs::Only => Self::Only,
        }
    }
}

pub(crate) fn run(args: &RunArgs, places: Places) -> Result<u8, CliError> {
    let Some(name) = &args.model else {
        return Err(model::none_chosen());
    };
    let chosen = name.choose(&places, args.trust_project_hooks)?;
    let hooks = Hooks::read(args, &places, chosen.scratch.as_ref())?;
    runtime::block_on(play(args, &places, chosen, hooks))
}

/// What came of a run.
struct Played {
    outcome: TurnOutcome,
    log: Option<PathBuf>,
    faults: Vec<Fault>,
    closed: Result<(), CliError>,
}

async fn play(
    args: &RunArgs,
    places: &Places,
    chosen: Chosen,
    hooks: Hooks,
) -> Result<u8, CliError> {
    let project = chosen.project(places);
    let screen = Arc::new(Screen::new(args.json, places.clone(), project.clone()));
    let played = perform(args, places, &chosen, &hooks, &screen).await;
    // However it went: nothing that a hook started outlives the run.
    hooks.sweep(&screen).await;
    let Some(played) = played? else {
        return Ok(exit::INTERRUPTED);
    };
    screen.end(&played.outcome, played.log.as_deref(), &played.faults);
    played.closed?;
    Ok(exit_code(&played.outcome))
}

/// Plays the turn; `None` when a request to end came before it began, or a second one cut it short.
async fn perform(
    args: &RunArgs,
    places: &Places,
    chosen: &Chosen,
    hooks: &Hooks,
    screen: &Arc<Screen>,
) -> Result<Option<Played>, CliError> {
    let mut witnesses: Vec<Arc<dyn Witness>> = vec![Arc::clone(screen) as Arc<dyn Witness>];
    if let Some(folder) = &args.debug_hooks {
        witnesses.push(Arc::new(DebugFolder::create(folder)?));
    }
    let witness: Arc<dyn Witness> = Arc::new(witnesses);
    let faults = FaultLog::new();
    let project = chosen.project(places);
    let begun = session::begin(args, places, &project)?;
    let mut interrupts = Interrupts::listen()?;
    let (tools, notes) = tokio::select! {
        tools = tools(hooks) => tools?,
        () = interrupts.next() => return Ok(None),
    };
    let agent = agent(args, chosen, hooks, tools, begun.session.clone(), &faults);
    let root = Scope::root_with("seamline", &faults);
    screen.watch(&root, agent.seams());
    screen.begin(chosen, args, agent.session(), hooks);
    let notes = begun.notes.iter().chain(&notes);
    notes.for_each(|note| screen.note(note));
    ShellSyntax.install(&root, &agent);
    hooks.rules.clone().install(&root, &agent);
    let plugins = root.child("hooks");
    let bridges = hooks.bridges(places, &project, &witness);
    for bridge in &bridges {
        if !bridge.register(&plugins, &agent) {
            return Err(internal("a bridge could not be registered"));
        }
    }
    approve::register(&root, agent.tool_seams(), &bridges, args.json);
    let asked_twice = asked_twice(interrupts, agent.handle());
    let turn = async {
        let outcome = begun.play(&agent, args.prompt.as_deref()).await;
        let log = agent.session().path().map(PathBuf::from);
        let closed = agent.close("end of the run").await.map_err(internal);
        root.dispose().await;
        Played {
            outcome,
            log,
            faults: faults.take(),
            closed,
        }
    };
    tokio::select! {
        played = turn => Ok(Some(played)),
        () = asked_twice => Ok(None),
    }
}

/// Our tools and those of the servers, which are started for them. A server that is not up costs
/// its own tools, and is named.
async fn tools(hooks: &Hooks) -> Result<(Registry, Vec<String>), CliError> {
    let tools = builtin::registry().map_err(internal)?;
    if hooks.allow_patches() {
        tools.add(ApplyPatch).map_err(internal)?;
    }
    let servers: Arc<dyn McpServers> = Arc::new(hooks.servers.clone());
    let mut notes = hooks.servers.start().await;
    notes.extend(mcp::register(&tools, &servers));
    Ok((tools, notes))
}

fn agent(
    args: &RunArgs,
    chosen: &Chosen,
    hooks: &Hooks,
    tools: Registry,
    session: Session,
    faults: &FaultLog,
) -> Agent {
    let project = session.project().to_owned();
    Agent::builder(Arc::clone(&chosen.model), session)
        .model_name(&chosen.name)
        .system(&chosen.system)
        .hide_variables(hooks.hidden_variables())
        .tools(tools)
        .mode(args.permission_mode)
        .code_mode(args.code_mode.into())
        .cwd(project)
        .seams(AgentSeams::new(faults))
        .tool_seams(ToolSeams::new(faults))
        .build()
}

pub(crate) fn internal(error: impl ToString) -> CliError {
    CliError::Internal {
        message: error.to_string(),
    }
}

/// The first request to end cancels the turn; returns at the second, which waits for nothing.
async fn asked_twice(mut interrupts: Interrupts, agent: AgentHandle) {
    interrupts.next().await;
    agent.cancel(Pending::Drop);
    interrupts.next().await;
}

fn exit_code(outcome: &TurnOutcome) -> u8 {
    match outcome.end {
        TurnEndReason::Completed => exit::OK,
        TurnEndReason::Stopped { .. }
        | TurnEndReason::Rejected { .. }
        | TurnEndReason::Deferred { .. } => exit::REFUSED,
        TurnEndReason::Aborted { .. } | TurnEndReason::Interrupted => exit::INTERRUPTED,
        TurnEndReason::Error { .. } | TurnEndReason::MaxTokens => exit::HOOK_FAILED,
    }
}
