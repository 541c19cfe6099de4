//! Setting up an agent.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use seamline_seams::{FaultLog, Signal};

use super::inbox::Inbox;
use super::seams::AgentSeams;
use super::shared::{Settings, Shared, State};
use super::{Agent, AgentHandle, drive};
use crate::model::Model;
use crate::permission::{Mode, Permission};
use crate::session::Session;
use crate::session::event::StartSource;
use crate::tools::pipeline::{Pipeline, Setting};
use crate::tools::{CodeMode, Registry, ToolSeams, Workspace};

/// An agent to be. Everything has a default but the model and the session.
#[must_use = "a builder does nothing until it is built"]
pub struct AgentBuilder {
    model: Arc<dyn Model>,
    session: Session,
    settings: Settings,
    registry: Registry,
    permission: Permission,
    cwd: Option<PathBuf>,
    hidden: Vec<String>,
    seams: Option<AgentSeams>,
    tool_seams: Option<ToolSeams>,
    setting: Setting,
}

impl AgentBuilder {
    /// How many calls may overlap. Our choice; 1 is one by one.
    const PARALLEL: NonZeroUsize = NonZeroUsize::MIN.saturating_add(9);

    pub(super) fn new(model: Arc<dyn Model>, session: Session) -> Self {
        let settings = Settings {
            model: "default".to_owned(),
            system: String::new(),
            start_source: None,
            start_deadline: Duration::from_secs(5),
            end_deadline: Duration::from_secs(5),
            parallel: Self::PARALLEL,
        };
        Self {
            model,
            session,
            settings,
            registry: Registry::new(),
            permission: Permission::default(),
            cwd: None,
            hidden: Vec::new(),
            seams: None,
            tool_seams: None,
            setting: Setting::default(),
        }
    }

    /// The model's name, as the provider spells it. Default: `default`.
    pub fn model_name(mut self, name: impl Into<String>) -> Self {
        self.settings.model = name.into();
        self
    }

    /// The system prompt. Default: none.
    pub fn system(mut self, system: impl Into<String>) -> Self {
        self.settings.system = system.into();
        self
    }

    /// The tools. Default: none.
    pub fn tools(mut self, registry: Registry) -> Self {
        self.registry = registry;
        self
    }

    /// The permission mode. Default: `default`.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.permission = Permission::new(mode);
        self
    }

    /// The directory the tools start in, absolute. Default: the session's project.
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// The seams of the loop. Default: nobody listens.
    pub fn seams(mut self, seams: AgentSeams) -> Self {
        self.seams = Some(seams);
        self
    }

    /// The seams of tool calls. Default: nobody listens.
    pub fn tool_seams(mut self, seams: ToolSeams) -> Self {
        self.tool_seams = Some(seams);
        self
    }

    /// Why the session begins, as `agent.session_start` is told: for a host that clears or compacts.
    /// Default: what the log tells, a new session, a resumed or a forked one.
    pub fn start_source(mut self, source: StartSource) -> Self {
        self.settings.start_source = Some(source);
        self
    }

    /// How long the first request waits for `agent.session_start`. Default: 5 s, our choice.
    pub fn session_start_deadline(mut self, deadline: Duration) -> Self {
        self.settings.start_deadline = deadline;
        self
    }

    /// How long [`Agent::close`] waits for `agent.session_end`. Default: 5 s, our choice.
    pub fn session_end_deadline(mut self, deadline: Duration) -> Self {
        self.settings.end_deadline = deadline;
        self
    }

    /// How long a call waits for those who are told of its denial, or of a change of directory.
    /// Default: 60 s, our choice.
    pub fn contribution_deadline(mut self, deadline: Duration) -> Self {
        self.setting.deadline = deadline;
        self
    }

    /// Whether programs may call tools, and whether the model may do without one. Default: off.
    pub fn code_mode(mut self, mode: CodeMode) -> Self {
        self.setting.code = mode;
        self
    }

    /// What programs may use. Default: [`Limits::default`](crate::tools::code_mode::Limits).
    #[cfg(feature = "code-mode")]
    pub fn code_limits(mut self, limits: crate::tools::code_mode::Limits) -> Self {
        self.setting.limits = limits;
        self
    }

    /// How many concurrency-safe calls may overlap. Default: 10.
    pub fn parallel_tool_calls(mut self, cap: NonZeroUsize) -> Self {
        self.settings.parallel = cap;
        self
    }

    /// Variables of our own that the commands of tools do not inherit: the keys of models.
    pub fn hide_variables(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.hidden = names.into_iter().collect();
        self
    }

    /// Starts the agent. It does nothing until it is sent something. Must be called within a
    /// tokio runtime.
    pub fn build(self) -> Agent {
        let faults = FaultLog::new();
        let workspace = Workspace::hiding(self.session.project(), self.hidden);
        workspace.set_cwd(
            self.cwd
                .unwrap_or_else(|| self.session.project().to_owned()),
        );
        let state = State {
            cwd: workspace.cwd(),
            ..State::default()
        };
        let tool_seams = self.tool_seams.unwrap_or_else(|| ToolSeams::new(&faults));
        let pipeline = Pipeline::with(
            tool_seams,
            self.registry,
            self.permission,
            workspace,
            self.setting,
        );
        let signal = Signal::new();
        let shared = Arc::new(Shared {
            session: self.session,
            model: self.model,
            pipeline,
            seams: self.seams.unwrap_or_else(|| AgentSeams::new(&faults)),
            settings: self.settings,
            inbox: Inbox::default(),
            turns: signal.child_token(),
            signal,
            started: tokio::sync::OnceCell::new(),
            state: Mutex::new(state),
        });
        let driver = tokio::spawn(drive(Arc::clone(&shared)));
        Agent {
            handle: AgentHandle(shared),
            driver: Some(driver),
        }
    }
}
