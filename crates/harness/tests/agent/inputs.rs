//! What holds for everything that is said to an agent, in whatever order and whatever becomes of it.

use proptest::prelude::*;
use seamline_harness::agent::{Agent, Pending, PromptDecision, PromptEvent, Sent, TurnOutcome};
use seamline_harness::model::scripted::{Play, Scripted, Scripts};
use seamline_harness::session::Event;
use seamline_seams::BoxError;

use crate::bench::{Bench, context, ending, probe, soon, speaker};

/// What somebody does to an agent.
#[derive(Debug, Clone, Copy)]
enum Act {
    Send(Kind),
    Steer(Kind),
    Inject,
    Cancel(Pending),
    /// Takes back one of the prompts that were sent.
    TakeBack(usize),
    /// Lets the agent go on for a while.
    Wait(u8),
    Idle,
}

/// What becomes of a prompt.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Answered,
    Calls,
    Blocked,
    Fails,
}

fn kind() -> impl Strategy<Value = Kind> {
    proptest::sample::select(&[Kind::Answered, Kind::Calls, Kind::Blocked, Kind::Fails][..])
}

fn act() -> impl Strategy<Value = Act> {
    let pending = [Pending::Drop, Pending::Keep, Pending::Park];
    prop_oneof![
        4 => kind().prop_map(Act::Send),
        3 => kind().prop_map(Act::Steer),
        2 => Just(Act::Inject),
        1 => proptest::sample::select(pending.to_vec()).prop_map(Act::Cancel),
        1 => (0..4_usize).prop_map(Act::TakeBack),
        4 => (0..60_u8).prop_map(Act::Wait),
        1 => Just(Act::Idle),
    ]
}

fn text(number: usize, kind: Kind) -> String {
    match kind {
        Kind::Answered => format!("@@none p{number}."),
        Kind::Calls => format!("@@calls p{number}."),
        Kind::Blocked => format!("bad p{number}."),
        Kind::Fails => format!("bug p{number}."),
    }
}

async fn judge(
    event: PromptEvent,
    next: seamline_seams::Next<seamline_harness::agent::Prompt>,
) -> Result<seamline_seams::Reply<PromptDecision>, BoxError> {
    tokio::task::yield_now().await;
    let said = event.content.to_text();
    if said.starts_with("bug") {
        return Err("judge is broken".into());
    }
    if said.starts_with("bad") {
        let (reason, by) = ("no".to_owned(), speaker());
        return Ok(PromptDecision::Block { reason, by }.into());
    }
    Ok(next.run().await?)
}

/// What was sent, in order, with what became of it.
struct Lived {
    bench: Bench,
    outcomes: Vec<(usize, TurnOutcome)>,
    taken_back: Vec<usize>,
    injected: usize,
}

async fn live(acts: &[Act]) -> Lived {
    let (name, input) = probe("one");
    let scripts = Scripts::main([]).with("calls", [Play::call(name, input), Play::text("done")]);
    let bench = Bench::with_model(Scripted::new(scripts));
    bench.seams.prompt.on(&bench.scope, "judge", judge);
    let agent = bench.agent();
    let (mut sent, mut taken_back, mut injected) = (Vec::new(), Vec::new(), 0);
    for (number, act) in acts.iter().enumerate() {
        match act {
            Act::Send(kind) => sent.push((number, agent.send(text(number, *kind)))),
            Act::Steer(kind) => agent.steer(text(number, *kind)),
            Act::Inject => {
                agent.inject(context(&format!("i{injected}.")));
                injected += 1;
            }
            Act::Cancel(pending) => agent.cancel(*pending),
            Act::TakeBack(nth) => taken_back.extend(take_back(&sent, *nth)),
            Act::Wait(times) => {
                for _ in 0..*times {
                    tokio::task::yield_now().await;
                }
            }
            Act::Idle => soon(agent.idle()).await,
        }
    }
    let outcomes = finish(&agent, acts.len(), sent).await;
    soon(agent.close("test")).await.unwrap();
    Lived {
        outcomes,
        taken_back,
        injected,

        bench,
    }
}

fn take_back(sent: &[(usize, Sent)], nth: usize) -> Option<usize> {
    let (number, sent) = sent.get(nth)?;
    sent.take_back().then_some(*number)
}

