//! From a moment of the agent to a firing of the engine and back.

use seamline_harness::Facts;
use seamline_harness::permission::Mode;
use seamline_hooks::handler::Action;
use seamline_hooks::payload::{self, Event, Payload, Session};
use seamline_hooks::runner::Exit;
use seamline_hooks::{DialectId, Fired, Firing, HandlerKey};
use seamline_seams::{Notice, Signal, Source};

use crate::bridge::Bridge;

/// Events whose moments the harness has.
const FIRED: [&str; 12] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreModelRequest",
    "PostModelRequest",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "Stop",
    "Interrupt",
    "SessionEnd",
];

/// Whether a bridge fires an event. Hooks of the others are read and listed, and nothing calls them.
#[must_use]
pub fn fires(event: &str) -> bool {
    FIRED.contains(&event)
}

/// What payloads of a dialect call a permission mode of ours. Both clients document all five words.
/// Measured: Codex says `default` for approval on request and `bypassPermissions` for approval never.
#[must_use]
pub fn permission_mode(dialect: DialectId, mode: Mode) -> &'static str {
    match dialect {
        DialectId::Claude | DialectId::Codex => mode.as_str(),
    }
}

/// The hooks of a gate were ended, and not by the end of what they were to judge: nobody said yes.
pub(crate) fn cut_short(event: &str, fired: &Fired, signal: &Signal) -> Option<String> {
    let mut runs = fired.trace.runs.iter();
    let ended = !signal.is_cancelled() && runs.any(|run| run.exit == Exit::Cancelled);
    ended.then(|| format!("its {event} hooks were ended before they decided"))
}

/// Builds the payload of one moment for a dialect; `None` where the dialect does not have it.
pub(crate) type Build<'a> = &'a (dyn Fn(DialectId) -> Option<Payload> + Sync);

impl Bridge {
    /// Whether this event could reach any handler; asked first, so that a moment without hooks
    /// costs next to nothing. An edited configuration takes effect here, and the user hears of it.
    pub(crate) fn listens(&self, event: &str) -> bool {
        if let Some(text) = self.engine.refresh() {
            let source = Source::new(self.name());
            self.tell(Notice { source, text });
        }
        self.engine.listens(event)
    }

    /// Fires one event. `build` makes the payload for this dialect and, for the commands that run
    /// there already, for the elder's.
    pub(crate) async fn fire(
        &self,
        event: &'static str,
        facts: &Facts,
        signal: &Signal,
        build: Build<'_>,
    ) -> Fired {
        self.fire_with(Vec::new(), event, facts, signal, build)
            .await
    }

    /// [`Self::fire`], with variables for its hooks.
    pub(crate) async fn fire_with(
        &self,
        env: Vec<(String, String)>,
        event: &'static str,
        facts: &Facts,
        signal: &Signal,
        build: Build<'_>,
    ) -> Fired {
        debug_assert!(
            fires(event),
            "{event} is not among those that are said to fire"
        );
        let Some(payload) = build(self.dialect()) else {
            return Fired::default();
        };
        let mut firing = firing(event, facts, signal, payload.clone());
        firing.env = env;
        firing.ran_elsewhere = self.ran_elsewhere(event, facts, signal, build);
        let prepared = self.engine.prepare(firing);
        let turn = facts.turn.map(|turn| turn.number);
        let selection = prepared.selection();
        for handler in selection.run.iter().chain(&selection.background) {
            self.record_invoked(turn, handler);
        }
        let fired = self.engine.run(prepared).await;
        for run in &fired.trace.runs {
            self.record_result(turn, run);
        }
        self.witness().fired(event, &payload, &fired);
        fired
    }

    /// What the elder bridge runs for the same moment. Asked of its engine, not of its past: at the
    /// start of a session both bridges run at once.
    fn ran_elsewhere(
        &self,
        event: &'static str,
        facts: &Facts,
        signal: &Signal,
        build: Build<'_>,
    ) -> Vec<(String, HandlerKey)> {
        let elder = self.elder.as_ref();
        let Some(elder) = elder.filter(|elder| elder.is_at_work() && elder.engine.listens(event))
        else {
            return Vec::new();
        };
        let Some(payload) = build(elder.dialect()) else {
            return Vec::new();
        };
        let prepared = elder.engine.prepare(firing(event, facts, signal, payload));
        let selection = prepared.selection();
        let ran = selection.run.iter().chain(&selection.background);
        ran.filter_map(|handler| match &handler.action {
            Action::Command(command) => Some((command.command.clone(), handler.key.clone())),
            _ => None,
        })
        .collect()
    }
}

fn firing(event: &'static str, facts: &Facts, signal: &Signal, payload: Payload) -> Firing {
    Firing {
        event,
        payload,
        cwd: facts.cwd.clone(),
        env: Vec::new(),
        signal: signal.clone(),
        ran_elsewhere: Vec::new(),
    }
}

impl Bridge {
    /// The payload of an event in a session.
    pub(crate) fn payload_of<E: Event>(
        &self,
        dialect: DialectId,
        facts: &Facts,
        event: &E,
    ) -> Option<Payload> {
        payload::build(dialect, &self.session(dialect, facts), event)
    }

    /// The model that payloads name, when this one runs.
    pub(crate) fn model<'m>(&'m self, running: &'m str) -> &'m str {
        self.options.model.as_deref().unwrap_or(running)
    }

    fn session(&self, dialect: DialectId, facts: &Facts) -> Session {
        Session {
            id: facts.session.to_string(),
            transcript_path: facts
                .log
                .as_ref()
                .map(|path| path.to_string_lossy().into_owned()),
            cwd: facts.cwd.to_string_lossy().into_owned(),
            model: self.model(&facts.model).to_owned(),
            permission_mode: permission_mode(dialect, facts.mode).to_owned(),
            turn_id: facts.turn.map(|turn| turn.id.to_string()),
            agent: None,
            effort: None,
        }
    }
}
