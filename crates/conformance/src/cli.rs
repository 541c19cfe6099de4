//! The command line: `conformance codex|claude [--cases FILE] [--only PREFIX] [--level LEVEL]
//! [--json]`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Parser, Subcommand, ValueEnum};
use seamline_hooks::DialectId;
use seamline_hooks::runner::Supervisor;

use crate::bench::Bench;
use crate::case::{self, Row};
use crate::level::EngineLevel;
use crate::play::{Played, play};
use crate::{documented, rec, report};

/// Everything passed.
const PASSED: i32 = 0;
/// Something failed.
const FAILED: i32 = 1;
/// The command line is wrong.
const USAGE: i32 = 64;
/// The case file cannot be read.
const UNREADABLE: i32 = 65;
/// The runner itself cannot work.
const BROKEN: i32 = 70;

/// Plays measured cases and compares.
#[derive(Debug, Parser)]
#[command(name = "conformance")]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Plays cases measured on Codex.
    Codex(Options),
    /// Plays cases measured on Claude Code.
    Claude(Options),
    /// Is a hook: reads its input and does what `$CASE_DIR/behave.json` says for the name.
    #[command(hide = true)]
    Rec {
        /// The name.
        name: String,
        /// Ignored.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        rest: Vec<String>,
    },
}

#[derive(Debug, clap::Args)]
struct Options {
    /// The case file; the imported one by default.
    #[arg(long)]
    cases: Option<PathBuf>,
    /// Only cases whose id begins so.
    #[arg(long, default_value = "")]
    only: String,
    /// How far each case is played.
    #[arg(long, value_enum, default_value_t = Depth::Engine)]
    level: Depth,
    /// Prints one JSON object with the result of each case.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Depth {
    /// Through the hook engine.
    Engine,
}

/// Runs the command; the result is the exit code.
#[must_use]
pub fn run(program: &Path) -> i32 {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            let code = if error.use_stderr() { USAGE } else { PASSED };
            // Where nobody reads the help, there is nobody to tell.
            let _ = error.print();
            return code;
        }
    };
    match args.command {
        Command::Codex(options) => with_options(DialectId::Codex, &options, program),
        Command::Claude(options) => with_options(DialectId::Claude, &options, program),
        Command::Rec { name, .. } => rec::record(&name),
    }
}

fn with_options(dialect: DialectId, options: &Options, program: &Path) -> i32 {
    let imported = fixtures().join(dialect.as_str()).join("cases.jsonl");
    let rows = match case::read(dialect, options.cases.as_deref().unwrap_or(&imported)) {
        Ok(rows) => rows,
        Err(error) => return fail(UNREADABLE, &error.to_string()),
    };
    let rows: Vec<Row> = rows
        .into_iter()
        .filter(|row| row.id.starts_with(&options.only))
        .collect();
    let played = match play_rows(dialect, rows, program, options.level) {
        Ok(played) => played,
        Err(why) => return fail(BROKEN, &why),
    };
    if options.json {
        println!("{}", report::json(dialect, &played));
    } else {
        print!("{}", report::text(dialect, &played));
    }
    let score = report::score(&played);
    if score.passed == score.total {
        PASSED
    } else {
        FAILED
    }
}

fn play_rows(
    dialect: DialectId,
    rows: Vec<Row>,
    program: &Path,
    depth: Depth,
) -> Result<Vec<Played>, String> {
    let documented = documented::read(dialect, &repository().join("docs/conformance.md"))?;
    let bench = Bench::new(program).map_err(|error| format!("cannot set up: {error}"))?;
    let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
    runtime.block_on(async {
        match depth {
            Depth::Engine => {
                let level = EngineLevel::new(bench, Arc::new(Supervisor::new()));
                Ok(play(Arc::new(level), dialect, rows, &documented).await)
            }
        }
    })
}

fn fail(code: i32, why: &str) -> i32 {
    eprintln!("conformance: {why}");
    code
}

/// The folder of the imported cases.
#[must_use]
pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
