//! One run, from the wait for a start slot to the last byte of output.

use std::future::Future;
use std::os::unix::process::ExitStatusExt;
use std::pin::{Pin, pin};
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::group::Group;
use super::launch::{Launched, launch};
use super::streams::Streams;
use super::supervisor::{Shared, Ticket};
use super::{Exit, Finished, KillLadder, Spec};

/// How long a run whose time is up waits for the call that starts its process to come back.
const HUNG_START: Duration = Duration::from_secs(1);

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
            () = sleep(timeout) => Exit::TimedOut,
        }
    });
    let mut start = Start::elsewhere(spec, slot, shared.ticket());
    let (launched, late) = tokio::select! {
        biased;
        launched = start.answer() => (launched, None),
        exit = &mut cut => match start.too_late().await {
            Some(launched) => (launched, Some(exit)),
            None => return Finished::new(exit),
        },
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
            let finished = run.finish(cut, late, &shared).await;
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

/// A start that is under way on a blocking thread.
struct Start {
    answer: oneshot::Receiver<Result<Launched, String>>,
    /// Taken by whoever is first: the thread, which then starts the process, or we, who then do not
    /// want it any more.
    claimed: Arc<AtomicBool>,
}

impl Start {
    fn elsewhere(spec: Spec, slot: Option<OwnedSemaphorePermit>, ticket: Ticket) -> Self {
        let (sender, answer) = oneshot::channel();
        let claimed = Arc::new(AtomicBool::new(false));
        let free = Arc::clone(&claimed);
        let runtime = Handle::current();
        tokio::task::spawn_blocking(move || {
            if free.swap(true, Ordering::AcqRel) {
                return;
            }
            let shared = ticket.shared();
            let launched = launch(&spec, &*shared.clock, shared.output_cap);
            drop(slot);
            if let Ok(launched) = &launched {
                shared.forget(launched.group.id());
            }
            if let Err(Ok(mut unwanted)) = sender.send(launched) {
                runtime.spawn(async move {
                    unwanted.group.end(spec.kill).await;
                    drop(ticket);
                });
            }
        });
        Self { answer, claimed }
    }

    async fn answer(&mut self) -> Result<Launched, String> {
        let answer = (&mut self.answer).await;
        answer.unwrap_or_else(|_| Err("the runtime was shut down before the start".to_owned()))
    }

    /// Takes the start back. When it has begun, its answer is waited for, because a process that
    /// runs must be seen to end; but not for ever, because a start may hang in the kernel (a file
    /// system that does not answer). It is then ended when it comes.
    async fn too_late(mut self) -> Option<Result<Launched, String>> {
        if !self.claimed.swap(true, Ordering::AcqRel) {
            return None;
        }
        tokio::time::timeout(HUNG_START, self.answer()).await.ok()
    }
}

/// A process that runs.
struct Run {
    group: Group,
    streams: Streams,
    kill: KillLadder,
    drain: Duration,
}

impl Run {
    /// Sees it to its end; durations are the caller's to fill in. `late` is why it must be ended
    /// at once.
    async fn finish<C>(mut self, cut: Pin<&mut C>, late: Option<Exit>, shared: &Shared) -> Finished
    where
        C: Future<Output = Exit>,
    {
        let exit = match late {
            Some(late) => Err(late),
            None => self.until_last_byte(cut).await,
        };
        let exit = match exit {
            Ok(exit) => exit,
            Err(why) => self.end(why).await,
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

    async fn until_last_byte<C>(&mut self, mut cut: Pin<&mut C>) -> Result<Exit, Exit>
    where
        C: Future<Output = Exit>,
    {
        let exit = self.until_exit(cut.as_mut()).await?;
        self.until_quiet(cut).await?;
        Ok(exit)
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
            let quiet = sleep(self.drain);
            tokio::select! {
                biased;
                exit = &mut cut => return Err(exit),
                () = self.output_moved() => {}
                () = quiet => break,
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
