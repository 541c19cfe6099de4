//! `cargo contract [--json]`: which test holds each row of the contract.
//!
//! Exit code 0 when each row has a test or a reason, 1 when one has neither or something is wrong
//! with the mapping, 74 when a file cannot be read.

use std::path::Path;

use clap::Parser;
use seamline_conformance::contract::{self, Report};

/// Counts the rows of the contract that a test holds.
#[derive(Debug, Parser)]
struct Args {
    /// Print one JSON object instead of a table.
    #[arg(long)]
    json: bool,
}

fn main() {
    let args = Args::parse();
    std::process::exit(match run(&args) {
        Ok(report) => i32::from(!report.is_whole()),
        Err(problem) => {
            eprintln!("contract: {problem}");
            74
        }
    });
}

fn run(args: &Args) -> Result<Report, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (rows, mapping) = contract::read(&root)?;
    let report = contract::check(&root, &rows, &mapping);
    if args.json {
        println!(
            "{}",
            serde_json::to_string(&report).map_err(|error| error.to_string())?
        );
        return Ok(report);
    }
    println!("part  rows  tested  explained  unmapped");
    for (part, count) in &report.parts {
        line(part, *count);
    }
    line("all", report.total());
    for (id, text) in &report.unmapped {
        println!("unmapped {id}: {text}");
    }
    for problem in &report.wrong {
        println!("wrong {problem}");
    }
    Ok(report)
}

fn line(part: &str, count: contract::Count) {
    let contract::Count {
        rows,
        tested,
        explained,
    } = count;
    let unmapped = rows - tested - explained;
    println!("{part:<4}  {rows:>4}  {tested:>6}  {explained:>9}  {unmapped:>8}");
}
