//! `seamline sessions …`: what earlier runs left.

pub(crate) mod find;
mod list;
mod show;

use clap::{Args, Subcommand};

use crate::error::CliError;
use crate::places::Places;

/// Look at what earlier runs left. Without a command this is `sessions list`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct SessionsArgs {
    #[command(subcommand)]
    command: Option<SessionsCommand>,
    #[command(flatten)]
    list: list::ListArgs,
}

#[derive(Debug, Subcommand)]
enum SessionsCommand {
    List(list::ListArgs),
    Show(show::ShowArgs),
}

pub(crate) fn run(args: SessionsArgs, places: &Places) -> Result<u8, CliError> {
    match args.command {
        None => list::run(&args.list, places),
        Some(SessionsCommand::List(args)) => list::run(&args, places),
        Some(SessionsCommand::Show(args)) => show::run(&args, places),
    }
}
