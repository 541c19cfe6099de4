//! Fires the moments of a Claude case.

use std::collections::BTreeSet;
use std::path::PathBuf;

use seamline_hooks::{Decision, DialectId, Fired};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::firing::{Player, all_ended, beyond, new_files, read_json};
use super::model::Drive;
use super::{EngineLevel, Trust};
use crate::case::{ClaudeCase, Order};
use crate::json::python_dumps;
use crate::moments::{ClaudeMoments, Fire, Moment, Verdict};
use crate::observed::Observed;
use crate::pace::Pace;
use crate::rec::{NOTES, ROUND};
use crate::stage::Stage;

impl EngineLevel {
    pub(super) async fn claude(&self, case: &ClaudeCase) -> Result<Observed, String> {
        let stage = Stage::claude(case, &self.bench).map_err(|error| error.to_string())?;
        let engine = self.engine(DialectId::Claude, &stage, &Trust::All);
        let recorder = self.bench.recorder().display().to_string();
        let mut stagehand = Stagehand {
            player: Player::new(engine, drive(case), &stage, recorder),
            case,
            orders: case.order.clone(),
            read: BTreeSet::new(),
            starts: 0,
            after_end: false,
        };
        let walked = ClaudeMoments::new(case, &stage).play(&mut stagehand).await;
        let mut seen = stagehand.player.finish().await;
        let walked = walked?;
        seen.names = stage.names.clone();
        seen.turn = turn(case, &seen, &walked.prompts);
        seen.prompts = walked.prompts;
        seen.calls = Some(walked.calls);
        seen.scripted.extend(texts(case, &stage));
        Ok(seen)
    }
}

fn drive(case: &ClaudeCase) -> Drive {
    let alone = case.is_print();
    let nobody_to_ask = alone && !case.has_prompt_tool();
    Drive {
        dialect: DialectId::Claude,
        alone,
        nobody_to_ask,
    }
}

/// Answers a permission question when the case's other channel would have: hooks that sleep
/// longer are too late. Those that do not sleep are in time, however busy this machine is.
fn too_late(case: &ClaudeCase, pace: Pace, event: &str) -> CancellationToken {
    let signal = CancellationToken::new();
    let asked = event == "PermissionRequest" && case.behave.keys().any(|name| sleeps(case, name));
    let Some(seconds) = case.answers_after().filter(|_| asked) else {
        return signal;
    };
    let later = signal.clone();
    tokio::spawn(async move {
        tokio::time::sleep(pace.scaled(seconds)).await;
        later.cancel();
    });
    signal
}

/// How a turn of one prompt ended, as far as hooks decide it.
fn turn(case: &ClaudeCase, seen: &Observed, prompts: &[bool]) -> Option<&'static str> {
    if !case.is_print() || case.prompts.len() != 1 {
        return None;
    }
    match (seen.turn, prompts.contains(&false)) {
        (None, true) => Some("stopped"),
        (None, false) => Some("completed"),
        (ended, _) => ended,
    }
}

/// What the recorders were told to put out.
fn texts(case: &ClaudeCase, stage: &Stage) -> Vec<String> {
    let behaviours = case
        .invocations
        .iter()
        .map(|start| &start.behave)
        .chain([&case.behave]);
    let calls = behaviours
        .flat_map(|behave| behave.values())
        .flat_map(|value| match value {
            Value::Array(calls) => calls.clone(),
            one => vec![one.clone()],
        });
    let mut texts = Vec::new();
    for call in calls {
        for key in ["stdout", "stderr", "stdout_on_term"] {
            match call.get(key).map(|value| stage.names.fill_value(value)) {
                Some(Value::String(text)) => texts.push(text),
                Some(other) => texts.push(python_dumps(&other)),
                None => {}
            }
        }
    }
    texts
}

struct Stagehand<'a> {
    player: Player<'a>,
    case: &'a ClaudeCase,
    /// Rounds whose order was not used yet.
    orders: Vec<Order>,
    /// Notes of the recorders that were looked at.
    read: BTreeSet<PathBuf>,
    /// How many starts of the client came before this one.
    starts: usize,
    /// A session has just ended.
    after_end: bool,
}

impl Fire for Stagehand<'_> {
    fn listens(&self, event: &str) -> bool {
        self.player.engine.listens(event)
    }

    async fn fire(&mut self, moment: Moment) -> Result<Verdict, String> {
        self.start_again(&moment)?;
        let round = self.player.seen.rounds.len();
        self.set_round(round, &moment)?;
        let env = variables(&self.player, &moment.event, round);
        let signal = too_late(self.case, self.player.stage.pace, &moment.event);
        let (mut verdict, fired) = self.player.fire(&moment, env, signal).await?;
        self.check(round, &moment, &fired);
        verdict.fired = self
            .player
            .seen
            .rounds
            .last()
            .map(|r| r.fired.clone())
            .unwrap_or_default();
        if verdict.halted && !matches!(moment.event.as_str(), "SessionStart" | "Setup") {
            self.player.seen.turn = Some("stopped");
        }
        let of_subagent = moment.payload.contains_key("agent_id");
        if verdict.decision == Decision::Defer && !of_subagent {
            self.player.seen.turn.get_or_insert("deferred");
        }
        Ok(verdict)
    }
}

