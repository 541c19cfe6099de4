//! Folds what the runs of one event want into one outcome.
//!
//! `deny > defer > ask > allow`, whatever the order of finishing; a halt beats all of them and
//! rides beside. The dialect says whose reason speaks, whose order lists keep; of several rewrites
//! the last to finish wins, and none survives a denial.

use std::sync::Arc;

use serde_json::value::RawValue;

use crate::codec::{Effect, Fields};
use crate::dialect::{Dialect, Order, ReasonPick};
use crate::handler::HandlerKey;
use crate::outcome::{By, Decision, Extras, HaltRequest, Notice, NoticeKind, Outcome};

/// The effect of one run.
#[derive(Debug, Clone)]
pub struct Wish {
    /// Who wishes.
    pub by: HandlerKey,
    /// Its place by time of completion.
    pub finished: usize,
    /// What for.
    pub effect: Effect,
}

/// Folds the wishes, given in configured order.
#[must_use]
pub fn merge(dialect: &Dialect, wishes: &[Wish]) -> Outcome {
    let mut by_finish: Vec<&Wish> = wishes.iter().collect();
    by_finish.sort_by_key(|wish| wish.finished);
    let ordered: Vec<&Wish> = match dialect.context_order {
        Order::Configured => wishes.iter().collect(),
        Order::Finished => by_finish.clone(),
    };
    let decision = strongest(&ordered);
    let winners: Vec<&Wish> = ordered
        .iter()
        .copied()
        .filter(|wish| wish.effect.decision == decision)
        .collect();
    let mut outcome = Outcome {
        decision,
        reasons: collect(&winners, |effect| effect.reason.clone()),
        contexts: ordered.iter().flat_map(|wish| contexts(wish)).collect(),
        notices: collect(&ordered, |effect| effect.message.clone().map(system_notice)),
        halt: ordered.iter().find_map(|wish| halt(wish)),
        ..Outcome::default()
    };
    outcome.reason = reason(dialect, &winners, &outcome.reasons);
    if dialect.reason == ReasonPick::Joined {
        outcome.reasons = spoken_as_one(&outcome);
    }
    if matches!(decision, Decision::None | Decision::Allow | Decision::Ask) {
        outcome.input = last(&by_finish, |effect| effect.input.clone());
    }
    outcome.extras = extras(&ordered, &by_finish, decision);
    outcome
}

fn rank(decision: Decision) -> u8 {
    match decision {
        Decision::None => 0,
        Decision::Allow => 1,
        Decision::Ask => 2,
        Decision::Defer => 3,
        Decision::Block => 4,
        Decision::Deny => 5,
    }
}

fn strongest(wishes: &[&Wish]) -> Decision {
    wishes
        .iter()
        .map(|wish| wish.effect.decision)
        .max_by_key(|d| rank(*d))
        .unwrap_or_default()
}

/// One voice for several reasons of the same kind. Reasons for the model about something that has
/// happened are all said; a refusal has one.
fn reason(dialect: &Dialect, winners: &[&Wish], all: &[By<String>]) -> Option<String> {
    let joined = || {
        let texts: Vec<&str> = all.iter().map(|by| by.value.as_str()).collect();
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    };
    let replaces = winners
        .iter()
        .any(|wish| wish.effect.replaces_output.is_some());
    if replaces {
        return joined();
    }
    let of = |wish: &&Wish| wish.effect.reason.clone();
    match dialect.reason {
        ReasonPick::Joined => joined(),
        ReasonPick::FirstConfigured => winners.iter().find_map(of),
        ReasonPick::LastFinished => {
            let mut winners = winners.to_vec();
            winners.sort_by_key(|wish| wish.finished);
            winners.iter().rev().find_map(of)
        }
    }
}

/// The joined reason, in the name of the first who gave one.
fn spoken_as_one(outcome: &Outcome) -> Vec<By<String>> {
    let first = outcome.reasons.first().map(|by| by.by.clone());
    let said = outcome.reason.clone().zip(first);
    said.map(|(value, by)| By { value, by })
        .into_iter()
        .collect()
}

fn collect<T>(wishes: &[&Wish], pick: impl Fn(&Effect) -> Option<T>) -> Vec<By<T>> {
    wishes
        .iter()
        .filter_map(|wish| {
            pick(&wish.effect).map(|value| By {
                value,
                by: wish.by.clone(),
            })
        })
        .collect()
}

fn contexts(wish: &Wish) -> Vec<By<String>> {
    let texts = wish.effect.contexts.iter();
    texts
        .map(|text| By {
            value: text.clone(),
            by: wish.by.clone(),
        })
        .collect()
}

