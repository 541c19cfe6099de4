//! An [`Exec`] without processes, for tests of everything above the runner.
//!
//! [`FakeExec`] answers from a script, keeps every [`Spec`] it was given, and lets a test decide
//! in which order runs end. A *command* is what tests name runs by: the text after `-c` where a
//! shell is started, otherwise program and arguments joined by spaces.
//!
//! ```
//! # use seamline_hooks::testing::FakeExec;
//! # use seamline_hooks::runner::{Exec, Exit, Finished};
//! let fake = FakeExec::new();
//! fake.on("lint", Finished { stdout: b"{}".to_vec(), ..Finished::new(Exit::Code(0)) });
//! fake.on("slow", Finished::new(Exit::Code(2)));
//! fake.end_in_order(["lint", "slow"]);
//! ```

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::runner::{BoxFuture, Exec, Exit, Finished, Spec};

/// Something that happened to a run of a [`FakeExec`], with its command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FakeEvent {
    /// It was first polled.
    Started(String),
    /// It gave its scripted answer.
    Ended(String),
    /// Its signal was cancelled while it was held back.
    Cancelled(String),
    /// Its future was dropped before it gave an answer.
    Dropped(String),
}

/// Plays processes from a script. Clones share the script and the record.
#[derive(Debug, Clone)]
pub struct FakeExec {
    script: Arc<Mutex<Script>>,
    /// Everything that happened, in order; runs that are held back wait on it.
    events: Arc<watch::Sender<Vec<FakeEvent>>>,
}

#[derive(Debug, Default)]
struct Script {
    answers: BTreeMap<String, VecDeque<Finished>>,
    otherwise: Option<Finished>,
    held: Vec<String>,
    orders: Vec<Vec<String>>,
    specs: Vec<Spec>,
}

impl FakeExec {
    /// An empty script: every run fails to start, with words that name the command.
    #[must_use]
    pub fn new() -> Self {
        Self {
            script: Arc::default(),
            events: Arc::new(watch::Sender::new(Vec::new())),
        }
    }

    /// Answers runs of `command`. Several answers for one command are given one after the other;
    /// the last one stays.
    pub fn on(&self, command: impl Into<String>, answer: Finished) {
        self.script()
            .answers
            .entry(command.into())
            .or_default()
            .push_back(answer);
    }

    /// Answers runs of commands that the script does not name.
    pub fn otherwise(&self, answer: Finished) {
        self.script().otherwise = Some(answer);
    }

    /// Runs of these commands end in this order, whichever starts first: each waits until every
    /// command before it in the list has ended once.
    pub fn end_in_order<'a>(&self, commands: impl IntoIterator<Item = &'a str>) {
        self.script()
            .orders
            .push(commands.into_iter().map(str::to_owned).collect());
    }

    /// Runs of `command` do not end before [`release`](Self::release).
    pub fn hold(&self, command: impl Into<String>) {
        self.script().held.push(command.into());
    }

    /// Lets held runs of `command` end, and those that start later.
    pub fn release(&self, command: &str) {
        self.script().held.retain(|held| held != command);
        self.events.send_modify(|_| {});
    }

    /// What was started, in order.
    #[must_use]
    pub fn specs(&self) -> Vec<Spec> {
        self.script().specs.clone()
    }

    /// The commands that were started, in order.
    #[must_use]
    pub fn commands(&self) -> Vec<String> {
        self.script().specs.iter().map(command_of).collect()
    }

    /// What happened, in order.
    #[must_use]
    pub fn events(&self) -> Vec<FakeEvent> {
        self.events.borrow().clone()
    }

    /// Waits until `count` runs were started.
    pub async fn started(&self, count: usize) {
        let starts = |events: &Vec<FakeEvent>| {
            events
                .iter()
                .filter(|event| matches!(event, FakeEvent::Started(_)))
                .count()
                >= count
        };
        // An error would mean that the sender is gone; it is in `self`.
        let _ = self.events.subscribe().wait_for(starts).await;
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn happened(&self, event: FakeEvent) {
        self.events.send_modify(|events| events.push(event));
    }

    /// Whether a run of `command` may end now.
    fn may_end(&self, command: &str, events: &[FakeEvent]) -> bool {
        let script = self.script();
        let ended = |other: &String| {
            events
                .iter()
                .any(|event| matches!(event, FakeEvent::Ended(name) if name == other))
        };
        let in_turn = script.orders.iter().all(|order| {
            !order.iter().any(|other| other == command)
                || order
                    .iter()
                    .take_while(|other| *other != command)
                    .all(ended)
        });
        in_turn && !script.held.iter().any(|held| held == command)
    }

    /// Waits until a run of `command` may end. The guard that `wait_for` gives must not outlive
    /// this: it would keep the next event out.
    async fn turn_of(&self, command: &str) {
        let mut events = self.events.subscribe();
        let _ = events
            .wait_for(|events| self.may_end(command, events))
            .await;
    }

    fn answer(&self, command: &str) -> Finished {
        let mut script = self.script();
        let scripted = script.answers.get_mut(command).and_then(|answers| {
            if answers.len() > 1 {
                answers.pop_front()
            } else {
                answers.front().cloned()
            }
        });
        scripted
            .or_else(|| script.otherwise.clone())
            .unwrap_or_else(|| {
                Finished::new(Exit::SpawnFailed(format!(
                    "the script has no answer for `{command}`"
                )))
            })
    }
}

