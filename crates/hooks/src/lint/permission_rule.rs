//! `Bash(git *)` as a matcher.

use super::look::{At, Look, Remark};
use super::{Check, Rule};
use crate::dialect::{DialectId, Subject};

pub(super) const RULE: Rule = Rule {
    code: "permission-rule-in-matcher",
    about: "A permission rule such as `Bash(git *)` in `matcher` is read as a regular expression \
            and fits no tool name. Claude Code takes such rules in `if`.",
    check: Check::Group(check),
};

fn check(look: &Look<'_>) -> Vec<Remark> {
    if look.row.subject != Subject::Tool {
        return Vec::new();
    }
    let Some((tool, inside)) = look.written_matcher().and_then(rule) else {
        return Vec::new();
    };
    let message =
        format!("matcher `{tool}({inside})` is a permission rule: as a matcher it fits no tool");
    let help = match look.handler.dialect {
        DialectId::Claude => {
            let rules = inside.split('|').map(|part| format!("\"{tool}({part})\""));
            let rules: Vec<_> = rules.collect();
            format!(
                "write \"matcher\": \"{tool}\", and in a handler each \"if\": {}",
                rules.join(", ")
            )
        }
        DialectId::Codex => format!(
            "Codex has no conditions: write \"matcher\": \"{tool}\" and look at tool_input in the hook"
        ),
    };
    vec![Remark::warning(At::Matcher, message).help(help)]
}

/// `Name(...)`, unless the name could be part of a regular expression meant as one.
fn rule(matcher: &str) -> Option<(&str, &str)> {
    let (name, rest) = matcher.split_once('(')?;
    let inside = rest.strip_suffix(')')?;
    let named = name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.len() > 1
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    // `B(a|b)sh` has more after the bracket, `Web(Fetch|Search)` completes a name.
    let words = inside.split('|');
    let completes = words.clone().all(|word| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    });
    (named && !completes).then_some((name, inside))
}

#[cfg(test)]
mod tests {
    use super::super::trial::{claude, codex, command};
    use super::*;

    #[test]
    fn rules_are_told_from_regular_expressions() {
        for bad in [
            "Bash(git commit*|git ci*)",
            "Bash(*gh*)",
            "Skill(plan.*)",
            "Edit(src/**)",
            "Bash()",
        ] {
            assert_eq!(
                claude(RULE.code, "PreToolUse", bad, &command("x")).len(),
                1,
                "{bad}"
            );
        }
        for good in [
            "Bash",
            "^(Write|Edit)$",
            "B(a|b)sh",
            "Web(Fetch|Search)",
            "mcp__.*",
            "*",
            "",
        ] {
            assert_eq!(
                claude(RULE.code, "PreToolUse", good, &command("x")),
                [""; 0],
                "{good}"
            );
        }
    }

    #[test]
    fn only_where_matchers_are_tool_names_and_in_both_dialects() {
        assert_eq!(
            claude(RULE.code, "SessionStart", "Bash(x y)", &command("x")),
            [""; 0]
        );
        assert_eq!(
            codex(RULE.code, "PreToolUse", "Skill(plan.*)", &command("x")).len(),
            1
        );
    }
}
