//! Which shell commands plainly only read.
//!
//! The list is short and the reading strict: a command counts as read-only only when every word
//! of it is plain text and every program in it is known never to write. Anything the shell would
//! expand, redirect, substitute or run in the background makes the answer no. So does a word that
//! may name something outside the project.

use std::path::Path;

use super::paths::is_inside;

/// Programs that only read whatever their arguments. (`git` is not one: a repository's own
/// configuration can make even `git status` run a program.)
const READERS: &[&str] = &[
    "basename", "cat", "cd", "cut", "dirname", "du", "echo", "false", "grep", "head", "id", "ls",
    "nl", "pwd", "readlink", "realpath", "stat", "tail", "tr", "true", "uname", "wc", "which",
    "whoami",
];

/// Whether a shell command, run in `cwd`, plainly only reads, and only inside `project`.
pub(super) fn is_read_only(command: &str, cwd: &Path, project: &Path) -> bool {
    let Some(commands) = split(command) else {
        return false;
    };
    let near = |word: &String| match word.strip_prefix('-') {
        Some(option) => !option.contains('/'),
        None => is_inside(&cwd.join(word), project),
    };
    is_inside(cwd, project)
        && commands
            .iter()
            .all(|words| reads(words) && words.iter().skip(1).all(near))
}

fn reads(words: &[String]) -> bool {
    words
        .first()
        .is_some_and(|program| READERS.contains(&program.as_str()))
}

/// The commands of a list or pipeline as words; `None` when it is anything more than that.
fn split(command: &str) -> Option<Vec<Vec<String>>> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut letters = command.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => word
                .get_or_insert_default()
                .push_str(&quoted(&mut letters, '\'')?),
            '"' => {
                let text = quoted(&mut letters, '"')?;
                if text.contains(['$', '`', '\\', '!']) {
                    return None;
                }
                word.get_or_insert_default().push_str(&text);
            }
            ' ' | '\t' => commands.last_mut()?.extend(word.take()),
            ';' | '|' | '&' => {
                let doubled = letters.next_if_eq(&letter).is_some();
                if letter == '&' && !doubled || letter == ';' && doubled {
                    return None;
                }
                commands.last_mut()?.extend(word.take());
                commands.push(Vec::new());
            }
            letter if is_plain(letter) => word.get_or_insert_default().push(letter),
            _ => return None,
        }
    }
    commands.last_mut()?.extend(word.take());
    Some(commands)
}

fn quoted(letters: &mut impl Iterator<Item = char>, quote: char) -> Option<String> {
    let mut text = String::new();
    for letter in letters {
        if letter == quote {
            return Some(text);
        }
        text.push(letter);
    }
    None
}

/// Letters that mean nothing to a shell anywhere in a word.
fn is_plain(letter: char) -> bool {
    letter.is_alphanumeric() || "-_./:,+@%^".contains(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Strict: only what plainly reads is free.
    #[test]
    fn table() {
        let free = [
            "ls -la",
            "cat a.txt | head -n 3",
            "pwd && ls; true || false",
            "echo 'a > b; rm -rf x'",
            "grep \"two words\" src/main.rs",
            "cd sub && ls",
        ];
        let asked = [
            "",
            "   ",
            "rm x",
            "ls > out",
            "cat < in",
            "ls $(rm x)",
            "ls `rm x`",
            "echo \"$(rm x)\"",
            "ls &",
            "ls; ; ls",
            "ls ;",
            "FOO=1 ls",
            "ls\nrm x",
            "ls *.txt",
            "ls ~",
            "sudo ls",
            "git status",
            "git commit -m x",
            "git diff --output=x",
            "git -c core.pager=x status",
            "/bin/ls",
            "find . -delete",
            "sed -i s/a/b/ x",
            "cat 'unclosed",
            "ls # comment",
            "env rm x",
            "xargs rm",
            "cat /etc/passwd",
            "cat ../x",
            "grep -f/etc/passwd x",
            "cd / && cat etc/passwd",
        ];
        let folder = tempfile::tempdir().unwrap();
        let is_read_only = |command| is_read_only(command, folder.path(), folder.path());
        for command in free {
            assert!(is_read_only(command), "{command:?}");
        }
        for command in asked {
            assert!(!is_read_only(command), "{command:?}");
        }
    }
}
