//! The three pipes of one child: what it is given, and what it says.
//!
//! Nothing here waits for all of it. [`Streams::step`] moves whatever can move and returns, so
//! that input, output, exit and the time limit are one `select!`; a child that reads nothing and
//! one that writes without end both block nobody.

use std::io::{self, ErrorKind, PipeReader, PipeWriter};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::buffer::spare_capacity;
use rustix::io::{Errno, ioctl_fionbio, ioctl_fionread, read, write};
use tokio::net::unix::pipe::{Receiver, Sender};

/// Bytes that are kept of one output stream, unless [`super::Supervisor::with_output_cap`] says
/// otherwise: 64 MiB, our choice. Neither client has a limit (50 MB were read from a Codex hook),
/// but a hook that writes without end must not take the agent's memory.
pub const OUTPUT_CAP: usize = 64 * 1024 * 1024;

/// The least room that is offered to one read.
const READ_ROOM: usize = 4096;

/// Reads after which [`Output::sweep`] stops, though someone may still be writing. With
/// [`READ_ROOM`] each they are as much as the largest pipe of an unprivileged process holds (1 MiB
/// on Linux).
const SWEEP_READS: usize = 256;

/// What the child gets.
pub(super) struct Theirs {
    pub(super) stdin: PipeReader,
    pub(super) stdout: PipeWriter,
    pub(super) stderr: PipeWriter,
}

/// All three, our ends.
pub(super) struct Streams {
    stdin: Input,
    pub(super) stdout: Output,
    pub(super) stderr: Output,
}

impl Streams {
    /// Makes the pipes and fills standard input. Must be called inside a runtime with I/O.
    pub(super) fn new(input: Arc<[u8]>, cap: usize) -> io::Result<(Theirs, Self)> {
        let (stdin, fed) = io::pipe()?;
        let (out, stdout) = io::pipe()?;
        let (err, stderr) = io::pipe()?;
        let ours = Self {
            stdin: Input::new(stdin.try_clone()?, fed, input)?,
            stdout: Output::new(out, cap)?,
            stderr: Output::new(err, cap)?,
        };
        Ok((
            Theirs {
                stdin,
                stdout,
                stderr,
            },
            ours,
        ))
    }

    /// Moves some bytes, or notices that a pipe was closed; true when output moved. Pends for ever
    /// when nothing is left to do. Can be dropped and called again.
    pub(super) async fn step(&mut self) -> bool {
        tokio::select! {
            () = self.stdin.push() => false,
            () = self.stdout.pull() => true,
            () = self.stderr.pull() => true,
        }
    }

    /// Whether somebody still holds the other end of an output.
    pub(super) fn held(&self) -> bool {
        self.stdout.pipe.is_some() || self.stderr.pipe.is_some()
    }

    /// Reads what is in the pipes already, without waiting. Whatever was written before an exit is
    /// there, even when the runtime was not yet told.
    pub(super) fn sweep(&mut self) {
        self.stdout.sweep();
        self.stderr.sweep();
    }

    /// Bytes of the input that nobody took, whether they are still with us or in the pipe.
    pub(super) fn unread(&self) -> usize {
        let waiting = ioctl_fionread(&self.stdin.ours).unwrap_or(0);
        let unsent = self.stdin.bytes.len() - self.stdin.sent;
        unsent + usize::try_from(waiting).unwrap_or(0)
    }
}

/// The writing end of standard input.
///
/// We keep a reading end too, to count what the child left in the pipe. The price is that a child
/// which closes its own end gives us no EPIPE: the rest simply stays unsent.
struct Input {
    ours: PipeReader,
    /// Gone when everything was sent: that is how the child sees the end of its input.
    pipe: Option<Sender>,
    bytes: Arc<[u8]>,
    sent: usize,
}

impl Input {
    /// Fills the pipe at once. What fits (64 KiB on Linux: nearly every payload) never needs the
    /// runtime.
    fn new(ours: PipeReader, pipe: PipeWriter, bytes: Arc<[u8]>) -> io::Result<Self> {
        ioctl_fionbio(&pipe, true)?;
        let sent = fill(&pipe, &bytes);
        let pipe = if sent == bytes.len() {
            None
        } else {
            Some(Sender::from_owned_fd(OwnedFd::from(pipe))?)
        };
        Ok(Self {
            ours,
            pipe,
            bytes,
            sent,
        })
    }

