//! What is wrong with a handler that loads and would run, one file per rule.
//!
//! [`lint`] says what [`load`](crate::config::load) does not: the client takes all of it without a
//! word, and it is likely a mistake. Nothing here is broken, so every finding is a warning (it
//! does not do what it looks like) or a note. Rules read configuration, and for a few the text of
//! the scripts that commands name; they start nothing.
//!
//! Adding a rule is adding a file with a [`Rule`] in it and a line to [`RULES`].

mod claude_tool;
mod condition_never;
mod dead_matcher;
mod duplicate_command;
mod empty_command;
mod exec_form;
mod exit_one;
mod header_variable;
mod ignored_matcher;
mod long_timeout;
mod look;
mod mcp_matcher;
mod once_ignored;
mod permission_rule;
mod relative_script;
mod same_script;
mod slow_matcher;
mod stop_guard;
#[cfg(test)]
mod trial;
mod unknown_key;
mod unquoted_variable;
mod unset_variable;
mod unsupported_type;
mod watched_star;
mod windows_command;

use std::collections::HashSet;

use crate::config::Loaded;
use crate::diagnostic::Diagnostic;
use look::{Look, Remark};

/// What the configuration alone does not tell.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// Tools that exist here beside the dialect's own, as hooks see them (`mcp__server__tool`).
    pub tools: Vec<String>,
    /// Names of environment variables that hooks will have beside those of the client.
    pub variables: Vec<String>,
}

/// One rule.
#[derive(Debug)]
pub struct Rule {
    /// Stable kebab-case name.
    pub code: &'static str,
    /// What it finds and why that matters, in a sentence or two.
    pub about: &'static str,
    check: Check,
}

#[derive(Debug, Clone, Copy)]
enum Check {
    /// Asked about each handler.
    Each(fn(&Look<'_>) -> Vec<Remark>),
    /// Asked once about each matcher group.
    Group(fn(&Look<'_>) -> Vec<Remark>),
    /// Asked about each handler together with those before it.
    Among(fn(&Look<'_>, &[Look<'_>]) -> Vec<Remark>),
}

/// All rules, in the order in which they speak about one handler.
pub static RULES: &[Rule] = &[
    permission_rule::RULE,
    ignored_matcher::RULE,
    dead_matcher::RULE,
    mcp_matcher::RULE,
    claude_tool::RULE,
    slow_matcher::RULE,
    watched_star::RULE,
    unsupported_type::RULE,
    condition_never::RULE,
    once_ignored::RULE,
    unknown_key::RULE,
    long_timeout::RULE,
    empty_command::RULE,
    exec_form::RULE,
    unquoted_variable::RULE,
    unset_variable::RULE,
    header_variable::RULE,
    relative_script::RULE,
    exit_one::RULE,
    stop_guard::RULE,
    windows_command::RULE,
    duplicate_command::RULE,
    same_script::RULE,
];

/// Looks at every handler that was loaded.
#[must_use]
pub fn lint(loaded: &Loaded, context: &Context) -> Vec<Diagnostic> {
    let looks: Vec<Look<'_>> = loaded
        .handlers
        .iter()
        .filter_map(|handler| Look::new(loaded, handler, context))
        .collect();
    let mut groups = HashSet::new();
    let mut found = Vec::new();
    for (index, look) in looks.iter().enumerate() {
        let handler = look.handler;
        let first_of_group = groups.insert((&handler.source, handler.event, handler.group));
        let earlier = looks.get(..index).unwrap_or_default();
        for rule in RULES {
            let remarks = match rule.check {
                Check::Each(check) => check(look),
                Check::Group(check) if first_of_group => check(look),
                Check::Group(_) => Vec::new(),
                Check::Among(check) => check(look, earlier),
            };
            found.extend(
                remarks
                    .into_iter()
                    .map(|remark| look.diagnose(rule.code, remark)),
            );
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_name_of_its_own_and_says_what_it_finds() {
        let mut names = HashSet::new();
        for rule in RULES {
            assert!(names.insert(rule.code), "{}", rule.code);
            assert!(
                rule.code
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c == '-')
            );
            assert!(rule.about.ends_with('.'), "{}", rule.code);
        }
    }
}
