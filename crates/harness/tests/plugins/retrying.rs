//! Retries.

use std::time::Duration;

use seamline_harness::tools::code;
use seamline_seams::Signal;
use serde_json::json;

use crate::plugins::{Retry, Timeout};
use crate::worker::{Shop, contexts, shown};

/// A read that fails is done again, at most as often as was said; only the last attempt counts.
#[tokio::test(start_paused = true)]
async fn reads_are_done_again_a_bounded_number_of_times() {
    for (failures, runs, text) in [
        (0, 1, "done in run 1"),
        (2, 3, "done in run 3"),
        (9, 3, "Error: failure 3"),
    ] {
        let shop = Shop::new();
        Retry::of_reads(2).install(&shop.scope, shop.at());
        let settled = shop
            .call(json!({"effects": "reads", "failures": failures}))
            .await;
        assert_eq!((shop.runs(), shown(&settled).as_str()), (runs, text));
        assert_eq!(contexts(&settled), [format!("context of run {runs}")]);
    }
}

/// What may have done half of its work is left alone, unless the host knows better.
#[tokio::test(start_paused = true)]
async fn what_has_side_effects_is_not_done_again_unless_a_predicate_says_so() {
    for effects in ["writes", "", "rm x"] {
        let shop = Shop::new();
        Retry::of_reads(2).install(&shop.scope, shop.at());
        let order = json!({"effects": effects, "failures": 1});
        let settled = shop.call(order.clone()).await;
        assert_eq!(
            (shop.runs(), shown(&settled).as_str()),
            (1, "Error: failure 1")
        );

        let shop = Shop::new();
        let idempotent = Retry::when(2, |call, failure| {
            call.name() == "Work" && failure.message == "failure 1"
        });
        idempotent.install(&shop.scope, shop.at());
        let settled = shop.call(order).await;
        assert_eq!(
            (shop.runs(), shown(&settled).as_str()),
            (2, "done in run 2")
        );
    }
}

/// Cancellation beats retry: in the pause, and when the attempt itself is cancelled.
#[tokio::test(start_paused = true)]
async fn a_cancelled_turn_is_not_tried_again() {
    for (secs, text) in [(0, "Error: failure 1"), (3600, "Error: tool call aborted")] {
        let shop = Shop::new();
        let retry = Retry::of_reads(5).with_pause(Duration::from_secs(60));
        retry.install(&shop.scope, shop.at());
        let signal = Signal::new();
        let order = json!({"effects": "reads", "failures": 9, "secs": secs});
        let call = shop.call_under(order, signal.clone());
        let user = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            signal.cancel();
        };
        let (settled, ()) = tokio::join!(call, user);
        assert_eq!((shop.runs(), shown(&settled).as_str()), (1, text));
    }
}

/// The one installed first is the outer: budgets per attempt, or one for all.
#[tokio::test(start_paused = true)]
async fn order_decides_whether_a_budget_is_for_one_attempt_or_for_all() {
    let slow = json!({"effects": "reads", "secs": 3, "failures": 9});
    let five = || Timeout::after(Duration::from_secs(5)).unwrap();

    let shop = Shop::new();
    Retry::of_reads(2).install(&shop.scope, shop.at());
    five().install(&shop.scope, shop.at());
    assert_eq!(shown(&shop.call(slow.clone()).await), "Error: failure 3");

    let shop = Shop::new();
    five().install(&shop.scope, shop.at());
    Retry::of_reads(2).install(&shop.scope, shop.at());
    let settled = shop.call(slow).await;
    assert!(settled.result.outcome.has_code(code::TOOL_TIMEOUT));
    assert_eq!(shop.runs(), 2);
}
