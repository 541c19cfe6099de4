//! Fires the moments of a Claude case.

use std::collections::BTreeSet;
use std::path::PathBuf;

use seamline_hooks::{Decision, DialectId, Fired};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::EngineLevel;
use super::firing::{Player, all_ended, new_files, read_json};
use super::model::Drive;
use crate::case::ClaudeCase;
use crate::level::kit::Trust;
use crate::level::servers::CaseServers;
use crate::level::trace::beyond;
use crate::moments::{ClaudeMoments, Fire, Moment, Verdict};
use crate::observed::Observed;
use crate::pace::Pace;
use crate::rec::{NOTES, ROUND};
use crate::stage::Stage;

impl EngineLevel {
    pub(super) async fn claude(&self, case: &ClaudeCase) -> Result<Observed, String> {
        let stage = Stage::claude(case, &self.kit.bench).map_err(|error| error.to_string())?;
        let engine = self.kit.engine(
            DialectId::Claude,
            &stage,
            &Trust::All,
            &CaseServers::claude(case),
        );
        let reader = self.kit.reader(DialectId::Claude);
        let mut stagehand = Stagehand {
            player: Player::new(engine, drive(case), &stage, reader),
            case,
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
        seen.scripted = case.texts(&stage.names);
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
/// longer are too late. The others are in time, however busy this machine is.
fn too_late(case: &ClaudeCase, pace: Pace, event: &str) -> CancellationToken {
    let signal = CancellationToken::new();
    let late = |seconds: &f64| event == "PermissionRequest" && case.longest_sleep() > *seconds;
    let Some(seconds) = case.answers_after().filter(late) else {
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

struct Stagehand<'a> {
    player: Player<'a>,
    case: &'a ClaudeCase,
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
