//! Reads what a firing's trace says, in the words of a case.

use seamline_hooks::runner::Exit;
use seamline_hooks::{Action, DialectId, Fired, Handler, Run};

use crate::observed::{Round, SeenRun};

/// Knows how handlers are called.
#[derive(Debug, Clone)]
pub(super) struct Reader {
    /// The dialect.
    pub(super) dialect: DialectId,
    /// The command that starts the recorder.
    pub(super) recorder: String,
}

impl Reader {
    /// The round of one firing.
    pub(super) fn round(&self, event: &str, fired: &Fired) -> Round {
        let trace = &fired.trace;
        let ran = trace
            .runs
            .iter()
            .filter(|run| started(run))
            .map(|run| &run.handler);
        let all = ran.chain(&trace.started);
        Round {
            event: event.to_owned(),
            fired: all.filter_map(|handler| self.fired_name(handler)).collect(),
            runs: trace.runs.iter().map(|run| self.run(event, run)).collect(),
            background: trace
                .started
                .iter()
                .flat_map(|handler| self.names(handler))
                .collect(),
        }
    }

    fn run(&self, event: &str, run: &Run) -> SeenRun {
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
    fn recorder_name(&self, handler: &Handler) -> Option<String> {
        let Action::Command(command) = &handler.action else {
            return None;
        };
        let rest = command.command.strip_prefix(&self.recorder)?;
        let in_text = rest.split_whitespace().next().map(str::to_owned);
        in_text.or_else(|| command.args.as_ref()?.first().cloned())
    }
}

/// What the hooks of a firing put out, stream by stream.
pub(super) fn streams(fired: &Fired) -> impl Iterator<Item = String> {
    fired.trace.runs.iter().flat_map(run_streams)
}

/// Both streams of a run.
pub(super) fn run_streams(run: &Run) -> [String; 2] {
    [&run.stdout, &run.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}

/// `Event/group/handler`.
fn position(handler: &Handler) -> String {
    format!("{}/{}/{}", handler.event, handler.group, handler.index)
}

fn started(run: &Run) -> bool {
    !matches!(run.exit, Exit::SpawnFailed(_))
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
