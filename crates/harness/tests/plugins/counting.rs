//! Metrics, and the agent that may only read.

use std::time::Duration;

use seamline_harness::tools::PreDecision;
use seamline_seams::Denial;
use serde_json::json;

use crate::plugins::{Metrics, ReadOnly, Retry};
use crate::worker::{Shop, shown};

/// Each call counts once; runs are counted and timed where the plugin stands.
#[tokio::test(start_paused = true)]
async fn calls_are_counted_by_what_became_of_them() {
    let shop = Shop::new();
    let (outer, inner) = (Metrics::new(), Metrics::new());
    outer.install(&shop.scope, shop.at());
    Retry::of_reads(2).install(&shop.scope, shop.at());
    inner.install(&shop.scope, shop.at());
    shop.seams.guards.add(&shop.scope, "no-rm", |call| {
        call.arguments()
            .text()
            .contains("rm")
            .then(|| Denial::new("no"))
    });
    for order in [
        json!({"effects": "reads", "name": "a"}),
        json!({"effects": "reads", "name": "b", "failures": 9}),
        json!({"effects": "writes", "name": "c", "failures": 1}),
        json!({"effects": "rm x"}),
        json!({"secs": "not a number"}),
    ] {
        let _ = shop.call(order).await;
    }
    let counts = |metrics: &Metrics| {
        let snapshot = metrics.snapshot();
        let work = snapshot.get("Work").unwrap();
        assert!(work.longest <= work.time && snapshot.len() == 1);
        (work.calls, work.denied, work.failed, work.runs)
    };
    assert_eq!(counts(&outer), (5, 1, 2, 3));
    assert_eq!(counts(&inner), (5, 1, 2, 5));
}

/// The longest run is one run, the time is all of them.
#[tokio::test]
async fn durations_add_up() {
    let shop = Shop::new();
    let metrics = Metrics::new();
    metrics.install(&shop.scope, shop.at());
    let _ = shop.call(json!({})).await;
    let first = metrics.snapshot();
    let first = first.get("Work").unwrap();
    assert!(first.time > Duration::ZERO);
    assert_eq!(first.time, first.longest);
    let _ = shop.call(json!({})).await;
    let both = metrics.snapshot();
    let both = both.get("Work").unwrap();
    assert!(both.time > first.time && both.longest < both.time);
}

/// Nothing with side effects runs, whatever the mode or a policy says.
#[tokio::test]
async fn an_agent_that_may_only_read_changes_nothing() {
    let shop = Shop::new();
    shop.seams.pre.on(&shop.scope, "yes", |_, _| async {
        Ok(PreDecision::Allow { pre_approved: true }.into())
    });
    ReadOnly.install(&shop.scope, shop.at());
    for (effects, runs) in [
        ("reads", true),
        ("writes", false),
        ("", false),
        ("ls -a | wc -l", true),
        ("rm x", false),
        ("ls > x", false),
    ] {
        let settled = shop.call(json!({"effects": effects})).await;
        let denied = "Error: tool \"Work\" may have side effects, and this agent may only read";
        assert_eq!(
            shown(&settled) != denied,
            runs,
            "{effects:?}: {}",
            shown(&settled)
        );
    }
    assert_eq!(shop.runs(), 2);
}
