//! `seamline hooks trust`: agrees to hooks that come with a project, one by one or all at once.

use std::path::Path;

use clap::Args;
use owo_colors::Style;

use seamline_hooks::config::nearest;
use seamline_hooks::trust::{TrustState, TrustStore};
use seamline_hooks::{DialectId, Handler};

use crate::args::Selection;
use crate::error::CliError;
use crate::places::Places;
use crate::render::table::{Cell, columns};
use crate::render::visible;
use crate::setup::{Setup, select};
use crate::{exit, output};

/// Agree to hooks that come with the project.
///
/// Agreement is to exactly what a hook's configuration says now, and to the project's scripts that
/// its command names: change them, and it has to be given again. Without arguments, lists the
/// project's hooks and how they stand. Exit code 77 says that some are not trusted.
///
/// With --codex, Codex's own `config.toml` is told as well, for hooks of Codex: it knows nothing of
/// scripts, and runs a project's hooks only when its `[projects]` trusts the project.
#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// Trust one hook: its key as listed, or any beginning or end of the key that is unambiguous.
    #[arg(conflicts_with_all = ["all", "list", "revoke"])]
    key: Option<String>,
    /// Trust every hook of the project.
    #[arg(long, conflicts_with_all = ["list", "revoke"])]
    all: bool,
    /// Withdraw trust from one hook.
    #[arg(long, value_name = "KEY", conflicts_with = "list")]
    revoke: Option<String>,
    /// List the project's hooks and how they stand (as without arguments).
    #[arg(long, conflicts_with = "codex")]
    list: bool,
    /// Write it into Codex's own config.toml too, in its form; with --revoke, take it out there.
    #[arg(long)]
    codex: bool,
    #[command(flatten)]
    selection: Selection,
}

pub(crate) fn run(args: &TrustArgs, places: Places) -> Result<u8, CliError> {
    let places = select(places, &args.selection, false)?;
    places.own.tell(&places);
    let mut store = TrustStore::open(places.trust_file())?;
    let setups = Setup::read_selected(&places, &args.selection, &store);
    let broken = setups
        .iter()
        .map(|setup| setup.complain(&places))
        .sum::<usize>()
        > 0;
    let hooks: Vec<Hook<'_>> = setups.iter().flat_map(Hook::of).collect();
    if let Some(key) = &args.revoke {
        return revoke(&mut store, find(key, &hooks)?, args.codex, &places);
    }
    let chosen = match &args.key {
        Some(key) => vec![find(key, &hooks)?],
        None if args.all => hooks.iter().collect(),
        None if args.codex => return Err(nothing_named()),
        None => return list(&hooks, broken, &places),
    };
    let code = agree(&mut store, &chosen, &places)?;
    if args.codex {
        tell_codex(&store, &chosen, &places)?;
    }
    Ok(code)
}

fn nothing_named() -> CliError {
    CliError::Usage {
        message: "--codex: which hooks?".into(),
        hint: Some("seamline hooks trust --codex KEY, or --all".into()),
    }
}

/// A handler that comes with the project.
struct Hook<'a> {
    handler: &'a Handler,
    setup: &'a Setup,
    state: TrustState,
}

impl<'a> Hook<'a> {
    fn of(setup: &'a Setup) -> Vec<Self> {
        let from_project = setup
            .loaded
            .handlers
            .iter()
            .filter(|h| h.layer.comes_with_project());
        from_project
            .map(|handler| Hook {
                handler,
                setup,
                state: setup.trust_of(handler),
            })
            .collect()
    }
}

/// The hook that a key means: the whole key, or a beginning or an end of exactly one.
fn find<'a, 'h>(wanted: &str, hooks: &'a [Hook<'h>]) -> Result<&'a Hook<'h>, CliError> {
    let key = |hook: &&Hook<'_>| hook.handler.key.0.as_str().to_owned();
    if let Some(exact) = hooks.iter().find(|hook| key(hook) == wanted) {
        return Ok(exact);
    }
    let parts = |hook: &&Hook<'_>| key(hook).starts_with(wanted) || key(hook).ends_with(wanted);
    let found: Vec<&Hook<'_>> = hooks.iter().filter(parts).collect();
    match found.as_slice() {
        [one] if !wanted.is_empty() => Ok(one),
        [] | [_] => Err(unknown(wanted, hooks)),
        several => {
            let keys: Vec<&str> = several
                .iter()
                .map(|hook| hook.handler.key.0.as_str())
                .collect();
            let message = format!("{wanted:?} means {} hooks", several.len());
            Err(CliError::Usage {
                message,
                hint: Some(format!("one of {}", keys.join(", "))),
            })
        }
    }
}

