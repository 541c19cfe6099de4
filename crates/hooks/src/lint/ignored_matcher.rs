//! A matcher where there is nothing to match.

use super::look::{At, Look, Remark};
use super::{Check, Rule};
use crate::dialect::Subject;

pub(super) const RULE: Rule = Rule {
    code: "ignored-matcher",
    about: "Some events ignore matchers, even invalid ones: the hooks run every time.",
    check: Check::Group(check),
};

fn check(look: &Look<'_>) -> Vec<Remark> {
    let Some(matcher) = look
        .written_matcher()
        .filter(|_| look.row.subject == Subject::Ignored)
    else {
        return Vec::new();
    };
    let message = format!(
        "{} ignores matchers: these hooks run every time, not for {matcher:?} only",
        look.row.name
    );
    vec![Remark::warning(At::Matcher, message).help("remove the matcher, and look at the payload")]
}

#[cfg(test)]
mod tests {
    use super::super::trial::{claude, codex, command};
    use super::*;

    #[test]
    fn any_real_matcher_is_reported_and_match_all_is_not() {
        for (event, matcher, count) in [
            ("UserPromptSubmit", "deploy", 1),
            ("Stop", "[", 1),
            ("Stop", "*", 0),
            ("Stop", "", 0),
            ("PreToolUse", "Bash", 0),
        ] {
            assert_eq!(
                claude(RULE.code, event, matcher, &command("x")).len(),
                count,
                "{event}"
            );
            assert_eq!(
                codex(RULE.code, event, matcher, &command("x")).len(),
                count,
                "{event}"
            );
        }
    }
}
