//! Tools of the measured runs that the harness does not have: the test servers' and Codex's patch
//! tool.

use std::path::Path;
use std::time::Duration;

use futures_util::future::BoxFuture;
use seamline_harness::content::Content;
use seamline_harness::json::Json;
use seamline_harness::tools::builtin::{self, ApplyPatchArgs, ApplyPatchValue};
use seamline_harness::tools::{Effects, JsonTool, Tool, ToolContext, ToolError};
use serde_json::{Value, json};

use crate::json::python_dumps;

/// What a tool of a test server does with its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    /// Says that it created them.
    Creates,
    /// Fails.
    Fails,
    /// Answers with structured content.
    Structured,
    /// Answers the text behind a word.
    Echoes(&'static str),
    /// Fails with the text behind a word.
    FailsWith(&'static str),
    /// Answers the text after three seconds.
    Slow,
}

/// A tool of a test server.
pub(super) struct ServerTool {
    name: String,
    does: Does,
}

impl ServerTool {
    /// The tools of Codex's test server under a server's name.
    pub(super) fn of_codex(server: &str) -> [Self; 3] {
        let tool = |name: &str, does| Self {
            name: format!("mcp__{server}__{name}"),
            does,
        };
        [
            tool("create_entities", Does::Creates),
            tool("boom", Does::Fails),
            tool("structured", Does::Structured),
        ]
    }

    /// The tools of Claude's test server that need nobody to answer.
    pub(super) fn of_claude() -> [Self; 4] {
        let tool = |name: &str, does| Self {
            name: format!("mcp__tiny__{name}"),
            does,
        };
        [
            tool("echo", Does::Echoes("echo: ")),
            tool("fail", Does::FailsWith("mcp failure ")),
            tool("hook", Does::Echoes("")),
            tool("slow", Does::Slow),
        ]
    }

    async fn answer(&self, args: &Value) -> Result<String, ToolError> {
        let text = args.get("text").and_then(Value::as_str).unwrap_or("");
        match self.does {
            Does::Creates => Ok(format!("created {}", python_dumps(args))),
            Does::Fails => Err(ToolError::verbatim("it failed")),
            Does::Structured => Ok(json!({"k": 1}).to_string()),
            Does::Echoes(word) => Ok(format!("{word}{text}")),
            Does::FailsWith(word) => Err(ToolError::verbatim(format!("{word}{text}"))),
            Does::Slow => {
                tokio::time::sleep(Duration::from_secs(3)).await;
                Ok(text.to_owned())
            }
        }
    }
}

impl JsonTool for ServerTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        "a tool of the test server"
    }

    fn schema(&self) -> Value {
        json!({"type": "object"})
    }

    fn run(&self, args: Json, _context: ToolContext) -> BoxFuture<'_, Result<Json, ToolError>> {
        Box::pin(async move {
            let text = self.answer(args.value()).await?;
            Ok(Json::from_value(
                json!({"content": [{"type": "text", "text": text}]}),
            ))
        })
    }

    fn check_value(&self, _value: &Json) -> Result<(), String> {
        Ok(())
    }

    fn render(&self, _args: &Json, value: &Json) -> Result<Content, String> {
        let text = value
            .value()
            .pointer("/content/0/text")
            .and_then(Value::as_str);
        Ok(Content::text(
            text.map_or_else(|| value.text().to_owned(), str::to_owned),
        ))
    }
}

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
