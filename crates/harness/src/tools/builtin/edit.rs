//! `Edit`: one text for another.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::patch::{Hunk, hunks};
use super::read::{blocking, read_text};
use super::write::store;
use crate::content::Content;
use crate::tools::{Effects, Tool, ToolContext, ToolError};

/// The `Edit` tool.
#[derive(Debug, Clone)]
pub struct Edit {
    defaults: [(&'static str, Value); 1],
}

/// Arguments of `Edit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditArgs {
    /// The file.
    pub file_path: String,
    /// The text to replace. Empty for a file that does not exist yet.
    pub old_string: String,
    /// What takes its place.
    pub new_string: String,
    /// Whether to replace it wherever it stands.
    #[serde(default)]
    pub replace_all: bool,
}

/// What `Edit` did. The shape is Claude Code's, measured on 2.1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EditValue {
    /// The file, absolute.
    pub file_path: String,
    /// The text that was replaced.
    pub old_string: String,
    /// What took its place.
    pub new_string: String,
    /// What was there before.
    pub original_file: String,
    /// What changed.
    pub structured_patch: Vec<Hunk>,
    /// Always false: nobody edits between the call and the file here.
    pub user_modified: bool,
    /// Whether it was replaced wherever it stood.
    pub replace_all: bool,
}

impl Edit {
    /// The tool.
    pub fn new() -> Self {
        Self {
            defaults: [("replace_all", Value::Bool(false))],
        }
    }
}

impl Default for Edit {
    fn default() -> Self {
        Self::new()
    }
}

impl Tool for Edit {
    type Args = EditArgs;
    type Value = EditValue;

    fn name(&self) -> &str {
        "Edit"
    }

    fn description(&self) -> &str {
        "Replaces a text in a file. `old_string` must stand in the file exactly once, unless \
         `replace_all` is true."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "required": ["file_path", "old_string", "new_string"],
            "properties": {
                "file_path": {"type": "string", "minLength": 1, "description": "The file to edit"},
                "old_string": {"type": "string", "description": "The text to replace"},
                "new_string": {"type": "string", "description": "What takes its place"},
                "replace_all": {
                    "type": "boolean",
                    "default": false,
                    "description": "Replace it wherever it stands",
                },
            },
        })
    }

    /// Measured: hooks see `replace_all` even where the model left it out.
    fn defaults(&self) -> &[(&'static str, Value)] {
        &self.defaults
    }

    fn effects(&self, args: &EditArgs, cwd: &Path) -> Effects {
        Effects::Writes(vec![cwd.join(&args.file_path)])
    }

    async fn run(&self, args: EditArgs, context: ToolContext) -> Result<EditValue, ToolError> {
        let path = context.workspace().resolve(&args.file_path);
        let cwd = context.workspace().cwd();
        blocking(move || {
            let new_file = args.old_string.is_empty() && !path.exists();
            let old = if new_file {
                String::new()
            } else {
                read_text(&path, &cwd)?
            };
            let new = replace(&old, &args, new_file)?;
            store(&path, &new)?;
            Ok(EditValue {
                file_path: path.display().to_string(),
                structured_patch: hunks(&old, &new),
                original_file: old,
                user_modified: false,
                replace_all: args.replace_all,
                old_string: args.old_string,
                new_string: args.new_string,
            })
        })
        .await
    }

    fn render(&self, _args: &EditArgs, value: &EditValue) -> Content {
        let path = &value.file_path;
        Content::text(match value.replace_all {
            false => format!("The file {path} has been updated successfully."),
            true => format!("The file {path} has been updated. All occurrences were replaced."),
        })
    }
}

fn replace(old: &str, args: &EditArgs, new_file: bool) -> Result<String, ToolError> {
    let refuse = |why: String| Err(ToolError::new(why));
    if args.old_string == args.new_string {
        return refuse("old_string and new_string are the same: there is nothing to do.".into());
    }
    if args.old_string.is_empty() {
        return match new_file || old.is_empty() {
            true => Ok(args.new_string.clone()),
            false => refuse(
                "old_string is empty, but the file is not. Name the text to replace, or use Write."
                    .into(),
            ),
        };
    }
    match old.matches(&args.old_string).count() {
        0 => refuse(format!(
            "The text to replace is not in the file: {:?}",
            args.old_string
        )),
        1 => Ok(old.replacen(&args.old_string, &args.new_string, 1)),
        _ if args.replace_all => Ok(old.replace(&args.old_string, &args.new_string)),
        found => refuse(format!(
            "The text to replace stands in the file {found} times. Give more of its surroundings, \
             or set replace_all: {:?}",
            args.old_string
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An edit happens exactly where it is clear what is meant.
    #[test]
    fn table() {
        let edit = |old: &str, from: &str, to: &str, replace_all| {
            let args = EditArgs {
                file_path: String::new(),
                old_string: from.to_owned(),
                new_string: to.to_owned(),
                replace_all,
            };
            replace(old, &args, false).map_err(|error| error.message)
        };
        assert_eq!(edit("a b", "a", "x", false).unwrap(), "x b");
        assert_eq!(edit("a a", "a", "x", true).unwrap(), "x x");
        assert_eq!(edit("", "", "x", false).unwrap(), "x");
        assert!(
            edit("a a", "a", "x", false)
                .unwrap_err()
                .contains("2 times")
        );
        assert!(
            edit("a", "b", "x", true)
                .unwrap_err()
                .contains("not in the file")
        );
        assert!(
            edit("a", "a", "a", false)
                .unwrap_err()
                .contains("nothing to do")
        );
        assert!(edit("a", "", "x", false).unwrap_err().contains("is empty"));
    }
}
