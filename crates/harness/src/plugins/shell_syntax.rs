//! A shell command that is none is refused before anything of it runs.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use seamline_seams::{Scope, Source};

use super::Seams;
use crate::tools::{Effects, PreDecision};

/// Refuses shell commands that do not parse.
///
/// A shell runs what it has read before it meets the error, so that half of a broken command is
/// carried out. Claude Code refuses such a call itself, after its hooks, in every mode (measured
/// on 2.1.332); so does this. A parse here only raises the suspicion; the shell itself, told to
/// read and not to run, has the last word, so that no valid command is refused.
#[derive(Debug, Clone, Copy, Default)]
pub struct ShellSyntax;

impl ShellSyntax {
    /// The name it registers under.
    pub const NAME: &str = "shell-syntax";

    /// How long the shell may read. Our choice; one that takes longer is let through.
    const DEADLINE: Duration = Duration::from_secs(5);

    /// Refuses them until the scope is disposed. Policies are heard first, their denials stand.
    pub fn install<'a>(self, scope: &Scope, seams: impl Into<Seams<'a>>) {
        let seams = seams.into().tools;
        seams
            .pre
            .on_first(scope, Self::NAME, |call, next| async move {
                let reply = next.run().await?;
                let Effects::Command(command) = call.effects() else {
                    return Ok(reply);
                };
                if matches!(reply.decision, PreDecision::Deny { .. }) {
                    return Ok(reply);
                }
                let Some(problem) = Self::problem(&command, &call.facts().cwd).await else {
                    return Ok(reply);
                };
                Ok(reply.map(|_| PreDecision::Deny {
                    reason: format!("nothing was run, the command is not valid shell: {problem}"),
                    by: Source::new(Self::NAME),
                }))
            });
    }

    /// What the shell finds wrong with a command; `None` when it is valid or cannot be checked.
    pub async fn problem(command: &str, cwd: &Path) -> Option<String> {
        seamline_rules::shell_problem(command)?;
        let (command, cwd) = (command.to_owned(), cwd.to_path_buf());
        // Starting a process blocks. Reading ends by itself: there is no input and nothing is run.
        let reading = tokio::task::spawn_blocking(move || {
            read_by("bash", &command, &cwd).or_else(|_| read_by("sh", &command, &cwd))
        });
        let read = tokio::time::timeout(Self::DEADLINE, reading).await;
        let output = read.ok()?.ok()?.ok()?;
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        (!output.status.success()).then_some(said)
    }
}

fn read_by(shell: &str, command: &str, cwd: &Path) -> std::io::Result<Output> {
    Command::new(shell)
        .args(["-n", "-c", command])
        .current_dir(cwd)
        .env_remove("BASH_ENV")
        .env_remove("ENV")
        .stdin(Stdio::null())
        .output()
}
