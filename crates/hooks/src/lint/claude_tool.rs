//! Claude Code's tools in a Codex file.

use super::look::{At, Look, Remark};
use super::{Check, Rule};
use crate::dialect::{CLAUDE, DialectId, Subject};
use crate::matcher::{Fit, Reading};

pub(super) const RULE: Rule = Rule {
    code: "claude-tool-in-codex",
    about: "A Codex matcher that names a tool only Claude Code has. Configurations shared by \
            copying lose their gates this way.",
    check: Check::Group(check),
};

fn check(look: &Look<'_>) -> Vec<Remark> {
    if !look.is(DialectId::Codex) || look.row.subject != Subject::Tool {
        return Vec::new();
    }
    let Some(matcher) = look.written_matcher() else {
        return Vec::new();
    };
    if look.matcher.reading() == Reading::Regex
        && look
            .tools()
            .any(|name| look.matcher.fits(&[name]) != Fit::No)
    {
        return Vec::new();
    }
    let named = matcher.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    named
        .filter(|name| CLAUDE.tools.contains(name) && look.tools().all(|known| known != *name))
        .map(|name| {
            let message = format!("`{name}` is a tool of Claude Code; Codex has none of that name");
            Remark::warning(At::Matcher, message).maybe_help(counterpart(name))
        })
        .collect()
}

fn counterpart(name: &str) -> Option<String> {
    let codex = match name {
        "Read" | "Glob" | "Grep" | "BashOutput" | "KillShell" | "PowerShell" => "Bash",
        "MultiEdit" | "NotebookEdit" => "apply_patch",
        "Task" => "Agent",
        _ => return None,
    };
    Some(format!("Codex does that with `{codex}`"))
}

#[cfg(test)]
mod tests {
    use super::super::trial::{claude, codex, command};
    use super::*;

    #[test]
    fn only_names_codex_does_not_know_are_reported() {
        for (matcher, count) in [
            ("Skill(plan.*)", 1),
            ("Read|Glob|Bash", 2),
            ("Edit|Write|MultiEdit", 1),
            ("Write", 0),
            ("^apply_patch$|^Write$|^Edit$", 0),
            ("^Bash$|^Read$", 0),
            ("*", 0),
        ] {
            let found = codex(RULE.code, "PreToolUse", matcher, &command("x"));
            assert_eq!(found.len(), count, "{matcher}: {found:?}");
        }
        assert_eq!(
            claude(RULE.code, "PreToolUse", "Read", &command("x")),
            [""; 0]
        );
    }
}
