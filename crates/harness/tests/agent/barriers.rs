//! How a call is classified, and when.

use std::path::Path;

use seamline_harness::agent::Agent;
use seamline_harness::content::Content;
use seamline_harness::json::Json;
use seamline_harness::model::scripted::{Play, ScriptBlock};
use seamline_harness::model::{Chunk, ChunkStream, Request, Signal, StopReason};
use seamline_harness::session::event::TurnEndReason;
use seamline_harness::testing::FnModel;
use seamline_harness::tools::{Effects, Tool, ToolContext, ToolError};
use seamline_seams::Reply;
use serde_json::{Value, json};

use crate::bench::{Bench, Say, Seen, shapes, soon};

/// A tool whose every classification panics, or that says it is always safe.
struct Other {
    seen: Seen,
    safe: bool,
    broken: bool,
}

impl Tool for Other {
    type Args = Say;
    type Value = String;

    fn name(&self) -> &str {
        "Other"
    }
    fn description(&self) -> &str {
        "Reports."
    }
    fn schema(&self) -> Value {
        json!({"type": "object", "required": ["say"]})
    }
    fn concurrency_safe(&self, _: &Say) -> bool {
        assert!(!self.broken, "classifier bug");
        self.safe
    }
    fn effects(&self, _: &Say, _: &Path) -> Effects {
        assert!(!self.broken, "classifier bug");
        Effects::Unknown
    }
    async fn run(&self, args: Say, _: ToolContext) -> Result<String, ToolError> {
        self.seen.note(format!("start {}", args.say));
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        self.seen.note(format!("end {}", args.say));
        Ok(args.say)
    }
    fn render(&self, _: &Say, value: &String) -> Content {
        Content::text(value.clone())
    }
}

fn other(bench: &Bench, safe: bool, broken: bool) -> Other {
    let seen = bench.seen.clone();
    Other { seen, safe, broken }
}

fn call(name: &str, say: &str) -> ScriptBlock {
    ScriptBlock::call(name, json!({"say": say, "safe": true}))
}

/// Where a note was made.
fn at(bench: &Bench, note: &str) -> usize {
    let seen = bench.seen.all();
    seen.iter()
        .position(|seen| seen == note)
        .unwrap_or_else(|| panic!("{note}: {seen:?}"))
}

/// Replaces `Other` by one that is safe, or not, when a call that says `when` gets its result.
fn replace_at(bench: &Bench, agent: &Agent, when: &'static str, safe: bool) {
    let (registry, seen) = (agent.handle().tools().clone(), bench.seen.clone());
    bench
        .tool_seams
        .pre
        .on(&bench.scope, "replace", move |proposal, next| {
            if proposal.arguments().value()["say"] == when {
                registry.remove("Other");
                let seen = seen.clone();
                let broken = false;
                registry.add(Other { seen, safe, broken }).unwrap();
            }
            async { Ok(next.run().await?) }
        });
}

/// A call is classified when its turn has come: a tool that was replaced meanwhile, before or
/// behind a barrier, is taken for what it then is.
#[tokio::test]
async fn classified_when_its_turn_has_come() {
    for (now, later) in [(true, false), (false, true)] {
        let bench = Bench::new([
            Play::blocks([call("Probe", "a"), call("Other", "b"), call("Other", "c")]),
            Play::text("done"),
        ]);
        bench.registry.add(other(&bench, now, false)).unwrap();
        let agent = bench.agent();
        replace_at(&bench, &agent, "a", later);
        soon(agent.send("go")).await;
        let overlap = at(&bench, "start c") < at(&bench, "end b");
        assert_eq!(overlap, later, "{:?}", bench.seen.all());
        let alone = at(&bench, "end a") < at(&bench, "start b");
        assert_eq!(alone, !later, "{:?}", bench.seen.all());
    }
}

/// A tool that panics over its own classification runs alone and counts as one of which nothing
/// is known; the model sees nothing of that.
#[tokio::test]
async fn a_panicking_classifier_is_not_safe() {
    let bench = Bench::new([
        Play::blocks([call("Probe", "a"), call("Other", "b"), call("Probe", "c")]),
        Play::text("done"),
    ]);
    bench.registry.add(other(&bench, true, true)).unwrap();
    let outcome = bench.run("go").await;
    assert_eq!(outcome.end, TurnEndReason::Completed);
    assert!(at(&bench, "end a") < at(&bench, "start b"));
    assert!(at(&bench, "end b") < at(&bench, "start c"));
    assert_eq!(bench.asked(1)[2..], ["result a", "result b", "result c"]);
}

