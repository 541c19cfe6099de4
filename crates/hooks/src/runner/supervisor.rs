//! The [`Exec`] that has real processes.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use rustix::process::{Pid, RawPid};
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;

use super::group::{Group, exists};
use super::run::supervise;
use super::streams::OUTPUT_CAP;
use super::{BoxFuture, Exec, Exit, Finished, KillLadder, Spec};

/// How processes that hooks left behind are ended by [`Supervisor::quiesce`]: TERM, and KILL after
/// what Claude gives a hook that timed out.
const LEFT_BEHIND: KillLadder = KillLadder {
    term_grace: Some(Duration::from_millis(1450)),
};

/// Starts of processes at once, per core. Starting blocks a thread and keeps a core busy, so more
/// at once is not faster; running costs us nothing and is not limited: hooks of one event may wait
/// for each other.
const STARTS_PER_CORE: usize = 4;

/// Starts and ends processes.
///
/// It has no threads and no runtime. [`Exec::run`] must be polled on a tokio runtime that has time
/// and I/O enabled; each run is a task of that runtime, so its time limit holds even when the
/// future it returned is not polled, and its end is carried through when the future is dropped.
/// The blocking call that starts a process goes to the runtime's blocking threads.
///
/// # What lives on
///
/// When a hook exits by itself while a process of its group still runs, that process is left alone,
/// as at home: people start daemons from `SessionStart`. The supervisor remembers the group, and
/// [`quiesce`](Self::quiesce) and [`shutdown`](Self::shutdown) end it. Dropping the supervisor
/// without either lets it live on.
///
/// A descendant that leaves the group (`setsid`, or job control with `set -m`) is out of reach and
/// survives everything here, as it survives Codex (measured); Claude too signals the group only.
///
/// # What it costs
///
/// Four file descriptors per running process, five while more than a pipe full of standard input
/// waits; up to [`OUTPUT_CAP`] bytes per output stream.
pub struct Supervisor {
    shared: Arc<Shared>,
}

/// What a supervisor and its runs have in common.
pub(super) struct Shared {
    pub(super) clock: Box<dyn Fn() -> Instant + Send + Sync>,
    pub(super) output_cap: usize,
    pub(super) start_slots: Arc<Semaphore>,
    /// Runs, starts and endings that are not over.
    busy: watch::Sender<usize>,
    /// Groups whose leader exited by itself and which had other members then.
    left: Mutex<BTreeMap<RawPid, Pid>>,
    pub(super) closing: CancellationToken,
}

/// What [`Supervisor::quiesce`] found and did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    /// Process groups that hooks had left behind and that were ended now.
    pub ended: usize,
    /// Groups that could not be ended: a process that hangs in the kernel, or one that runs as
    /// another user.
    pub stuck: usize,
}

impl Supervisor {
    /// A supervisor with the real clock.
    #[must_use]
    pub fn new() -> Self {
        Self::with_clock(Instant::now)
    }

    /// A supervisor that measures durations by `clock`, which must not go backwards. Time limits
    /// are the runtime's and do not depend on it.
    #[must_use]
    pub fn with_clock(clock: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self {
            shared: Arc::new(Shared {
                clock: Box::new(clock),
                output_cap: OUTPUT_CAP,
                start_slots: Arc::new(Semaphore::new(cores * STARTS_PER_CORE)),
                busy: watch::Sender::new(0),
                left: Mutex::new(BTreeMap::new()),
                closing: CancellationToken::new(),
            }),
        }
    }

    /// Keeps at most `bytes` of each output stream instead of [`OUTPUT_CAP`]. Only before the
    /// first run.
    #[must_use]
    pub fn with_output_cap(mut self, bytes: usize) -> Self {
        if let Some(shared) = Arc::get_mut(&mut self.shared) {
            shared.output_cap = bytes;
        }
        self
    }

