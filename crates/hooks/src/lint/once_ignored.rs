//! `once` outside a skill.

use super::look::{At, Look, Remark};
use super::{Check, Rule};

pub(super) const RULE: Rule = Rule {
    code: "once-ignored",
    about: "`once` is honoured in the front matter of skills only; in settings the hook runs \
            every time.",
    check: Check::Each(check),
};

fn check(look: &Look<'_>) -> Vec<Remark> {
    let remark = Remark::warning(
        At::Field("once"),
        "`once` has no effect here: the hook runs each time",
    )
    .help("let the hook remember that it ran, for instance in a file named after the session");
    look.handler.once.then_some(remark).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::super::trial::{claude, command};
    use super::*;

    #[test]
    fn once_is_reported() {
        let handler = r#"{"type": "command", "command": "x", "once": true}"#;
        assert_eq!(claude(RULE.code, "SessionStart", "", handler).len(), 1);
        assert_eq!(
            claude(RULE.code, "SessionStart", "", &command("x")),
            [""; 0]
        );
    }
}
