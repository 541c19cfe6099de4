//! Rules of the policy container.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use seamline_seams::{FaultLog, Policy, Reply, Rewrites, Scope, Waterfall};

use crate::support::{Stage, Verdict, dispatch, noting};

#[tokio::test]
async fn the_first_registered_is_the_outermost_and_on_first_goes_outside_the_rest() {
    let stage = Stage::new();
    for name in ["a", "b"] {
        let trace = stage.trace.clone();
        stage.seam.on(&stage.scope, name, move |_, next| {
            noting(trace.clone(), name, next)
        });
    }
    for name in ["c", "d"] {
        let trace = stage.trace.clone();
        stage.seam.on_first(&stage.scope, name, move |_, next| {
            noting(trace.clone(), name, next)
        });
    }
    assert!(stage.dispatch().await.is_ok());
    let expected = ["d", "c", "a", "b", "core", "/b", "/a", "/c", "/d"];
    assert_eq!(stage.trace.take(), expected);
}

#[tokio::test]
async fn the_parents_listeners_are_outside_even_of_on_first_in_the_child() {
    let stage = Stage::new();
    let agent = stage.seam.child();
    let trace = stage.trace.clone();
    agent.on_first(&stage.scope, "agent", move |_, next| {
        noting(trace.clone(), "agent", next)
    });
    let trace = stage.trace.clone();
    stage.seam.on(&stage.scope, "app", move |_, next| {
        noting(trace.clone(), "app", next)
    });
    assert!(dispatch(&agent, &stage.trace).await.is_ok());
    assert_eq!(
        stage.trace.take(),
        ["app", "agent", "core", "/agent", "/app"]
    );
}

#[tokio::test]
async fn an_agents_listener_sees_only_that_agents_calls() {
    let stage = Stage::new();
    let (one, other) = (stage.seam.child(), stage.seam.child());
    let trace = stage.trace.clone();
    one.on(&stage.scope, "one", move |_, next| {
        noting(trace.clone(), "one", next)
    });
    assert!(dispatch(&other, &stage.trace).await.is_ok());
    assert!(stage.dispatch().await.is_ok());
    assert_eq!(stage.trace.take(), ["core", "core"]);
    assert!(dispatch(&one, &stage.trace).await.is_ok());
    assert_eq!(stage.trace.take(), ["one", "core", "/one"]);
}

#[tokio::test]
async fn a_listener_that_does_not_run_next_decides_alone() {
    let stage = Stage::new();
    stage.seam.on(&stage.scope, "deny", |_, _| async {
        Ok(Verdict::Deny(1).into())
    });
    let trace = stage.trace.clone();
    stage.seam.on(&stage.scope, "inner", move |_, next| {
        noting(trace.clone(), "inner", next)
    });
    assert_eq!(stage.dispatch().await.unwrap().decision, Verdict::Deny(1));
    assert!(stage.trace.take().is_empty());
}

#[tokio::test]
async fn a_listener_added_during_a_dispatch_is_not_part_of_it() {
    let stage = Stage::new();
    let agent = stage.seam.child();
    let (scope, trace) = (stage.scope.clone(), stage.trace.clone());
    let (above, below) = (stage.seam.clone(), agent.clone());
    stage.seam.on(&stage.scope, "adds", move |_, next| {
        for (seam, name) in [(&above, "late above"), (&below, "late below")] {
            let trace = trace.clone();
            seam.on(&scope, name, move |_, next| {
                noting(trace.clone(), name, next)
            });
        }
        async { Ok(next.run().await?) }
    });
    assert!(dispatch(&agent, &stage.trace).await.is_ok());
    assert_eq!(stage.trace.take(), ["core"]);
    assert_eq!(agent.describe().len(), 3);
}

#[tokio::test]
async fn a_removed_listener_is_not_called_even_by_a_dispatch_under_way() {
    let stage = Stage::new();
    let registration = Arc::new(std::sync::Mutex::new(None));
    let slot = Arc::clone(&registration);
    stage.seam.on(&stage.scope, "removes", move |_, next| {
        if let Some(registration) = slot.lock().unwrap().take() {
            seamline_seams::Registration::remove(registration);
        }
        async { Ok(next.run().await?) }
    });
    let trace = stage.trace.clone();
    let inner = stage.seam.on(&stage.scope, "inner", move |_, next| {
        noting(trace.clone(), "inner", next)
    });
    assert!(inner.is_active());
    *registration.lock().unwrap() = Some(inner);
    assert!(stage.dispatch().await.is_ok());
    assert_eq!(stage.trace.take(), ["core"]);
    assert_eq!(stage.seam.describe().len(), 1);
}

