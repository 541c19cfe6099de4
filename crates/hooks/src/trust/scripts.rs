//! The files a command names.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use sha2::{Digest, Sha256};

use super::hash::hex;
use crate::config::words::{Piece, Role, Word, words_within};
use crate::config::{Roots, repository_root};
use crate::handler::{Action, CommandAction, Handler};

/// A file that a command names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// Its path, absolute: variables of the client filled in, relative ones taken from the project.
    pub path: PathBuf,
    /// Whether it was written as a relative path, and so depends on the folder the hook runs in.
    pub relative: bool,
    /// Whether it is run: it is the program, what an interpreter reads first, or looks like a
    /// script by its ending, its first bytes or its mode.
    pub runs: bool,
}

/// Endings of files that are run.
const ENDINGS: [&str; 20] = [
    "sh", "bash", "zsh", "fish", "ksh", "py", "js", "mjs", "cjs", "ts", "mts", "cts", "rb", "pl",
    "php", "lua", "ps1", "awk", "jq", "nu",
];

/// Programs that run the first file they are given.
const INTERPRETERS: [&str; 30] = [
    ".", "bash", "bun", "command", "dash", "deno", "env", "exec", "fish", "ksh", "lua", "nice",
    "node", "nohup", "perl", "php", "pwsh", "python", "python2", "python3", "ruby", "sh", "source",
    "sudo", "time", "timeout", "tsx", "uv", "xargs", "zsh",
];

/// The files a handler's command names that are there now, in the order of the command. Only
/// command handlers name files. What only a running shell could know is left out: variables it
/// sets, `cd`, patterns, the output of programs.
#[must_use]
pub fn references(handler: &Handler, roots: &Roots) -> Vec<Reference> {
    let Action::Command(action) = &handler.action else {
        return Vec::new();
    };
    let known = Known { handler, roots };
    let words = match &action.args {
        None => words_within(&action.command),
        Some(args) => known.exec_words(action, args),
    };
    let mut found: Vec<Reference> = Vec::new();
    let mut interpreting: HashMap<usize, bool> = HashMap::new();
    for word in &words {
        let waits = interpreting.entry(word.command).or_default();
        if word.role == Role::Program {
            *waits = word.literal().is_some_and(|name| interprets(&name));
        }
        let Some(mut reference) = known.reference(word) else {
            continue;
        };
        let first = word.role == Role::Program || std::mem::take(waits);
        reference.runs = first || looks_like_script(&reference.path);
        if !found.iter().any(|earlier| earlier.path == reference.path) {
            found.push(reference);
        }
    }
    found
}

/// The files of the repository that a handler runs: the part of its behaviour that a change of the
/// repository can change without touching the configuration.
#[must_use]
pub fn scripts(handler: &Handler, roots: &Roots) -> Vec<PathBuf> {
    let root = repository_root(&roots.project);
    references(handler, roots)
        .into_iter()
        .filter(|reference| reference.runs && inside(&reference.path, root))
        .map(|reference| reference.path)
        .collect()
}

/// The content of each script as a hash; what cannot be read has its error instead.
pub(super) fn fingerprint(handler: &Handler, roots: &Roots) -> BTreeMap<PathBuf, String> {
    let scripts = scripts(handler, roots).into_iter();
    scripts
        .map(|path| {
            let content = content(&path).unwrap_or_else(|error| format!("unreadable: {error}"));
            (path, content)
        })
        .collect()
}

fn content(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = [0; 16 * 1024];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(&hasher.finalize())),
            read => hasher.update(buffer.get(..read).unwrap_or_default()),
        }
    }
}

/// What is known without running a shell.
struct Known<'a> {
    handler: &'a Handler,
    roots: &'a Roots,
}

impl Known<'_> {
    /// Exec form: no shell, one word an element, only `${NAME}` of the client replaced.
    fn exec_words(&self, action: &CommandAction, args: &[String]) -> Vec<Word> {
        let elements = std::iter::once(&action.command).chain(args).enumerate();
        elements
            .map(|(index, text)| Word {
                pieces: vec![Piece::Text {
                    text: self.placeholders(text),
                    quoted: true,
                }],
                role: if index == 0 {
                    Role::Program
                } else {
                    Role::Argument
                },
                command: 0,
            })
            .collect()
    }

    fn placeholders(&self, text: &str) -> String {
        let project = self.roots.project.display().to_string();
        let mut filled = text.replace("${CLAUDE_PROJECT_DIR}", &project);
        for (name, value) in &self.handler.variables {
            filled = filled.replace(&format!("${{{name}}}"), value);
        }
        filled
    }

    /// The file a word names, if there is one.
    fn reference(&self, word: &Word) -> Option<Reference> {
        let text = self.text(word)?;
        let text = match word.role {
            Role::Output => return None,
            Role::Assignment => text.split_once('=')?.1,
            // `--config=FILE`
            Role::Argument if text.starts_with('-') => text.split_once('=')?.1,
            // Without a slash the shell looks along PATH.
            Role::Program if !text.contains('/') => return None,
            _ => &text,
        };
        let path = Path::new(text);
        let relative = path.is_relative();
        let path = plain(&self.roots.project.join(path));
        path.is_file().then_some(Reference {
            path,
            relative,
            runs: false,
        })
    }

    fn text(&self, word: &Word) -> Option<String> {
        let mut text = String::new();
        for (index, piece) in word.pieces.iter().enumerate() {
            match piece {
                Piece::Text { text: more, quoted } => match more.strip_prefix("~/") {
                    Some(rest) if index == 0 && !quoted => {
                        text.push_str(&format!("{}/{rest}", self.roots.home.display()));
                    }
                    _ => text.push_str(more),
                },
                Piece::Variable { name, .. } => text.push_str(&self.variable(name)?),
                Piece::Command { text: command, .. } => text.push_str(&self.output(command)?),
            }
        }
        Some(text)
    }

    fn variable(&self, name: &str) -> Option<String> {
        let folder = match name {
            "CLAUDE_PROJECT_DIR" | "PWD" => &self.roots.project,
            "HOME" => &self.roots.home,
            "CODEX_HOME" => &self.roots.codex_home,
            other => return self.handler.variables.get(other).cloned(),
        };
        Some(folder.display().to_string())
    }

    /// The two substitutions that name folders in nearly every configuration.
    fn output(&self, command: &str) -> Option<String> {
        let words: Vec<&str> = command.split_whitespace().collect();
        let folder = match words.as_slice() {
            ["git", .., "rev-parse", "--show-toplevel"]
            | ["git", "rev-parse", "--show-toplevel", ..] => repository_root(&self.roots.project),
            ["pwd"] => &self.roots.project,
            _ => return None,
        };
        Some(folder.display().to_string())
    }
}

fn interprets(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    INTERPRETERS.contains(&name)
}

fn looks_like_script(path: &Path) -> bool {
    has_script_ending(path) || executable(path) || shebang(path)
}

/// Whether a path is named like a file that is run.
pub(crate) fn has_script_ending(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ENDINGS.contains(&ending))
}

fn shebang(path: &Path) -> bool {
    let mut start = [0; 2];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == *b"#!"
}

#[cfg(unix)]
fn executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|meta| meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn executable(_path: &Path) -> bool {
    false
}

/// By name or by what the name leads to: a link out of the repository is the repository's.
fn inside(path: &Path, root: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    path.starts_with(root) || real(path).starts_with(real(root))
}

/// The path without `.` and `..`, by its text alone.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}