/// One more prompt, so that parked ones run too; then everybody who waits must have heard.
async fn finish(
    agent: &Agent,
    number: usize,
    mut sent: Vec<(usize, Sent)>,
) -> Vec<(usize, TurnOutcome)> {
    sent.push((number, agent.send(text(number, Kind::Answered))));
    let mut outcomes = Vec::new();
    for (number, sent) in sent {
        outcomes.push((number, soon(sent).await));
    }
    soon(agent.idle()).await;
    outcomes
}

/// The texts of one kind of event, with the turn they are in.
fn said(bench: &Bench, pick: impl Fn(&Event) -> Option<(u32, String)>) -> Vec<(u32, String)> {
    let entries = bench.session.entries();
    entries
        .iter()
        .filter_map(|entry| pick(&entry.event))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(768))]

    /// Whoever sent a prompt hears what became of it. One prompt is one turn, in the order they
    /// were sent; nothing that was said is in the log twice, what was taken back never is, and
    /// unless somebody drops what waits everything else is. Text for the model is never lost. A
    /// failing policy or a cancellation costs the turn it meets.
    #[test]
    fn everything_that_is_said(acts in proptest::collection::vec(act(), 1..16)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let lived = runtime.block_on(live(&acts));
        let turns: Vec<u32> =
            lived.outcomes.iter().filter_map(|(_, it)| it.turn).map(|turn| turn.0).collect();
        prop_assert!(turns.is_sorted_by(|a, b| a < b), "{turns:?}");
        let last = &lived.outcomes.last().unwrap().1;
        prop_assert_eq!(ending(&last.end), "completed", "the agent lives");

        let input = said(&lived.bench, |event| match event {
            Event::UserMessage(it) => Some((it.turn, it.content.to_text())),
            Event::SteeringMessage(it) => Some((it.turn, it.content.to_text())),
            Event::PromptBlocked(it) => Some((it.turn, it.content.to_text())),
            _ => None,
        });
        for (number, act) in acts.iter().enumerate() {
            let (Act::Send(kind) | Act::Steer(kind)) = act else { continue };
            let found: Vec<u32> = input
                .iter()
                .filter(|(_, text)| text.ends_with(&format!(" p{number}.")))
                .map(|(turn, _)| *turn)
                .collect();
            prop_assert!(found.len() <= 1, "p{number} is there twice");
            if lived.taken_back.contains(&number) {
                prop_assert!(found.is_empty());
            }
            let outcome = lived.outcomes.iter().find(|(of, _)| *of == number);
            let Some((_, outcome)) = outcome else { continue };
            let turn = outcome.turn.map(|turn| turn.0);
            prop_assert!(found.iter().all(|at| Some(*at) == turn));
            let expected = match (ending(&outcome.end).as_str(), kind) {
                ("completed", Kind::Answered | Kind::Calls) => true,
                ("rejected", Kind::Blocked) => true,
                // Steering that fails costs the turn it joins.
                ("error", _) => turn.is_some(),
                ("aborted", _) => turn.is_some() || acts.iter().any(|act| {
                    matches!(act, Act::Cancel(_) | Act::TakeBack(_))
                }),
                _ => false,
            };
            prop_assert!(expected, "p{} {:?} {:?}", number, kind, outcome.end);
        }

        let contexts = said(&lived.bench, |event| match event {
            Event::ContextMessage(it) => Some((it.turn, it.text.clone())),
            _ => None,
        });
        let contexts: Vec<String> = contexts.into_iter().map(|(_, text)| text).collect();
        let expected: Vec<String> = (0..lived.injected).map(|n| format!("i{n}.")).collect();
        prop_assert_eq!(contexts, expected);
        let cancels = acts.iter().any(|act| matches!(act, Act::Cancel(_)));
        if !cancels {
            let kept = |number: usize, kind: &Kind| {
                matches!(kind, Kind::Fails) || lived.taken_back.contains(&number)
                    || input.iter().any(|(_, text)| text.ends_with(&format!(" p{number}.")))
            };
            for (number, act) in acts.iter().enumerate() {
                if let Act::Send(kind) | Act::Steer(kind) = act {
                    prop_assert!(kept(number, kind), "p{} is lost: {:?}", number, lived.bench.log());
                }
            }
        }
    }
}
