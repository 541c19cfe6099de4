//! A Stop hook that can loop.

use std::path::Path;

use super::exit_one::has_any;
use super::look::{At, Look, Remark};
use super::{Check, Rule};
use crate::config::words::Word;
use crate::trust::has_script_ending;

pub(super) const RULE: Rule = Rule {
    code: "stop-without-guard",
    about: "A Stop hook that blocks is asked again at the next stop. `stop_hook_active` in the \
            payload says so; a hook that never looks at it can keep the agent going until a cap \
            ends the turn (8 in Claude Code; Codex has none).",
    check: Check::Each(check),
};

/// What a hook that keeps the turn going has in its text.
const BLOCKS: [&str; 7] = [
    "exit 2",
    "exit(2)",
    "exitCode = 2",
    "\"block\"",
    "'block'",
    "\\\"block\\\"",
    "additionalContext",
];

fn check(look: &Look<'_>) -> Vec<Remark> {
    let Some(command) = look
        .command()
        .filter(|_| matches!(look.row.name, "Stop" | "SubagentStop"))
    else {
        return Vec::new();
    };
    let scripts = look.script_texts();
    let texts =
        || std::iter::once(command.command.as_str()).chain(scripts.iter().map(String::as_str));
    if texts().any(|text| text.contains("stop_hook_active")) {
        return Vec::new();
    }
    let at = At::Field("command");
    let help = "when stop_hook_active is true, let the turn end unless something changed";
    if texts().any(|text| has_any(text, &BLOCKS)) {
        let message = format!(
            "this {} hook can keep the turn going and never looks at stop_hook_active",
            look.row.name
        );
        return vec![Remark::warning(at, message).help(help)];
    }
    // A wrapper comes first, the script it runs last.
    let named = look.words.iter().rev().map(Word::shown);
    let mut unread = named.filter(|word| scripts.is_empty() && has_script_ending(Path::new(word)));
    let message = match unread.next() {
        Some(script) => format!("`{script}` cannot be read: see that it looks at stop_hook_active"),
        None if !scripts.is_empty() => "this hook's script never mentions stop_hook_active".into(),
        None => return Vec::new(),
    };
    vec![Remark::note(at, message).help(help)]
}

#[cfg(test)]
mod tests {
    use super::super::trial::{claude, codex, command, findings_with, group};
    use super::*;
    use crate::dialect::DialectId;

    #[test]
    fn commands_that_block_without_a_look_are_found() {
        for (event, text, count) in [
            ("Stop", "echo more >&2; exit 2", 1),
            (
                "Stop",
                "echo '{\"decision\": \"block\", \"reason\": \"x\"}'",
                1,
            ),
            ("SubagentStop", "exit 2", 1),
            ("Stop", "jq -e .stop_hook_active && exit 0; exit 2", 0),
            ("Stop", "say done", 0),
            ("Stop", "node \"${CLAUDE_PLUGIN_ROOT}/stop.mjs\"", 1),
            ("PreToolUse", "exit 2", 0),
        ] {
            assert_eq!(
                claude(RULE.code, event, "", &command(text)).len(),
                count,
                "{event} {text}"
            );
            assert_eq!(
                codex(RULE.code, event, "", &command(text)).len(),
                count,
                "{event} {text}"
            );
        }
    }

    #[test]
    fn the_scripts_text_counts() {
        let config = group("Stop", "", &command("sh stop.sh"));
        for (script, count) in [
            ("exit 2", 1),
            ("make test || exit 3", 1),
            ("grep -q '\"stop_hook_active\":true' && exit 0\nexit 2", 0),
        ] {
            let found = findings_with(
                &[("stop.sh", script)],
                DialectId::Claude,
                RULE.code,
                &config,
            );
            assert_eq!(found.len(), count, "{script}: {found:?}");
        }
    }
}
