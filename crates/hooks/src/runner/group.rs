//! One process group: signalling it, and knowing when nobody is left.
//!
//! # Why the number still means our group
//!
//! A process group is named by a number, and numbers are used again. Signals are sent by number,
//! so this is what keeps them from hitting strangers:
//!
//! * Until the leader is reaped its number is taken, by a zombie at least. Only this module reaps
//!   it.
//! * After that the kernel does not hand the number out as long as the group has a member (Linux
//!   keeps a number while any process has it as its pid, group or session; macOS looks through
//!   groups and sessions too before it picks a pid).
//! * So when a *process* with the leader's number exists after the leader was reaped, our group
//!   is empty and the number belongs to somebody else: the group counts as gone. This is looked
//!   at before every signal to a group whose leader was reaped.
//!
//! What remains is the time between that look and the signal, in which the group would have to
//! empty itself and the kernel to go once through all its numbers.
//!
//! # Who is left
//!
//! Zombies do not count: they run nothing. The group of a reaped leader may hold some, when their
//! new parent (process 1) reaps late or never, as in many containers. Those that became *our*
//! children (we are process 1, or a subreaper) are reaped here; the others are told from living
//! members by `/proc` on Linux. macOS leaves zombies out of a group by itself.
//!
//! A descendant that left the group (`setsid`, job control) is out of reach: it survives.

use std::io;
use std::process::{Child, ExitStatus};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, getpgid, kill_process, kill_process_group, test_kill_process,
    test_kill_process_group, waitpgid,
};
use tokio::time::{sleep, timeout};

use super::KillLadder;
use super::exit_watch::ExitWatch;

/// Pauses between looks at a group that does not go away: 1 ms, doubled up to this.
const LONGEST_PAUSE: Duration = Duration::from_millis(64);

/// KILL is repeated this often, about five seconds in all, before a group counts as stuck: a
/// process in an uninterruptible call of the kernel, or one that changed its user. A killed process
/// needs the processor once more to go, so a crowded machine must be given time.
const KILL_ROUNDS: u32 = 80;

/// A process group that we started.
pub(super) struct Group {
    id: Pid,
    /// Until it is reaped.
    leader: Option<Leader>,
    /// Ending has begun and is not over: dropping the group now must not let it live.
    ending: bool,
}

struct Leader {
    child: Child,
    /// Made when it is first waited for.
    watch: Option<ExitWatch>,
}

impl Group {
    /// The group that `child`, just started with a group of its own, leads.
    pub(super) fn led_by(child: Child) -> Self {
        let id = Pid::from_child(&child);
        let leader = Some(Leader { child, watch: None });
        Self {
            id,
            leader,
            ending: false,
        }
    }

    /// A group whose leader was reaped.
    pub(super) fn left_behind(id: Pid) -> Self {
        Self {
            id,
            leader: None,
            ending: false,
        }
    }

    /// The number of the leader and of the group.
    pub(super) fn id(&self) -> Pid {
        self.id
    }

    /// Waits for the leader's exit and reaps it; once. Can be dropped and called again.
    pub(super) async fn exited(&mut self) -> io::Result<ExitStatus> {
        let Some(leader) = &mut self.leader else {
            return std::future::pending().await;
        };
        let watch = match &mut leader.watch {
            Some(watch) => watch,
            none => none.insert(ExitWatch::new(&leader.child)?),
        };
        let status = watch.reaped(&mut leader.child).await?;
        self.leader = None;
        Ok(status)
    }

    /// Ends the group by the rungs of `ladder`; true when nobody is left.
    pub(super) async fn end(&mut self, ladder: KillLadder) -> bool {
        self.ending = true;
        let gone = self.climb(ladder).await;
        self.ending = false;
        gone
    }

    async fn climb(&mut self, ladder: KillLadder) -> bool {
        if let Some(grace) = ladder.term_grace {
            self.signal(Signal::TERM);
            self.signal(Signal::CONT);
            if timeout(grace, self.gone()).await.is_ok() {
                return true;
            }
        }
        let mut pauses = Pauses::default();
        for _ in 0..KILL_ROUNDS {
            self.signal(Signal::KILL);
            match self.leader {
                Some(_) => _ = timeout(pauses.next(), self.leader_gone()).await,
                None => sleep(pauses.next()).await,
            }
            if !self.has_members().await {
                return true;
            }
        }
        false
    }

    /// Waits until the leader is reaped and no member is left.
    async fn gone(&mut self) {
        self.leader_gone().await;
        let mut pauses = Pauses::default();
        while self.has_members().await {
            sleep(pauses.next()).await;
        }
    }

    async fn leader_gone(&mut self) {
        if self.leader.is_some() && self.exited().await.is_err() {
            // Somebody else reaped it, or the kernel refuses to say: nothing more to wait for.
            self.leader = None;
        }
    }

    /// Sends a signal to every member, and to the leader if it left its own group; to nobody twice,
    /// or a handler for TERM would run twice.
    fn signal(&self, signal: Signal) {
        if self.leader.is_none() && !exists(self.id) {
            return;
        }
        let _ = kill_process_group(self.id, signal);
        if self.leader.is_some() && getpgid(Some(self.id)) != Ok(self.id) {
            let _ = kill_process(self.id, signal);
        }
    }

