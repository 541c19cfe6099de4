//! Who sees which tool.

use serde_json::{Value, json};

use super::*;
use crate::content::Content;
use crate::tools::{Effects, Tool, ToolContext, ToolError};

/// A tool with a name and a description to tell it by.
struct Named(&'static str, &'static str);

impl Tool for Named {
    type Args = Value;
    type Value = Value;

    fn name(&self) -> &str {
        self.0
    }
    fn description(&self) -> &str {
        self.1
    }
    fn schema(&self) -> Value {
        json!({"type": "object"})
    }
    fn effects(&self, _: &Value, _: &std::path::Path) -> Effects {
        Effects::Unknown
    }
    async fn run(&self, args: Value, _: ToolContext) -> Result<Value, ToolError> {
        Ok(args)
    }
    fn render(&self, _: &Value, value: &Value) -> Content {
        Content::text(value.to_string())
    }
}

fn global(names: &[&'static str]) -> Registry {
    let registry = Registry::new();
    for name in names {
        registry.add(Named(name, "global")).unwrap();
    }
    registry
}

/// The names of the tools, and whether looking one up agrees with listing them.
fn names(registry: &Registry) -> Vec<String> {
    let names: Vec<_> = registry.specs().into_iter().map(|spec| spec.name).collect();
    for name in ["A", "B", "C", "Own"] {
        let listed = names.iter().any(|known| known == name);
        assert_eq!(registry.get(name).is_some(), listed, "{name}");
    }
    names
}

fn about(registry: &Registry, name: &str) -> String {
    registry.get(name).unwrap().spec.description.clone()
}

fn only(names: &[&str]) -> Restriction {
    Restriction::Only(names.iter().map(|&name| name.to_owned()).collect())
}

fn without(names: &[&str]) -> Restriction {
    Restriction::Without(names.iter().map(|&name| name.to_owned()).collect())
}

/// I60: a name is taken once per layer, and is free again when its holder is gone.
#[tokio::test]
async fn a_name_is_taken_until_its_holder_is_gone() {
    let registry = global(&["A"]);
    let refused = registry.add(Named("A", "again")).unwrap_err();
    assert_eq!(refused, RegistryError::Duplicate("A".to_owned()));
    assert!(registry.remove("A"));
    assert!(!registry.remove("A"));
    let scope = Scope::root("plugin");
    registry.add_in(&scope, Named("A", "plugin")).unwrap();
    assert!(registry.add(Named("A", "again")).is_err());
    scope.dispose().await;
    assert!(names(&registry).is_empty());
    registry.add(Named("A", "again")).unwrap();
    assert_eq!(about(&registry, "A"), "again");
    let late = registry.add_in(&scope, Named("B", "late")).unwrap_err();
    assert_eq!(late, RegistryError::Disposed("B".to_owned()));
}

/// K08: an agent's own tool is nobody else's, stands in for a global one whichever came first, and
/// goes with its scope.
#[tokio::test]
async fn an_agents_own_tools() {
    for own_first in [true, false] {
        let registry = Registry::new();
        let (agent, other) = (registry.child(), registry.child());
        let scope = Scope::root("agent");
        let add_own = || agent.add_in(&scope, Named("A", "own")).unwrap();
        let add_global = || registry.add(Named("A", "global")).unwrap();
        match own_first {
            true => (add_own(), add_global()),
            false => (add_global(), add_own()),
        };
        agent.add_in(&scope, Named("Own", "own")).unwrap();
        assert_eq!(about(&agent, "A"), "own");
        assert_eq!(about(&other, "A"), "global");
        assert_eq!(names(&agent), ["A", "Own"]);
        assert_eq!(names(&other), ["A"]);
        assert_eq!(names(&registry), ["A"]);
        scope.dispose().await;
        assert_eq!(names(&agent), ["A"]);
        assert_eq!(about(&agent, "A"), "global");
    }
}

/// K09: restrictions hide what comes from above and nothing of the layer's own; several hide what
/// any of them hides; each is lifted by itself.
#[tokio::test]
async fn restrictions_intersect_and_lift_alone() {
    let registry = global(&["A", "B", "C"]);
    let agent = registry.child();
    agent.add(Named("Own", "own")).unwrap();
    let (first, second) = (Scope::root("first"), Scope::root("second"));
    agent.restrict(&first, only(&["A", "B"])).unwrap();
    assert_eq!(names(&agent), ["A", "B", "Own"]);
    agent.restrict(&second, without(&["A"])).unwrap();
    assert_eq!(names(&agent), ["B", "Own"]);
    assert_eq!(names(&registry), ["A", "B", "C"]);
    first.dispose().await;
    assert_eq!(names(&agent), ["B", "C", "Own"]);
    second.dispose().await;
    assert_eq!(names(&agent), ["A", "B", "C", "Own"]);
}

/// K10: a restriction that could not do what it says is refused and hides nothing.
#[test]
fn restrictions_that_are_refused() {
    let registry = global(&["A", "B"]);
    let agent = registry.child();
    agent.add(Named("Own", "own")).unwrap();
    let scope = Scope::root("plugin");
    let not_inherited = |name: &str| RegistryError::NotInherited(name.to_owned());
    for (layer, restriction, error) in [
        (&registry, without(&["A"]), not_inherited("A")),
        (&agent, only(&[]), RegistryError::Nothing),
        (&agent, without(&["A", "Nobody"]), not_inherited("Nobody")),
        (&agent, only(&["Own"]), not_inherited("Own")),
        (
            &agent,
            without(&[RUN_CODE]),
            RegistryError::Reserved(RUN_CODE.to_owned()),
        ),
    ] {
        assert_eq!(layer.restrict(&scope, restriction), Err(error));
    }
    assert_eq!(names(&agent), ["A", "B", "Own"]);
}

/// K11: what a layer hides is hidden below it, and what it holds can be hidden there.
#[test]
fn restrictions_reach_down() {
    let registry = global(&["A", "B"]);
    let agent = registry.child();
    agent.add(Named("Own", "own")).unwrap();
    let nested = agent.child();
    let scope = Scope::root("plugin");
    agent.restrict(&scope, without(&["A"])).unwrap();
    assert_eq!(names(&nested), ["B", "Own"]);
    nested.restrict(&scope, without(&["Own"])).unwrap();
    assert_eq!(names(&nested), ["B"]);
    assert_eq!(names(&agent), ["B", "Own"]);
    let refused = nested.restrict(&scope, without(&["A"]));
    assert_eq!(refused, Err(RegistryError::NotInherited("A".to_owned())));
}
