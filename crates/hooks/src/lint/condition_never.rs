//! `if` where it is never looked at.

use super::look::{At, Look, Remark};
use super::{Check, Rule};

pub(super) const RULE: Rule = Rule {
    code: "condition-never-holds",
    about: "`if` is a permission rule about a tool call. On events without one, a handler with \
            `if` never runs.",
    check: Check::Each(check),
};

fn check(look: &Look<'_>) -> Vec<Remark> {
    let Some(condition) = look
        .handler
        .condition
        .as_deref()
        .filter(|_| !look.row.conditions)
    else {
        return Vec::new();
    };
    let message = format!(
        "a {} hook with `if` ({condition:?}) never runs: there is no tool call to test",
        look.row.name
    );
    vec![Remark::warning(At::Field("if"), message).help("remove `if`, and look at the payload")]
}

#[cfg(test)]
mod tests {
    use super::super::trial::claude;
    use super::*;

    #[test]
    fn tool_events_have_conditions_and_others_have_not() {
        let handler = r#"{"type": "command", "command": "x", "if": "Bash(x)"}"#;
        assert_eq!(claude(RULE.code, "Stop", "", handler).len(), 1);
        assert_eq!(claude(RULE.code, "UserPromptSubmit", "", handler).len(), 1);
        assert_eq!(claude(RULE.code, "PreToolUse", "", handler), [""; 0]);
        assert_eq!(claude(RULE.code, "PermissionRequest", "", handler), [""; 0]);
    }
}
