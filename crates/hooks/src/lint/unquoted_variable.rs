//! A path that starts with an unquoted variable.

use super::look::{At, Look, Remark};
use super::{Check, Rule};
use crate::config::words::{Piece, Role, Word};

pub(super) const RULE: Rule = Rule {
    code: "unquoted-path",
    about: "A shell splits an unquoted `$VAR/path` at every blank of the variable, so that the \
            hook breaks in a folder with a space in its name. Closing the quote before the slash \
            (`\"$VAR\"/path`) is fine.",
    check: Check::Each(check),
};

fn check(look: &Look<'_>) -> Vec<Remark> {
    let mut named: Vec<String> = Vec::new();
    for start in look.words.iter().filter_map(splits) {
        if !named.contains(&start) {
            named.push(start);
        }
    }
    named
        .iter()
        .map(|start| {
            let message =
                format!("`{start}/...` is not in quotes: a space in that folder's name splits it");
            Remark::warning(At::Field("command"), message)
                .help(format!("write \"{start}/...\" in double quotes"))
        })
        .collect()
}

/// The variable or substitution at the start of an unquoted path.
fn splits(word: &Word) -> Option<String> {
    if word.role == Role::Assignment {
        return None;
    }
    let followed = word.pieces.windows(2).find_map(|pair| match pair {
        [first, Piece::Text { text, .. }] if text.starts_with('/') => Some(first),
        _ => None,
    })?;
    match followed {
        Piece::Variable {
            name,
            quoted: false,
        } if !name.is_empty() => Some(format!("${{{name}}}")),
        Piece::Command {
            text,
            quoted: false,
        } => Some(format!("$({text})")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{claude, codex, command};
    use super::*;

    #[test]
    fn only_an_unquoted_start_of_a_path_splits() {
        for (text, count) in [
            ("sh ${CLAUDE_PLUGIN_ROOT}/h.sh ${CLAUDE_PLUGIN_ROOT}/x", 1),
            ("$CLAUDE_PROJECT_DIR/x.sh", 1),
            ("$A/x $B/y", 2),
            ("sh \"$CLAUDE_PLUGIN_ROOT\"/bin/x.sh", 0),
            ("sh \"${CLAUDE_PLUGIN_ROOT}/bin/x.sh\"", 0),
            ("F=$A/x; cat \"$F\"", 0),
            ("$(git rev-parse --show-toplevel)/x.sh", 1),
            ("\"$(git rev-parse --show-toplevel)\"/x.sh", 0),
            ("echo \"$(cat $A/x)\"", 1),
            ("echo '$A/x' $B", 0),
        ] {
            let found = claude(RULE.code, "Stop", "", &command(text));
            assert_eq!(found.len(), count, "{text}: {found:?}");
            assert_eq!(
                codex(RULE.code, "Stop", "", &command(text)).len(),
                count,
                "{text}"
            );
        }
    }

    #[test]
    fn exec_form_has_no_shell_to_split() {
        let handler =
            r#"{"type": "command", "command": "node", "args": ["${CLAUDE_PROJECT_DIR}/x"]}"#;
        assert_eq!(claude(RULE.code, "Stop", "", handler), [""; 0]);
    }
}
