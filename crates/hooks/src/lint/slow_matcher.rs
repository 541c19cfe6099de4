//! A matcher that can take for ever.

use super::look::{At, Look, Remark};
use super::{Check, Rule};
use crate::dialect::{DialectId, Subject};
use crate::matcher::Reading;

pub(super) const RULE: Rule = Rule {
    code: "slow-matcher",
    about: "A repeated group that itself repeats, such as `(a+)+`, can take a backtracking matcher \
            exponential time. Past its deadline such a matcher counts as fitting.",
    check: Check::Group(check),
};

fn check(look: &Look<'_>) -> Vec<Remark> {
    let backtracks = look.is(DialectId::Claude)
        && look.row.subject != Subject::Ignored
        && look.matcher.reading() == Reading::Regex;
    let matcher = look
        .written_matcher()
        .filter(|matcher| backtracks && nested(matcher));
    let remark = matcher.map(|matcher| {
        let message = format!("matcher {matcher:?} repeats a repetition, and may take for ever");
        Remark::warning(At::Matcher, message).help("repeat only once: `a+` instead of `(a+)+`")
    });
    remark.into_iter().collect()
}

/// Whether an unbounded repetition stands around another.
fn nested(pattern: &str) -> bool {
    // For each open group: whether an unbounded repetition was seen in it.
    let mut groups = vec![false];
    let mut in_class = false;
    let mut closed: Option<bool> = None;
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        let just_closed = closed.take();
        match c {
            '\\' => {
                rest.next();
            }
            '[' => in_class = true,
            ']' => in_class = false,
            _ if in_class => {}
            '(' => groups.push(false),
            ')' if groups.len() > 1 => closed = groups.pop(),
            '*' | '+' | '{' if unbounded(c, rest.as_str()) => {
                if just_closed == Some(true) {
                    return true;
                }
                if let Some(group) = groups.last_mut() {
                    *group = true;
                }
            }
            _ => {}
        }
        // A group's repetitions are repetitions of the group around it.
        if let (Some(true), Some(group)) = (closed, groups.last_mut()) {
            *group = true;
        }
    }
    false
}

fn unbounded(c: char, rest: &str) -> bool {
    let bounds = rest.split('}').next().unwrap_or("");
    c != '{' || bounds.ends_with(',') && bounds.len() > 1
}

#[cfg(test)]
mod tests {
    use super::super::trial::{claude, codex, command};
    use super::*;

    #[test]
    fn a_repeated_repetition_is_found() {
        for bad in ["^(a+)+$", "(a*)*", "((a+)b?)*", "(x{2,})+", "(?:.*)+"] {
            assert_eq!(
                claude(RULE.code, "PreToolUse", bad, &command("x")).len(),
                1,
                "{bad}"
            );
        }
        for good in [
            "mcp__.*__.*",
            "(a|b)+",
            "(ab)*c+",
            "(a{2,3})+",
            "[(a+)]+",
            r"\(a+\)+",
            "(a+)b",
        ] {
            assert_eq!(
                claude(RULE.code, "PreToolUse", good, &command("x")),
                [""; 0],
                "{good}"
            );
        }
    }

    #[test]
    fn codex_has_a_linear_matcher_and_ignored_matchers_cost_nothing() {
        assert_eq!(
            codex(RULE.code, "PreToolUse", "^(a+)+$", &command("x")),
            [""; 0]
        );
        assert_eq!(claude(RULE.code, "Stop", "^(a+)+$", &command("x")), [""; 0]);
    }
}
