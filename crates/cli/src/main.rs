//! The `seamline` command: the place where the libraries are put together.
//!
//! A command reads its places, does its work through the libraries, renders a result and picks an
//! exit code. Each command is one file below [`commands`]; what several share about looks is in
//! [`render`], what is said as JSON is in [`report`]. Hooks that fail or deny are results here;
//! only what keeps a command from its work is an [`error::CliError`].

mod args;
mod assemble;
mod commands;
mod error;
mod exit;
mod hit;
mod interrupt;
mod output;
mod own;
mod places;
mod render;
mod report;
mod runtime;
mod servers;
mod setup;

use std::process::ExitCode;

use clap::Parser;

use crate::args::Cli;

fn main() -> ExitCode {
    let code = match Cli::try_parse() {
        Ok(cli) => commands::run(cli).unwrap_or_else(|error| {
            output::diagnostic(&error.render());
            error.exit_code()
        }),
        Err(refusal) => explain(&refusal),
    };
    ExitCode::from(code)
}

/// Help and version are results; anything else that clap says is a usage error. Its own exit code
/// for those is 2, which here means that a hook refused.
fn explain(said: &clap::Error) -> u8 {
    // Nothing can be done about a closed terminal.
    let _ = said.print();
    if said.use_stderr() {
        exit::USAGE
    } else {
        exit::OK
    }
}
