//! `apply_patch`: changes to several files in one call.
//!
//! The name and the format are Codex's. A patch is applied as a whole: what it comes to is worked out
//! before anything is written, and where a file cannot be written those before it are put back. A text
//! that is no patch makes the call invalid, so that no hook is asked about it (measured on Codex).

mod apply;
mod text;

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::read::blocking;
use crate::content::Content;
use crate::json::Json;
use crate::tools::{Effects, Tool, ToolContext, ToolError};
use apply::{Did, Plan};
pub use text::{Change, FileChange, Hunk as PatchHunk, Patch, PatchError};

/// The `apply_patch` tool.
#[derive(Debug, Clone, Copy, Default)]
pub struct ApplyPatch;

/// Arguments of `apply_patch`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApplyPatchArgs {
    /// The patch. Paths in it may be relative to the current directory.
    pub command: Patch,
}

/// What `apply_patch` did: files as the patch names them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApplyPatchValue {
    /// Files that were made.
    pub added: Vec<String>,
    /// Files that were changed; of those that were moved, the new names.
    pub modified: Vec<String>,
    /// Files that are gone.
    pub deleted: Vec<String>,
}

impl Tool for ApplyPatch {
    type Args = ApplyPatchArgs;
    type Value = ApplyPatchValue;

    fn name(&self) -> &'static str {
        "apply_patch"
    }

    fn description(&self) -> &'static str {
        "Changes files. `command` is a patch: \"*** Begin Patch\", then for each file \"*** Add File: \
         PATH\" with its lines behind `+`, \"*** Delete File: PATH\", or \"*** Update File: PATH\" \
         (\"*** Move to: PATH\" renames it) with hunks: an optional \"@@ LINE\" that stands before, \
         then lines behind ` ` (stays), `-` (goes) and `+` (comes); at last \"*** End Patch\". All of \
         it is applied, or nothing."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "required": ["command"],
            "properties": {"command": {"type": "string", "description": "The patch"}},
        })
    }

    fn check_args(&self, args: &Json) -> Result<(), String> {
        let read = args.to::<ApplyPatchArgs>();
        read.map(|_| ()).map_err(|error| error.to_string())
    }

    fn effects(&self, args: &ApplyPatchArgs, cwd: &Path) -> Effects {
        Effects::Writes(args.command.paths().map(|path| cwd.join(path)).collect())
    }

    async fn run(
        &self,
        args: ApplyPatchArgs,
        context: ToolContext,
    ) -> Result<ApplyPatchValue, ToolError> {
        let cwd = context.workspace().cwd();
        blocking(move || {
            let plan = Plan::of(&args.command, &cwd)?;
            plan.carry_out()?;
            let mut value = ApplyPatchValue::default();
            for (did, path) in plan.said {
                let list = match did {
                    Did::Added => &mut value.added,
                    Did::Modified => &mut value.modified,
                    Did::Deleted => &mut value.deleted,
                };
                list.push(path);
            }
            Ok(value)
        })
        .await
    }

    /// Measured wording.
    fn render(&self, _args: &ApplyPatchArgs, value: &ApplyPatchValue) -> Content {
        let lists = [
            ('A', &value.added),
            ('M', &value.modified),
            ('D', &value.deleted),
        ];
        let lines = lists
            .iter()
            .flat_map(|(sign, paths)| paths.iter().map(move |path| format!("{sign} {path}\n")));
        let lines: String = lines.collect();
        Content::text(format!("Success. Updated the following files:\n{lines}"))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::tools::Workspace;

    async fn apply(folder: &Path, lines: &[&str]) -> Result<String, String> {
        let text = format!("*** Begin Patch\n{}\n*** End Patch\n", lines.join("\n"));
        let args = ApplyPatchArgs {
            command: text.parse().unwrap(),
        };
        let context = ToolContext::new(Workspace::new(folder), Default::default());
        let done = ApplyPatch.run(args.clone(), context).await;
        done.map(|value| ApplyPatch.render(&args, &value).to_text())
            .map_err(|error| error.message)
    }

    /// Files are made, changed, moved and removed, and the model is told which.
    #[tokio::test]
    async fn all_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("old"), "x\n").unwrap();
        fs::write(path("a"), "1\n2\n").unwrap();
        fs::write(path("b"), "1\n").unwrap();
        let patch = [
            "*** Add File: sub/new",
            "+hello",
            "*** Delete File: old",
            "*** Update File: a",
            "@@",
            "-2",
            "+two",
            "*** Update File: b",
            "*** Move to: c",
            "@@",
            "-1",
            "+one",
        ];
        let said = apply(folder.path(), &patch).await.unwrap();
        let expected = "Success. Updated the following files:\nA sub/new\nM a\nM c\nD old\n";
        assert_eq!(said, expected);
        let text = |name: &str| fs::read_to_string(path(name)).ok();
        assert_eq!(text("sub/new").as_deref(), Some("hello\n"));
        assert_eq!(text("a").as_deref(), Some("1\ntwo\n"));
        assert_eq!(text("c").as_deref(), Some("one\n"));
        assert_eq!((text("old"), text("b")), (None, None));
    }

    /// A patch of which one part does not fit changes nothing, whatever comes before that part.
    #[tokio::test]
    async fn or_nothing() {
        let cases: [(&[&str], &str); 4] = [
            (
                &["*** Update File: a", "@@", "-nope", "+x"],
                "does not fit a",
            ),
            (
                &["*** Update File: missing", "@@", "-1", "+x"],
                "does not exist",
            ),
            (
                &["*** Delete File: a", "*** Delete File: a"],
                "removed further up",
            ),
            // A file cannot be made below a file.
            (
                &["*** Add File: p", "+x", "*** Add File: p/below", "+x"],
                "Nothing of the patch",
            ),
        ];
        for (lines, expected) in cases {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("a"), "1\n").unwrap();
            let patch = [&["*** Add File: 0", "+x"], lines].concat();
            let error = apply(folder.path(), &patch).await.unwrap_err();
            assert!(error.contains(expected), "{error}");
            let left: Vec<_> = fs::read_dir(folder.path()).unwrap().flatten().collect();
            assert_eq!(left.len(), 1, "{lines:?}: {left:?}");
            assert_eq!(fs::read_to_string(folder.path().join("a")).unwrap(), "1\n");
        }
    }

    /// A text that is no patch makes the call invalid, and the model is told the line.
    #[test]
    fn no_patch() {
        let check = |text: &str| Tool::check_args(&ApplyPatch, &json!({ "command": text }).into());
        assert_eq!(
            check("*** Begin Patch\n*** Delete File: a\n*** End Patch"),
            Ok(())
        );
        let error = check("garbage").unwrap_err();
        assert!(error.contains("line 1 of the patch"), "{error}");
    }
}
