//! A sealed call has no constructor.

use seamline_harness::tools::{Call, Proposal};

fn forge(proposal: Proposal) -> Call {
    Call::seal(proposal, Vec::new(), None)
}

fn main() {}
