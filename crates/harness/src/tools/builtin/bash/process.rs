//! One command as a process group: start, watch, end.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tempfile::NamedTempFile;
use tokio::process::{Child, Command};

use super::output::Shared;
use crate::tools::{ToolContext, ToolError};

/// How long output is waited for once the command has exited. Measured: longer waits only for
/// what the command left in the background.
const DRAIN: Duration = Duration::from_millis(100);
/// How long a group may take to end itself after TERM. Our choice.
const GRACE: Duration = Duration::from_secs(2);
/// How often a killed group is looked at again until it is empty, and how long between.
const LOOKS: u32 = 50;
const BETWEEN: Duration = Duration::from_millis(10);

/// A command to run.
pub(super) struct Job<'a> {
    pub(super) command: &'a str,
    pub(super) cwd: PathBuf,
    pub(super) context: &'a ToolContext,
}

/// A command that ended.
pub(super) struct Finished {
    pub(super) ended: Ended,
    pub(super) stdout: String,
    pub(super) stderr: String,
    /// The directory it ended in, if that is another one.
    pub(super) moved_to: Option<PathBuf>,
}

/// How it ended.
pub(super) enum Ended {
    Exit(i32),
    Killed(i32),
    TimedOut,
    Cancelled,
}

impl Job<'_> {
    /// Runs the command for at most `limit`.
    pub(super) async fn run(self, limit: Duration) -> Result<Finished, ToolError> {
        let place = NamedTempFile::new()
            .map_err(|error| ToolError::new(format!("Cannot make a temporary file: {error}")))?;
        let mut child = self.spawn(place.path()).await?;
        let mut group = Group::of(&child);
        let (stdout, stderr) = (Shared::default(), Shared::default());
        let reading = {
            let pipes = (child.stdout.take(), child.stderr.take());
            let (stdout, stderr) = (stdout.clone(), stderr.clone());
            async move {
                let out = async {
                    if let Some(pipe) = pipes.0 {
                        stdout.read(pipe).await;
                    }
                };
                let err = async {
                    if let Some(pipe) = pipes.1 {
                        stderr.read(pipe).await;
                    }
                };
                tokio::join!(out, err);
            }
        };
        let mut reading = std::pin::pin!(reading);
        let mut read = false;
        let signal = self.context.signal();
        let limited = signal.run_until_cancelled(tokio::time::timeout(limit, child.wait()));
        let waited = tokio::select! {
            waited = limited => waited,
            // The pipes may end before the command does; then there is only waiting left.
            () = async { reading.as_mut().await; read = true; std::future::pending().await } => None,
        };
        let ended = match waited {
            None => group.end(&mut child).await.map(|_| Ended::Cancelled),
            Some(Err(_)) => group.end(&mut child).await.map(|_| Ended::TimedOut),
            Some(Ok(status)) => status.map(|status| how(&status)),
        };
        let ended = ended
            .map_err(|error| ToolError::new(format!("Cannot wait for the command: {error}")))?;
        group.forget();
        let held = !read && tokio::time::timeout(DRAIN, reading).await.is_err();
        let mut stderr = stderr.text();
        if held {
            if !stderr.is_empty() {
                stderr.push('\n');
            }
            stderr.push_str("[a background process still holds the output; it was left running]");
        }
        let moved_to = ended_in(place.path()).filter(|place| *place != self.cwd);
        Ok(Finished {
            ended,
            stdout: stdout.text(),
            stderr,
            moved_to,
        })
    }

    /// Starts the shell, on a thread that may block: starting a process does.
    async fn spawn(&self, place: &Path) -> Result<Child, ToolError> {
        let script = followed(self.command, place);
        let env = self.context.workspace().env();
        let hidden = self.context.workspace().hidden().to_vec();
        let cwd = self.cwd.clone();
        let spawned = tokio::task::spawn_blocking(move || {
            let start = |shell: &str| {
                let mut command = Command::new(shell);
                command
                    .args(["-c", &script])
                    .current_dir(&cwd)
                    .env("PWD", &cwd)
                    .stdin(Stdio::null())
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped())
                    .kill_on_drop(true);
                for name in &hidden {
                    command.env_remove(name);
                }
                command.envs(&env);
                #[cfg(unix)]
                command.process_group(0);
                command.spawn()
            };
            match start("bash") {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => start("sh"),
                started => started,
            }
        });
        let failed = |error: &dyn std::fmt::Display| {
            ToolError::new(format!("Cannot start the shell: {error}"))
        };
        spawned
            .await
            .map_err(|error| failed(&error))?
            .map_err(|error| failed(&error))
    }
}

/// The command with a trap before it that writes down where it ends.
fn followed(command: &str, place: &Path) -> String {
    let place = place.display().to_string().replace('\'', r"'\''");
    format!("__seamline_cwd='{place}'; trap 'pwd >\"$__seamline_cwd\"' EXIT\n{command}")
}

fn ended_in(place: &Path) -> Option<PathBuf> {
    let text = std::fs::read_to_string(place).ok()?;
    let path = PathBuf::from(text.strip_suffix('\n')?);
    path.is_dir().then_some(path)
}

#[cfg(unix)]
fn how(status: &ExitStatus) -> Ended {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Exit(code),
        (None, signal) => Ended::Killed(signal.unwrap_or_default()),
    }
}

#[cfg(not(unix))]
fn how(status: &ExitStatus) -> Ended {
    Ended::Exit(status.code().unwrap_or(1))
}

/// The process group of a command. Dropped before the command ended, it kills the group.
struct Group {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

#[cfg(unix)]
impl Group {
    fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self {
            leader: id.and_then(rustix::process::Pid::from_raw),
        }
    }

    /// The command ended by itself: what it left in the background may go on.
    fn forget(mut self) {
        self.leader = None;
    }

    /// Ends the group: TERM, the grace, then KILL until nothing of it is left.
    async fn end(&mut self, child: &mut Child) -> std::io::Result<ExitStatus> {
        self.signal(rustix::process::Signal::TERM);
        let status = match tokio::time::timeout(GRACE, child.wait()).await {
            Ok(status) => status?,
            Err(_) => {
                self.signal(rustix::process::Signal::KILL);
                child.wait().await?
            }
        };
        for _ in 0..LOOKS {
            if !self.signal(rustix::process::Signal::KILL) {
                break;
            }
            tokio::time::sleep(BETWEEN).await;
        }
        Ok(status)
    }

    /// Sends a signal; says whether there was anybody to get it.
    fn signal(&self, signal: rustix::process::Signal) -> bool {
        let Some(leader) = self.leader else {
            return false;
        };
        rustix::process::kill_process_group(leader, signal).is_ok()
    }
}

#[cfg(unix)]
impl Drop for Group {
    fn drop(&mut self) {
        self.signal(rustix::process::Signal::KILL);
    }
}

#[cfg(not(unix))]
impl Group {
    fn of(_: &Child) -> Self {
        Self {}
    }

    fn forget(self) {}

    async fn end(&mut self, child: &mut Child) -> std::io::Result<ExitStatus> {
        child.kill().await?;
        child.wait().await
    }
}
