//! `Write`: a whole file.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::patch::{Hunk, hunks};
use super::read::{blocking, failed};
use crate::content::Content;
use crate::tools::{Effects, Tool, ToolContext, ToolError};

/// The `Write` tool.
#[derive(Debug, Clone, Copy, Default)]
pub struct Write;

/// Arguments of `Write`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteArgs {
    /// The file.
    pub file_path: String,
    /// All of its new content.
    pub content: String,
}

/// What `Write` did. The shape is Claude Code's, measured on 2.1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WriteValue {
    /// Whether the file is new.
    #[serde(rename = "type")]
    pub kind: WriteKind,
    /// The file, absolute.
    pub file_path: String,
    /// What was written.
    pub content: String,
    /// What changed; empty for a new file.
    pub structured_patch: Vec<Hunk>,
    /// What was there before.
    pub original_file: Option<String>,
    /// Always false: nobody edits between the call and the file here.
    pub user_modified: bool,
}

/// Whether a file is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WriteKind {
    /// It is new.
    Create,
    /// It was there before.
    Update,
}

impl Tool for Write {
    type Args = WriteArgs;
    type Value = WriteValue;

    fn name(&self) -> &str {
        "Write"
    }

    fn description(&self) -> &str {
        "Writes a file, replacing what was there. Missing folders are made."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "required": ["file_path", "content"],
            "properties": {
                "file_path": {"type": "string", "minLength": 1, "description": "The file to write"},
                "content": {"type": "string", "description": "All of its new content"},
            },
        })
    }

    fn effects(&self, args: &WriteArgs, cwd: &Path) -> Effects {
        Effects::Writes(vec![cwd.join(&args.file_path)])
    }

    async fn run(&self, args: WriteArgs, context: ToolContext) -> Result<WriteValue, ToolError> {
        let path = context.workspace().resolve(&args.file_path);
        blocking(move || {
            let before = fs::read(&path)
                .ok()
                .map(|old| String::from_utf8_lossy(&old).into_owned());
            store(&path, &args.content)?;
            let patch = before.as_deref().map(|old| hunks(old, &args.content));
            Ok(WriteValue {
                kind: if before.is_some() {
                    WriteKind::Update
                } else {
                    WriteKind::Create
                },
                file_path: path.display().to_string(),
                content: args.content,
                structured_patch: patch.unwrap_or_default(),
                original_file: before,
                user_modified: false,
            })
        })
        .await
    }

    fn render(&self, _args: &WriteArgs, value: &WriteValue) -> Content {
        let path = &value.file_path;
        Content::text(match value.kind {
            WriteKind::Create => format!("File created successfully at: {path}"),
            WriteKind::Update => format!("The file {path} has been updated successfully."),
        })
    }
}

/// Writes a file and makes the folders it needs.
pub(super) fn store(path: &Path, content: &str) -> Result<(), ToolError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| failed("make the folder of", path, &error))?;
    }
    fs::write(path, content).map_err(|error| failed("write", path, &error))
}
