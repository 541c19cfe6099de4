//! Fires one moment through the engine and keeps what was seen.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use seamline_hooks::payload::Payload;
use seamline_hooks::runner::Exit;
use seamline_hooks::{Action, DialectId, Engine, Fired, Firing, Handler, Run};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::model::{Drive, Told};
use crate::moments::{Moment, Verdict};
use crate::observed::{Observed, Round, SeenRun};
use crate::stage::Stage;

/// How long handlers in background may take to end once everything was fired.
const BACKGROUND: Duration = Duration::from_secs(4);

/// An engine at work on one case.
pub(super) struct Player<'a> {
    pub(super) engine: Engine,
    pub(super) stage: &'a Stage,
    pub(super) seen: Observed,
    told: Told,
    dialect: DialectId,
    recorder: String,
    /// Handlers that were started in background.
    in_background: usize,
}

impl<'a> Player<'a> {
    pub(super) fn new(engine: Engine, drive: Drive, stage: &'a Stage, recorder: String) -> Self {
        let (told, dialect) = (Told::new(drive), drive.dialect);
        Self {
            engine,
            stage,
            seen: Observed::default(),
            told,
            dialect,
            recorder,
            in_background: 0,
        }
    }

    /// Fires a moment; the round it makes is the last of `seen`.
    pub(super) async fn fire(
        &mut self,
        moment: &Moment,
        env: Vec<(String, String)>,
        signal: CancellationToken,
    ) -> Result<(Verdict, Fired), String> {
        let row = self.dialect.table().event(&moment.event);
        let row = row.ok_or_else(|| format!("{} has no {}", self.dialect, moment.event))?;
        let payload = Payload::from_object(moment.payload.clone());
        let cwd = payload
            .str_field("cwd")
            .map_or_else(|| self.stage.start.clone(), PathBuf::from);
        self.stage
            .make_folder(&cwd)
            .map_err(|error| error.to_string())?;
        let firing = Firing {
            event: row.name,
            payload,
            cwd,
            env,
            signal,
            ran_elsewhere: Default::default(),
        };
        let fired = self.engine.fire(firing).await;
        self.told.take(moment, &fired);
        self.keep(&moment.event, &fired);
        Ok((verdict(&fired), fired))
    }

    /// The model is asked.
    pub(super) fn requested(&mut self) {
        self.told.requested();
    }

    fn keep(&mut self, event: &str, fired: &Fired) {
        let streams = fired
            .trace
            .runs
            .iter()
            .flat_map(|run| [&run.stdout, &run.stderr]);
        let streams = streams.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        self.seen.emitted.extend(streams);
        let ran = fired
            .trace
            .runs
            .iter()
            .filter(|run| started(run))
            .map(|run| &run.handler);
        let started = &fired.trace.started;
        self.in_background += started.len();
        self.seen.rounds.push(Round {
            event: event.to_owned(),
            fired: ran
                .chain(started)
                .filter_map(|handler| self.fired_name(handler))
                .collect(),
            runs: fired
                .trace
                .runs
                .iter()
                .map(|run| self.seen_run(event, run))
                .collect(),
            background: started
                .iter()
                .flat_map(|handler| self.names(handler))
                .collect(),
        });
    }

    fn seen_run(&self, event: &str, run: &Run) -> SeenRun {
        let entries = run.entries.iter();
        SeenRun {
            names: self.names(&run.handler),
            event: event.to_owned(),
            status: run.status.as_str().to_owned(),
            entries: entries
                .map(|e| (e.kind.as_str().to_owned(), e.text.clone()))
                .collect(),
        }
    }

    /// The name `fires` has for a handler: in Claude, only recorders have one.
    fn fired_name(&self, handler: &Handler) -> Option<String> {
        match self.dialect {
            DialectId::Codex => Some(position(handler)),
            DialectId::Claude => self.recorder_name(handler),
        }
    }

    fn names(&self, handler: &Handler) -> Vec<String> {
        self.recorder_name(handler)
            .into_iter()
            .chain([position(handler)])
            .collect()
    }

    /// The name a handler gives to the recorder it starts directly.
    pub(super) fn recorder_name(&self, handler: &Handler) -> Option<String> {
        let Action::Command(command) = &handler.action else {
            return None;
        };
        let rest = command.command.strip_prefix(&self.recorder)?;
        let in_text = rest.split_whitespace().next().map(str::to_owned);
        in_text.or_else(|| command.args.as_ref()?.first().cloned())
    }

    /// Waits for handlers in background, takes what they said, and ends what still runs.
    pub(super) async fn finish(mut self) -> Observed {
        let deadline = Instant::now() + BACKGROUND;
        let mut ended = 0;
        while ended < self.in_background && Instant::now() < deadline {
            let runs = self.engine.take_background();
            ended += runs.len();
            for run in runs {
                let streams = [&run.run.stdout, &run.run.stderr];
                let streams = streams.map(|s| String::from_utf8_lossy(s).into_owned());
                self.seen.emitted.extend(streams);
                self.told.add(run.contexts, run.message);
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        self.engine.dispose().await;
        self.told.end();
        self.seen.model = Some(self.told.model);
        self.seen.subagent = Some(self.told.subagent);
        self.seen
    }
}

/// Names that occur in both lists are taken out of the second, one for one.
pub(super) fn beyond(known: &[String], all: Vec<String>) -> Vec<String> {
    let mut known: Vec<&String> = known.iter().collect();
    let mut rest = Vec::new();
    for name in all {
        match known.iter().position(|k| **k == name) {
            Some(place) => {
                known.swap_remove(place);
            }
            None => rest.push(name),
        }
    }
    rest
}

/// `Event/group/handler`.
fn position(handler: &Handler) -> String {
    format!("{}/{}/{}", handler.event, handler.group, handler.index)
}

fn started(run: &Run) -> bool {
    !matches!(run.exit, Exit::SpawnFailed(_))
}

fn verdict(fired: &Fired) -> Verdict {
    let outcome = &fired.outcome;
    let input = outcome.input.as_ref();
    Verdict {
        decision: outcome.decision,
        halted: outcome.halt.is_some() || outcome.extras.interrupt,
        input: input.and_then(|by| serde_json::from_str(by.value.get()).ok()),
        fired: Vec::new(),
    }
}

/// The files of a folder whose names begin so, that were not there before.
pub(super) fn new_files(
    folder: &std::path::Path,
    prefix: &str,
    known: &mut BTreeSet<PathBuf>,
) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix));
    let fresh: Vec<PathBuf> = named
        .map(|entry| entry.path())
        .filter(|path| !known.contains(path))
        .collect();
    known.extend(fresh.iter().cloned());
    fresh
}

/// A JSON file, or null.
pub(super) fn read_json(path: &std::path::Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap_or_default()).unwrap_or_default()
}

/// Whether all handlers of a firing ran to their end.
pub(super) fn all_ended(fired: &Fired) -> bool {
    let runs = &fired.trace.runs;
    fired.trace.started.is_empty()
        && runs
            .iter()
            .all(|run| matches!(run.exit, Exit::Code(_) | Exit::Signal(_)))
}
