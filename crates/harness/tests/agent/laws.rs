//! What holds for every message, whatever it calls and whatever becomes of the calls.

use std::num::NonZeroUsize;

use proptest::prelude::*;
use seamline_harness::model::scripted::{Play, ScriptBlock};
use seamline_harness::session::Event;
use seamline_harness::session::event::TurnEndReason;
use seamline_harness::tools::PreDecision;
use seamline_seams::When;
use serde_json::json;

use crate::bench::{Bench, context, halt, soon, speaker};

/// What a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Safe,
    Lone,
    Fails,
    Denied,
    Unknown,
    Invalid,
    HaltsNow,
    HaltsLater,
}

const KINDS: [Kind; 8] = [
    Kind::Safe,
    Kind::Lone,
    Kind::Fails,
    Kind::Denied,
    Kind::Unknown,
    Kind::Invalid,
    Kind::HaltsNow,
    Kind::HaltsLater,
];

fn block((index, kind): (usize, Kind)) -> ScriptBlock {
    let say = format!(
        "{} {index}",
        if kind == Kind::Fails { "fail" } else { "say" }
    );
    let (name, input) = match kind {
        Kind::Unknown => ("Nope", json!({ "say": say })),
        Kind::Invalid => ("Probe", json!({ "said": say })),
        Kind::Safe => ("Probe", json!({"say": say, "safe": true})),
        _ => ("Probe", json!({ "say": say })),
    };
    ScriptBlock::call(name, input).with_id(format!("{index} {kind:?}"))
}

/// Denies and halts as the calls' ids say, and adds a context to each call.
fn install(bench: &Bench) {
    bench
        .tool_seams
        .pre
        .on(&bench.scope, "pre", |proposal, next| async move {
            let id = proposal.call_id().to_owned();
            let reply = next.run().await?.with_context(context(&id));
            let (reason, by) = ("no".to_owned(), speaker());
            Ok(match id.split_once(' ').map(|(_, kind)| kind) {
                Some("Denied") => reply.map(|_| PreDecision::Deny { reason, by }),
                Some("HaltsNow") => reply.with_halt(halt(When::Now)),
                Some("HaltsLater") => reply.with_halt(halt(When::AfterBatch)),
                _ => reply,
            })
        });
}

async fn play(kinds: &[Kind], cap: usize) -> (Bench, TurnEndReason) {
    let blocks = kinds.iter().copied().enumerate().map(block);
    let bench = Bench::new([Play::blocks(blocks), Play::text("done")]);
    install(&bench);
    let cap = NonZeroUsize::new(cap).unwrap();
    let agent = bench.builder().parallel_tool_calls(cap).build();
    let outcome = soon(agent.send("go")).await;
    (bench, outcome.end)
}

/// The ids of the log's events of one kind, in order.
fn ids(bench: &Bench, pick: impl Fn(&Event) -> Option<String>) -> Vec<String> {
    bench
        .session
        .entries()
        .iter()
        .filter_map(|entry| pick(&entry.event))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Every call is committed once and answered once, in model order; nothing of the model's
    /// comes between; contexts follow in model order; calls behind a halt do not start; the turn
    /// is closed as it should be.
    #[test]
    fn every_batch_settles(choices in proptest::collection::vec(0..KINDS.len(), 1..12), cap in 1..5_usize) {
        let kinds: Vec<Kind> = choices.into_iter().map(|choice| KINDS[choice]).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (bench, end) = runtime.block_on(play(&kinds, cap));
        let expected: Vec<String> =
            kinds.iter().enumerate().map(|(index, kind)| format!("{index} {kind:?}")).collect();

        let called = ids(&bench, |event| match event {
            Event::ToolCall(call) => Some(call.call_id.clone()),
            _ => None,
        });
        prop_assert_eq!(&called, &expected);
        let answered = ids(&bench, |event| match event {
            Event::ToolResult(result) => Some(result.call_id.clone()),
            _ => None,
        });
        prop_assert_eq!(&answered, &expected);

        let halt_at = kinds.iter().position(|kind| *kind == Kind::HaltsNow);
        let decided = halt_at.map_or(kinds.len(), |at| at + 1);
        let told = ids(&bench, |event| match event {
            Event::ContextMessage(context) => Some(context.text.clone()),
            _ => None,
        });
        prop_assert_eq!(&told[..], &expected[..decided], "those behind a halt were not judged");
        let log = bench.log();
        let last_result = log.iter().rposition(|event| event.starts_with("tool/result"));
        let first_context = log.iter().position(|event| event.starts_with("context/message"));
        prop_assert!(first_context > last_result);

        let starts = bench.seen.all().iter().filter(|note| note.starts_with("start")).count();
        let runs = |kind: &Kind| {
            matches!(kind, Kind::Safe | Kind::Lone | Kind::Fails | Kind::HaltsLater)
        };
        prop_assert_eq!(starts, kinds[..decided].iter().filter(|kind| runs(kind)).count());

        let halted = kinds.iter().any(|kind| matches!(kind, Kind::HaltsNow | Kind::HaltsLater));
        prop_assert_eq!(matches!(end, TurnEndReason::Stopped { .. }), halted);
        prop_assert_eq!(end == TurnEndReason::Completed, !halted);
    }
}