fn unknown(wanted: &str, hooks: &[Hook<'_>]) -> CliError {
    let message = format!("no hook of this project has the key {wanted:?}");
    let keys = || hooks.iter().map(|hook| hook.handler.key.0.as_str());
    let ends = keys().filter_map(|key| key.rsplit_once('/').map(|(_, end)| end));
    let hint = match nearest(wanted, keys().chain(ends)) {
        Some(meant) => format!("did you mean {meant}?"),
        None => "seamline hooks trust --list shows the keys".to_owned(),
    };
    CliError::Usage {
        message,
        hint: Some(hint),
    }
}

fn agree(store: &mut TrustStore, chosen: &[&Hook<'_>], places: &Places) -> Result<u8, CliError> {
    if chosen.is_empty() {
        output::result("the project has no hooks\n")?;
        return Ok(exit::OK);
    }
    let mut rows = Vec::new();
    for hook in chosen {
        let word = if hook.state.runs() {
            "already trusted"
        } else {
            store.trust([hook.handler], &hook.setup.loaded)?;
            "trusted"
        };
        rows.push(row(word.into(), hook, places));
    }
    print(&rows)?;
    Ok(exit::OK)
}

fn revoke(
    store: &mut TrustStore,
    hook: &Hook<'_>,
    codex: bool,
    places: &Places,
) -> Result<u8, CliError> {
    let (handler, loaded) = (hook.handler, &hook.setup.loaded);
    let mut known = store.revoke(&handler.key)?;
    let config = if codex {
        store.revoke_in_codex([handler], loaded)?
    } else {
        None
    };
    known |= config.is_some();
    let still = config.is_none() && store.status(handler, loaded).state.runs();
    let word = match (known, still) {
        (_, true) => "still trusted",
        (true, false) => "no longer trusted",
        (false, false) => "was not trusted",
    };
    print(&[row(word.into(), hook, places)])?;
    if still {
        let help = format!("seamline hooks trust --revoke {} --codex", handler.key);
        output::diagnostic(&format!(
            "note: Codex's own [hooks.state] trusts it, which counts here: {}\n",
            visible(&help)
        ));
    }
    Ok(exit::OK)
}

/// Writes into Codex's own file that it may trust these hooks, and says what that does not do.
fn tell_codex(store: &TrustStore, chosen: &[&Hook<'_>], places: &Places) -> Result<(), CliError> {
    let of_codex = |hook: &&&Hook<'_>| hook.handler.dialect == DialectId::Codex;
    let Some(first) = chosen.iter().find(of_codex) else {
        return output::result("none of them is a hook of Codex; its config.toml is as it was\n");
    };
    let loaded = &first.setup.loaded;
    let handlers = chosen.iter().filter(of_codex).map(|hook| hook.handler);
    match store.trust_in_codex(handlers, loaded)? {
        Some(file) => output::result(&format!("written to {}\n", places.show(&file)))?,
        None => output::result("Codex's config.toml says so already\n")?,
    }
    if loaded.codex_project != Some(true) {
        output::diagnostic(
            "note: Codex itself runs hooks of a project only when its [projects] trusts the \
             project, which this does not change\n",
        );
    }
    Ok(())
}

fn list(hooks: &[Hook<'_>], broken: bool, places: &Places) -> Result<u8, CliError> {
    if hooks.is_empty() {
        output::result("the project has no hooks\n")?;
    }
    let state = |hook: &Hook<'_>| {
        let style = if hook.state.runs() {
            Style::new()
        } else {
            Style::new().yellow()
        };
        Cell::new(hook.state.as_str(), style)
    };
    let rows: Vec<_> = hooks
        .iter()
        .map(|hook| row(state(hook), hook, places))
        .collect();
    print(&rows)?;
    for hook in hooks {
        if let Some(why) = hook.setup.changed(hook.handler) {
            let key = places.show(Path::new(&hook.handler.key.0));
            output::result(&format!("\n{key} is modified: {}\n", visible(why)))?;
        }
    }
    let all = hooks.iter().all(|hook| hook.state.runs());
    Ok(match (broken, all) {
        (true, _) => exit::BROKEN,
        (false, true) => exit::OK,
        (false, false) => exit::UNTRUSTED,
    })
}

/// State, key, and what it is that is agreed to: all of the command, not just its beginning.
fn row(word: Cell, hook: &Hook<'_>, places: &Places) -> Vec<Cell> {
    let handler = hook.handler;
    let matcher = handler.matcher.as_deref().map(visible);
    vec![
        word,
        places.show(Path::new(&handler.key.0)).into(),
        format!("line {}", handler.position.line).into(),
        matcher.unwrap_or_default().into(),
        visible(&handler.action.summary()).into(),
    ]
}

fn print(rows: &[Vec<Cell>]) -> Result<(), CliError> {
    output::result(
        &columns(rows)
            .iter()
            .map(|line| format!("{line}\n"))
            .collect::<String>(),
    )
}
