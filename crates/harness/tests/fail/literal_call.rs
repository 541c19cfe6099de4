//! A sealed call has no public fields.

use seamline_harness::tools::{Call, Proposal};

fn forge(proposal: Proposal) -> Call {
    Call(std::sync::Arc::new(proposal))
}

fn main() {}