    async fn push(&mut self) {
        let Some(pipe) = &self.pipe else {
            return std::future::pending().await;
        };
        let written = match pipe.writable().await {
            Ok(()) => pipe.try_write(self.bytes.get(self.sent..).unwrap_or_default()),
            Err(error) => Err(error),
        };
        match written {
            Ok(count) => self.sent += count,
            Err(error) if is_passing(&error) => return,
            Err(_) => self.pipe = None,
        }
        if self.sent == self.bytes.len() {
            self.pipe = None;
        }
    }
}

/// Writes until an empty pipe is full or everything is in it; how much that is.
fn fill(pipe: &PipeWriter, bytes: &[u8]) -> usize {
    let mut sent = 0;
    while let Some(rest) = bytes.get(sent..).filter(|rest| !rest.is_empty()) {
        match write(pipe, rest) {
            Ok(count) => sent += count,
            Err(Errno::INTR) => {}
            Err(_) => break,
        }
    }
    sent
}

/// The reading end of an output.
pub(super) struct Output {
    /// Gone when it was closed at the other end.
    pipe: Option<Receiver>,
    pub(super) bytes: Vec<u8>,
    pub(super) truncated: bool,
    cap: usize,
}

impl Output {
    fn new(pipe: PipeReader, cap: usize) -> io::Result<Self> {
        let pipe = Some(Receiver::from_owned_fd(OwnedFd::from(pipe))?);
        Ok(Self {
            pipe,
            bytes: Vec::new(),
            truncated: false,
            cap,
        })
    }

    /// Waits until there is something to read, and reads.
    async fn pull(&mut self) {
        let Some(pipe) = &self.pipe else {
            return std::future::pending().await;
        };
        if pipe.readable().await.is_err() {
            self.pipe = None;
            return;
        }
        self.read(|pipe, kept| pipe.try_read_buf(kept));
    }

    /// Reads what is there by asking the kernel and not the runtime.
    fn sweep(&mut self) {
        for _ in 0..SWEEP_READS {
            if !self.read(|pipe, kept| Ok(read(pipe.as_fd(), spare_capacity(kept))?)) {
                return;
            }
        }
    }

    /// One read into the spare room of what is kept; false when there is nothing more for now.
    /// What goes beyond the cap is dropped and noted.
    fn read(&mut self, once: impl FnOnce(&Receiver, &mut Vec<u8>) -> io::Result<usize>) -> bool {
        let Some(pipe) = &self.pipe else { return false };
        let len = self.bytes.len();
        if self.bytes.capacity() - len < READ_ROOM {
            // Twice as much each time, but never more than the cap and one read.
            let more = self.cap.saturating_add(READ_ROOM) - len;
            self.bytes.reserve_exact(len.clamp(READ_ROOM, more));
        }
        let result = once(pipe, &mut self.bytes);
        if self.bytes.len() > self.cap {
            self.bytes.truncate(self.cap);
            self.truncated = true;
        }
        match result {
            Ok(count) if count > 0 => true,
            Err(error) if is_passing(&error) => error.kind() == ErrorKind::Interrupted,
            Ok(_) | Err(_) => {
                self.pipe = None;
                false
            }
        }
    }
}

/// Whether the same call may work later.
fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[tokio::test]
    async fn a_sweep_finds_what_the_runtime_was_not_told_of() {
        let (theirs, mut ours) = Streams::new(Arc::from(&b"abc"[..]), OUTPUT_CAP).unwrap();
        let Theirs {
            stdin,
            mut stdout,
            mut stderr,
        } = theirs;
        stdout.write_all(&[b'o'; 50_000]).unwrap();
        stderr.write_all(b"e").unwrap();
        ours.sweep();
        assert_eq!(
            (ours.stdout.bytes.len(), ours.stderr.bytes.len()),
            (50_000, 1)
        );
        assert!(ours.held());
        drop((stdin, stdout, stderr));
        ours.sweep();
        assert!(!ours.held());
        assert_eq!(ours.unread(), 3);
    }

    #[tokio::test]
    async fn a_sweep_ends_though_the_writer_does_not() {
        let (theirs, mut ours) = Streams::new(Arc::from(&b""[..]), 1000).unwrap();
        let Theirs { mut stdout, .. } = theirs;
        let writer = std::thread::spawn(move || while stdout.write_all(&[b'x'; 4096]).is_ok() {});
        for _ in 0..100 {
            ours.sweep();
        }
        assert!(ours.held() && ours.stdout.bytes.len() <= 1000);
        drop(ours);
        writer.join().unwrap();
    }
}
