//! What everybody in an agent works on.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use seamline_seams::{Context, Notice, Signal};

use super::event::AgentEvent;
use super::inbox::Inbox;
use super::seams::{AgentSeams, FirstMessage};
use crate::content::Source;
use crate::facts::{Facts, TurnFacts};
use crate::model::Model;
use crate::session::event::{NoticeShown, RequestHeader, StartSource};
use crate::session::{Session, SessionError};
use crate::tools::pipeline::{Pipeline, Settled};

/// How an agent was set up.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) model: String,
    pub(super) system: String,
    /// Why the session begins; by default its log tells.
    pub(super) start_source: Option<StartSource>,
    pub(super) start_deadline: Duration,
    pub(super) end_deadline: Duration,
    pub(super) parallel: NonZeroUsize,
}

pub(super) struct Shared {
    pub(super) session: Session,
    pub(super) model: Arc<dyn Model>,
    pub(super) pipeline: Pipeline,
    pub(super) seams: AgentSeams,
    pub(super) settings: Settings,
    pub(super) inbox: Inbox,
    /// Cancelled when the agent is gone.
    pub(super) signal: Signal,
    /// Cancelled when the agent takes no more turns. Above the signal of every turn.
    pub(super) turns: Signal,
    pub(super) started: tokio::sync::OnceCell<()>,
    pub(super) state: Mutex<State>,
}

/// What changes while an agent runs.
#[derive(Debug, Default)]
pub(super) struct State {
    /// The open turn.
    pub(super) turn: Option<TurnFacts>,
    /// While the start contributors are heard: cancelled to stop that.
    pub(super) starting: Option<Signal>,
    /// Messages the first turn opens with.
    pub(super) first_messages: Vec<FirstMessage>,
    /// The header the last request was made with.
    pub(super) header: Option<RequestHeader>,
    /// Where the tools were when `agent.changed` last heard of it.
    pub(super) cwd: PathBuf,
}

impl Shared {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the session stands now.
    pub(super) fn facts(&self) -> Arc<Facts> {
        let workspace = self.pipeline.workspace();
        Arc::new(Facts {
            session: self.session.id(),
            log: self.session.path().map(ToOwned::to_owned),
            project: workspace.project().to_owned(),
            cwd: workspace.cwd(),
            mode: self.pipeline.permission().mode(),
            model: self.settings.model.clone(),
            turn: self.state().turn,
        })
    }

    pub(super) fn notify(&self, event: &AgentEvent) {
        self.seams.events.notify(event);
    }

    /// Tells the user something and records that.
    pub(super) fn tell(&self, notice: Notice) -> Result<(), SessionError> {
        let source = Source::from(notice.source);
        let turn = self.session.relations(|relations| relations.open_turn());
        let shown = NoticeShown {
            turn,
            text: notice.text.clone(),
            source: source.clone(),
        };
        let recorded = self.session.append(shown);
        self.notify(&AgentEvent::Notice {
            text: notice.text,
            source,
        });
        recorded.map(|_| ())
    }

    pub(super) fn tell_all(&self, notices: Vec<Notice>) -> Result<(), SessionError> {
        notices.into_iter().try_for_each(|notice| self.tell(notice))
    }

    /// Tells of a result, and of the denial that may be behind it.
    pub(super) fn tell_of(&self, settled: &Settled) {
        if let Some(denial) = &settled.denial {
            self.notify(&AgentEvent::ToolDenied {
                call_id: denial.call.call_id().to_owned(),
                name: denial.call.name().to_owned(),
                reason: denial.reason.clone(),
                cause: denial.cause,
            });
        }
        self.notify(&AgentEvent::ToolFinished(settled.result.clone()));
    }

    /// Text for the model that waits for the next boundary.
    pub(super) fn park(&self, contexts: Vec<Context>) {
        contexts
            .into_iter()
            .for_each(|context| self.inbox.inject(context));
    }
}

/// Our own voice towards the user.
pub(super) fn our_notice(text: String) -> Notice {
    Notice {
        source: seamline_seams::Source::new("seamline"),
        text,
    }
}
