//! What holds whoever interferes with a batch of calls, in whatever order, with whatever faults, and
//! whenever the turn is cancelled.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use seamline_harness::agent::{AgentHandle, Pending, TurnOutcome};
use seamline_harness::content::Content;
use seamline_harness::json::Json;
use seamline_harness::model::scripted::{Play, ScriptBlock};
use seamline_harness::session::Event;
use seamline_harness::tools::{
    ApprovalAnswer, Effects, PostDecision, PreDecision, Proposal, ProposeDecision, Tool,
    ToolContext, ToolError,
};
use seamline_seams::{BoxError, Denial, Next, Reply, When};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::bench::{Bench, context, halt, shapes, soon, speaker};

/// What one listener of a policy does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    Pass,
    Alone,
    Swallow,
    Deny,
    Ask,
    Rewrite,
    Context,
    HaltNow,
    HaltLater,
    Fail,
    Panic,
}

const ACTS: [Act; 11] = [
    Act::Pass,
    Act::Alone,
    Act::Swallow,
    Act::Deny,
    Act::Ask,
    Act::Rewrite,
    Act::Context,
    Act::HaltNow,
    Act::HaltLater,
    Act::Fail,
    Act::Panic,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Yes,
    Amend,
    No,
    Nothing,
    Panic,
}

const ANSWERS: [Answer; 5] = [
    Answer::Yes,
    Answer::Amend,
    Answer::No,
    Answer::Nothing,
    Answer::Panic,
];

/// What everybody does about one call, and how long they take.
#[derive(Debug, Clone)]
struct Plan {
    safe: bool,
    propose: Act,
    outer: Act,
    inner: Act,
    answer: Answer,
    guard: Act,
    around: Act,
    body: Act,
    post: Act,
    pauses: Vec<u8>,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![3 => Just(Act::Pass), 2 => proptest::sample::select(&ACTS[..])]
}

fn plan() -> impl Strategy<Value = Plan> {
    let answer = proptest::sample::select(&ANSWERS[..]);
    let before = (any::<bool>(), act(), act(), act(), answer);
    let after = (act(), act(), act(), act());
    let pauses = proptest::collection::vec(0..4_u8, 8);
    (before, after, pauses).prop_map(|(before, after, pauses)| {
        let (safe, propose, outer, inner, answer) = before;
        let (guard, around, body, post) = after;
        Plan {
            safe,
            propose,
            outer,
            inner,
            answer,
            guard,
            around,
            body,
            post,
            pauses,
        }
    })
}

/// What was seen, by the call's place in the message.
#[derive(Debug, Default)]
struct Notes {
    /// The arguments the policies saw last.
    judged: BTreeMap<usize, String>,
    /// The arguments the tool ran with, each time it ran.
    ran: BTreeMap<usize, Vec<String>>,
    /// Who said no, or failed.
    denied: BTreeMap<usize, &'static str>,
    /// The arguments in the final results.
    results: Vec<String>,
}

#[derive(Clone)]
struct World {
    plans: Arc<Vec<Plan>>,
    notes: Arc<Mutex<Notes>>,
    /// How many steps of anybody are left until the turn is cancelled; never if negative.
    fuse: Arc<AtomicI32>,
    agent: Arc<Mutex<Option<AgentHandle>>>,
}

impl World {
    fn plan(&self, arguments: &Json) -> (usize, Plan) {
        let say = arguments.value()["say"].as_str().unwrap();
        let index: usize = say.split_whitespace().next().unwrap().parse().unwrap();
        (index, self.plans[index].clone())
    }

    fn note(&self, what: impl FnOnce(&mut Notes)) {
        what(&mut self.notes.lock().unwrap());
    }

    fn deny(&self, index: usize, by: &'static str) {
        self.note(|notes| {
            notes.denied.entry(index).or_insert(by);
        });
    }

    /// Takes as long as planned, and burns the fuse.
    async fn pause(&self, plan: &Plan, place: usize) {
        if self.fuse.fetch_sub(1, Ordering::SeqCst) == 0 {
            let agent = self.agent.lock().unwrap().clone().unwrap();
            agent.cancel(Pending::Drop);
        }
        for _ in 0..plan.pauses[place] {
            tokio::task::yield_now().await;
        }
    }
}

