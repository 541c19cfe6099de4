//! The same command twice.

use super::look::{At, Look, Remark};
use super::{Check, Rule};
use crate::dialect::DialectId;
use crate::handler::Layer;

pub(super) const RULE: Rule = Rule {
    code: "duplicate-command",
    about: "Claude Code runs a command once for an event however often it is configured, with the \
            options of the last one (same command, args, `if` and shell; a plugin's copy is \
            another). Codex runs every copy.",
    check: Check::Among(check),
};

fn check(look: &Look<'_>, earlier: &[Look<'_>]) -> Vec<Remark> {
    let Some(twin) = earlier.iter().rev().find(|other| twins(look, other)) else {
        return Vec::new();
    };
    let message = match look.handler.dialect {
        DialectId::Claude => format!(
            "the same command is configured at {}: it runs once, with the options given here",
            twin.handler.key
        ),
        DialectId::Codex => format!(
            "the same command is configured at {}: where both match, it runs twice",
            twin.handler.key
        ),
    };
    vec![Remark::note(At::Field("command"), message)]
}

fn twins(one: &Look<'_>, other: &Look<'_>) -> bool {
    let plugin = |look: &Look<'_>| matches!(look.handler.layer, Layer::Plugin(_));
    let (Some(mine), Some(theirs)) = (one.command(), other.command()) else {
        return false;
    };
    let shell = |shell: &Option<String>| shell.clone().unwrap_or_else(|| "bash".into());
    one.handler.event == other.handler.event
        && mine.command == theirs.command
        && mine.args == theirs.args
        && shell(&mine.shell) == shell(&theirs.shell)
        && one.handler.condition == other.handler.condition
        && !plugin(one)
        && !plugin(other)
}

#[cfg(test)]
mod tests {
    use super::super::trial::{claude, codex, command};
    use super::*;

    #[test]
    fn what_makes_a_command_the_same() {
        let a = command("a");
        let bash = r#"{"type": "command", "command": "a", "shell": "bash", "timeout": 3}"#;
        let other_if = r#"{"type": "command", "command": "a", "if": "Bash(x)"}"#;
        let exec = r#"{"type": "command", "command": "a", "args": []}"#;
        for (second, count) in [(a.as_str(), 1), (bash, 1), (other_if, 0), (exec, 0)] {
            let both = format!("{a}, {second}");
            assert_eq!(
                claude(RULE.code, "PreToolUse", "", &both).len(),
                count,
                "{second}"
            );
        }
        assert_eq!(
            codex(RULE.code, "PreToolUse", "", &format!("{a}, {a}, {a}")).len(),
            2
        );
    }
}
