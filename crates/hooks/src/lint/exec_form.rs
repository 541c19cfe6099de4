//! What `args` changes.

use super::look::{At, Look, Remark};
use super::{Check, Rule};
use crate::config::words::variables;

pub(super) const RULE: Rule = Rule {
    code: "exec-form",
    about: "With `args`, even an empty list, no shell runs: `command` is the name of one program, \
            and `$VAR`, `~` and backticks in it or in `args` stay as they are. Only the client's \
            own `${...}` placeholders are filled in.",
    check: Check::Each(check),
};

const PLACEHOLDERS: [&str; 3] = [
    "${CLAUDE_PROJECT_DIR}",
    "${CLAUDE_PLUGIN_ROOT}",
    "${CLAUDE_PLUGIN_DATA}",
];

fn check(look: &Look<'_>) -> Vec<Remark> {
    let Some(command) = look.command() else {
        return Vec::new();
    };
    let Some(args) = &command.args else {
        return Vec::new();
    };
    let mut remarks = Vec::new();
    let program = command.command.trim();
    if program.contains(char::is_whitespace) && look.references.is_empty() {
        let message =
            format!("with `args`, `{program}` is the name of one program, blanks included");
        let help = "put its arguments into `args`, or remove `args` to have a shell";
        remarks.push(Remark::warning(At::Field("command"), message).help(help));
    }
    for text in std::iter::once(&command.command).chain(args) {
        if let Some(literal) = stays_literal(text) {
            let message = format!("`{literal}` in `{text}` stays as it is: no shell reads `args`");
            let help = "only ${CLAUDE_PROJECT_DIR} and the plugin's placeholders are filled in";
            remarks.push(Remark::warning(At::Field("args"), message).help(help));
        }
    }
    remarks
}

fn stays_literal(text: &str) -> Option<String> {
    let mut rest = text.to_owned();
    for placeholder in PLACEHOLDERS {
        rest = rest.replace(placeholder, "");
    }
    if rest.contains("${user_config.") {
        return None;
    }
    let variable = variables(&rest).into_iter().find(|name| !name.is_empty());
    let home = rest.starts_with("~/").then(|| "~".to_owned());
    let tick = rest.contains('`').then(|| "`".to_owned());
    variable.map(|name| format!("${name}")).or(home).or(tick)
}

#[cfg(test)]
mod tests {
    use super::super::trial::{claude, command};
    use super::*;

    #[test]
    fn one_program_and_no_shell() {
        for (program, args, count) in [
            ("node", r#"["${CLAUDE_PROJECT_DIR}/h o/x.mjs"]"#, 0),
            ("node x.js", "[]", 1),
            ("sh", r#"["$HOME/x.sh"]"#, 1),
            (
                "sh",
                r#"["~/x.sh", "${CLAUDE_PLUGIN_ROOT}/y", "${user_config.k}"]"#,
                1,
            ),
            ("sh", r#"["-c", "echo `date`"]"#, 1),
        ] {
            let handler =
                format!(r#"{{"type": "command", "command": "{program}", "args": {args}}}"#);
            let found = claude(RULE.code, "Stop", "", &handler);
            assert_eq!(found.len(), count, "{handler}: {found:?}");
        }
        assert_eq!(claude(RULE.code, "Stop", "", &command("node $X")), [""; 0]);
    }
}