/// Does as planned; what it does is in its arguments.
struct Law(World);

#[derive(Serialize, Deserialize)]
struct Args {
    say: String,
}

impl Tool for Law {
    type Args = Args;
    type Value = String;

    fn name(&self) -> &str {
        "Law"
    }
    fn description(&self) -> &str {
        "Does as planned."
    }
    fn schema(&self) -> Value {
        json!({"type": "object", "required": ["say"], "properties": {"say": {"type": "string"}}})
    }
    fn concurrency_safe(&self, args: &Args) -> bool {
        let arguments = Json::from_value(json!({"say": args.say}));
        self.0.plan(&arguments).1.safe
    }
    fn effects(&self, _: &Args, _: &Path) -> Effects {
        Effects::Reads(Vec::new())
    }
    async fn run(&self, args: Args, context: ToolContext) -> Result<String, ToolError> {
        let arguments = Json::from_value(json!({"say": args.say}));
        let (index, plan) = self.0.plan(&arguments);
        self.0.note(|notes| {
            let runs = notes.ran.entry(index).or_default();
            runs.push(arguments.text().to_owned());
        });
        self.0.pause(&plan, 0).await;
        match plan.body {
            Act::Fail => return Err(ToolError::new("failed")),
            Act::Panic => panic!("tool bug"),
            Act::HaltNow => context.signal().cancelled().await,
            _ => {}
        }
        Ok(args.say)
    }
    fn render(&self, _: &Args, value: &String) -> Content {
        Content::text(value.clone())
    }
}

/// What is common to the policies: their riders and their faults.
fn ride<D>(reply: Reply<D>, act: Act) -> Result<Reply<D>, BoxError> {
    Ok(match act {
        Act::Context => reply.with_context(context("rider")),
        Act::HaltNow => reply.with_halt(halt(When::Now)),
        Act::HaltLater => reply.with_halt(halt(When::AfterBatch)),
        Act::Fail => return Err("listener bug".into()),
        Act::Panic => panic!("listener bug"),
        _ => reply,
    })
}

async fn judge(
    world: World,
    act: fn(&Plan) -> Act,
    place: usize,
    proposal: Proposal,
    next: Next<seamline_harness::tools::Pre>,
) -> Result<Reply<PreDecision>, BoxError> {
    let (index, plan) = world.plan(proposal.arguments());
    world.note(|notes| {
        let text = proposal.arguments().text().to_owned();
        notes.judged.insert(index, text);
    });
    world.pause(&plan, place).await;
    let (reason, by) = ("no".to_owned(), speaker());
    let act = act(&plan);
    match act {
        Act::Deny => {
            world.deny(index, "pre");
            return Ok(PreDecision::Deny { reason, by }.into());
        }
        Act::Fail | Act::Panic => world.deny(index, "a fault"),
        Act::Alone => {
            return Ok(PreDecision::Allow { pre_approved: true }.into());
        }
        Act::Ask => {
            let reply = next.run().await?;
            let (reason, ask) = (None, matches!(reply.decision, PreDecision::Allow { .. }));
            return Ok(match ask {
                true => reply.map(|_| PreDecision::Ask { reason, by }),
                false => reply,
            });
        }
        Act::Swallow => {
            let allow = PreDecision::Allow { pre_approved: true };
            return Ok(next.run().await.unwrap_or(Reply::new(allow)));
        }
        _ => {}
    }
    ride(next.run().await?, act)
}

