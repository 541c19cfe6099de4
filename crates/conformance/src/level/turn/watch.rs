//! Sees what the bridge fires and what becomes of calls.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use seamline_bridges::Witness;
use seamline_bridges::vocabulary::speak;
use seamline_harness::tools::{Ending, ToolResult};
use seamline_hooks::outcome::Decision;
use seamline_hooks::payload::Payload;
use seamline_hooks::{DialectId, Fired};
use tokio::sync::Notify;

use crate::level::trace::{Reader, beyond, streams};
use crate::moments::CallFate;
use crate::observed::Round;

/// A witness of one case.
pub(super) struct Watch {
    reader: Reader,
    seen: Mutex<Seen>,
    /// The hooks were asked about a permission and did not decide.
    silent: Notify,
}

/// What was seen.
#[derive(Default)]
pub(super) struct Seen {
    /// Firings in order.
    pub(super) rounds: Vec<Round>,
    /// Calls in the order of their results.
    pub(super) calls: Vec<CallFate>,
    /// The payload of each firing.
    payloads: Vec<Payload>,
    /// What a recorder read that was no payload.
    pub(super) misread: Vec<String>,
    /// What hooks put out.
    pub(super) emitted: Vec<String>,
}

impl Watch {
    pub(super) fn new(reader: Reader) -> Self {
        Self {
            reader,
            seen: Mutex::default(),
            silent: Notify::new(),
        }
    }

    /// What was seen so far, which is taken away. `notes` is what recorders read: it shows those
    /// that other commands started, too.
    pub(super) fn take(&self, notes: Vec<(String, String)>) -> Seen {
        let mut seen = std::mem::take(&mut *self.seen());
        seen.read(self.reader.dialect, notes);
        for call in &mut seen.calls {
            let of_call = |payload: &&Payload| {
                payload.str_field("hook_event_name") == Some("PreToolUse")
                    && payload.str_field("tool_use_id") == call.id.as_deref()
            };
            let place = seen.payloads.iter().position(|payload| of_call(&payload));
            let round = place.and_then(|place| seen.rounds.get(place));
            call.pre = Some(round.map(|round| round.fired.clone()).unwrap_or_default());
        }
        seen
    }

    /// Returns when hooks were asked about a permission and did not decide.
    pub(super) async fn undecided(&self) {
        self.silent.notified().await;
    }

    /// Takes the result of a call.
    pub(super) fn result(&self, result: &ToolResult) {
        let call = &result.call;
        let dialect = self.reader.dialect;
        let spoken = speak(dialect, call.name(), call.arguments(), &call.facts().cwd);
        self.seen().calls.push(CallFate {
            id: Some(call.call_id().to_owned()),
            name: spoken.name,
            ran: Some(result.ending == Ending::Ran),
            denied: Some(result.ending == Ending::Denied),
            input: Some(spoken.input.value().clone()),
            pre: None,
        });
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    /// Adds the recorders that no handler names to the round whose payload they read; of several
    /// rounds with the same payload, to the first.
    fn read(&mut self, dialect: DialectId, notes: Vec<(String, String)>) {
        let end = if dialect.table().trailing_newline {
            "\n"
        } else {
            ""
        };
        let mut readers: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, stdin) in notes {
            readers.entry(stdin).or_default().push(name);
        }
        for (stdin, names) in readers {
            let same = |payload: &Payload| stdin.strip_suffix(end) == Some(payload.text());
            let rounds = self.rounds.iter_mut().zip(&self.payloads);
            let mut rounds: Vec<_> = rounds.filter(|(_, payload)| same(payload)).collect();
            let known = rounds.iter().flat_map(|(round, _)| round.fired.clone());
            let others = beyond(&known.collect::<Vec<_>>(), names);
            match rounds.first_mut() {
                Some((round, _)) => round.fired.extend(others),
                None => self
                    .misread
                    .push(format!("{others:?} read {stdin:?}: no payload")),
            }
        }
    }
}

impl Witness for Watch {
    fn fired(&self, event: &'static str, payload: &Payload, fired: &Fired) {
        let round = self.reader.round(event, fired);
        let mut seen = self.seen();
        seen.rounds.push(round);
        seen.payloads.push(payload.clone());
        seen.emitted.extend(streams(fired));
        if event == "PermissionRequest" && fired.outcome.decision == Decision::None {
            self.silent.notify_one();
        }
    }
}
