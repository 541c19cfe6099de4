//! `seamline sessions …`: what earlier runs left.

pub(crate) mod find;
mod list;
mod show;

use clap::Subcommand;

use crate::error::CliError;
use crate::places::Places;

/// Commands about sessions.
#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    List(list::ListArgs),
    Show(show::ShowArgs),
}

pub(crate) fn run(command: SessionsCommand, places: &Places) -> Result<u8, CliError> {
    match command {
        SessionsCommand::List(args) => list::run(&args, places),
        SessionsCommand::Show(args) => show::run(&args, places),
    }
}
