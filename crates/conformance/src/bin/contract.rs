//! `cargo contract [--json]`

fn main() {
    std::process::exit(seamline_conformance::contract::cli::run());
}
