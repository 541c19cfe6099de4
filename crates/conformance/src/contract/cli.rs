//! The command line: `contract [--json]`.

use std::path::Path;

use clap::Parser;

use super::{check, report};

/// Checks that each row of the contract has a test, or a sentence that says why not.
#[derive(Debug, Parser)]
#[command(name = "contract")]
struct Args {
    /// Prints one JSON object.
    #[arg(long)]
    json: bool,
}

/// Runs the command; the result is the exit code: 1 for a row that is unmapped or mapped wrongly,
/// 64 for a command line that is wrong, 70 when the rows cannot be read.
#[must_use]
pub fn run() -> i32 {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            let code = if error.use_stderr() { 64 } else { 0 };
            // Where nobody reads the help, there is nobody to tell.
            let _ = error.print();
            return code;
        }
    };
    let check = match check::check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")) {
        Ok(check) => check,
        Err(error) => {
            eprintln!("contract: cannot read the rows or their mapping: {error}");
            return 70;
        }
    };
    if args.json {
        println!("{:#}", report::json(&check));
    } else {
        print!("{}", report::text(&check));
    }
    i32::from(!check.holds())
}
