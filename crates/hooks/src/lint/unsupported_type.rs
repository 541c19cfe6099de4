//! A handler type its event does not run.

use super::look::{At, Look, Remark};
use super::{Check, Rule};

pub(super) const RULE: Rule = Rule {
    code: "unsupported-type",
    about: "Not every event runs every handler type; a handler of another type is skipped, and \
            under PreSkillShellCommand a prompt blocks every command.",
    check: Check::Each(check),
};

fn check(look: &Look<'_>) -> Vec<Remark> {
    let (event, kind) = (look.row.name, look.handler.action.type_name());
    let message = if !look.row.types.runs(kind) {
        format!("{event} does not run {kind} handlers: this one is skipped")
    } else if event == "PreSkillShellCommand" && matches!(kind, "prompt" | "agent") {
        format!("a {kind} handler cannot run at {event}: it blocks every command")
    } else {
        return Vec::new();
    };
    vec![Remark::warning(At::Field("type"), message).help("use a command handler")]
}

#[cfg(test)]
mod tests {
    use super::super::trial::{claude, command};
    use super::*;

    const HTTP: &str = r#"{"type": "http", "url": "http://h"}"#;
    const PROMPT: &str = r#"{"type": "prompt", "prompt": "p"}"#;

    #[test]
    fn the_tables_of_the_dialect_decide() {
        for (event, handler, count) in [
            ("SessionStart", HTTP, 1),
            ("SessionStart", PROMPT, 1),
            ("PreCompact", PROMPT, 1),
            ("PreToolUse", PROMPT, 0),
            ("PostToolUse", HTTP, 0),
            ("PreSkillShellCommand", PROMPT, 1),
            ("SessionStart", &command("x"), 0),
        ] {
            let found = claude(RULE.code, event, "", handler);
            assert_eq!(found.len(), count, "{event} {handler}: {found:?}");
        }
    }
}
