//! `seamline hooks list`: what is configured, and what is wrong with it.

use clap::Args;
use seamline_hooks::trust::TrustStore;

use crate::args::Selection;
use crate::error::CliError;
use crate::places::Places;
use crate::render::listing;
use crate::report::listing::ListReport;
use crate::setup::{Setup, select};
use crate::{exit, output, report};

/// Show every configured handler, where it comes from, and what is wrong with it.
///
/// Each handler is one line: where it stands in its file, its event, its matcher and how that is
/// read, its type, timeout and trust, and what it runs. Broken parts are shown in full on standard
/// error, and make the exit code 65.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    selection: Selection,
    /// Print one JSON object instead of tables.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &ListArgs, places: Places) -> Result<u8, CliError> {
    let places = select(places, &args.selection, false)?;
    places.own.tell(&places);
    let store = TrustStore::open(places.trust_file())?;
    let setups = Setup::read_selected(&places, &args.selection, &store);
    if args.json {
        output::result(&report::print(&ListReport::new(&setups)))?;
    } else {
        output::result(&listing::render(&setups, &places))?;
    }
    let broken = setups
        .iter()
        .map(|setup| setup.complain(&places))
        .sum::<usize>();
    Ok(if broken == 0 { exit::OK } else { exit::BROKEN })
}