#[tokio::test]
async fn describe_lists_name_scope_and_level_outermost_first() {
    let stage = Stage::new();
    let (plugin, agent) = (stage.scope.child("plugin"), stage.seam.child());
    agent.on(&stage.scope.child("agent-1"), "inner", |_, next| async {
        Ok(next.run().await?)
    });
    stage
        .seam
        .on(&plugin, "outer", |_, next| async { Ok(next.run().await?) });
    let list: Vec<_> = agent
        .describe()
        .into_iter()
        .map(|it| format!("{it:?}"))
        .collect();
    let expected = [
        r#"Listener { seam: "test.pre", name: "outer", scope: "app/plugin", level: 0 }"#,
        r#"Listener { seam: "test.pre", name: "inner", scope: "app/agent-1", level: 1 }"#,
    ];
    assert_eq!(list, expected);
}

#[tokio::test]
async fn a_core_may_answer_with_riders() {
    let stage = Stage::new();
    stage.seam.on(&stage.scope, "delegate", |_, next| async {
        Ok(next.run().await?)
    });
    let halt = seamline_seams::Halt {
        when: seamline_seams::When::Now,
        reason: None,
        by: seamline_seams::Source::new("core"),
    };
    let core = {
        let halt = halt.clone();
        move |_| async move { Reply::new(Verdict::Default).with_halt(halt) }
    };
    let reply = stage.seam.dispatch(String::new(), core).await.unwrap();
    assert_eq!(reply.halt, Some(halt));
}

struct Propose;

impl Policy for Propose {
    const NAME: &'static str = "test.propose";
    type Event = String;
    type Decision = String;
}

impl Rewrites for Propose {}

#[tokio::test]
async fn a_rewrite_is_seen_further_in_and_nowhere_else() {
    let scope = Scope::root("app");
    let seam = Waterfall::<Propose>::new(&FaultLog::new());
    seam.on(&scope, "shout", |event: String, next| async move {
        let reply = next.run_with(event.to_uppercase()).await?;
        Ok(reply.map(|inner| format!("{event} -> {inner}")))
    });
    seam.on(&scope, "quote", |event: String, next| async move {
        assert_eq!(event, "LS");
        Ok(next.run_with(format!("'{event}'")).await?)
    });
    let reply = seam
        .dispatch("ls".to_owned(), |event| async { event })
        .await
        .unwrap();
    assert_eq!(reply.decision, "ls -> 'LS'");
}

#[test]
fn a_hundred_listeners_fit_on_an_ordinary_threads_stack() {
    let ordinary = std::thread::Builder::new().stack_size(2 << 20);
    let run = || {
        let (stage, calls) = (Stage::new(), Arc::new(AtomicUsize::new(0)));
        for _ in 0..100 {
            let calls = Arc::clone(&calls);
            stage.seam.on(&stage.scope, "one of many", move |_, next| {
                calls.fetch_add(1, Ordering::Relaxed);
                async { Ok(next.run().await?) }
            });
        }
        assert_eq!(dispatch_bare(&stage.seam), Verdict::Default);
        calls.load(Ordering::Relaxed)
    };
    assert_eq!(ordinary.spawn(run).unwrap().join().unwrap(), 100);
}

#[test]
fn an_empty_seam_allocates_nothing() {
    let stage = Stage::new();
    let agent = stage.seam.child();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let empty = allocation_counter::measure(|| {
            let reply = dispatch_bare(&agent);
            assert_eq!(reply, Verdict::Default);
        });
        assert_eq!(empty.count_total, 0);
        stage.seam.on(&stage.scope, "one", |_, next| async {
            Ok(next.run().await?)
        });
        let one = allocation_counter::measure(|| {
            dispatch_bare(&agent);
        });
        // Otherwise the count above would prove nothing.
        assert!(one.count_total > 0);
    });
}

fn dispatch_bare(seam: &Waterfall<crate::support::Pre>) -> Verdict {
    use futures_util::FutureExt as _;
    let reply = seam
        .dispatch(String::new(), |_| async { Verdict::Default })
        .now_or_never();
    reply.unwrap().unwrap().decision
}
