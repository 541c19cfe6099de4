//! `seamline hooks ...`: a workbench for hook configurations.

mod fire;
mod list;
mod trust;

use clap::Subcommand;

use crate::error::CliError;
use crate::places::Places;

/// The commands about hooks.
#[derive(Debug, Subcommand)]
pub(crate) enum HooksCommand {
    /// Show every configured handler, where it comes from, and what is wrong with it.
    List(list::ListArgs),
    /// Fire one event: run what matches, and show what came of it.
    Fire(fire::FireArgs),
    /// Agree to hooks that come with the project.
    Trust(trust::TrustArgs),
}

pub(crate) fn run(command: HooksCommand, places: Places) -> Result<u8, CliError> {
    match command {
        HooksCommand::List(args) => list::run(&args, places),
        HooksCommand::Fire(args) => fire::run(&args, places),
        HooksCommand::Trust(args) => trust::run(&args, places),
    }
}
