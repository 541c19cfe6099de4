//! One file per command.

mod hooks;
mod run;
mod sessions;

use clap::Subcommand;

use crate::args::Cli;
use crate::error::CliError;
use crate::places::Places;

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(Box<run::RunArgs>),
    /// Look at hooks, try them out, and agree to them.
    #[command(subcommand)]
    Hooks(hooks::HooksCommand),
    Sessions(sessions::SessionsArgs),
}

/// Runs a command; the value is the exit code.
pub(crate) fn run(cli: Cli) -> Result<u8, CliError> {
    let places = Places::find(cli.directory.as_deref())?;
    match cli.command {
        Command::Run(args) => run::run(&args, places),
        Command::Hooks(command) => hooks::run(command, places),
        Command::Sessions(args) => sessions::run(args, &places),
    }
}