    /// Waits until no run is left, dropped and timed-out ones included, then ends what hooks left
    /// behind. When it returns, nothing that was started here runs any more, but for what
    /// [`Swept::stuck`] counts.
    ///
    /// Runs in progress are waited for, not cancelled; [`shutdown`](Self::shutdown) does that.
    /// Dropping the returned future while it ends a group sends KILL to that group.
    pub async fn quiesce(&self) -> Swept {
        let mut swept = Swept::default();
        let mut busy = self.shared.busy.subscribe();
        loop {
            // An error would mean that the sender is gone; it is in `self`.
            let _ = busy.wait_for(|runs| *runs == 0).await;
            let Some(_ticket) = self.shared.ticket_when_idle() else {
                continue;
            };
            let left: Vec<Pid> = self.shared.left().values().copied().collect();
            if left.is_empty() {
                return swept;
            }
            let gone = join_all(left.iter().map(|id| end_left_behind(*id))).await;
            swept.ended += gone.iter().filter(|gone| **gone == Some(true)).count();
            swept.stuck += gone.iter().filter(|gone| **gone == Some(false)).count();
            // Only now: when this future is dropped before, they are still known.
            left.into_iter().for_each(|id| self.shared.forget(id));
        }
    }

    /// Cancels every run, refuses new ones ([`Exit::Cancelled`]), and then does what
    /// [`quiesce`](Self::quiesce) does.
    pub async fn shutdown(&self) -> Swept {
        self.shared.closing.cancel();
        self.quiesce().await
    }
}

impl Default for Supervisor {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Supervisor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Supervisor")
            .field("busy", &*self.shared.busy.borrow())
            .field("left_behind", &self.shared.left().len())
            .finish_non_exhaustive()
    }
}

impl Exec for Supervisor {
    fn run(&self, spec: Spec, signal: CancellationToken) -> BoxFuture<Finished> {
        let shared = Arc::clone(&self.shared);
        Box::pin(async move {
            let cancelled = signal.child_token();
            let dropped = cancelled.clone().drop_guard();
            let ticket = shared.ticket();
            let finished = tokio::spawn(supervise(spec, cancelled, ticket)).await;
            dropped.disarm();
            match finished {
                Ok(finished) => finished,
                Err(failed) if failed.is_panic() => std::panic::resume_unwind(failed.into_panic()),
                Err(_) => Finished::new(Exit::Cancelled),
            }
        })
    }
}

impl Shared {
    pub(super) fn ticket(self: &Arc<Self>) -> Ticket {
        self.busy.send_modify(|runs| *runs += 1);
        Ticket(Arc::clone(self))
    }

    /// A ticket, if it is the only one; so that of two that end what was left behind one waits.
    fn ticket_when_idle(self: &Arc<Self>) -> Option<Ticket> {
        let idle = self.busy.send_if_modified(|runs| {
            let idle = *runs == 0;
            *runs += usize::from(idle);
            idle
        });
        idle.then(|| Ticket(Arc::clone(self)))
    }

    fn left(&self) -> MutexGuard<'_, BTreeMap<RawPid, Pid>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps in mind a group that still has members, and forgets those that have none by now.
    pub(super) fn remember(&self, id: Pid) {
        let mut left = self.left();
        left.retain(|_, known| exists(*known));
        left.insert(id.as_raw_nonzero().get(), id);
    }

    /// Drops a group from memory: it was ended, or a new process has its number, which means that
    /// it is no more.
    pub(super) fn forget(&self, id: Pid) {
        self.left().remove(&id.as_raw_nonzero().get());
    }
}

/// Counts as busy as long as it exists.
pub(super) struct Ticket(Arc<Shared>);

impl Ticket {
    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.0
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.0.busy.send_modify(|runs| *runs -= 1);
    }
}

/// Ends a group that was left behind; `None` when it was gone already.
async fn end_left_behind(id: Pid) -> Option<bool> {
    let mut group = Group::left_behind(id);
    if !group.has_members().await {
        return None;
    }
    Some(group.end(LEFT_BEHIND).await)
}
