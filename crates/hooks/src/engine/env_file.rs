//! `CLAUDE_ENV_FILE`: a shell file to which hooks of some events write variables for the commands
//! that the agent runs later (documented, measured on 2.1.332).
//!
//! The client sources the file before each of its Bash commands. We source it once, when the hooks
//! are done, and keep what came of it; functions and options that it sets are not kept (our choice).

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tempfile::NamedTempFile;
use tokio_util::sync::CancellationToken;

use super::Engine;
use super::launch::DRAIN;
use crate::dialect::{DialectId, EventRow};
use crate::runner::{Exit, KillLadder, Spec};

/// The events whose hooks have such a file.
const EVENTS: [&str; 4] = ["SessionStart", "Setup", "CwdChanged", "FileChanged"];

/// Says what there is, sources the file, and says what there is then.
const SCRIPT: &str = r#"env -0 && printf '\0' && set -a && . "$1" >/dev/null; env -0"#;

/// How long sourcing may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Variables that a shell sets by itself.
const OF_THE_SHELL: [&str; 5] = ["_", "SHLVL", "PWD", "OLDPWD", "CLAUDE_ENV_FILE"];

/// The file of one firing. It is gone with this.
#[derive(Debug)]
pub struct EnvFile(NamedTempFile);

/// What hooks left in their file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftVariables {
    /// Variables that are new or have another value.
    pub set: BTreeMap<String, String>,
    /// What the shell had to say against the file, if anything.
    pub complaint: Option<String>,
}

impl EnvFile {
    /// A new file, for an event whose hooks have one.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn of(dialect: DialectId, row: &EventRow) -> io::Result<Option<Self>> {
        if dialect != DialectId::Claude || !EVENTS.contains(&row.name) {
            return Ok(None);
        }
        let file = NamedTempFile::with_suffix(".sh")?;
        Ok(Some(Self(file)))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// The variable that names it to hooks.
    #[must_use]
    pub fn variable(&self) -> (String, String) {
        let path = self.path().display().to_string();
        ("CLAUDE_ENV_FILE".to_owned(), path)
    }

    fn is_empty(&self) -> bool {
        self.0.as_file().metadata().is_ok_and(|it| it.len() == 0)
    }
}

impl Engine {
    /// What the hooks of a firing left in its file, as a shell in `cwd` understands it.
    pub async fn left_variables(
        &self,
        file: &EnvFile,
        cwd: &Path,
        signal: CancellationToken,
    ) -> LeftVariables {
        if file.is_empty() {
            return LeftVariables::default();
        }
        let words = ["bash", "-c", SCRIPT, "bash", &file.path().to_string_lossy()];
        let spec = Spec {
            argv: words.map(str::to_owned).to_vec(),
            cwd: cwd.to_path_buf(),
            env: self.around.base_env.clone(),
            stdin: Arc::from([]),
            timeout: PATIENCE,
            kill: KillLadder { term_grace: None },
            drain: DRAIN,
        };
        let finished = self.around.exec.run(spec, signal).await;
        let words = String::from_utf8_lossy(&finished.stderr);
        let first = words.lines().find(|line| !line.trim().is_empty());
        let complaint = first.map(str::to_owned).or(match &finished.exit {
            Exit::Code(0) => None,
            Exit::SpawnFailed(why) => Some(why.clone()),
            Exit::TimedOut => Some("it took longer than 10 s".to_owned()),
            other => Some(format!("it ended with {other:?}")),
        });
        let set = difference(&finished.stdout);
        LeftVariables { set, complaint }
    }
}

/// What is in the second list and not in the first. Lists are of `NAME=VALUE\0`, with `\0` between
/// them; what is not UTF-8 is left out.
fn difference(output: &[u8]) -> BTreeMap<String, String> {
    let Some(middle) = output.windows(2).position(|pair| pair == [0, 0]) else {
        return BTreeMap::new();
    };
    let (before, after) = output.split_at(middle);
    let before: BTreeMap<_, _> = variables(before).collect();
    variables(after)
        .filter(|(name, value)| !OF_THE_SHELL.contains(name) && before.get(name) != Some(value))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn variables(list: &[u8]) -> impl Iterator<Item = (&str, &str)> {
    list.split(|byte| *byte == 0)
        .filter_map(|entry| std::str::from_utf8(entry).ok()?.split_once('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_or_different_is_left() {
        let output = b"A=1\0B=2\0_=x\0\0A=1\0B=3\0C=a=b\nc\0_=y\0SHLVL=2\0D\0";
        let expected = [("B", "3"), ("C", "a=b\nc")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(difference(output), BTreeMap::from(expected));
        assert!(difference(b"A=1\0B=2").is_empty());
    }
}
