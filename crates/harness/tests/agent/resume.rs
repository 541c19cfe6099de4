//! Going on from a log: in another process, or as another session.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use seamline_harness::agent::{AgentEvent, AgentHandle, Pending, PromptDecision};
use seamline_harness::json::Json;
use seamline_harness::model::Message;
use seamline_harness::model::scripted::{Play, ScriptBlock, Scripted, Scripts};
use seamline_harness::session::event::StartSource;
use seamline_harness::session::{ForkError, Place, Session, SessionError};
use seamline_harness::tools::{PreDecision, ProposeDecision};
use seamline_seams::Reply;
use serde_json::json;
use tempfile::TempDir;

use crate::bench::{Bench, context, ending, probe, soon, speaker};

fn call(say: &str) -> Play {
    let (name, input) = probe(say);
    Play::call(name, input)
}

/// A bench with a log on the disk.
fn on_disk(mut bench: Bench) -> (Bench, TempDir) {
    let state = tempfile::tempdir().unwrap();
    bench.session = Session::create(&place(&bench, &state)).unwrap();
    (bench, state)
}

fn place(bench: &Bench, state: &TempDir) -> Place {
    Place::new(state.path(), bench.project())
}

fn started(bench: &Bench) -> Arc<Mutex<Vec<StartSource>>> {
    let sources: Arc<Mutex<Vec<StartSource>>> = Arc::default();
    let seen = Arc::clone(&sources);
    let start = &bench.seams.session_start;
    start.on(&bench.scope, "source", move |event| {
        seen.lock().unwrap().push(event.source);
        async { Default::default() }
    });
    sources
}

/// A fork has the past up to its boundary, its own numbers go on from there, the other session stays
/// as it is, and who listens is told which is which.
#[tokio::test]
async fn a_fork_goes_on_from_a_boundary() {
    let turns = [call("one"), Play::text("first"), Play::text("second")];
    let (mut bench, state) = on_disk(Bench::new(turns));
    let sources = started(&bench);
    let agent = bench.agent();
    soon(agent.send("go")).await;
    soon(agent.send("more")).await;
    soon(agent.close("other")).await.unwrap();
    let (log, place) = (
        bench.session.path().unwrap().to_owned(),
        place(&bench, &state),
    );
    let before = std::fs::read(&log).unwrap();

    let fork = Session::fork(&log, &place, Some(1)).unwrap();
    assert_ne!(fork.id(), bench.session.id());
    assert_eq!(fork.history(), bench.session.history()[..4]);
    let origin = fork.origin().unwrap();
    assert_eq!(origin.session, bench.session.id());
    assert_eq!(origin.events, fork.entries().len() as u64);
    bench.session = fork;
    let agent = bench.agent();
    let outcome = soon(agent.send("another way")).await;
    assert_eq!(outcome.turn.unwrap().0, 2, "numbers go on");
    soon(agent.close("other")).await.unwrap();
    let asked = bench.asked(3);
    assert_eq!(asked[3..], ["assistant first", "user another way"]);
    assert_eq!(std::fs::read(&log).unwrap(), before, "the other one stays");

    let own = bench.session.path().unwrap().to_owned();
    let loaded = Session::load(&own).unwrap();
    assert_eq!(loaded.session.origin(), Some(origin));
    assert_eq!(Session::read(&own).unwrap().origin, Some(origin));
    bench.session = loaded.session;
    let agent = bench.agent();
    soon(agent.send("again")).await;
    soon(agent.close("other")).await.unwrap();
    use StartSource::{Fork, Resume, Startup};
    assert_eq!(*sources.lock().unwrap(), [Startup, Fork, Resume]);
}

/// Without a boundary a fork has everything; before the first turn there is a boundary too.
#[tokio::test]
async fn a_fork_of_everything_and_of_nothing() {
    let (bench, state) = on_disk(Bench::new([Play::text("first")]));
    let agent = bench.agent();
    soon(agent.send("go")).await;
    let (log, place) = (bench.session.path().unwrap(), place(&bench, &state));
    let whole = Session::fork(log, &place, None).unwrap();
    assert_eq!(
        whole.history(),
        bench.session.history(),
        "the other one may be in use"
    );
    let nothing = Session::fork(log, &place, Some(0)).unwrap();
    assert_eq!(nothing.history(), []);
    let mut ids = place.sessions().unwrap();
    ids.sort();
    let mut expected = [bench.session.id(), whole.id(), nothing.id()];
    expected.sort();
    assert_eq!(ids, expected);
    soon(agent.close("other")).await.unwrap();
}

