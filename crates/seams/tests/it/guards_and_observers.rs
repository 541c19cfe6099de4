//! Rules of the two synchronous containers.

use seamline_seams::{Denial, FaultLog, Guards, Observers, Scope};

use crate::support::{Trace, recorded};

struct Stage {
    faults: FaultLog,
    scope: Scope,
    guards: Guards<String>,
    observers: Observers<String>,
    trace: Trace,
}

impl Stage {
    fn new() -> Self {
        let faults = FaultLog::new();
        Self {
            scope: Scope::root("app"),
            guards: Guards::new("test.guards", &faults),
            observers: Observers::new("test.seen", &faults),
            faults,
            trace: Trace::default(),
        }
    }
}

fn denies(
    trace: &Trace,
    name: &'static str,
    word: &'static str,
) -> impl Fn(&String) -> Option<Denial> + Clone + use<> {
    let trace = trace.clone();
    move |event| {
        trace.note(name);
        event
            .contains(word)
            .then(|| Denial::new(format!("no {word}")))
    }
}

#[test]
fn guards_of_all_levels_are_asked_the_parents_first() {
    let stage = Stage::new();
    let agent = stage.guards.child();
    agent.add(&stage.scope, "agent", denies(&stage.trace, "agent", "curl"));
    stage
        .guards
        .add(&stage.scope, "app", denies(&stage.trace, "app", "rm"));
    stage.guards.add(
        &stage.scope,
        "app too",
        denies(&stage.trace, "app too", "dd"),
    );
    assert_eq!(agent.check(&"ls".to_owned()), None);
    assert_eq!(stage.trace.take(), ["app", "app too", "agent"]);
    let denied = agent.check(&"curl".to_owned()).unwrap();
    assert_eq!(
        (denied.denial.reason.as_str(), denied.by.as_str()),
        ("no curl", "agent")
    );
    assert_eq!(
        stage.guards.check(&"curl".to_owned()),
        None,
        "the agent's guard is its own"
    );
}

#[test]
fn the_first_denial_wins_and_ends_the_round() {
    let stage = Stage::new();
    stage
        .guards
        .add(&stage.scope, "a", denies(&stage.trace, "a", "rm"));
    stage
        .guards
        .add(&stage.scope, "b", denies(&stage.trace, "b", "rm"));
    assert_eq!(stage.guards.check(&"rm".to_owned()).unwrap().by, "a");
    assert_eq!(stage.trace.take(), ["a"]);
}

#[test]
fn a_guard_that_is_added_twice_counts_twice_and_leaves_one_at_a_time() {
    let stage = Stage::new();
    let twice = denies(&stage.trace, "guard", "rm");
    let first = stage.guards.add(&stage.scope, "guard", twice.clone());
    let second = stage.guards.add(&stage.scope, "guard", twice);
    assert_eq!(stage.guards.check(&"ls".to_owned()), None);
    assert_eq!(stage.trace.take(), ["guard", "guard"]);
    first.remove();
    assert!(stage.guards.check(&"rm".to_owned()).is_some());
    assert_eq!(stage.trace.take(), ["guard"]);
    second.remove();
    assert_eq!(stage.guards.check(&"rm".to_owned()), None);
    assert!(stage.trace.take().is_empty());
}

#[test]
fn a_guard_that_panics_denies() {
    let stage = Stage::new();
    stage
        .guards
        .add(&stage.scope, "broken", |_| panic!("secret detail"));
    let denied = stage.guards.check(&"ls".to_owned()).unwrap();
    assert_eq!(denied.by, "broken");
    // The detail goes to the log, not to whoever asked.
    assert_eq!(denied.denial.reason, "guard `broken` panicked");
    assert_eq!(recorded(&stage.faults), ["broken: panic secret detail"]);
}

#[test]
fn a_guard_added_during_a_check_is_not_part_of_it() {
    let stage = Stage::new();
    let (guards, scope) = (stage.guards.clone(), stage.scope.clone());
    stage.guards.add(&stage.scope, "adds", move |_| {
        guards.add(&scope, "late", |_| Some(Denial::new("late")));
        None
    });
    assert_eq!(stage.guards.check(&"ls".to_owned()), None);
    assert_eq!(stage.guards.check(&"ls".to_owned()).unwrap().by, "late");
}

#[test]
fn an_observer_that_panics_is_recorded_and_the_next_is_still_told() {
    let stage = Stage::new();
    let agent = stage.observers.child();
    stage.observers.on(&stage.scope, "broken", |_| panic!("oh"));
    for (seam, name) in [(&agent, "agent"), (&stage.observers, "app")] {
        let trace = stage.trace.clone();
        seam.on(&stage.scope, name, move |event| {
            trace.note(format!("{name} {event}"))
        });
    }
    agent.notify(&"done".to_owned());
    assert_eq!(stage.trace.take(), ["app done", "agent done"]);
    assert_eq!(recorded(&stage.faults), ["broken: panic oh"]);
}

#[tokio::test]
async fn after_dispose_no_guard_is_asked_and_no_observer_told() {
    let stage = Stage::new();
    stage
        .guards
        .add(&stage.scope, "guard", |_| Some(Denial::new("no")));
    let trace = stage.trace.clone();
    stage
        .observers
        .on(&stage.scope, "observer", move |event| trace.note(event));
    stage.scope.dispose().await;
    assert_eq!(stage.guards.check(&"ls".to_owned()), None);
    stage.observers.notify(&"ls".to_owned());
    assert!(stage.trace.take().is_empty());
    assert!(stage.guards.is_empty() && stage.observers.is_empty());
}

#[test]
fn empty_seams_allocate_nothing() {
    let (stage, event) = (Stage::new(), String::new());
    let counted = allocation_counter::measure(|| {
        assert_eq!(stage.guards.check(&event), None);
        stage.observers.notify(&event);
    });
    assert_eq!(counted.count_total, 0);
}
