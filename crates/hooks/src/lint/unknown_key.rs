//! Keys nobody reads.

use super::look::{At, Look, Remark};
use super::{Check, Rule};
use crate::config::{claude_keys, did_you_mean};
use crate::dialect::DialectId;

pub(super) const RULE: Rule = Rule {
    code: "unknown-key",
    about: "Claude Code tolerates unknown keys, so a misspelt one is lost without a word. Codex \
            drops them as well, and loading reports those.",
    check: Check::Each(check),
};

fn check(look: &Look<'_>) -> Vec<Remark> {
    if !look.is(DialectId::Claude) {
        return Vec::new();
    }
    let kind = look.handler.action.type_name();
    look.unknown_keys()
        .iter()
        .map(|(key, span)| {
            let message = format!("Claude Code does not know the key `{key}` here");
            match did_you_mean(key, claude_keys(kind)) {
                Some(help) => Remark::warning(At::Span(*span), message).help(help),
                None => Remark::note(At::Span(*span), message),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::trial::{claude, codex};
    use super::*;

    #[test]
    fn unknown_keys_of_handlers_are_named() {
        let handler =
            r#"{"type": "command", "command": "x", "continueOnError": true, "timeOut": 5}"#;
        assert_eq!(
            claude(RULE.code, "Stop", "", handler),
            [
                "Claude Code does not know the key `continueOnError` here",
                "Claude Code does not know the key `timeOut` here"
            ]
        );
        let known =
            r#"{"type": "command", "command": "x", "rewakeMessage": "m", "asyncRewake": true}"#;
        assert_eq!(claude(RULE.code, "Stop", "", known), [""; 0]);
        assert_eq!(codex(RULE.code, "Stop", "", handler), [""; 0]);
    }
}
