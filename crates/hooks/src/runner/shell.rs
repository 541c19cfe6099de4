//! How the text of a command becomes program and arguments.
//!
//! Neither client starts a login or interactive shell, and neither looks at `$SHELL` where it can
//! know better: Claude always takes `/bin/sh`, Codex the shell of the account.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Program and arguments of a Claude handler.
///
/// * With `args`, also an empty list, there is no shell: `command` is the program (measured).
/// * Without, and with `shell` absent or `bash`, the text goes to `/bin/sh -c` (measured; `bash`
///   is a word, not a program).
/// * `shell: "powershell"` gives it to `pwsh`, which is looked up in `PATH`; where it is missing
///   the run fails to start, which blocks nothing (measured).
///
/// Any other `shell` makes the file invalid when it is read, so it does not come here; it is
/// treated like `bash`.
#[must_use]
pub fn claude_argv(command: &str, args: Option<&[String]>, shell: Option<&str>) -> Vec<String> {
    if let Some(args) = args {
        return std::iter::once(command.to_owned())
            .chain(args.iter().cloned())
            .collect();
    }
    let words: &[&str] = match shell {
        Some("powershell") => &["pwsh", "-NoProfile", "-Command", command],
        _ => &["/bin/sh", "-c", command],
    };
    words.iter().map(ToString::to_string).collect()
}

/// Program and arguments of a Codex handler: the account's shell with `-c` (measured with
/// `SHELL` unset, wrong and other). `account_shell` is what [`account_shell`] says.
#[must_use]
pub fn codex_argv(command: &str, account_shell: &Path) -> Vec<String> {
    vec![
        account_shell.to_string_lossy().into_owned(),
        "-c".to_owned(),
        command.to_owned(),
    ]
}

/// The shell that Codex would take for the user of this process.
///
/// Read from the file `/etc/passwd` by the real user id. Users who are not in the file (network
/// accounts; every user on macOS) are asked for by `$SHELL`; see [`account_shell_from`].
#[must_use]
pub fn account_shell() -> PathBuf {
    let passwd = std::fs::read("/etc/passwd").unwrap_or_default();
    let uid = rustix::process::getuid().as_raw();
    account_shell_from(&passwd, uid, std::env::var_os("SHELL"), |path| {
        path.is_file()
    })
}

/// [`account_shell`] with everything it looks at as parameters: the text of a `passwd` file, a
/// user id, the value of `SHELL`, and whether a file exists.
///
/// A shell with a name that Codex does not know (`fish`, `nologin`) is replaced by `bash` or `zsh`,
/// in that order (on macOS the other way round), or else by `/bin/sh` (read in Codex's source).
#[must_use]
pub fn account_shell_from(
    passwd: &[u8],
    uid: u32,
    shell_variable: Option<OsString>,
    exists: impl Fn(&Path) -> bool,
) -> PathBuf {
    let named = entry_shell(passwd, uid).or_else(|| shell_variable.map(PathBuf::from));
    let usual: [&str; 2] = if cfg!(target_os = "macos") {
        ["/bin/zsh", "/bin/bash"]
    } else {
        ["/bin/bash", "/bin/zsh"]
    };
    named
        .filter(|path| is_known(path))
        .or_else(|| usual.iter().map(PathBuf::from).find(|path| exists(path)))
        .unwrap_or_else(|| PathBuf::from("/bin/sh"))
}

fn is_known(shell: &Path) -> bool {
    let name = shell.file_stem().and_then(OsStr::to_str);
    shell.is_absolute() && matches!(name, Some("sh" | "bash" | "zsh"))
}

/// The seventh field of the first line with this user id; an empty one means `/bin/sh`.
fn entry_shell(passwd: &[u8], uid: u32) -> Option<PathBuf> {
    let uid = uid.to_string();
    let line = passwd
        .split(|&byte| byte == b'\n')
        .map(|line| line.split(|&byte| byte == b':').collect::<Vec<_>>())
        .find(|fields| fields.len() >= 7 && fields.get(2) == Some(&uid.as_bytes()))?;
    match *line.get(6)? {
        [] => Some(PathBuf::from("/bin/sh")),
        shell => Some(PathBuf::from(OsString::from_vec(shell.to_vec()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(argv: &[&str]) -> Vec<String> {
        argv.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn claude_gives_text_to_bin_sh_and_nothing_else() {
        for shell in [None, Some("bash")] {
            assert_eq!(
                claude_argv("a | b", None, shell),
                words(&["/bin/sh", "-c", "a | b"])
            );
        }
        assert_eq!(claude_argv("", None, None), words(&["/bin/sh", "-c", ""]));
        assert_eq!(
            claude_argv("ls", None, Some("powershell")),
            words(&["pwsh", "-NoProfile", "-Command", "ls"])
        );
    }

    #[test]
    fn claude_args_mean_no_shell_even_when_empty() {
        assert_eq!(claude_argv("a b", Some(&[]), None), words(&["a b"]));
        let args = words(&["$HOME", "x y"]);
        assert_eq!(
            claude_argv("p", Some(&args), Some("bash")),
            words(&["p", "$HOME", "x y"])
        );
    }

    #[test]
    fn codex_gives_text_to_the_accounts_shell() {
        assert_eq!(
            codex_argv("a b", Path::new("/bin/zsh")),
            words(&["/bin/zsh", "-c", "a b"])
        );
    }

    #[test]
    fn the_account_counts_before_the_variable() {
        let passwd = b"root:x:0:0:root:/root:/bin/bash\n\xff:x:7:7::/h:/opt/zsh\nempty:x:8:8::/:\n\
            shadow:x:0:0::/:/bin/sh\nfish:x:9:9::/:/usr/bin/fish\nshort:x:10:10\n\
            no:x:11:11::/:/usr/sbin/nologin\nrel:x:12:12::/:bash\n";
        let zsh = || Some(OsString::from("/usr/bin/zsh"));
        let shell = |uid, variable| account_shell_from(passwd, uid, variable, |_| true);
        let usual = if cfg!(target_os = "macos") {
            "/bin/zsh"
        } else {
            "/bin/bash"
        };
        for (uid, variable, expected) in [
            (0, zsh(), "/bin/bash"),     // the first entry of two, and not the variable
            (7, None, "/opt/zsh"),       // a name that is not UTF-8 does not hide its line
            (8, zsh(), "/bin/sh"),       // an empty field is a word too
            (9, zsh(), usual),           // a shell that Codex does not know
            (10, zsh(), "/usr/bin/zsh"), // a line without a shell is no entry
            (11, None, usual),
            (12, None, usual), // a relative path would depend on the folder
            (99, zsh(), "/usr/bin/zsh"),
            (99, None, usual),
        ] {
            assert_eq!(shell(uid, variable), PathBuf::from(expected), "uid {uid}");
        }
    }

    #[test]
    fn without_any_usual_shell_it_is_bin_sh() {
        assert_eq!(
            account_shell_from(b"", 1, None, |_| false),
            PathBuf::from("/bin/sh")
        );
    }
}
