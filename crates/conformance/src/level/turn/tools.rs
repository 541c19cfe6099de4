//! Codex's patch tool, as the measured runs need it.

use std::path::Path;

use seamline_harness::content::Content;
use seamline_harness::json::Json;
use seamline_harness::tools::builtin::{self, ApplyPatchArgs, ApplyPatchValue};
use seamline_harness::tools::{Effects, Tool, ToolContext, ToolError};
use serde_json::Value;

/// The patch tool, kept to the project: cases name files of the machine they were measured on.
pub(super) struct ApplyPatch;

impl Tool for ApplyPatch {
    type Args = ApplyPatchArgs;
    type Value = ApplyPatchValue;

    fn name(&self) -> &'static str {
        "apply_patch"
    }

    fn description(&self) -> &'static str {
        "applies a patch"
    }

    fn schema(&self) -> Value {
        Tool::schema(&builtin::ApplyPatch)
    }

    fn check_args(&self, args: &Json) -> Result<(), String> {
        Tool::check_args(&builtin::ApplyPatch, args)
    }

    fn effects(&self, args: &ApplyPatchArgs, cwd: &Path) -> Effects {
        Tool::effects(&builtin::ApplyPatch, args, cwd)
    }

    async fn run(
        &self,
        args: ApplyPatchArgs,
        context: ToolContext,
    ) -> Result<ApplyPatchValue, ToolError> {
        let inside = |path: &Path| {
            path.is_relative() && !path.components().any(|part| part.as_os_str() == "..")
        };
        if let Some(path) = args.command.paths().find(|path| !inside(Path::new(path))) {
            return Err(ToolError::new(format!("{path} cannot be patched here")));
        }
        Tool::run(&builtin::ApplyPatch, args, context).await
    }

    fn render(&self, args: &ApplyPatchArgs, value: &ApplyPatchValue) -> Content {
        Tool::render(&builtin::ApplyPatch, args, value)
    }
}

#[cfg(test)]
mod tests {
    use seamline_harness::tools::Workspace;
    use seamline_seams::Signal;

    use super::*;

    #[tokio::test]
    async fn a_patch_changes_files_of_the_project_only() {
        let project = tempfile::tempdir().unwrap();
        for (path, fits) in [
            ("d/a", true),
            ("/etc/x", false),
            ("../x", false),
            ("d/../../x", false),
        ] {
            let patch = format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\n");
            let args = ApplyPatchArgs {
                command: patch.parse().unwrap(),
            };
            let context = ToolContext::new(Workspace::new(project.path()), Signal::new());
            let done = Tool::run(&ApplyPatch, args, context).await;
            assert_eq!(done.is_ok(), fits, "{path}");
        }
        let text = std::fs::read_to_string(project.path().join("d/a")).unwrap();
        assert_eq!(text, "x\n");
    }
}
