//! `--model rehearsal`: no language model, only the motions of one.
//!
//! It reads a file, edits it so that a formatter has something to do, reads it again, runs a
//! harmless command and one that looks dangerous and would do nothing if it were let through. What
//! it does next is chosen from the request alone, as for every model of ours.

use std::fs;
use std::path::{Path, PathBuf};

use futures_util::stream;
use seamline_harness::content::Source;
use seamline_harness::model::{
    Chunk, ChunkStream, Message, Model, ModelError, Request, Signal, StopReason,
};
use serde_json::json;

/// Nothing of this name is in a copy of a project.
const NOWHERE: &str = "./seamline-rehearsal-nothing-here";

/// Plays the rehearsal of one project.
#[derive(Debug, Clone)]
pub(super) struct Rehearsal {
    file: Option<Edit>,
}

#[derive(Debug, Clone)]
struct Edit {
    path: PathBuf,
    content: String,
}

impl Rehearsal {
    /// A rehearsal in this folder.
    pub(super) fn of(project: &Path) -> Self {
        let file = text_files(project, 4).into_iter().next();
        Self {
            file: file.map(|(path, content)| Edit { path, content }),
        }
    }

    fn step(&self, done: usize) -> Vec<Chunk> {
        match (&self.file, done) {
            (None, 0) => [
                says(WHAT),
                says("There is no file here that I could edit. "),
            ]
            .into_iter()
            .chain(commands())
            .collect(),
            (None, done) => last(done == 1),
            (Some(file), 0) => vec![says(WHAT), says("First I read a file."), file.read(0)],
            (Some(file), 1) => vec![
                says("I add a line that a formatter would mend."),
                file.untidy_write(),
            ],
            (Some(file), 2) => vec![says("I read it again."), file.read(2)],
            (Some(_), 3) => commands().collect(),
            (Some(_), done) => last(done == 4),
        }
    }
}

const WHAT: &str = "This is a rehearsal: I am no language model, I go through the motions of one in \
                    a copy of the project. ";

fn says(text: &str) -> Chunk {
    Chunk::Text(text.to_owned())
}

fn commands() -> impl Iterator<Item = Chunk> {
    let shell = |n: usize, command: &str| call(n, "Bash", json!({ "command": command }));
    [
        says("A harmless command, and one that looks dangerous and does nothing."),
        shell(3, "echo rehearsal"),
        shell(4, &format!("rm -rf {NOWHERE}")),
    ]
    .into_iter()
}

fn last(end: bool) -> Vec<Chunk> {
    vec![says(match end {
        true => "That was the rehearsal.",
        false => "The rehearsal has nothing to add.",
    })]
}

fn call(n: usize, name: &str, input: serde_json::Value) -> Chunk {
    Chunk::ToolCall {
        id: format!("rehearsal_{n}"),
        name: name.to_owned(),
        arguments: input.to_string(),
    }
}

impl Edit {
    fn read(&self, n: usize) -> Chunk {
        call(n, "Read", json!({ "file_path": self.path }))
    }

    /// The file with one more line, which ends in blanks.
    fn untidy_write(&self) -> Chunk {
        let end = self.path.extension().and_then(|end| end.to_str());
        let sign = match end {
            Some("py" | "sh" | "rb" | "toml" | "yaml" | "yml") => "#",
            _ => "//",
        };
        let newline = if self.content.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        let content = format!(
            "{}{newline}{sign} a line of the rehearsal, with blanks at its end   \n",
            self.content
        );
        call(
            1,
            "Write",
            json!({ "file_path": self.path, "content": content }),
        )
    }
}

impl Model for Rehearsal {
    fn stream(&self, request: Request, _signal: Signal) -> ChunkStream {
        let mut chunks = self.step(answers_since_the_prompt(&request));
        let calls = chunks
            .iter()
            .any(|chunk| matches!(chunk, Chunk::ToolCall { .. }));
        chunks.push(Chunk::End(if calls {
            StopReason::ToolUse
        } else {
            StopReason::EndTurn
        }));
        let chunks: Vec<Result<Chunk, ModelError>> = chunks.into_iter().map(Ok).collect();
        Box::pin(stream::iter(chunks))
    }
}

/// How many messages of the model follow the newest prompt of the user.
fn answers_since_the_prompt(request: &Request) -> usize {
    request
        .messages
        .iter()
        .rev()
        .take_while(|message| {
            !matches!(
                &***message,
                Message::User {
                    source: Source::User,
                    ..
                }
            )
        })
        .filter(|message| matches!(&***message, Message::Assistant { .. }))
        .count()
}

/// Small source files, in order of their paths, hidden folders left out.
fn text_files(folder: &Path, depth: usize) -> Vec<(PathBuf, String)> {
    const SOURCES: [&str; 9] = ["c", "go", "java", "js", "py", "rb", "rs", "sh", "ts"];
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    entries.sort();
    let hidden = |path: &PathBuf| {
        path.file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with('.'))
    };
    let mut files = Vec::new();
    for path in entries.into_iter().filter(|path| !hidden(path)) {
        let source = path
            .extension()
            .is_some_and(|end| SOURCES.iter().any(|kind| end == *kind));
        let small = fs::symlink_metadata(&path).is_ok_and(|m| m.is_file() && m.len() < 64 << 10);
        if source && small {
            files.extend(
                fs::read_to_string(&path)
                    .ok()
                    .map(|content| (path, content)),
            );
        } else if depth > 0 && fs::symlink_metadata(&path).is_ok_and(|m| m.is_dir()) {
            files.extend(text_files(&path, depth - 1));
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_without_source_files_is_rehearsed_all_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let rehearsal = Rehearsal::of(folder.path());
        for done in 0..6 {
            assert!(!rehearsal.step(done).is_empty());
        }
        fs::write(folder.path().join("a.py"), "x = 1").unwrap();
        let chunks = Rehearsal::of(folder.path()).step(1);
        let wrote = format!("{chunks:?}");
        assert!(wrote.contains("x = 1\\\\n# a line"), "{wrote}");
    }
}
