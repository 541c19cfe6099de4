//! `Read`: a text file, or lines of it.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::content::Content;
use crate::tools::{Effects, Tool, ToolContext, ToolError};

/// How many lines are read when the model does not say.
const DEFAULT_LIMIT: usize = 2000;
/// How much text one call may bring, in bytes. Our choice.
const MOST: usize = 256 * 1024;

/// The `Read` tool.
#[derive(Debug, Clone, Copy, Default)]
pub struct Read;

/// Arguments of `Read`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadArgs {
    /// The file.
    pub file_path: String,
    /// The first line wanted, counting from 1.
    #[serde(default)]
    pub offset: Option<usize>,
    /// How many lines are wanted; 2000 by default.
    #[serde(default)]
    pub limit: Option<usize>,
}

/// What `Read` found. The shape is Claude Code's, measured on 2.1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadValue {
    /// What kind of file it is.
    #[serde(rename = "type")]
    pub kind: ReadKind,
    /// The file.
    pub file: ReadFile,
}

/// The kinds of file `Read` reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReadKind {
    /// Text.
    Text,
}

/// The lines that were read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadFile {
    /// The file, as it was asked for, made absolute.
    pub file_path: String,
    /// The lines, joined by line breaks.
    pub content: String,
    /// How many lines `content` has; a final line break makes one more, empty line.
    pub num_lines: usize,
    /// The number of the first one.
    pub start_line: usize,
    /// How many lines the file has.
    pub total_lines: usize,
}

impl Tool for Read {
    type Args = ReadArgs;
    type Value = ReadValue;

    fn name(&self) -> &str {
        "Read"
    }

    fn description(&self) -> &str {
        "Reads a text file. Lines are numbered. Reads up to 2000 lines from the start unless \
         `offset` (first line, from 1) and `limit` (number of lines) say otherwise."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "required": ["file_path"],
            "properties": {
                "file_path": {"type": "string", "minLength": 1, "description": "The file to read"},
                "offset": {"type": "integer", "minimum": 0, "description": "First line, from 1"},
                "limit": {"type": "integer", "minimum": 1, "description": "Number of lines"},
            },
        })
    }

    fn concurrency_safe(&self, _args: &ReadArgs) -> bool {
        true
    }

    fn effects(&self, args: &ReadArgs, cwd: &Path) -> Effects {
        Effects::Reads(vec![cwd.join(&args.file_path)])
    }

    async fn run(&self, args: ReadArgs, context: ToolContext) -> Result<ReadValue, ToolError> {
        let path = context.workspace().resolve(&args.file_path);
        let cwd = context.workspace().cwd();
        let text = blocking(move || read_text(&path, &cwd)).await?;
        let file_path = context.workspace().resolve(&args.file_path);
        select(&text, &args, file_path.display().to_string())
    }

    fn render(&self, _args: &ReadArgs, value: &ReadValue) -> Content {
        let file = &value.file;
        let numbered = file.content.split('\n').enumerate();
        let numbered = numbered.map(|(index, line)| format!("{}\t{line}", file.start_line + index));
        Content::text(numbered.collect::<Vec<_>>().join("\n"))
    }
}

/// Runs file work on a thread that may block.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|lost| Err(ToolError::new(format!("the file work was lost: {lost}"))))
}

/// Reads a file that has to be text.
pub(super) fn read_text(path: &Path, cwd: &Path) -> Result<String, ToolError> {
    if path.is_dir() {
        return Err(ToolError::new(format!(
            "{} is a directory. List it with Glob or with ls in Bash.",
            path.display()
        )));
    }
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(missing(cwd));
        }
        Err(error) => return Err(failed("read", path, &error)),
    };
    String::from_utf8(bytes)
        .map_err(|_| ToolError::new(format!("{} is not a text file (UTF-8).", path.display())))
}

/// Measured wording.
pub(super) fn missing(cwd: &Path) -> ToolError {
    ToolError::new(format!(
        "File does not exist. Note: your current working directory is {}.",
        cwd.display()
    ))
}

pub(super) fn failed(what: &str, path: &Path, error: &std::io::Error) -> ToolError {
    ToolError::new(format!("Cannot {what} {}: {error}", path.display()))
}

fn select(text: &str, args: &ReadArgs, file_path: String) -> Result<ReadValue, ToolError> {
    let total_lines = text.split('\n').count();
    let start_line = args.offset.unwrap_or(1).max(1);
    if start_line > total_lines {
        return Err(ToolError::new(format!(
            "The file has {total_lines} lines; there is no line {start_line}."
        )));
    }
    let limit = args.limit.unwrap_or(DEFAULT_LIMIT);
    let lines: Vec<&str> = text.split('\n').skip(start_line - 1).take(limit).collect();
    let num_lines = lines.len();
    let content = lines.join("\n");
    if content.len() > MOST {
        return Err(ToolError::new(format!(
            "These {num_lines} lines are {} bytes, more than the {MOST} one call may bring. Ask \
             for fewer lines with offset and limit, or search with Grep.",
            content.len()
        )));
    }
    let file = ReadFile {
        file_path,
        content,
        num_lines,
        start_line,
        total_lines,
    };
    Ok(ReadValue {
        kind: ReadKind::Text,
        file,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Line counting is Claude Code's: a final line break makes one more, empty line.
    #[test]
    fn selection() {
        let args = |offset, limit| ReadArgs {
            file_path: "x".to_owned(),
            offset,
            limit,
        };
        let cases = [
            (args(None, None), "one\ntwo\n", 3, 1, "1\tone\n2\ttwo\n3\t"),
            (args(Some(2), None), "two\n", 2, 2, "2\ttwo\n3\t"),
            (args(Some(0), Some(1)), "one", 1, 1, "1\tone"),
            (args(Some(3), Some(9)), "", 1, 3, "3\t"),
        ];
        for (args, content, num_lines, start_line, shown) in cases {
            let value = select("one\ntwo\n", &args, "/x".to_owned()).unwrap();
            let file = &value.file;
            assert_eq!(
                (file.content.as_str(), file.num_lines),
                (content, num_lines),
                "{args:?}"
            );
            assert_eq!(
                (file.start_line, file.total_lines),
                (start_line, 3),
                "{args:?}"
            );
            assert_eq!(Read.render(&args, &value).to_text(), shown, "{args:?}");
        }
        let error = select("one\n", &args(Some(9), None), "/x".to_owned()).unwrap_err();
        assert!(error.message.contains("has 2 lines"), "{error}");
        let long = "x".repeat(MOST + 1);
        let error = select(&long, &args(None, None), "/x".to_owned()).unwrap_err();
        assert!(error.message.contains("offset and limit"), "{error}");
    }
}
