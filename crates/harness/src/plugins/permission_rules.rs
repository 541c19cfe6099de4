//! Permission rules: what is denied, asked for and allowed by a list.

use std::path::PathBuf;
use std::sync::Arc;

use seamline_rules::{Call as Case, Places, Policy, Ruling, Stated};
use seamline_seams::{Denial, Scope, Source};

use super::Seams;
use crate::json::Json;
use crate::tools::PreDecision;
use crate::{Facts, permission};

/// Rules over tool calls, as Claude Code's settings state them.
///
/// * A deny rule denies, whatever policies, hooks, people or the permission mode say: it is heard
///   before anybody is asked, and once more as a guard, when nothing can change any more.
/// * An ask rule asks a person in every mode; in `dontAsk`, where nobody may be asked, it denies.
/// * Allow rules stand for the yes that the mode would ask for, and for nothing else.
///
/// Deny beats ask beats allow. A file's path and the place it leads to through symbolic links are
/// both looked at. The rules see arguments as they would run, rewrites included.
#[derive(Debug, Clone)]
pub struct PermissionRules {
    policy: Policy,
    home: PathBuf,
}

impl PermissionRules {
    /// The name it registers under; denials and questions carry it, with the rule as key.
    pub const NAME: &str = "permission-rules";

    /// Rules over calls; `~/` in them is `home`, absolute.
    pub fn new(policy: Policy, home: impl Into<PathBuf>) -> Self {
        let home = home.into();
        Self { policy, home }
    }

    /// Puts the rules in force until the scope is disposed.
    pub fn install<'a>(self, scope: &Scope, seams: impl Into<Seams<'a>>) {
        let (seams, rules) = (seams.into().tools, Arc::new(self));
        let guard = Arc::clone(&rules);
        seams.guards.add(scope, Self::NAME, move |call| {
            let hit = |case: &Case<'_>| guard.policy.denies(case).map(|hit| denial(hit.by));
            let reasons = guard.on(call.name(), call.arguments(), call.facts(), hit);
            reasons.into_iter().flatten().next().map(Denial::new)
        });
        seams.pre.on_first(scope, Self::NAME, move |call, next| {
            let rules = Arc::clone(&rules);
            async move {
                let reply = next.run().await?;
                if !call.is_valid() {
                    return Ok(reply);
                }
                let decide = |case: &Case<'_>| rules.policy.decide(case);
                let rulings = rules.on(call.name(), call.arguments(), call.facts(), decide);
                let strictest = rulings.into_iter().reduce(Ruling::stricter);
                Ok(reply.map(|said| strictest.map_or(said.clone(), |ruling| ruled(ruling, said))))
            }
        });
    }

    /// Looks at a call as the rules do, once for each case of it.
    fn on<T>(&self, tool: &str, input: &Json, at: &Facts, look: impl Fn(&Case<'_>) -> T) -> Vec<T> {
        let (cwd, project, home) = (&*at.cwd, &*at.project, &*self.home);
        let places = Places { cwd, project, home };
        let cases = permission::cases(tool, input);
        let looked = cases.iter().map(|(tool, input)| {
            let case = Case::new(tool, input, places);
            let target = case.file().and_then(|file| permission::leads_to(&file));
            match &target {
                Some(target) => look(&case.resolving_to(target)),
                None => look(&case),
            }
        });
        looked.collect()
    }
}

/// What is decided when the policies said this and the rules that.
fn ruled(ruling: Ruling<'_>, said: PreDecision) -> PreDecision {
    let by = |rule: &Stated| Source::new(PermissionRules::NAME).with_key(rule.rule.to_string());
    match (ruling, said) {
        (_, said @ PreDecision::Deny { .. }) => said,
        (Ruling::Deny(hit), _) => PreDecision::Deny {
            reason: denial(hit.by),
            by: by(hit.by),
        },
        (Ruling::Ask(hit), PreDecision::Allow { .. }) => PreDecision::Ask {
            reason: Some(format!("the rule {} asks for approval", hit.by)),
            by: by(hit.by),
        },
        (Ruling::Allow(_), PreDecision::Allow { .. }) => PreDecision::Allow { pre_approved: true },
        (_, said) => said,
    }
}

fn denial(rule: &Stated) -> String {
    format!("denied by the rule {rule}")
}
