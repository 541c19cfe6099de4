//! A script named by a relative path.

use std::path::Path;

use super::look::{At, Look, Remark};
use super::{Check, Rule};
use crate::config::words::Role;
use crate::dialect::DialectId;
use crate::trust::has_script_ending;

pub(super) const RULE: Rule = Rule {
    code: "relative-script",
    about: "Hooks run in the session's current folder. After a `cd` (Claude Code), or when the \
            session starts below the repository's root (Codex), a relative path names nothing, and \
            a gate that cannot start lets everything pass.",
    check: Check::Each(check),
};

fn check(look: &Look<'_>) -> Vec<Remark> {
    let Some(command) = look.command() else {
        return Vec::new();
    };
    let exec = command.args.as_ref().map(|args| {
        let program = std::iter::once((&command.command, true));
        program.chain(args.iter().map(|arg| (arg, false)))
    });
    let in_exec = exec
        .into_iter()
        .flatten()
        .map(|(text, program)| (text.clone(), program));
    let in_shell = look.words.iter().filter_map(|word| {
        let names = matches!(word.role, Role::Program | Role::Argument | Role::Input);
        names.then(|| {
            word.literal()
                .map(|text| (text, word.role == Role::Program))
        })?
    });
    let mut named: Vec<String> = Vec::new();
    for (text, program) in in_exec.chain(in_shell) {
        if script(&text, program) && !named.contains(&text) {
            named.push(text);
        }
    }
    named.iter().map(|path| remark(look, path)).collect()
}

fn script(text: &str, program: bool) -> bool {
    let relative = !text.starts_with(['/', '~', '-', '$']) && text.contains('/');
    let plain = !text.contains(char::is_whitespace) && !text.contains(['*', '?', '=', ':']);
    relative && plain && (program || has_script_ending(Path::new(text)))
}

fn remark(look: &Look<'_>, path: &str) -> Remark {
    let bare = path.strip_prefix("./").unwrap_or(path);
    let exec = look.command().is_some_and(|command| command.args.is_some());
    let (message, help) = match look.handler.dialect {
        DialectId::Claude if exec => (
            format!("`{path}` is looked for in the session's current folder, which `cd` changes"),
            format!("write \"${{CLAUDE_PROJECT_DIR}}/{bare}\""),
        ),
        DialectId::Claude => (
            format!("`{path}` is looked for in the session's current folder, which `cd` changes"),
            format!("write \"$CLAUDE_PROJECT_DIR\"/{bare}"),
        ),
        DialectId::Codex => (
            format!(
                "`{path}` is looked for in the folder the session started in, wherever that is"
            ),
            format!("write \"$(git rev-parse --show-toplevel)\"/{bare}"),
        ),
    };
    Remark::warning(At::Field("command"), message).help(help)
}

#[cfg(test)]
mod tests {
    use super::super::trial::{claude, codex, command};
    use super::*;

    #[test]
    fn relative_scripts_are_found_and_other_words_are_not() {
        for (text, count) in [
            ("python3 -u .claude/hooks/gate.py", 1),
            ("./x.sh && ./y.sh; ./x.sh", 2),
            ("uv run .claude/hooks/stop.py --log", 1),
            (".codex/hooks/never", 1),
            ("bash \"$CLAUDE_PROJECT_DIR\"/.claude/x.sh", 0),
            ("bash ~/x.sh /abs/y.sh", 0),
            ("grep a/b file", 0),
            ("npx prettier --write src/a.ts", 1),
            ("cat > out/x.sh", 0),
            ("case \"$f\" in */.env|*.pem) exit 2;; esac", 0),
            ("demo-observe", 0),
        ] {
            let found = claude(RULE.code, "PreToolUse", "Bash", &command(text));
            assert_eq!(found.len(), count, "{text}: {found:?}");
            let found = codex(RULE.code, "PreToolUse", "Bash", &command(text));
            assert_eq!(found.len(), count, "{text}: {found:?}");
        }
    }

    #[test]
    fn exec_form_is_looked_at_too() {
        let handler = r#"{"type": "command", "command": "node", "args": ["hooks/x.js", "${CLAUDE_PROJECT_DIR}/y.js"]}"#;
        assert_eq!(claude(RULE.code, "Stop", "", handler).len(), 1);
    }
}