impl Default for FakeExec {
    fn default() -> Self {
        Self::new()
    }
}

impl Exec for FakeExec {
    fn run(&self, spec: Spec, signal: CancellationToken) -> BoxFuture<Finished> {
        let fake = self.clone();
        Box::pin(async move {
            let command = command_of(&spec);
            fake.script().specs.push(spec);
            fake.happened(FakeEvent::Started(command.clone()));
            let mut run = Running {
                fake,
                command: Some(command.clone()),
            };
            let fake = run.fake.clone();
            tokio::select! {
                biased;
                () = fake.turn_of(&command) => {
                    let answer = fake.answer(&command);
                    run.over(FakeEvent::Ended(command));
                    answer
                }
                () = signal.cancelled() => {
                    run.over(FakeEvent::Cancelled(command));
                    Finished::new(Exit::Cancelled)
                }
            }
        })
    }
}

/// Notes the drop of a run that gave no answer.
struct Running {
    fake: FakeExec,
    command: Option<String>,
}

impl Running {
    fn over(&mut self, event: FakeEvent) {
        self.command = None;
        self.fake.happened(event);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(command) = self.command.take() {
            self.fake.happened(FakeEvent::Dropped(command));
        }
    }
}

fn command_of(spec: &Spec) -> String {
    match spec.argv.as_slice() {
        [_, flag, text] if flag == "-c" => text.clone(),
        [_, _, flag, text] if flag == "-Command" => text.clone(),
        argv => argv.join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::{KillLadder, shell};
    use futures_util::StreamExt;
    use futures_util::stream::FuturesUnordered;
    use std::time::Duration;

    fn spec(command: &str) -> Spec {
        Spec {
            argv: shell::claude_argv(command, None, None),
            cwd: "/".into(),
            env: Vec::new(),
            stdin: Arc::from(&b"{}"[..]),
            timeout: Duration::from_secs(1),
            kill: KillLadder { term_grace: None },
            drain: Duration::ZERO,
        }
    }

    fn code(code: i32) -> Finished {
        Finished::new(Exit::Code(code))
    }

    async fn exit_of(fake: &FakeExec, command: &str) -> Exit {
        fake.run(spec(command), CancellationToken::new()).await.exit
    }

    #[tokio::test]
    async fn answers_are_given_in_turn_and_the_last_stays() {
        let fake = FakeExec::new();
        fake.on("a", code(1));
        fake.on("a", code(2));
        let mut codes = Vec::new();
        for _ in 0..3 {
            codes.push(exit_of(&fake, "a").await);
        }
        assert_eq!(codes, [Exit::Code(1), Exit::Code(2), Exit::Code(2)]);
        assert_eq!(fake.commands(), ["a", "a", "a"]);
        assert_eq!(fake.specs().first(), Some(&spec("a")));
    }

    #[tokio::test]
    async fn a_command_without_a_script_fails_loudly_unless_there_is_an_otherwise() {
        let fake = FakeExec::new();
        assert!(matches!(exit_of(&fake, "x").await, Exit::SpawnFailed(w) if w.contains("`x`")));
        fake.otherwise(code(0));
        assert_eq!(exit_of(&fake, "x").await, Exit::Code(0));
    }

    #[tokio::test]
    async fn runs_end_in_the_order_a_test_asks_for() {
        let fake = FakeExec::new();
        for (index, name) in ["a", "b", "c"].into_iter().enumerate() {
            fake.on(name, code(i32::try_from(index).unwrap()));
        }
        fake.end_in_order(["c", "a", "b"]);
        let runs: FuturesUnordered<_> = ["a", "b", "c"]
            .map(|name| fake.run(spec(name), CancellationToken::new()))
            .into_iter()
            .collect();
        let ends: Vec<_> = runs.map(|finished| finished.exit).collect().await;
        assert_eq!(ends, [Exit::Code(2), Exit::Code(0), Exit::Code(1)]);
    }

    #[tokio::test]
    async fn a_held_run_ends_on_release_on_cancel_or_by_drop() {
        let fake = FakeExec::new();
        fake.otherwise(code(0));
        fake.hold("a");
        let signal = CancellationToken::new();
        let cancelled = tokio::spawn(fake.run(spec("a"), signal.clone()));
        fake.started(1).await;
        signal.cancel();
        assert_eq!(cancelled.await.unwrap().exit, Exit::Cancelled);

        let dropped = tokio::spawn(fake.run(spec("a"), CancellationToken::new()));
        fake.started(2).await;
        dropped.abort();
        assert!(dropped.await.is_err());

        let released = tokio::spawn(fake.run(spec("a"), CancellationToken::new()));
        fake.started(3).await;
        fake.release("a");
        assert_eq!(released.await.unwrap().exit, Exit::Code(0));
        let a = || "a".to_owned();
        assert_eq!(
            fake.events(),
            [
                FakeEvent::Started(a()),
                FakeEvent::Cancelled(a()),
                FakeEvent::Started(a()),
                FakeEvent::Dropped(a()),
                FakeEvent::Started(a()),
                FakeEvent::Ended(a()),
            ]
        );
    }
}