fn install_deciding(bench: &Bench, world: &World) {
    let (tools, scope) = (&bench.tool_seams, &bench.scope);
    let it = world.clone();
    tools.propose.on(scope, "propose", move |proposal, next| {
        let world = it.clone();
        async move {
            let (index, plan) = world.plan(proposal.arguments());
            world.pause(&plan, 1).await;
            if matches!(plan.propose, Act::Fail | Act::Panic) {
                world.deny(index, "a fault");
            }
            let reply = next.run().await?;
            let other = match plan.propose {
                Act::Rewrite => json!({"say": format!("{index} rewritten")}),
                Act::Deny => {
                    world.deny(index, "a rewrite that does not fit");
                    json!({"said": format!("{index}")})
                }
                act => return ride(reply, act),
            };
            let other = Json::from_value(other);
            Ok(reply.map(|_| ProposeDecision::rewrite(other, speaker())))
        }
    });
    let it = world.clone();
    tools.pre.on(scope, "outer", move |proposal, next| {
        judge(it.clone(), |plan| plan.outer, 2, proposal, next)
    });
    let it = world.clone();
    tools.pre.on(scope, "inner", move |proposal, next| {
        judge(it.clone(), |plan| plan.inner, 3, proposal, next)
    });
    let it = world.clone();
    tools.approval.on(scope, "person", move |question, _| {
        let world = it.clone();
        async move {
            let (index, plan) = world.plan(question.proposal.arguments());
            world.pause(&plan, 4).await;
            let amended = || Json::from_value(json!({"say": format!("{index} amended")}));
            let arguments = (plan.answer == Answer::Amend).then(amended);
            match plan.answer {
                Answer::Yes | Answer::Amend => {
                    let updates = Vec::new();
                    return Some(ApprovalAnswer::AllowOnce { arguments, updates });
                }
                Answer::No => {
                    world.deny(index, "approval");
                    let (message, interrupt) = (None, false);
                    return Some(ApprovalAnswer::Deny { message, interrupt });
                }
                Answer::Nothing => world.deny(index, "nobody"),
                Answer::Panic => {
                    world.deny(index, "a fault");
                    panic!("answerer bug");
                }
            }
            None
        }
    });
}

fn install_running(bench: &Bench, world: &World) {
    let (tools, scope) = (&bench.tool_seams, &bench.scope);
    let it = world.clone();
    tools.guards.add(scope, "guard", move |call| {
        let (index, plan) = it.plan(call.arguments());
        match plan.guard {
            Act::Deny => it.deny(index, "guard"),
            Act::Panic => {
                it.deny(index, "a fault");
                panic!("guard bug");
            }
            _ => return None,
        }
        Some(Denial::new("guarded"))
    });
    let it = world.clone();
    tools
        .dispatch
        .on(scope, "around", move |call, signal, inner| {
            let world = it.clone();
            async move {
                let (_, plan) = world.plan(call.arguments());
                world.pause(&plan, 5).await;
                let outcome = inner.run(signal).await;
                match plan.around {
                    Act::Fail => return Err("wrapper bug".into()),
                    Act::Panic => panic!("wrapper bug"),
                    _ => world.pause(&plan, 6).await,
                }
                Ok(outcome)
            }
        });
    let it = world.clone();
    tools.post.on(scope, "post", move |event, next| {
        let world = it.clone();
        async move {
            // Arguments that were never valid are nobody's plan.
            if event.call.arguments().value()["say"].is_null() {
                return Ok(next.run().await?);
            }
            let (_, plan) = world.plan(event.call.arguments());
            world.pause(&plan, 7).await;
            let reply = next.run().await?;
            match plan.post {
                Act::Deny => Ok(reply.map(|_| PostDecision::Block {
                    feedback: "hm".to_owned(),
                    keep_output: false,
                })),
                act => ride(reply, act),
            }
        }
    });
    let it = world.clone();
    tools.result.on(scope, "result", move |result| {
        it.note(|notes| {
            let call = &result.call;
            notes.results.push(call.call_id().to_owned());
        });
    });
}

