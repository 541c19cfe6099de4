//! Nothing to run.

use super::look::{At, Look, Remark};
use super::{Check, Rule};

pub(super) const RULE: Rule = Rule {
    code: "empty-command",
    about: "Claude Code takes an empty command and fails at every run, without blocking anything. \
            Codex skips it, and loading reports that.",
    check: Check::Each(check),
};

fn check(look: &Look<'_>) -> Vec<Remark> {
    let empty = look
        .command()
        .is_some_and(|command| command.command.trim().is_empty());
    let remark = Remark::warning(At::Field("command"), "the command is empty: each run fails")
        .help("remove the handler");
    empty.then_some(remark).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::super::trial::{claude, command};
    use super::*;

    #[test]
    fn blanks_are_no_command() {
        assert_eq!(claude(RULE.code, "Stop", "", &command("  ")).len(), 1);
        assert_eq!(claude(RULE.code, "Stop", "", &command("true")), [""; 0]);
    }
}