fn system_notice(text: String) -> Notice {
    Notice {
        kind: NoticeKind::System,
        text,
    }
}

fn halt(wish: &Wish) -> Option<HaltRequest> {
    wish.effect.halt.as_ref().map(|reason| HaltRequest {
        reason: reason.clone(),
        by: wish.by.clone(),
    })
}

/// The value of the last run to finish that has one.
fn last<T>(by_finish: &[&Wish], pick: impl Fn(&Effect) -> Option<T>) -> Option<By<T>> {
    by_finish.iter().rev().find_map(|wish| {
        pick(&wish.effect).map(|value| By {
            value,
            by: wish.by.clone(),
        })
    })
}

fn extras(ordered: &[&Wish], by_finish: &[&Wish], decision: Decision) -> Extras {
    fn field<T>(by_finish: &[&Wish], pick: impl Fn(&Fields) -> Option<T>) -> Option<By<T>> {
        last(by_finish, |effect| pick(&effect.fields))
    }
    let raw = |pick: fn(&Fields) -> Option<Arc<RawValue>>| field(by_finish, pick);
    let replaced: Vec<String> = ordered
        .iter()
        .filter_map(|wish| wish.effect.replaces_output.clone())
        .collect();
    let said: Vec<&str> = replaced
        .iter()
        .map(String::as_str)
        .filter(|text| !text.is_empty())
        .collect();
    Extras {
        tool_output: raw(|f| f.tool_output.clone()),
        mcp_output: raw(|f| f.mcp_output.clone()),
        replaced_output: (!replaced.is_empty()).then(|| said.join("\n\n")),
        permission_updates: if decision == Decision::Allow {
            raw(|f| f.permission_updates.clone())
        } else {
            None
        },
        interrupt: ordered.iter().any(|wish| wish.effect.fields.interrupt),
        initial_user_message: field(by_finish, |f| f.initial_user_message.clone()),
        session_title: field(by_finish, |f| f.session_title.clone()),
        watch_paths: ordered
            .iter()
            .flat_map(|w| w.effect.fields.watch_paths.clone())
            .collect(),
        suppress_original_prompt: ordered
            .iter()
            .any(|wish| wish.effect.fields.suppress_original_prompt),
        retry: ordered.iter().any(|wish| wish.effect.fields.retry),
        display: field(by_finish, |f| f.display.clone()),
        elicitation: elicitation(by_finish),
        worktree_path: field(by_finish, |f| f.worktree_path.clone()),
        instructions: collect(ordered, |effect| effect.fields.instructions.clone()),
    }
}