/// What is no boundary is refused, and nothing is made.
#[tokio::test]
async fn what_is_no_boundary() {
    let (bench, state) = on_disk(Bench::new([call("later"), call("hang")]));
    let pre = &bench.tool_seams.pre;
    pre.on(&bench.scope, "defer", |proposal, next| async move {
        let later = proposal.arguments().text().contains("later");
        let (reason, by) = (None, speaker());
        match later {
            true => Ok(Reply::new(PreDecision::Defer { reason, by })),
            false => Ok(next.run().await?),
        }
    });
    let agent = bench.agent();
    let outcome = soon(agent.send("go")).await;
    assert_eq!(ending(&outcome.end), "deferred");
    let (log, place) = (
        bench.session.path().unwrap().to_owned(),
        place(&bench, &state),
    );
    let fork = |log: &std::path::Path, after| Session::fork(log, &place, after).unwrap_err();
    assert!(matches!(
        fork(&log, None),
        ForkError::Deferred { after: 1, .. }
    ));
    assert!(matches!(fork(&log, Some(1)), ForkError::Deferred { .. }));
    let error = fork(&log, Some(7));
    assert!(
        matches!(
            error,
            ForkError::InvalidBoundary {
                after: 7,
                last: 1,
                ..
            }
        ),
        "{error}"
    );

    let sent = agent.send("more");
    crate::bench::until(|| bench.seen.all().contains(&"start hang".to_owned())).await;
    let error = fork(&log, None);
    assert!(
        matches!(error, ForkError::OpenTurn { turn: 2, .. }),
        "{error}"
    );
    assert!(matches!(
        fork(&log, Some(2)),
        ForkError::InvalidBoundary { last: 1, .. }
    ));
    agent.cancel(Pending::Drop);
    soon(sent).await;
    soon(agent.close("other")).await.unwrap();

    let missing = log.with_file_name("missing");
    let error = fork(&missing, None);
    assert!(
        matches!(error, ForkError::Log(SessionError::Io { .. })),
        "{error}"
    );
    let mut damaged = std::fs::read(&log).unwrap();
    damaged[200] = b'\n';
    std::fs::write(&missing, damaged).unwrap();
    assert!(matches!(
        fork(&missing, None),
        ForkError::Log(SessionError::Corrupt { .. })
    ));
    assert_eq!(
        place.sessions().unwrap(),
        [bench.session.id()],
        "nothing was made"
    );
}

/// What a prompt's turn does.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Safe,
    Lone,
    Fails,
    Denied,
    Rewritten,
    Unknown,
    Cancels,
    Steers,
}

const KINDS: [Kind; 8] = [
    Kind::Safe,
    Kind::Lone,
    Kind::Fails,
    Kind::Denied,
    Kind::Rewritten,
    Kind::Unknown,
    Kind::Cancels,
    Kind::Steers,
];

/// What a session goes through.
#[derive(Debug, Clone)]
enum Act {
    /// A prompt whose turn makes these calls, one message after the other.
    Prompt(Vec<Vec<usize>>),
    Blocked,
    Inject,
    Reload,
    Fork(u32),
}

fn act() -> impl Strategy<Value = Act> {
    let calls = proptest::collection::vec(0..KINDS.len(), 1..4);
    prop_oneof![
        5 => proptest::collection::vec(calls, 0..3).prop_map(Act::Prompt),
        1 => Just(Act::Blocked),
        1 => Just(Act::Inject),
        1 => Just(Act::Reload),
        1 => (0..4_u32).prop_map(Act::Fork),
    ]
}

fn block(id: String, kind: Kind) -> ScriptBlock {
    let say = match kind {
        Kind::Fails => "fail",
        Kind::Cancels => "hang",
        _ => "say",
    };
    let name = if kind == Kind::Unknown {
        "Nope"
    } else {
        "Probe"
    };
    let input = json!({"say": say, "safe": kind == Kind::Safe});
    ScriptBlock::call(name, input).with_id(format!("{id} {kind:?}"))
}

fn scripts(acts: &[Act]) -> Scripts {
    let mut scripts = Scripts::main([]);
    for (number, act) in acts.iter().enumerate() {
        let Act::Prompt(messages) = act else { continue };
        let plays = messages.iter().enumerate().map(|(step, calls)| {
            let blocks = calls
                .iter()
                .enumerate()
                .map(|(index, kind)| block(format!("{number}.{step}.{index}"), KINDS[*kind]));
            Play::blocks(blocks)
        });
        scripts = scripts.with(format!("p{number}"), plays.chain([Play::text("done")]));
    }
    scripts
}

