//! Fires one moment through the engine and keeps what was seen.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use seamline_hooks::payload::Payload;
use seamline_hooks::runner::Exit;
use seamline_hooks::{Engine, Fired, Firing};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::model::{Drive, Told};
use crate::level::trace::{Reader, run_streams, streams};
use crate::moments::{Moment, Verdict};
use crate::observed::Observed;
use crate::stage::Stage;

/// How long handlers in background may take to end once everything was fired.
const BACKGROUND: Duration = Duration::from_secs(4);

/// An engine at work on one case.
pub(super) struct Player<'a> {
    pub(super) engine: Engine,
    pub(super) stage: &'a Stage,
    pub(super) seen: Observed,
    told: Told,
    reader: Reader,
    /// Handlers that were started in background.
    in_background: usize,
}

impl<'a> Player<'a> {
    pub(super) fn new(engine: Engine, drive: Drive, stage: &'a Stage, reader: Reader) -> Self {
        let told = Told::new(drive);
        Self {
            engine,
            stage,
            seen: Observed::default(),
            told,
            reader,
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
        let dialect = self.reader.dialect;
        let row = dialect.table().event(&moment.event);
        let row = row.ok_or_else(|| format!("{dialect} has no {}", moment.event))?;
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
        self.seen.emitted.extend(streams(fired));
        self.in_background += fired.trace.started.len();
        self.seen.rounds.push(self.reader.round(event, fired));
    }

    /// Waits for handlers in background, takes what they said, and ends what still runs.
    pub(super) async fn finish(mut self) -> Observed {
        let deadline = Instant::now() + BACKGROUND;
        let mut ended = 0;
        while ended < self.in_background && Instant::now() < deadline {
            let runs = self.engine.take_background();
            ended += runs.len();
            for run in runs {
                self.seen.emitted.extend(run_streams(&run.run));
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
        && runs.iter().all(|run| {
            matches!(
                run.exit,
                Exit::Code(_) | Exit::Signal(_) | Exit::CallFailed(_)
            )
        })
}