    /// Whether anybody of the group still runs.
    pub(super) async fn has_members(&self) -> bool {
        if self.leader.is_some() {
            return true;
        }
        if !exists(self.id) {
            return false;
        }
        while matches!(waitpgid(self.id, WaitOptions::NOHANG), Ok(Some(_))) {}
        exists(self.id) && living(self.id).await
    }
}

/// Whether a group whose leader was reaped may still have members, zombies included; two system
/// calls at most.
pub(super) fn exists(id: Pid) -> bool {
    test_kill_process_group(id) != Err(Errno::SRCH) && test_kill_process(id) == Err(Errno::SRCH)
}

impl Drop for Group {
    /// The last resort when the runtime is shut down under a run: nobody is left to wait on the
    /// ladder, so KILL at once.
    fn drop(&mut self) {
        if self.leader.is_none() && !self.ending {
            return;
        }
        self.signal(Signal::KILL);
        let Some(leader) = &mut self.leader else {
            return;
        };
        for _ in 0..50 {
            match leader.child.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(1)),
                Ok(Some(_)) | Err(_) => return,
            }
        }
    }
}

/// 1 ms, 2 ms, 4 ms, ... up to [`LONGEST_PAUSE`].
struct Pauses(Duration);

impl Default for Pauses {
    fn default() -> Self {
        Self(Duration::from_millis(1))
    }
}

impl Pauses {
    fn next(&mut self) -> Duration {
        let now = self.0;
        self.0 = (now * 2).min(LONGEST_PAUSE);
        now
    }
}

/// Whether the group has a member that is not a zombie. Reads `/proc`, so off the runtime.
#[cfg(target_os = "linux")]
async fn living(id: Pid) -> bool {
    tokio::task::spawn_blocking(move || proc::has_living_member(id))
        .await
        .unwrap_or(true)
}

#[cfg(not(target_os = "linux"))]
async fn living(_id: Pid) -> bool {
    true
}

#[cfg(target_os = "linux")]
mod proc {
    use super::Pid;

    /// Looks at every process. When `/proc` cannot be read, the answer is yes.
    pub(super) fn has_living_member(group: Pid) -> bool {
        let Ok(entries) = std::fs::read_dir("/proc") else {
            return true;
        };
        entries
            .flatten()
            .filter(|entry| {
                entry
                    .file_name()
                    .as_encoded_bytes()
                    .iter()
                    .all(u8::is_ascii_digit)
            })
            .filter_map(|entry| std::fs::read(entry.path().join("stat")).ok())
            .any(|stat| lives_in(&stat, group.as_raw_nonzero().get()))
    }

    /// Whether a line of `/proc/<pid>/stat` is that of a living member. The command's name, in
    /// parentheses, may hold anything; after it come state, parent and group, and as the 18th
    /// field the number of threads: a zombie with more than one still runs in the others.
    pub(super) fn lives_in(stat: &[u8], group: i32) -> bool {
        let Some(end) = stat.iter().rposition(|&byte| byte == b')') else {
            return false;
        };
        let rest = String::from_utf8_lossy(stat.get(end + 1..).unwrap_or_default());
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let number = |at: usize| fields.get(at).and_then(|field| field.parse::<i32>().ok());
        let zombie = matches!(fields.first(), Some(&("Z" | "X")));
        number(2) == Some(group) && (!zombie || number(17) > Some(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;

    #[cfg(target_os = "linux")]
    #[test]
    fn zombies_are_no_members_unless_another_thread_of_them_runs() {
        let stat = |name: &str, state: &str, group: i32, threads: i32| {
            format!("7 ({name}) {state} 1 {group} 7 0 -1 4 0 0 0 0 0 0 0 0 20 0 {threads} 0 5\n")
        };
        for (line, expected) in [
            (stat("sh", "S", 40, 1), true),
            (stat("sh", "T", 40, 1), true),
            (stat("sh", "Z", 40, 1), false),
            (stat("sh", "X", 40, 1), false),
            (stat("sh", "Z", 40, 2), true),
            (stat("sh", "S", 41, 1), false),
            (stat(") Z 1 9 (", "S", 40, 1), true),
            (String::new(), false),
        ] {
            assert_eq!(proc::lives_in(line.as_bytes(), 40), expected, "{line:?}");
        }
    }

    #[test]
    fn a_number_that_a_process_has_again_is_not_our_group() {
        // Our own test process leads, or is a member of, some group: as a left-behind group of
        // that number it must count as gone, because a process with the number exists.
        let me = rustix::process::getpgrp();
        assert_eq!(test_kill_process_group(me), Ok(()));
        if test_kill_process(me).is_ok() {
            assert!(!exists(me));
        }
        assert!(!exists(rustix::process::getpid()));
    }

    #[test]
    fn a_group_that_is_dropped_with_its_leader_is_killed_and_reaped() {
        let mut command = std::process::Command::new("/bin/sleep");
        let group = Group::led_by(command.arg("100").process_group(0).spawn().unwrap());
        let id = group.id();
        drop(group);
        assert_eq!(test_kill_process(id), Err(Errno::SRCH));
    }
}