/// Everybody who interferes: blocks, denies, rewrites, adds contexts, steers and cancels.
fn interfere(bench: &Bench, agent: &Arc<Mutex<Option<AgentHandle>>>) {
    let scope = &bench.scope;
    bench
        .seams
        .prompt
        .on(scope, "prompt", |event, next| async move {
            let reply = next.run().await?.with_context(context("beside the prompt"));
            let blocked = event.content.to_text().contains("blocked");
            let (reason, by) = ("no".to_owned(), speaker());
            Ok(match blocked {
                true => reply.map(|_| PromptDecision::Block { reason, by }),
                false => reply,
            })
        });
    bench
        .tool_seams
        .propose
        .on(scope, "propose", |proposal, next| async move {
            let reply = next.run().await?;
            let other = Json::from_value(json!({"say": "other", "safe": true}));
            Ok(match proposal.call_id().ends_with("Rewritten") {
                true => reply.map(|_| ProposeDecision::rewrite(other, speaker())),
                false => reply,
            })
        });
    bench
        .tool_seams
        .pre
        .on(scope, "pre", |proposal, next| async move {
            let reply = next.run().await?.with_context(context(proposal.call_id()));
            let (reason, by) = ("no".to_owned(), speaker());
            Ok(match proposal.call_id().ends_with("Denied") {
                true => reply.map(|_| PreDecision::Deny { reason, by }),
                false => reply,
            })
        });
    let agent = Arc::clone(agent);
    bench.seams.events.on(scope, "events", move |event| {
        let AgentEvent::ToolStarted(call) = event else {
            return;
        };
        let agent = agent.lock().unwrap().clone().unwrap();
        if call.call_id().ends_with("Cancels") {
            agent.cancel(Pending::Keep);
        } else if call.call_id().ends_with("Steers") {
            agent.steer("steered");
            agent.inject(context("injected"));
        }
    });
}

/// Messages as the bytes that a provider's cache would compare.
fn bytes(messages: &[Arc<Message>]) -> Vec<String> {
    messages
        .iter()
        .map(|message| serde_json::to_string(&**message).unwrap())
        .collect()
}

/// Goes through all acts; returns, for each session or process in turn, the history it began with
/// and the requests it made.
async fn live(acts: &[Act]) -> Vec<(Vec<String>, Vec<Vec<String>>)> {
    let bench = Bench::with_model(Scripted::new(scripts(acts)));
    let (mut bench, state) = on_disk(bench);
    let handle = Arc::default();
    interfere(&bench, &handle);
    let mut lives = vec![(bytes(&bench.session.history()), 0)];
    let mut agent = bench.agent();
    *handle.lock().unwrap() = Some(agent.handle());
    for (number, act) in acts.iter().enumerate() {
        match act {
            Act::Prompt(_) => drop(soon(agent.send(format!("@@p{number} go"))).await),
            Act::Blocked => drop(soon(agent.send("blocked")).await),
            Act::Inject => agent.inject(context("between")),
            Act::Reload | Act::Fork(_) => {
                soon(agent.close("other")).await.unwrap();
                let log = bench.session.path().unwrap().to_owned();
                let place = place(&bench, &state);
                bench.session = match act {
                    Act::Fork(after) => match Session::fork(&log, &place, Some(*after)) {
                        Ok(fork) => fork,
                        Err(ForkError::InvalidBoundary { .. }) => {
                            Session::fork(&log, &place, None).unwrap()
                        }
                        Err(error) => panic!("{error}"),
                    },
                    _ => Session::load(&log).unwrap().session,
                };
                lives.push((
                    bytes(&bench.session.history()),
                    bench.model.requests().len(),
                ));
                agent = bench.agent();
                *handle.lock().unwrap() = Some(agent.handle());
            }
        }
    }
    soon(agent.close("other")).await.unwrap();
    let requests: Vec<Vec<String>> = bench
        .model
        .requests()
        .iter()
        .map(|request| bytes(&request.messages))
        .collect();
    let ends = lives
        .iter()
        .skip(1)
        .map(|(_, at)| *at)
        .chain([requests.len()]);
    let parts = lives.iter().zip(ends);
    parts
        .map(|((past, at), end)| (past.clone(), requests[*at..end].to_vec()))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// The messages of a request are a byte-for-byte prefix of the next one's, also across a resume
    /// and a fork: a provider's cache stays good. (That each request is what the log says is
    /// asserted by the loop itself in debug builds.)
    #[test]
    fn requests_extend_each_other(acts in proptest::collection::vec(act(), 1..8)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let lives = runtime.block_on(live(&acts));
        for (past, requests) in &lives {
            let mut before = past;
            for request in requests {
                prop_assert!(request.len() > before.len(), "{before:#?}\n{request:#?}");
                prop_assert_eq!(&request[..before.len()], &before[..]);
                before = request;
            }
        }
        let mut before: &[String] = &[];
        for (past, requests) in &lives {
            let common = before.len().min(past.len());
            prop_assert_eq!(&past[..common], &before[..common], "a past is nothing new");
            before = requests.last().unwrap_or(past);
        }
    }
}
