//! A first walk through the containers.
use seamline_seams::*;

#[derive(Debug, PartialEq)]
enum Verdict {
    Allow,
    Deny(String),
}
struct Pre;
impl Policy for Pre {
    const NAME: &'static str = "tools.pre";
    type Event = String;
    type Decision = Verdict;
}

async fn deny_rm(event: String, next: Next<Pre>) -> Result<Reply<Verdict>, BoxError> {
    if event.starts_with("rm ") {
        return Ok(Verdict::Deny("no rm".into()).into());
    }
    Ok(next.run().await?)
}

#[tokio::test]
async fn a_plain_async_fn_registers_directly() {
    let faults = FaultLog::new();
    let scope = Scope::root("app");
    let seam = Waterfall::<Pre>::new(&faults);
    seam.on(&scope, "deny-rm", deny_rm);
    let core = |_| async { Verdict::Allow };
    let reply = seam.dispatch("rm -rf /".into(), core).await.unwrap();
    assert_eq!(reply.decision, Verdict::Deny("no rm".into()));
    let reply = seam.dispatch("ls".into(), core).await.unwrap();
    assert_eq!(reply.decision, Verdict::Allow);
    scope.dispose().await;
    let reply = seam.dispatch("rm -rf /".into(), core).await.unwrap();
    assert_eq!(reply.decision, Verdict::Allow);
}
