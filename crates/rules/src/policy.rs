//! Lists of rules, evaluated together.

use std::fmt;

use crate::answer::{Answer, Reading, Verdict};
use crate::call::Call;
use crate::command::{Part, parts};
use crate::path;
use crate::rule::{Rule, Specifier};

/// Where a rule was stated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The file, flag or session, as a person would name it. Rules with the same name belong
    /// together.
    pub name: String,
    /// Line and column within a file, from 1.
    pub position: Option<(usize, usize)>,
}

/// A rule and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stated {
    /// The rule.
    pub rule: Rule,
    /// Its source.
    pub source: Source,
}

/// Which list a rule is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tier {
    /// The call does not run.
    Deny,
    /// Somebody is asked, whatever allows the call.
    Ask,
    /// The call runs without asking.
    Allow,
}

impl Tier {
    /// How rules of this list are read.
    #[must_use]
    pub fn reading(self) -> Reading {
        match self {
            Self::Deny => Reading::Deny,
            Self::Ask => Reading::Ask,
            Self::Allow => Reading::Allow,
        }
    }
}

/// Deny, ask and allow rules of all sources.
///
/// The order is deny, ask, allow; the first list with a rule that takes effect decides, however
/// specific the others are (documented). Three things need more than one rule:
///
/// * the parts of a shell command may be allowed by different rules, but all must be;
/// * a file that an allowed command writes by redirection needs an `Edit` rule of its own;
/// * `!path` takes back what an earlier rule *of the same source* covers, except below a folder
///   that is covered as a whole.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    deny: Vec<Stated>,
    ask: Vec<Stated>,
    allow: Vec<Stated>,
}

/// A rule that takes effect, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit<'p> {
    /// The rule.
    pub by: &'p Stated,
    /// Its verdict: `Yes`, or `Unknown` where that is enough.
    pub verdict: Verdict,
}

/// What the rules say of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruling<'p> {
    /// A deny rule takes effect.
    Deny(Hit<'p>),
    /// An ask rule takes effect.
    Ask(Hit<'p>),
    /// These allow rules cover the call together.
    Allow(Vec<&'p Stated>),
    /// No rule decides; the mode does. With the reason why no allow rule was enough.
    Silent(String),
}

impl Ruling<'_> {
    /// The one of two that leaves less free; this one where they are alike.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        let free = |ruling: &Self| match ruling {
            Self::Deny(_) => 0,
            Self::Ask(_) => 1,
            Self::Silent(_) => 2,
            Self::Allow(_) => 3,
        };
        match free(&other) < free(&self) {
            true => other,
            false => self,
        }
    }
}

impl Policy {
    /// A policy without rules.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a rule behind the others of its list.
    pub fn add(&mut self, tier: Tier, rule: Rule, source: Source) {
        let stated = Stated { rule, source };
        match tier {
            Tier::Deny => self.deny.push(stated),
            Tier::Ask => self.ask.push(stated),
            Tier::Allow => self.allow.push(stated),
        }
    }

    /// Adds another policy's rules behind these.
    pub fn append(&mut self, other: Self) {
        self.deny.extend(other.deny);
        self.ask.extend(other.ask);
        self.allow.extend(other.allow);
    }

    /// The rules of one list, in order.
    #[must_use]
    pub fn rules(&self, tier: Tier) -> &[Stated] {
        match tier {
            Tier::Deny => &self.deny,
            Tier::Ask => &self.ask,
            Tier::Allow => &self.allow,
        }
    }

    /// Every rule that can never take effect in its list, and why.
    pub fn idle(&self) -> impl Iterator<Item = (Tier, &Stated, String)> {
        [Tier::Deny, Tier::Ask, Tier::Allow]
            .into_iter()
            .flat_map(move |tier| {
                let idle = move |s: &Stated| s.rule.idle(tier.reading());
                self.rules(tier)
                    .iter()
                    .filter_map(move |s| idle(s).map(|why| (tier, s, why)))
            })
    }

    /// Deny, then ask, then allow.
    #[must_use]
    pub fn decide(&self, call: &Call<'_>) -> Ruling<'_> {
        if let Some(hit) = self.denies(call) {
            return Ruling::Deny(hit);
        }
        if let Some(hit) = self.asks(call) {
            return Ruling::Ask(hit);
        }
        match self.allows(call) {
            Ok(rules) => Ruling::Allow(rules),
            Err(why) => Ruling::Silent(why),
        }
    }

    /// The deny rule that takes effect, for use as a guard.
    #[must_use]
    pub fn denies(&self, call: &Call<'_>) -> Option<Hit<'_>> {
        first(&self.deny, Reading::Deny, call)
    }

    /// The ask rule that takes effect, whatever the deny rules say.
    #[must_use]
    pub fn asks(&self, call: &Call<'_>) -> Option<Hit<'_>> {
        first(&self.ask, Reading::Ask, call)
    }

    /// The allow rules that cover the call together, whatever the other lists say.
    ///
    /// # Errors
    ///
    /// What no rule covers, in words.
    pub fn allows(&self, call: &Call<'_>) -> Result<Vec<&Stated>, String> {
        let covers = |s: &&Stated| s.rule.verdict(Reading::Allow, call).acts(Reading::Allow);
        if let Some(stated) = self.allow.iter().find(covers) {
            return Ok(vec![stated]);
        }
        let on_commands = |s: &&Stated| match s.rule.specifier() {
            Some(Specifier::Command(_)) => s.rule.tool().names(Reading::Allow, call),
            _ => false,
        };
        if !self.allow.iter().any(|s| on_commands(&s)) {
            return Err(format!("no allow rule covers this {} call", call.tool()));
        }
        let script = call.script().map_err(ToString::to_string)?;
        let mut used: Vec<&Stated> = Vec::new();
        for part in parts(script) {
            let allows = |s: &&Stated| match (&part, s.rule.specifier()) {
                (Part::Command(_), Some(Specifier::Command(pattern))) => {
                    on_commands(s) && part.allowed_by(pattern)
                }
                (Part::Writes(target), Some(Specifier::Path(_))) => target
                    .certain()
                    .is_some_and(|file| path::allows_writing(&s.rule, call, file)),
                _ => false,
            };
            let Some(stated) = self.allow.iter().find(allows) else {
                return Err(format!("no allow rule covers {}", part.describe()));
            };
            if !used.contains(&stated) {
                used.push(stated);
            }
        }
        if used.is_empty() {
            Err("there is nothing in it to allow".to_owned())
        } else {
            Ok(used)
        }
    }
}

/// The first rule that answers `Yes`, else the first that takes effect without being certain.
fn first<'p>(list: &'p [Stated], reading: Reading, call: &Call<'_>) -> Option<Hit<'p>> {
    let mut unsure = None;
    for (index, by) in list.iter().enumerate() {
        let takes_back = |later: &&Stated| {
            let same_place = later.source.name == by.source.name;
            same_place && later.rule.negated() && later.rule.tool() == by.rule.tool()
        };
        let later = list.get(index + 1..).unwrap_or_default();
        let except: Vec<&Rule> = later.iter().filter(takes_back).map(|s| &s.rule).collect();
        let verdict = by.rule.verdict_except(reading, call, &except);
        match verdict.answer {
            Answer::Yes => return Some(Hit { by, verdict }),
            Answer::Unknown if unsure.is_none() => unsure = Some(Hit { by, verdict }),
            _ => {}
        }
    }
    unsure.filter(|hit| hit.verdict.acts(reading))
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.position {
            Some((line, column)) => write!(f, "{}:{line}:{column}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

impl fmt::Display for Stated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ({})", self.rule, self.source)
    }
}
