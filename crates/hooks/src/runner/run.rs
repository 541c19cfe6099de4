//! One run, from the wait for a start slot to the last byte of output.

use std::future::Future;
use std::os::unix::process::ExitStatusExt;
use std::pin::{Pin, pin};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::group::Group;
use super::launch::{Launched, launch};
use super::streams::Streams;
use super::supervisor::{Shared, Ticket};
use super::{Exit, Finished, KillLadder, Spec, bounded};

/// One run, from the wait for a start slot to the end.
pub(super) async fn supervise(
    spec: Spec,
    cancelled: CancellationToken,
    ticket: Ticket,
) -> Finished {
    let shared = Arc::clone(ticket.shared());
    let slot = tokio::select! {
        biased;
        () = cancelled.cancelled() => return Finished::new(Exit::Cancelled),
        () = shared.closing.cancelled() => return Finished::new(Exit::Cancelled),
        slot = Arc::clone(&shared.start_slots).acquire_owned() => slot.ok(),
    };
    let (timeout, kill, drain) = (spec.timeout, spec.kill, spec.drain);
    let mut cut = pin!(async {
        tokio::select! {
            () = cancelled.cancelled() => Exit::Cancelled,
            () = shared.closing.cancelled() => Exit::Cancelled,
            () = sleep(bounded(timeout)) => Exit::TimedOut,
        }
    });
    let launched = tokio::select! {
        biased;
        launched = launch_elsewhere(spec, slot, shared.ticket()) => launched,
        exit = &mut cut => return Finished::new(exit),
    };
    match launched {
        Ok(Launched {
            group,
            streams,
            began,
            took,
        }) => {
            let run = Run {
                group,
                streams,
                kill,
                drain,
            };
            let finished = run.finish(cut, &shared).await;
            let duration = (shared.clock)().saturating_duration_since(began);
            Finished {
                duration,
                spawned_after: took,
                ..finished
            }
        }
        Err(words) => Finished::new(Exit::SpawnFailed(words)),
    }
}

/// Starts the process on a blocking thread. When nobody waits for the answer any more, the process
/// is not started, or ended as soon as it has been.
async fn launch_elsewhere(
    spec: Spec,
    slot: Option<OwnedSemaphorePermit>,
    ticket: Ticket,
) -> Result<Launched, String> {
    let (answer, started) = oneshot::channel();
    let runtime = Handle::current();
    tokio::task::spawn_blocking(move || {
        if answer.is_closed() {
            return;
        }
        let shared = ticket.shared();
        let launched = launch(&spec, &*shared.clock, shared.output_cap);
        drop(slot);
        if let Ok(launched) = &launched {
            shared.forget(launched.group.id());
        }
        if let Err(Ok(mut unwanted)) = answer.send(launched) {
            runtime.spawn(async move {
                unwanted.group.end(spec.kill).await;
                drop(ticket);
            });
        }
    });
    started
        .await
        .unwrap_or_else(|_| Err("the runtime was shut down before the start".to_owned()))
}

/// A process that runs.
struct Run {
    group: Group,
    streams: Streams,
    kill: KillLadder,
    drain: Duration,
}

impl Run {
    /// Sees it to its end; durations are the caller's to fill in.
    async fn finish<C>(mut self, mut cut: Pin<&mut C>, shared: &Shared) -> Finished
    where
        C: Future<Output = Exit>,
    {
        let exit = match self.until_exit(cut.as_mut()).await {
            Ok(exit) => match self.until_quiet(cut).await {
                Ok(()) => exit,
                Err(cut_short) => self.end(cut_short).await,
            },
            Err(cut_short) => self.end(cut_short).await,
        };
        if self.group.has_members().await {
            shared.remember(self.group.id());
        }
        let (stdin_unread, pipe_held) = (self.streams.unread(), self.streams.held());
        let Streams { stdout, stderr, .. } = self.streams;
        Finished {
            stdout: stdout.bytes,
            stderr: stderr.bytes,
            stdout_truncated: stdout.truncated,
            stderr_truncated: stderr.truncated,
            stdin_unread,
            pipe_held,
            ..Finished::new(exit)
        }
    }

    /// Feeds and reads until the process itself has exited. `Err` is why it must be ended.
    async fn until_exit<C>(&mut self, mut cut: Pin<&mut C>) -> Result<Exit, Exit>
    where
        C: Future<Output = Exit>,
    {
        loop {
            tokio::select! {
                biased;
                status = self.group.exited() => return how_it_ended(status),
                exit = &mut cut => return Err(exit),
                _ = self.streams.step() => {}
            }
        }
    }

    /// Reads on until nobody holds the pipes or nothing came for the drain time.
    async fn until_quiet<C>(&mut self, mut cut: Pin<&mut C>) -> Result<(), Exit>
    where
        C: Future<Output = Exit>,
    {
        self.streams.sweep();
        while self.streams.held() {
            let quiet = sleep(bounded(self.drain));
            tokio::select! {
                biased;
                exit = &mut cut => return Err(exit),
                () = self.output_moved() => {}
                () = quiet => {
                    self.streams.sweep();
                    break;
                }
            }
        }
        Ok(())
    }

    async fn output_moved(&mut self) {
        while !self.streams.step().await {}
    }

    /// Ends the group, reading meanwhile so that nobody who has last words hangs on a full pipe.
    async fn end(&mut self, exit: Exit) -> Exit {
        {
            let mut gone = pin!(self.group.end(self.kill));
            loop {
                tokio::select! {
                    biased;
                    _ = &mut gone => break,
                    _ = self.streams.step() => {}
                }
            }
        }
        self.streams.sweep();
        exit
    }
}

fn how_it_ended(status: std::io::Result<ExitStatus>) -> Result<Exit, Exit> {
    match status {
        Ok(status) => Ok(status
            .code()
            .map(Exit::Code)
            .or_else(|| status.signal().map(Exit::Signal))
            .unwrap_or(Exit::Code(-1))),
        Err(error) => Err(Exit::SpawnFailed(format!(
            "it was started, but its end could not be observed: {error}"
        ))),
    }
}
