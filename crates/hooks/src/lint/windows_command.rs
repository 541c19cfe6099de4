//! A command for another system.

use super::look::{At, Look, Remark};
use super::{Check, Rule};

pub(super) const RULE: Rule = Rule {
    code: "windows-command-unused",
    about: "`commandWindows` replaces `command` on Windows only, and is not part of what is \
            trusted.",
    check: Check::Each(check),
};

fn check(look: &Look<'_>) -> Vec<Remark> {
    let windows = look
        .command()
        .and_then(|command| command.command_windows.as_deref());
    let remark = windows.map(|command| {
        let message = format!("`{command}` is for Windows; here `command` runs");
        Remark::note(At::Field("commandWindows"), message)
    });
    remark.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::super::trial::{codex, command};
    use super::*;

    #[test]
    fn the_windows_command_is_named() {
        let handler = r#"{"type": "command", "command": "x", "commandWindows": "powershell y"}"#;
        assert_eq!(
            codex(RULE.code, "Stop", "", handler),
            ["`powershell y` is for Windows; here `command` runs"]
        );
        assert_eq!(codex(RULE.code, "Stop", "", &command("x")), [""; 0]);
    }
}
