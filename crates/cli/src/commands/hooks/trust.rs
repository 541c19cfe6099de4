//! `seamline hooks trust`: agrees to hooks that come with a project, one by one or all at once.

use clap::Args;

use seamline_hooks::config::Loaded;
use seamline_hooks::trust::{TrustState, TrustStore};
use seamline_hooks::{DialectId, Handler};

use crate::args::Selection;
use crate::error::CliError;
use crate::nearest::nearest;
use crate::places::Places;
use crate::render::one_line;
use crate::render::table::columns;
use crate::setup::{Setup, select};
use crate::{exit, output};

/// Agree to hooks that come with the project.
///
/// Agreement is to exactly what a hook's configuration says now: change it, and it has to be given
/// again. Without arguments, lists the project's hooks and how they stand. Exit code 77 says that
/// some are not trusted.
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
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    selection: Selection,
}
