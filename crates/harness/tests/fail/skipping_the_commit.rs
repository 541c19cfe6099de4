//! Only what was committed can be executed.

use seamline_harness::tools::Proposal;
use seamline_harness::tools::pipeline::Pipeline;

async fn hurry(pipeline: &Pipeline, proposal: Proposal) {
    let decided = pipeline.decide(proposal).await;
    let _ = pipeline.execute(decided).await;
}

fn main() {}
