//! One script under two names.

use super::look::{At, Look, Remark};
use super::{Check, Rule};
use crate::config::words::{Role, Word};

pub(super) const RULE: Rule = Rule {
    code: "same-script-twice",
    about: "Two commands that differ in spelling and run the same script with the same arguments, \
            for instance from a plugin and from the user's settings, are not recognised as one: \
            the script runs twice.",
    check: Check::Among(check),
};

fn check(look: &Look<'_>, earlier: &[Look<'_>]) -> Vec<Remark> {
    let Some(mine) = essence(look) else {
        return Vec::new();
    };
    let twin = earlier.iter().rev().find(|other| {
        other.handler.event == look.handler.event
            && other.handler.action != look.handler.action
            && essence(other).as_ref() == Some(&mine)
    });
    let remark = twin.map(|twin| {
        let message = format!(
            "the script of {} runs here too, under another spelling: it runs twice",
            twin.handler.key
        );
        Remark::warning(At::Field("command"), message).help("remove one of the two")
    });
    remark.into_iter().collect()
}

/// What a command does whatever its spelling: the script it runs and the words after it. Nothing
/// when it runs no script that is there, or more than one simple command.
fn essence(look: &Look<'_>) -> Option<Vec<String>> {
    let script = look.references.iter().find(|reference| reference.runs)?;
    let mut essence = vec![script.path.display().to_string()];
    let command = look.command()?;
    if let Some(args) = &command.args {
        let all: Vec<&String> = std::iter::once(&command.command).chain(args).collect();
        let name = script.path.file_name()?.to_str()?;
        let at = all.iter().position(|text| text.ends_with(name))?;
        essence.extend(all.into_iter().skip(at + 1).cloned());
        return Some(essence);
    }
    if look
        .words
        .iter()
        .any(|word| word.command > 0 && word.role == Role::Program && !inner(word))
    {
        return None;
    }
    let name = script.path.file_name()?.to_str()?;
    let at = look
        .words
        .iter()
        .position(|word| word.shown().ends_with(name))?;
    let rest = look
        .words
        .iter()
        .skip(at + 1)
        .filter(|word| word.role == Role::Argument);
    essence.extend(rest.filter(|word| word.command == 0).map(Word::shown));
    Some(essence)
}

/// Words of `$(git rev-parse ...)` are part of a path, not commands of their own.
fn inner(word: &Word) -> bool {
    matches!(word.literal().as_deref(), Some("git" | "pwd"))
}

#[cfg(test)]
mod tests {
    use super::super::trial::{command, findings_with, group};
    use super::*;
    use crate::dialect::DialectId;

    #[test]
    fn spelling_is_not_what_counts_and_arguments_are() {
        let files = [("h/x.sh", "exit 0"), ("h/run.js", "")];
        for (first, second, count) in [
            ("sh h/x.sh", "bash \"$CLAUDE_PROJECT_DIR\"/h/x.sh", 1),
            ("sh h/x.sh", "\"$CLAUDE_PROJECT_DIR/h/x.sh\"", 1),
            ("sh h/x.sh", "sh $(git rev-parse --show-toplevel)/h/x.sh", 1),
            ("node h/run.js context", "node h/run.js prompt", 0),
            ("sh h/x.sh", "sh h/x.sh", 0),
            ("sh h/x.sh", "sh h/x.sh; sh h/other.sh", 0),
            ("sh h/gone.sh", "bash h/gone.sh", 0),
        ] {
            let both = format!("{}, {}", command(first), command(second));
            let config = group("PostToolUse", "", &both);
            let found = findings_with(&files, DialectId::Claude, RULE.code, &config);
            assert_eq!(found.len(), count, "{first} | {second}: {found:?}");
        }
    }
}