impl Stagehand<'_> {
    /// A session that starts after one that ended is the next start of the client.
    fn start_again(&mut self, moment: &Moment) -> Result<(), String> {
        let starts = matches!(moment.text("source"), Some("startup" | "resume" | "fork"));
        if moment.event == "SessionStart" && starts {
            self.starts += usize::from(self.after_end);
            if let Some(start) = self.case.invocations.get(self.starts) {
                let set = self.player.stage.set_behaviour(&start.behave);
                set.map_err(|error| error.to_string())?;
            }
        }
        self.after_end = moment.event == "SessionEnd";
        Ok(())
    }

    /// Tells the recorders in which order they finish.
    fn set_round(&mut self, round: usize, moment: &Moment) -> Result<(), String> {
        let readers = moment.readers.clone().unwrap_or_default();
        let place = self.orders.iter().position(|order| {
            order.event == moment.event
                && readers.len() > 1
                && order.completed.iter().all(|name| readers.contains(name))
        });
        let order = place.map(|place| self.orders.remove(place).completed);
        let order = order.or_else(|| first_decision(self.case, &moment.event, &readers));
        let note = json!({"order": order.unwrap_or_default(), "runner": std::process::id()});
        let file = self
            .player
            .stage
            .root
            .join(NOTES)
            .join(format!("round-{round}.json"));
        std::fs::write(&file, note.to_string())
            .map_err(|error| format!("{}: {error}", file.display()))
    }

    /// Who read the payload, and whether it was the one we built.
    fn check(&mut self, round: usize, moment: &Moment, fired: &Fired) {
        let folder = self.player.stage.root.join(NOTES);
        let notes = new_files(&folder, "read-", &mut self.read);
        let notes: Vec<Value> = notes.iter().map(|file| read_json(file)).collect();
        let round = round.to_string();
        let notes = notes
            .iter()
            .filter(|note| note["round"].as_str() == Some(&round));
        let text = Value::Object(moment.payload.clone()).to_string() + "\n";
        let mut names = Vec::new();
        for note in notes {
            let name = note["name"].as_str().unwrap_or("").to_owned();
            if note["stdin"].as_str() != Some(&text) {
                let what = format!("{name} read {} instead of {text}", note["stdin"]);
                self.player.seen.complaints.push(what);
            }
            names.push(name);
        }
        let Some(seen) = self.player.seen.rounds.last_mut() else {
            return;
        };
        // Recorders that a script of the case started.
        let others = beyond(&seen.fired, names);
        seen.fired.extend(others);
        let mut expected = moment.readers.clone().unwrap_or_default();
        let mut got = seen.fired.clone();
        expected.sort();
        got.sort();
        if moment.readers.is_some() && got != expected && all_ended(fired) {
            let what = format!(
                "{} was read by {got:?} instead of {expected:?}",
                moment.event
            );
            self.player.seen.complaints.push(what);
        }
    }
}

/// The number of the round, and for events whose hooks may set variables the file to do so.
fn variables(player: &Player<'_>, event: &str, round: usize) -> Vec<(String, String)> {
    let mut all = vec![(ROUND.to_owned(), round.to_string())];
    if matches!(
        event,
        "SessionStart" | "Setup" | "CwdChanged" | "FileChanged"
    ) {
        let file = player
            .stage
            .root
            .join(NOTES)
            .join(format!("env-{round}.sh"));
        all.push(("CLAUDE_ENV_FILE".to_owned(), file.display().to_string()));
    }
    all
}

fn sleeps(case: &ClaudeCase, name: &str) -> bool {
    case.behave
        .get(name)
        .is_some_and(|behaviour| behaviour.get("sleep").is_some())
}

/// The first decision about a permission ends the other hooks, so who it was is all that is known
/// of the order of a round; where nobody slept, it was a race that is played as it went.
fn first_decision(case: &ClaudeCase, event: &str, readers: &[String]) -> Option<Vec<String>> {
    let slept = readers.iter().any(|name| sleeps(case, name));
    if event != "PermissionRequest" || readers.len() < 2 || slept {
        return None;
    }
    let runs = case
        .expect
        .runs
        .iter()
        .flatten()
        .filter(|run| run.event == event);
    let first: Vec<String> = runs.filter_map(|run| run.hook.clone()).collect();
    let rest = readers.iter().filter(|name| !first.contains(name)).cloned();
    (!first.is_empty()).then(|| first.iter().cloned().chain(rest).collect())
}