async fn play(plans: Vec<Plan>, fuse: i32, cap: usize) -> (Bench, World, TurnOutcome) {
    let call = |index: usize| {
        let say = json!({"say": format!("{index} written")});
        ScriptBlock::call("Law", say).with_id(format!("c{index}"))
    };
    let bench = Bench::new([Play::blocks((0..plans.len()).map(call)), Play::text("done")]);
    let world = World {
        plans: Arc::new(plans),
        notes: Arc::default(),
        fuse: Arc::new(AtomicI32::new(fuse)),
        agent: Arc::default(),
    };
    bench.registry.add(Law(world.clone())).unwrap();
    install_deciding(&bench, &world);
    install_running(&bench, &world);
    let cap = NonZeroUsize::new(cap).unwrap();
    let agent = bench.builder().parallel_tool_calls(cap).build();
    *world.agent.lock().unwrap() = Some(agent.handle());
    // A body that waits to be cancelled is, once nobody else does anything.
    let hangs = world.plans.iter().any(|plan| plan.body == Act::HaltNow);
    let sent = agent.send("go");
    if hangs {
        let handle = agent.handle();
        tokio::spawn(async move {
            for _ in 0..400 {
                tokio::task::yield_now().await;
            }
            handle.cancel(Pending::Drop);
        });
    }
    let outcome = soon(sent).await;
    let next = soon(agent.send("and now")).await;
    assert_eq!(next.turn.unwrap().0, 2, "the agent lives");
    soon(agent.close("test")).await.unwrap();
    (bench, world, outcome)
}

/// The first turn's calls and results as the log has them, and what stands between them.
struct Logged {
    calls: Vec<(String, String)>,
    results: Vec<String>,
    context_between: bool,
}

fn logged(bench: &Bench) -> Logged {
    let mut logged = Logged {
        calls: Vec::new(),
        results: Vec::new(),
        context_between: false,
    };
    let mut contexts = 0;
    for entry in bench.session.entries() {
        match &entry.event {
            Event::ToolCall(call) => {
                let text = call.arguments.text().to_owned();
                logged.calls.push((call.call_id.clone(), text));
                logged.context_between |= contexts > 0;
            }
            Event::ToolResult(result) => {
                logged.results.push(result.call_id.clone());
                logged.context_between |= contexts > 0;
            }
            Event::ContextMessage(_) => contexts += 1,
            Event::TurnEnd(_) => break,
            _ => {}
        }
    }
    logged
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(768))]

    /// Each call is committed once and answered once, in model order. No context comes between a
    /// call and its result. Nothing that was denied, or whose policy failed, runs. A call runs at
    /// most once, with the arguments the policies saw last, and those are the ones in the log and
    /// in the next request. The turn is closed, and the agent lives.
    #[test]
    fn whoever_interferes(
        plans in proptest::collection::vec(plan(), 1..7),
        fuse in prop_oneof![Just(-1), 0..40_i32],
        cap in 1..5_usize,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (bench, world, outcome) = runtime.block_on(play(plans, fuse, cap));
        let ids: Vec<String> = (0..world.plans.len()).map(|index| format!("c{index}")).collect();
        let logged = logged(&bench);
        let called: Vec<String> = logged.calls.iter().map(|(id, _)| id.clone()).collect();
        prop_assert_eq!(&called, &ids);
        prop_assert_eq!(&logged.results, &ids);
        prop_assert!(!logged.context_between, "{:#?}", bench.log());
        prop_assert!(outcome.turn.is_some());

        let notes = world.notes.lock().unwrap();
        for (index, (_, effective)) in logged.calls.iter().enumerate() {
            let Some(ran) = notes.ran.get(&index) else { continue };
            prop_assert_eq!(notes.denied.get(&index), None, "call {} ran", index);
            prop_assert_eq!(&ran[..], std::slice::from_ref(effective));
            prop_assert_eq!(notes.judged.get(&index), Some(effective));
        }
        let mut told = notes.results.clone();
        told.dedup();
        prop_assert_eq!(&told, &notes.results, "observers hear of each call once");
        prop_assert!(told.is_sorted(), "in model order");

        let requests = bench.model.requests();
        let last = shapes(requests.last().unwrap());
        let effective: Vec<&str> = logged.calls.iter().map(|(_, text)| text.as_str()).collect();
        prop_assert_eq!(&last[1], &format!("assistant {}", effective.join(" ")));
        let results = last.iter().skip(2).take_while(|it| it.starts_with("result")).count();
        prop_assert_eq!(results, ids.len());
    }
}
