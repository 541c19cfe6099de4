//! Learns that a child has exited, without a thread per child.
//!
//! On Linux a pidfd becomes readable. Elsewhere, and on kernels without pidfds, SIGCHLD says that
//! *some* child changed and each waiting run asks for its own.
//!
//! tokio has a child of its own that does the same. It is not used because it loses a process that
//! was started while the runtime is shut down: the process runs, and nobody owns it.

use std::io;
use std::process::{Child, ExitStatus};

use tokio::signal::unix::{Signal, SignalKind, signal};

#[cfg(target_os = "linux")]
use {
    rustix::process::{Pid, PidfdFlags, pidfd_open},
    std::os::fd::OwnedFd,
    tokio::io::{Interest, unix::AsyncFd},
};

/// Waits for one child.
pub(super) enum ExitWatch {
    #[cfg(target_os = "linux")]
    Pidfd(AsyncFd<OwnedFd>),
    Sigchld(Signal),
}

impl ExitWatch {
    /// Starts to watch. The child must not have been reaped.
    pub(super) fn new(child: &Child) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if let Ok(pidfd) = pidfd_open(Pid::from_child(child), PidfdFlags::NONBLOCK) {
            return Self::by_pidfd(pidfd);
        }
        let _ = child;
        Self::by_sigchld()
    }

    #[cfg(target_os = "linux")]
    fn by_pidfd(pidfd: OwnedFd) -> io::Result<Self> {
        #[expect(
            deprecated,
            reason = "unsound for types whose descriptor may change, which an OwnedFd's cannot; \
                the replacement is an unsafe fn"
        )]
        let pidfd = AsyncFd::with_interest(pidfd, Interest::READABLE)?;
        Ok(Self::Pidfd(pidfd))
    }

    fn by_sigchld() -> io::Result<Self> {
        Ok(Self::Sigchld(signal(SignalKind::child())?))
    }

    /// Waits for the exit and reaps. Can be dropped and called again.
    pub(super) async fn reaped(&mut self, child: &mut Child) -> io::Result<ExitStatus> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Pidfd(pidfd) => loop {
                let mut ready = pidfd.readable().await?;
                if let Some(status) = child.try_wait()? {
                    return Ok(status);
                }
                ready.clear_ready();
            },
            Self::Sigchld(changes) => loop {
                if let Some(status) = child.try_wait()? {
                    return Ok(status);
                }
                changes.recv().await;
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn exiting(code: i32) -> Child {
        let script = format!("exit {code}");
        Command::new("/bin/sh")
            .args(["-c", &script])
            .spawn()
            .unwrap()
    }

    #[tokio::test]
    async fn sigchld_is_enough_where_there_are_no_pidfds() {
        let runs = (0..20).map(|code| async move {
            let mut watch = ExitWatch::by_sigchld().unwrap();
            watch.reaped(&mut exiting(code)).await.unwrap().code()
        });
        let codes = futures_util::future::join_all(runs).await;
        assert_eq!(codes, (0..20).map(Some).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn an_exit_before_the_watch_is_seen() {
        for watch in [ExitWatch::new, |_: &Child| ExitWatch::by_sigchld()] {
            let mut child = exiting(3);
            let zombie =
                rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT;
            let id = rustix::process::Pid::from_child(&child);
            rustix::process::waitid(rustix::process::WaitId::Pid(id), zombie).unwrap();
            let status = watch(&child).unwrap().reaped(&mut child).await.unwrap();
            assert_eq!(status.code(), Some(3));
        }
    }
}