/// A `decline` of any hook beats every other answer (documented).
fn elicitation(by_finish: &[&Wish]) -> Option<By<(String, Option<Arc<RawValue>>)>> {
    let answers = collect(by_finish, |effect| effect.fields.elicitation.clone());
    let declined = answers.iter().find(|by| by.value.0 == "decline").cloned();
    declined.or_else(|| answers.last().cloned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::dialect::{CLAUDE, CODEX};

    fn wish(by: &str, finished: usize, decision: Decision, reason: &str) -> Wish {
        let reason = (!reason.is_empty()).then(|| reason.to_owned());
        let effect = Effect {
            decision,
            reason,
            ..Effect::default()
        };
        Wish {
            by: HandlerKey(by.into()),
            finished,
            effect,
        }
    }

    fn input(mut wish: Wish, text: &str) -> Wish {
        wish.effect.input = Some(Arc::from(RawValue::from_string(text.into()).unwrap()));
        wish
    }

    #[test]
    fn the_strongest_decision_wins_in_any_order() {
        use Decision::{Allow, Ask, Defer, Deny, None};
        let table = [
            (vec![], None),
            (vec![None], None),
            (vec![Allow, None], Allow),
            (vec![Ask, Allow], Ask),
            (vec![Allow, Defer, Ask], Defer),
            (vec![Allow, Deny, Defer], Deny),
        ];
        for (decisions, expected) in table {
            for dialect in [&CLAUDE, &CODEX] {
                let wishes: Vec<_> = decisions
                    .iter()
                    .enumerate()
                    .map(|(i, d)| wish("h", i, *d, ""))
                    .collect();
                assert_eq!(merge(dialect, &wishes).decision, expected, "{decisions:?}");
            }
        }
    }

    #[test]
    fn claude_takes_the_reason_of_the_last_to_finish_and_codex_the_first_configured() {
        let wishes = [
            wish("a", 1, Decision::Deny, "R1"),
            wish("b", 0, Decision::Deny, "R2"),
        ];
        assert_eq!(merge(&CLAUDE, &wishes).reason.as_deref(), Some("R1"));
        let wishes = [
            wish("a", 1, Decision::Deny, "R1"),
            wish("b", 2, Decision::Deny, "R2"),
        ];
        assert_eq!(merge(&CLAUDE, &wishes).reason.as_deref(), Some("R2"));
        assert_eq!(merge(&CODEX, &wishes).reason.as_deref(), Some("R1"));
    }

    #[test]
    fn the_last_rewrite_to_finish_wins_and_a_silent_sibling_never_wipes_it() {
        let wishes = [
            input(wish("a", 2, Decision::Allow, ""), "1"),
            input(wish("b", 1, Decision::Allow, ""), "2"),
            wish("silent", 3, Decision::None, ""),
        ];
        let outcome = merge(&CLAUDE, &wishes);
        assert_eq!(outcome.input.as_ref().map(|by| by.value.get()), Some("1"));
        assert_eq!(outcome.input.map(|by| by.by.0), Some("a".into()));
    }

    #[test]
    fn a_denial_and_a_deferral_drop_every_rewrite() {
        for decision in [Decision::Deny, Decision::Defer] {
            let wishes = [
                input(wish("a", 1, Decision::Allow, ""), "1"),
                wish("b", 0, decision, ""),
            ];
            assert!(merge(&CODEX, &wishes).input.is_none());
        }
        let wishes = [input(wish("a", 0, Decision::Ask, ""), "1")];
        assert!(
            merge(&CLAUDE, &wishes).input.is_some(),
            "an ask shows the rewritten call"
        );
    }

    #[test]
    fn a_halt_rides_beside_the_decision() {
        let mut stop = wish("s", 0, Decision::None, "");
        stop.effect.halt = Some(Some("SR".into()));
        let outcome = merge(&CLAUDE, &[wish("a", 1, Decision::Deny, "R"), stop]);
        assert_eq!(outcome.decision, Decision::Deny);
        assert_eq!(
            outcome.halt.map(|halt| halt.reason),
            Some(Some("SR".into()))
        );
    }

    #[test]
    fn contexts_keep_completion_order_in_claude_and_configured_order_in_codex() {
        let context = |by: &str, finished| {
            let mut wish = wish(by, finished, Decision::None, "");
            wish.effect.contexts = vec![by.to_owned()];
            wish
        };
        let wishes = [context("first", 1), context("second", 0)];
        let order = |dialect| -> Vec<String> {
            merge(dialect, &wishes)
                .contexts
                .into_iter()
                .map(|by| by.value)
                .collect()
        };
        assert_eq!(order(&CLAUDE), ["second", "first"]);
        assert_eq!(order(&CODEX), ["first", "second"]);
    }

    #[test]
    fn outputs_that_are_replaced_are_joined_by_a_blank_line() {
        let replaced = |by: &str, text: &str| {
            let mut wish = wish(by, 0, Decision::Block, text);
            wish.effect.replaces_output = Some(text.to_owned());
            wish
        };
        let outcome = merge(&CODEX, &[replaced("a", "R1"), replaced("b", "S")]);
        assert_eq!(outcome.extras.replaced_output.as_deref(), Some("R1\n\nS"));
    }

    fn any_decision() -> impl Strategy<Value = Decision> {
        use Decision::{Allow, Ask, Block, Defer, Deny, None};
        prop::sample::select(vec![None, Allow, Ask, Defer, Deny, Block])
    }

    proptest! {
        /// Neither order of configuration nor of completion changes what is decided, and no
        /// sibling can take a denial away.
        #[test]
        fn a_denial_is_never_lost(
            decisions in prop::collection::vec(any_decision(), 0..8),
            seed in any::<u64>(),
        ) {
            let n = decisions.len().max(1) as u64;
            let wishes: Vec<_> = decisions.iter().enumerate()
                .map(|(i, d)| wish("h", ((i as u64).wrapping_mul(seed | 1) % n) as usize, *d, "r"))
                .collect();
            let mut reversed = wishes.clone();
            reversed.reverse();
            for dialect in [&CLAUDE, &CODEX] {
                let outcome = merge(dialect, &wishes);
                prop_assert_eq!(outcome.decision, merge(dialect, &reversed).decision);
                if decisions.contains(&Decision::Deny) {
                    prop_assert_eq!(outcome.decision, Decision::Deny);
                    prop_assert_eq!(outcome.reason.as_deref(), Some("r"));
                }
            }
        }
    }
}
