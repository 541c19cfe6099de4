//! `seamline hooks fire`: fires one event and shows everything that came of it.

mod aim;
mod shot;

use std::path::PathBuf;

use clap::Args;

use seamline_hooks::DialectId;
use seamline_hooks::outcome::{Decision, Outcome};
use seamline_hooks::trace::RunStatus;
use seamline_hooks::trust::TrustStore;

use self::shot::{Orders, Shot};
use crate::args::Selection;
use crate::assemble::{self, Assignment, Ingredients};
use crate::error::CliError;
use crate::hit::Hit;
use crate::places::Places;
use crate::render::firing;
use crate::report::firing::FiringReport;
use crate::servers::ServerSetup;
use crate::setup::select;
use crate::{exit, output, report};

/// Fire one event: run what matches, and show what came of it.
///
/// Prints the payload, each run, each handler of this event that did not run and why, and the
/// merged outcome. Without --dialect, each protocol that has a configuration and knows the event is
/// fired, Claude Code first.
///
/// Exit code: 0 allowed or nothing matched, 2 denied, blocked, stopped or deferred, 3 ask, 1 a hook
/// failed, 64 usage, 65 broken configuration, 77 untrusted.
#[derive(Debug, Args)]
pub(crate) struct FireArgs {
    /// The event, as the protocol spells it: PreToolUse, Stop, ...
    event: String,
    /// The tool that the event is about.
    #[arg(long, value_name = "NAME", conflicts_with = "payload")]
    tool: Option<String>,
    /// The tool's input; without it, a harmless one.
    #[arg(long, value_name = "JSON", requires = "tool")]
    input: Option<String>,
    /// Take the payload from FILE (`-`: standard input) and pass it on byte for byte.
    #[arg(long, value_name = "FILE")]
    payload: Option<PathBuf>,
    /// Override a key of the payload; VALUE is JSON or else text, a dot leads into an object.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<Assignment>,
    #[command(flatten)]
    selection: Selection,
    /// Run the project's hooks, and MCP servers of its `.mcp.json` that they ask, this once, trusted
    /// or not.
    #[arg(long)]
    trust_project_hooks: bool,
    /// Go on with what is in force when part of the configuration is broken (managed files apart).
    #[arg(long)]
    ignore_broken_hooks: bool,
    /// Print JSON: one object, or a list of two when two protocols fire.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &FireArgs, places: Places) -> Result<u8, CliError> {
    let places = select(places, &args.selection, args.trust_project_hooks)?;
    places.own.tell(&places);
    let ingredients = ingredients(args, &places)?;
    let store = TrustStore::open(places.trust_file())?;
    let mut servers = ServerSetup::read(&places, &places.roots.project, args.trust_project_hooks);
    let orders = Orders {
        ingredients: &ingredients,
        trust_project: args.trust_project_hooks,
        places: &places,
        servers: &servers.servers,
    };
    let mut shots = Vec::new();
    for (setup, row) in aim::aim(&args.event, &args.selection, &places, &store)? {
        let shot = Shot::new(setup, row, &orders, &shots)?;
        shots.push(shot);
    }
    check_broken(args.ignore_broken_hooks, &places, &shots)?;
    check_trust(&places, &shots)?;
    if shots.iter().any(Shot::asks_servers) {
        servers.check(args.ignore_broken_hooks)?;
        let off = servers.off.iter();
        off.for_each(|off| output::diagnostic(&format!("note: {off}\n")));
    }
    let hits = shot::fire(shots, &servers.servers)?;
    show(args.json, &places, &hits)?;
    Ok(hits
        .iter()
        .map(exit_code)
        .max_by_key(|code| weight(*code))
        .unwrap_or(exit::OK))
}

fn ingredients(args: &FireArgs, places: &Places) -> Result<Ingredients, CliError> {
    let model = |dialect| Some((dialect, places.own.of(dialect).model.clone()?));
    Ok(Ingredients {
        tool: args.tool.clone(),
        input: args
            .input
            .as_deref()
            .map(|text| assemble::parse("--input", text))
            .transpose()?,
        text: args.payload.as_deref().map(assemble::read).transpose()?,
        set: args.set.clone(),
        model: DialectId::ALL.into_iter().filter_map(model).collect(),
    })
}

/// Broken parts stop everything before it starts, unless they are to be ignored; managed files
/// always do.
fn check_broken(ignore: bool, places: &Places, shots: &[Shot]) -> Result<(), CliError> {
    let mut findings = Vec::new();
    let mut managed = false;
    for setup in shots.iter().map(|shot| &shot.setup) {
        for finding in setup.broken().filter(|finding| finding.managed || !ignore) {
            managed |= finding.managed;
            findings.push(setup.point(finding, places));
        }
    }
    if findings.is_empty() {
        Ok(())
    } else {
        Err(CliError::Broken { findings, managed })
    }
}

fn check_trust(places: &Places, shots: &[Shot]) -> Result<(), CliError> {
    let lines: Vec<String> = shots
        .iter()
        .flat_map(Shot::untrusted)
        .map(|skip| {
            let handler = &skip.handler;
            let what = crate::render::visible(&handler.action.summary());
            format!(
                "{}  {}  {what}",
                firing::place(handler, places),
                handler.event
            )
        })
        .collect();
    if lines.is_empty() {
        Ok(())
    } else {
        Err(CliError::Untrusted { lines })
    }
}

fn show(json: bool, places: &Places, hits: &[Hit]) -> Result<(), CliError> {
    if !json {
        let texts: Vec<String> = hits.iter().map(|hit| firing::render(hit, places)).collect();
        return output::result(&texts.join("\n"));
    }
    let reports: Vec<FiringReport<'_>> = hits.iter().map(FiringReport::new).collect();
    match reports.as_slice() {
        [one] => output::result(&report::print(one)),
        several => output::result(&report::print(&several)),
    }
}

/// Which code wins when several apply: a refusal, a question, a failure.
fn weight(code: u8) -> u8 {
    match code {
        exit::INTERRUPTED => 4,
        exit::REFUSED => 3,
        exit::ASK => 2,
        exit::HOOK_FAILED => 1,
        _ => 0,
    }
}

fn exit_code(hit: &Hit) -> u8 {
    let ran =
        |wanted: fn(RunStatus) -> bool| hit.fired.trace.runs.iter().any(|run| wanted(run.status));
    if hit.interrupted {
        exit::INTERRUPTED
    } else if refused(&hit.fired.outcome) || ran(|status| status == RunStatus::Stopped) {
        exit::REFUSED
    } else if hit.fired.outcome.decision == Decision::Ask {
        exit::ASK
    } else if ran(|status| matches!(status, RunStatus::Failed | RunStatus::Cancelled)) {
        exit::HOOK_FAILED
    } else {
        exit::OK
    }
}

fn refused(outcome: &Outcome) -> bool {
    let decided = matches!(
        outcome.decision,
        Decision::Deny | Decision::Block | Decision::Defer
    );
    decided || outcome.halt.is_some()
}
