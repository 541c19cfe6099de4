//! The timeout.

use std::sync::atomic::Ordering;
use std::time::Duration;

use seamline_harness::tools::code;
use seamline_seams::Signal;
use serde_json::json;

use crate::plugins::{NoTime, Timeout};
use crate::worker::{Shop, contexts, shown};

fn ten_seconds() -> Timeout {
    Timeout::after(Duration::from_secs(10)).unwrap()
}

/// Its own timer fires: the result is replaced, text for the model is kept.
#[tokio::test(start_paused = true)]
async fn a_call_that_takes_too_long_is_cancelled_and_says_so() {
    let shop = Shop::new();
    ten_seconds().install(&shop.scope, shop.at());
    let settled = shop.call(json!({"secs": 11})).await;
    assert_eq!(shown(&settled), "Error: tool call timed out after 10000ms");
    assert!(settled.result.outcome.has_code(code::TOOL_TIMEOUT));
    assert_eq!(contexts(&settled), ["context of run 1"]);
    assert_eq!(shop.worker.cancelled.load(Ordering::SeqCst), 1);
    let settled = shop.call(json!({"secs": 9})).await;
    assert_eq!(shown(&settled), "done in run 2");
}

/// Whoever cancels first: a cancelled turn is not a timeout, even if the time runs out meanwhile.
#[tokio::test(start_paused = true)]
async fn a_turn_cancelled_before_the_time_is_up_is_aborted() {
    let shop = Shop::new();
    ten_seconds().install(&shop.scope, shop.at());
    let (signal, let_go) = (Signal::new(), shop.worker.let_go.clone());
    let user = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        signal.cancel();
        tokio::time::sleep(Duration::from_secs(60)).await;
        let_go.cancel();
    };
    let call = shop.call_under(json!({"secs": 3600, "stubborn": true}), signal.clone());
    let (settled, ()) = tokio::join!(call, user);
    assert!(settled.result.outcome.has_code(code::ABORTED));
}

/// The timer first and then the turn: it stays a timeout. The tool is waited for, not abandoned.
#[tokio::test(start_paused = true)]
async fn a_timeout_stays_one_when_the_turn_is_cancelled_later() {
    let shop = Shop::new();
    ten_seconds().install(&shop.scope, shop.at());
    let (signal, let_go) = (Signal::new(), shop.worker.let_go.clone());
    let user = async {
        tokio::time::sleep(Duration::from_secs(20)).await;
        signal.cancel();
        let_go.cancel();
    };
    let call = shop.call_under(json!({"secs": 3600, "stubborn": true}), signal.clone());
    let begun = tokio::time::Instant::now();
    let (settled, ()) = tokio::join!(call, user);
    assert!(settled.result.outcome.has_code(code::TOOL_TIMEOUT));
    assert_eq!(begun.elapsed().as_secs(), 20);
}

/// A tool without a budget runs as if the plugin was not there; one with its own has that.
#[tokio::test(start_paused = true)]
async fn budgets_are_per_tool() {
    let shop = Shop::new();
    ten_seconds().exempt("Work").install(&shop.scope, shop.at());
    let other = Timeout::new()
        .tool("Other", Duration::from_secs(1))
        .unwrap();
    other.install(&shop.scope, shop.at());
    let settled = shop.call(json!({"secs": 3600})).await;
    assert_eq!(shown(&settled), "done in run 1");
    assert_eq!(shop.worker.cancelled.load(Ordering::SeqCst), 0);

    let own = Timeout::new()
        .tool("Work", Duration::from_millis(1500))
        .unwrap();
    own.install(&shop.scope, shop.at());
    let settled = shop.call(json!({"secs": 2})).await;
    assert_eq!(shown(&settled), "Error: tool call timed out after 1500ms");
}

#[test]
fn a_budget_of_nothing_is_refused() {
    for nothing in [Duration::ZERO, Duration::from_micros(999)] {
        assert_eq!(Timeout::after(nothing).unwrap_err(), NoTime);
        assert_eq!(Timeout::new().tool("Work", nothing).unwrap_err(), NoTime);
    }
}
