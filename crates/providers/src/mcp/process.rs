//! The process of a server, and its group.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::{sleep, timeout};

use super::config::ServerConfig;

/// How long a server may take to end once its input has, and again once it got TERM.
const GRACE: Duration = Duration::from_millis(1500);

/// Between two looks at a process that is to end.
const LOOK: Duration = Duration::from_millis(5);

/// What every server starts from.
#[derive(Debug, Clone)]
pub(super) struct Surroundings {
    /// The folder servers run in.
    pub(super) folder: PathBuf,
    /// Our own variables.
    pub(super) env: Vec<(OsString, OsString)>,
}

/// A process that leads a group of its own. Dropping it ends the group at once.
#[derive(Debug)]
pub(super) struct Process {
    /// None once it was reaped.
    child: Option<Child>,
    group: Option<Pid>,
}

/// The ends of its pipes.
pub(super) type Pipes = (ChildStdout, ChildStdin, ChildStderr);

impl Process {
    /// Starts a server.
    pub(super) fn start(config: &ServerConfig, around: &Surroundings) -> io::Result<(Self, Pipes)> {
        let own = config.cwd.as_deref().unwrap_or(Path::new(""));
        let folder = around.folder.join(own);
        let mut command = Command::new(program(&config.command, &folder));
        let inherited = around.env.iter();
        let inherited = inherited
            .filter(|(name, _)| name.to_str().is_none_or(|name| config.inherits.has(name)));
        command
            .args(&config.args)
            .env_clear()
            .envs(inherited.cloned())
            .envs(&config.env)
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        if !folder.is_dir() {
            let words = format!("the folder {} is not there", folder.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, words));
        }
        let mut child = command.spawn()?;
        let pipes = (child.stdout.take(), child.stdin.take(), child.stderr.take());
        let group = child
            .id()
            .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let process = Self {
            child: Some(child),
            group,
        };
        let (Some(stdout), Some(stdin), Some(stderr)) = pipes else {
            return Err(io::Error::other("it has no pipes"));
        };
        Ok((process, (stdout, stdin, stderr)))
    }

    /// Ends it, after its input was closed: waits, TERM to the group, waits, KILL to the group.
    pub(super) async fn end(mut self) {
        if timeout(GRACE, self.exited()).await.is_err() {
            self.signal(Signal::TERM);
            self.signal(Signal::CONT);
            let _ = timeout(GRACE, self.exited()).await;
        }
        self.signal(Signal::KILL);
        if let Some(mut child) = self.child.take() {
            let _ = timeout(GRACE, child.wait()).await;
        }
    }

    /// Waits for the exit, without reaping: until it is reaped its number means our group.
    async fn exited(&self) {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        while let (Some(_), Some(group)) = (&self.child, self.group) {
            match waitid(WaitId::Pid(group), look) {
                Ok(None) => sleep(LOOK).await,
                Ok(Some(_)) | Err(_) => return,
            }
        }
    }

    fn signal(&self, signal: Signal) {
        if let (Some(_), Some(group)) = (&self.child, self.group) {
            // Nobody is left to hear it, or it is not ours to signal: there is nothing to do.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// A path is relative to the folder the server runs in; a bare name is looked up in `PATH`.
fn program(command: &str, folder: &Path) -> PathBuf {
    if command.contains('/') {
        folder.join(command)
    } else {
        command.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bare name is left to `PATH`, a path never depends on where seamline was started.
    #[test]
    fn paths_are_relative_to_the_servers_folder() {
        let folder = Path::new("/p");
        for (command, found) in [
            ("python3", "python3"),
            ("./s", "/p/./s"),
            ("tools/s", "/p/tools/s"),
            ("/bin/s", "/bin/s"),
        ] {
            assert_eq!(program(command, folder), Path::new(found));
        }
    }
}
