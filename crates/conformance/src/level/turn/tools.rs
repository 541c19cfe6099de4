//! The tool of the measured runs that the harness does not have: Codex's patch tool.

use std::path::{Path, PathBuf};

use futures_util::future::BoxFuture;
use seamline_harness::content::Content;
use seamline_harness::json::Json;
use seamline_harness::tools::{Effects, JsonTool, ToolContext, ToolError};
use serde_json::{Value, json};

/// Codex's patch tool, as far as the cases need it: it adds files of the project.
pub(super) struct ApplyPatch;

impl JsonTool for ApplyPatch {
    fn name(&self) -> &'static str {
        "apply_patch"
    }

    fn description(&self) -> &'static str {
        "applies a patch"
    }

    fn schema(&self) -> Value {
        let command = json!({"type": "string", "pattern": "^\\*\\*\\* Begin Patch\n"});
        json!({"type": "object", "required": ["command"], "properties": {"command": command}})
    }

    fn effects(&self, args: &Json, cwd: &Path) -> Effects {
        let files = files(args.value());
        Effects::Writes(files.into_iter().map(|(path, _)| cwd.join(path)).collect())
    }

    fn run(&self, args: Json, context: ToolContext) -> BoxFuture<'_, Result<Json, ToolError>> {
        Box::pin(async move {
            let project = context.workspace().project().to_owned();
            let mut names = Vec::new();
            for (path, text) in files(args.value()) {
                add(&project, &path, text.as_deref()).map_err(ToolError::new)?;
                names.push(format!("A {}\n", path.display()));
            }
            let said = format!("Success. Updated the following files:\n{}", names.concat());
            Ok(Json::from_value(json!(said)))
        })
    }

    fn check_value(&self, _value: &Json) -> Result<(), String> {
        Ok(())
    }

    fn render(&self, _args: &Json, value: &Json) -> Result<Content, String> {
        Ok(Content::text(value.value().as_str().unwrap_or("")))
    }
}

/// The files of a patch; with their text when they are added.
fn files(args: &Value) -> Vec<(PathBuf, Option<String>)> {
    let patch = args.get("command").and_then(Value::as_str).unwrap_or("");
    let mut files: Vec<(PathBuf, Option<String>)> = Vec::new();
    for line in patch.lines() {
        let head = line
            .strip_prefix("*** ")
            .and_then(|line| line.split_once(" File: "));
        if let Some((verb, path)) = head {
            files.push((path.trim().into(), (verb == "Add").then(String::new)));
        } else if let (Some(added), Some((_, Some(text)))) =
            (line.strip_prefix('+'), files.last_mut())
        {
            text.push_str(added);
            text.push('\n');
        }
    }
    files
}

/// Writes a file of the project; nothing outside of it is touched.
fn add(project: &Path, path: &Path, text: Option<&str>) -> Result<(), String> {
    let inside = path.is_relative() && !path.components().any(|c| c.as_os_str() == "..");
    let text = text.filter(|_| inside);
    let Some(text) = text else {
        return Err(format!("{} cannot be patched here", path.display()));
    };
    let path = project.join(path);
    let folder = path.parent().unwrap_or(project);
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, text));
    written.map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_adds_files_of_the_project_only() {
        let patch = "*** Begin Patch\n*** Add File: d/a\n+x\n+y\n*** Update File: b\n@@\n-1\n+2\n";
        let files = files(&json!({"command": patch}));
        assert_eq!(
            files,
            [("d/a".into(), Some("x\ny\n".into())), ("b".into(), None)]
        );
        let project = tempfile::tempdir().unwrap();
        add(project.path(), Path::new("d/a"), Some("x")).unwrap();
        assert_eq!(
            std::fs::read_to_string(project.path().join("d/a")).unwrap(),
            "x"
        );
        for path in ["/etc/x", "../x", "d/../../x"] {
            assert!(
                add(project.path(), Path::new(path), Some("x")).is_err(),
                "{path}"
            );
        }
        assert!(add(project.path(), Path::new("b"), None).is_err());
    }
}
