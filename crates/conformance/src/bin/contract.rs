//! `cargo contract`: to come.

fn main() {}
