//! Order is registration order, whatever was added, removed and disposed in between.

use proptest::collection::vec;
use proptest::prelude::*;
use seamline_seams::{Registration, Scope, Waterfall};

use crate::support::{Stage, dispatch, noting};

#[derive(Debug, Clone)]
enum Step {
    Add {
        level: usize,
        first: bool,
        scope: usize,
    },
    Remove(prop::sample::Index),
    Dispose {
        scope: usize,
    },
}

const LEVELS: usize = 3;
const SCOPES: usize = 3;

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0..LEVELS, any::<bool>(), 0..SCOPES)
            .prop_map(|(level, first, scope)| Step::Add { level, first, scope }),
        2 => any::<prop::sample::Index>().prop_map(Step::Remove),
        1 => (0..SCOPES).prop_map(|scope| Step::Dispose { scope }),
    ]
}

/// What the order should be: per level the ids and their scopes, outermost first.
#[derive(Default)]
struct Model {
    levels: [Vec<(usize, usize)>; LEVELS],
    disposed: [bool; SCOPES],
    refused: usize,
}

impl Model {
    fn apply(&mut self, step: &Step, id: usize, removed: Option<usize>) {
        match *step {
            Step::Add { scope, .. } if self.disposed[scope] => self.refused += 1,
            Step::Add {
                level,
                first: true,
                scope,
            } => self.levels[level].insert(0, (id, scope)),
            Step::Add {
                level,
                first: false,
                scope,
            } => self.levels[level].push((id, scope)),
            Step::Remove(_) => self.retain(|id, _| Some(id) != removed),
            Step::Dispose { scope } => {
                self.disposed[scope] = true;
                self.retain(|_, owner| owner != scope);
            }
        }
    }

    fn retain(&mut self, keep: impl Fn(usize, usize) -> bool) {
        self.levels
            .iter_mut()
            .for_each(|level| level.retain(|(id, scope)| keep(*id, *scope)));
    }

    fn order(&self, level: usize) -> Vec<String> {
        self.levels[..=level]
            .iter()
            .flatten()
            .map(|(id, _)| id.to_string())
            .collect()
    }
}

async fn play(steps: &[Step]) {
    let stage = Stage::new();
    let scopes: Vec<Scope> = (0..SCOPES)
        .map(|at| stage.scope.child(at.to_string()))
        .collect();
    let child = stage.seam.child();
    let seams: [Waterfall<_>; LEVELS] = [stage.seam.clone(), child.clone(), child.child()];
    let mut model = Model::default();
    let mut live: Vec<(usize, Registration)> = Vec::new();
    for (id, step) in steps.iter().enumerate() {
        let mut removed = None;
        match step {
            Step::Add {
                level,
                first,
                scope,
            } => {
                let trace = stage.trace.clone();
                let name: &'static str = id.to_string().leak();
                let listener = move |_, next| noting(trace.clone(), name, next);
                let (seam, scope) = (&seams[*level], &scopes[*scope]);
                let registration = if *first {
                    seam.on_first(scope, name, listener)
                } else {
                    seam.on(scope, name, listener)
                };
                live.push((id, registration));
            }
            Step::Remove(at) if !live.is_empty() => {
                let (id, registration) = live.swap_remove(at.index(live.len()));
                registration.remove();
                removed = Some(id);
            }
            Step::Remove(_) => {}
            Step::Dispose { scope } => scopes[*scope].dispose().await,
        }
        model.apply(step, id, removed);
    }
    for (level, seam) in seams.iter().enumerate() {
        let described: Vec<_> = seam
            .describe()
            .iter()
            .map(|it| it.name.to_string())
            .collect();
        assert_eq!(described, model.order(level));
        assert_eq!(seam.is_empty(), described.is_empty());
        assert!(dispatch(seam, &stage.trace).await.is_ok());
        let called = stage
            .trace
            .take()
            .into_iter()
            .take_while(|name| name != "core");
        assert_eq!(called.collect::<Vec<_>>(), model.order(level));
    }
    assert_eq!(stage.faults.take().len(), model.refused);
}

proptest! {
    #[test]
    fn listeners_are_called_in_the_order_the_model_says(steps in vec(step(), 0..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(play(&steps));
    }
}
