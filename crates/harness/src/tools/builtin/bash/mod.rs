//! `Bash`: a shell command.
//!
//! The command runs in a process group of its own, with nothing on standard input. When it
//! exits, what it left running in the background stays; output is waited for only briefly then.
//! When its time is up or the turn is cancelled, the whole group is ended: TERM, a grace, KILL,
//! until nothing of it is left. A process that made itself a session of its own escapes that.
//!
//! The session's current directory follows a `cd` in the command. A command that replaces the
//! shell (`exec`), or sets an EXIT trap of its own, is not followed.

mod output;
mod process;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::content::Content;
use crate::tools::{Effects, Tool, ToolContext, ToolError};
use process::{Ended, Finished, Job};

/// How long a command may run when the model does not say. Documented by Claude Code.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);
/// The longest a model may ask for. Documented by Claude Code.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(600);

/// The `Bash` tool.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bash;

/// Arguments of `Bash`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BashArgs {
    /// The command, run by `bash -c` (`sh -c` where there is no bash).
    pub command: String,
    /// What it is for, in a few words; for people.
    #[serde(default)]
    pub description: Option<String>,
    /// How long it may run, in milliseconds: 120000 by default, 600000 at most.
    #[serde(default)]
    pub timeout: Option<u64>,
    /// Not supported here; a call that asks for it fails and says so.
    #[serde(default)]
    pub run_in_background: bool,
}

/// What a command did. The shape is Claude Code's, measured on 2.1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BashValue {
    /// Its standard output, without line breaks at the end.
    pub stdout: String,
    /// Its standard error, without line breaks at the end.
    pub stderr: String,
    /// Whether it was ended by a cancellation.
    pub interrupted: bool,
    /// Always false: output is taken as text.
    pub is_image: bool,
    /// Whether a command like this says nothing when all is well. A replacement may leave it out
    /// (measured).
    #[serde(default)]
    pub no_output_expected: bool,
}

impl Bash {
    /// The tool.
    pub fn new() -> Self {
        Self
    }
}

impl Tool for Bash {
    type Args = BashArgs;
    type Value = BashValue;

    fn name(&self) -> &str {
        "Bash"
    }

    fn description(&self) -> &str {
        "Runs a shell command and returns its output. `cd` changes the current directory for \
         later calls. `timeout` is in milliseconds, 120000 by default, 600000 at most."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "required": ["command"],
            "properties": {
                "command": {"type": "string", "description": "The command to run"},
                "description": {"type": "string", "description": "What it is for, in a few words"},
                "timeout": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": LONGEST_TIMEOUT.as_millis() as u64,
                    "description": "How long it may run, in milliseconds",
                },
                "run_in_background": {"type": "boolean", "description": "Not supported here"},
            },
        })
    }

    fn effects(&self, args: &BashArgs, _cwd: &Path) -> Effects {
        Effects::Command(args.command.clone())
    }

    async fn run(&self, args: BashArgs, context: ToolContext) -> Result<BashValue, ToolError> {
        if args.run_in_background {
            return Err(ToolError::new(
                "run_in_background is not supported here. Run the command in the foreground, or \
                 let it detach itself and write to a file.",
            ));
        }
        let limit = args.timeout.map_or(DEFAULT_TIMEOUT, Duration::from_millis);
        let limit = limit.min(LONGEST_TIMEOUT);
        let job = Job {
            command: &args.command,
            cwd: start_directory(&context)?,
            context: &context,
        };
        let Finished {
            ended,
            stdout,
            stderr,
            moved_to,
        } = job.run(limit).await?;
        if let Some(cwd) = moved_to {
            context.workspace().set_cwd(cwd);
        }
        let value = BashValue {
            stdout,
            stderr,
            interrupted: matches!(ended, Ended::Cancelled),
            is_image: false,
            no_output_expected: is_silent(&args.command),
        };
        let failed = |first: String| {
            let output = shown(&value);
            let gap = if output.is_empty() { "" } else { "\n" };
            Err(ToolError::verbatim(format!("{first}{gap}{output}")))
        };
        match ended {
            Ended::Exit(0) | Ended::Cancelled => Ok(value),
            Ended::Exit(code) => failed(format!("Exit code {code}")),
            Ended::Killed(signal) => failed(format!("Killed by signal {signal}")),
            Ended::TimedOut => failed(format!(
                "The command timed out after {} ms",
                limit.as_millis()
            )),
        }
    }

    fn render(&self, _args: &BashArgs, value: &BashValue) -> Content {
        let text = shown(value);
        match text.is_empty() {
            true => Content::text("(Bash completed with no output)"),
            false => Content::text(text),
        }
    }
}

/// The directory to start in. If it is gone, later calls start in the project again.
fn start_directory(context: &ToolContext) -> Result<PathBuf, ToolError> {
    let workspace = context.workspace();
    let cwd = workspace.cwd();
    if cwd.is_dir() {
        return Ok(cwd);
    }
    let project = workspace.project().to_owned();
    workspace.set_cwd(&project);
    Err(ToolError::new(format!(
        "The current directory {} is gone. The next command starts in {}.",
        cwd.display(),
        project.display()
    )))
}

fn shown(value: &BashValue) -> String {
    let parts = [value.stdout.as_str(), value.stderr.as_str()];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

/// Commands that say nothing when all is well. Measured for `mkdir`; the others are our choice.
const SILENT: &[&str] = &[
    "chgrp", "chmod", "chown", "cp", "ln", "mkdir", "mv", "rm", "rmdir", "touch",
];

fn is_silent(command: &str) -> bool {
    let first = command.split_whitespace().next();
    first.is_some_and(|word| SILENT.contains(&word)) && !command.contains(['|', ';', '&', '\n'])
}
