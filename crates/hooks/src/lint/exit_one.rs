//! A gate that exits 1.

use super::look::{At, Look, Remark};
use super::{Check, Rule};
use crate::dialect::Refusal;
use crate::handler::OnFailure;

pub(super) const RULE: Rule = Rule {
    code: "exit-one-does-not-block",
    about: "Only exit code 2 (or a JSON decision) refuses. A gate that exits 1 is a hook that \
            failed: a notice, and the action goes on.",
    check: Check::Each(check),
};

/// Ways to exit 1, and ways to refuse.
const ONE: [&str; 5] = [
    "exit 1",
    "exit(1)",
    "sys.exit(1)",
    "process.exit(1)",
    "exitCode = 1",
];
const REFUSES: [&str; 8] = [
    "exit 2",
    "exit(2)",
    "exitCode = 2",
    "\"block\"",
    "'block'",
    "deny",
    "permissionDecision",
    "decision",
];

fn check(look: &Look<'_>) -> Vec<Remark> {
    let gates = matches!(
        look.row.exit2,
        Refusal::Deny | Refusal::Block | Refusal::EndTurn
    ) && look.handler.on_failure != OnFailure::Block;
    let Some(text) = look.shell_text().filter(|_| gates) else {
        return Vec::new();
    };
    let scripts = look.script_texts();
    let texts = || std::iter::once(text).chain(scripts.iter().map(String::as_str));
    if texts().any(|text| has_any(text, &REFUSES)) || !texts().any(|text| has_any(text, &ONE)) {
        return Vec::new();
    }
    let message = format!(
        "this {} hook exits 1 and never 2: it refuses nothing",
        look.row.name
    );
    let help = "exit 2 to refuse; standard error is the reason";
    vec![Remark::warning(At::Field("command"), message).help(help)]
}

/// Whether the text has one of the marks, not as the start of a longer number.
pub(super) fn has_any(text: &str, marks: &[&str]) -> bool {
    marks.iter().any(|mark| {
        text.match_indices(mark).any(|(at, _)| {
            let after = text.get(at + mark.len()..).unwrap_or("");
            !after.starts_with(|c: char| c.is_ascii_digit())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::trial::{claude, command, findings_with, group};
    use super::*;
    use crate::dialect::DialectId;

    #[test]
    fn a_command_that_only_ever_exits_one_refuses_nothing() {
        for (event, text, count) in [
            ("PreToolUse", "echo no >&2; exit 1", 1),
            ("UserPromptSubmit", "test -f x || exit 1", 1),
            ("PreToolUse", "test -f x || exit 1; exit 2", 0),
            ("PreToolUse", "echo '{\"decision\":\"block\"}'; exit 1", 0),
            ("PreToolUse", "exit 127", 0),
            ("PreToolUse", "exit 12", 0),
            ("SessionStart", "exit 1", 0),
            ("Notification", "exit 1", 0),
        ] {
            let found = claude(RULE.code, event, "", &command(text));
            assert_eq!(found.len(), count, "{event} {text}: {found:?}");
        }
        let blocks = r#"{"type": "command", "command": "exit 1", "onFailure": "block"}"#;
        assert_eq!(claude(RULE.code, "PreToolUse", "", blocks), [""; 0]);
    }

    #[test]
    fn scripts_are_read_too() {
        let config = group("PreToolUse", "", &command("python3 gate.py"));
        for (script, count) in [
            ("import sys; sys.exit(1)", 1),
            ("sys.exit(1) if a else sys.exit(2)", 0),
        ] {
            let found = findings_with(
                &[("gate.py", script)],
                DialectId::Claude,
                RULE.code,
                &config,
            );
            assert_eq!(found.len(), count, "{script}: {found:?}");
        }
    }
}
