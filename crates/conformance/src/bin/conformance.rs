//! `cargo conformance codex|claude [--cases FILE] [--only PREFIX] [--json]`

use seamline_conformance::{cli, rec};

fn main() {
    let code = rec::started_as().unwrap_or_else(|| match std::env::current_exe() {
        Ok(program) => cli::run(&program),
        Err(error) => {
            eprintln!("conformance: cannot find this program: {error}");
            70
        }
    });
    std::process::exit(code);
}