/// What is unknown or invalid, or does not say that it is safe, is a barrier: those before it are
/// settled when it is judged.
#[tokio::test]
async fn what_is_not_known_to_be_safe_is_a_barrier() {
    for barrier in [
        ScriptBlock::call("Nope", json!({})),
        ScriptBlock::call("Probe", json!({"said": 1, "safe": true})),
        ScriptBlock::call("Probe", json!({"say": "x"})),
        ScriptBlock::call("Probe", json!({"say": "x", "safe": "true"})),
    ] {
        let bench = Bench::new([
            Play::blocks([call("Other", "a"), barrier.clone(), call("Other", "c")]),
            Play::text("done"),
        ]);
        bench.registry.add(other(&bench, true, false)).unwrap();
        let seen = bench.seen.clone();
        bench
            .tool_seams
            .pre
            .on(&bench.scope, "pre", move |proposal, next| {
                if proposal.name() != "Other" {
                    seen.note("judged");
                }
                async { Ok(next.run().await?) }
            });
        bench.run("go").await;
        assert!(at(&bench, "end a") < at(&bench, "judged"), "{barrier:?}");
        assert!(at(&bench, "judged") < at(&bench, "start c"), "{barrier:?}");
    }
}

/// A rewrite counts for the classification: a call that is no longer safe runs alone.
#[tokio::test]
async fn a_rewritten_call_is_classified_anew() {
    let bench = Bench::new([
        Play::blocks([call("Other", "a"), call("Probe", "b"), call("Other", "c")]),
        Play::text("done"),
    ]);
    bench.registry.add(other(&bench, true, false)).unwrap();
    bench
        .tool_seams
        .propose
        .on(&bench.scope, "rewriter", |proposal, next| async move {
            let alone = Json::from_value(json!({"say": "b"}));
            Ok(match proposal.name() {
                "Probe" => Reply::new(seamline_harness::tools::ProposeDecision::rewrite(
                    alone,
                    crate::bench::speaker(),
                )),
                _ => next.run().await?,
            })
        });
    bench.run("go").await;
    assert!(at(&bench, "end a") < at(&bench, "start b"));
    assert!(at(&bench, "end b") < at(&bench, "start c"));
}

/// No arguments are an empty object; what is no JSON reaches the checks as the text it is.
#[tokio::test]
async fn what_the_model_wrote_as_arguments() {
    let model = |request: Request, _: Signal| {
        let call = |id: &str, arguments: &str| {
            Ok(Chunk::ToolCall {
                id: id.to_owned(),
                name: "Probe".to_owned(),
                arguments: arguments.to_owned(),
            })
        };
        let chunks = match request.messages.len() {
            1 => vec![
                call("a", ""),
                call("b", "  "),
                call("c", "{\"say\": "),
                call("d", r#"{"say":"d"}"#),
                Ok(Chunk::End(StopReason::ToolUse)),
            ],
            _ => vec![Ok(Chunk::End(StopReason::EndTurn))],
        };
        Box::pin(futures_util::stream::iter(chunks)) as ChunkStream
    };
    let bench = Bench::with_model(FnModel(model));
    let seen = bench.seen.clone();
    bench
        .tool_seams
        .pre
        .on(&bench.scope, "pre", move |proposal, next| {
            seen.note(format!("pre {}", proposal.arguments().text()));
            async { Ok(next.run().await?) }
        });
    bench.run("go").await;
    let pre: Vec<String> = bench
        .seen
        .all()
        .into_iter()
        .filter(|note| note.starts_with("pre"))
        .collect();
    assert_eq!(
        pre,
        [
            "pre {}",
            "pre {}",
            r#"pre "{\"say\": ""#,
            r#"pre {"say":"d"}"#
        ]
    );
    let shown = shapes(&bench.model.requests()[1]);
    let results: Vec<&String> = shown.iter().filter(|it| it.starts_with("result")).collect();
    assert_eq!(results.len(), 4);
    assert!(
        results[..3]
            .iter()
            .all(|it| it.contains("invalid arguments")),
        "{results:?}"
    );
    assert_eq!(results[3], "result d");
}
