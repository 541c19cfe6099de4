//! A project with hooks, an agent that plays a script in it, and what was seen of both.

use std::collections::BTreeMap;
use std::future::Future;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use seamline_bridges::{Bridge, BridgeOptions, Witness};
use seamline_harness::agent::{Agent, TurnOutcome};
use seamline_harness::model::scripted::{Play, Scripted, Scripts};
use seamline_harness::model::{Block, Message};
use seamline_harness::permission::Mode;
use seamline_harness::session::event::{ToolCall, ToolResult, TurnEndReason};
use seamline_harness::session::{Event, Place, Session};
use seamline_harness::testing::Recorder;
use seamline_harness::tools::builtin;
use seamline_hooks::config::{Loaded, Roots, load};
use seamline_hooks::engine::{EngineParts, Reread};
use seamline_hooks::payload::Payload;
use seamline_hooks::runner::Supervisor;
use seamline_hooks::trust::TrustState;
use seamline_hooks::{DialectId, Engine, Fired, HandlerKey, Profile};
use seamline_seams::Scope;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Nothing here should take long; what takes this long hangs.
const DEADLINE: Duration = Duration::from_secs(60);

/// A project to be.
pub(crate) struct Bench {
    folder: TempDir,
    scripts: Scripts,
    hooks: BTreeMap<DialectId, Value>,
    mode: Mode,
    stop_cap: Option<u32>,
    stderr_summary: Option<NonZeroUsize>,
    profile: Profile,
    ephemeral: bool,
    rereads: bool,
}

/// An agent at work in the project.
pub(crate) struct Running {
    pub(crate) agent: Agent,
    pub(crate) scope: Scope,
    /// Of each bridge alone.
    pub(crate) scopes: BTreeMap<DialectId, Scope>,
    pub(crate) model: Recorder<Scripted>,
    pub(crate) session: Session,
    pub(crate) fired: Fires,
    folder: TempDir,
}

/// Every firing that was witnessed, in order.
#[derive(Clone, Default)]
pub(crate) struct Fires(Arc<Mutex<Vec<Fire>>>);

type Fire = (&'static str, Payload, Fired);

impl Witness for Fires {
    fn fired(&self, event: &'static str, payload: &Payload, fired: &Fired) {
        let mut all = self.0.lock().unwrap();
        all.push((event, payload.clone(), fired.clone()));
    }
}

impl Fires {
    /// The payloads of one event.
    pub(crate) fn payloads(&self, event: &str) -> Vec<Payload> {
        let all = self.0.lock().unwrap();
        let of_event = all.iter().filter(|(name, ..)| *name == event);
        of_event.map(|(_, payload, _)| payload.clone()).collect()
    }

    /// `ran` or `skipped <reason>` of each handler of each firing of one event.
    pub(crate) fn fates(&self, event: &str) -> Vec<String> {
        let all = self.0.lock().unwrap();
        let of_event = all.iter().filter(|(name, ..)| *name == event);
        of_event.flat_map(|(_, _, fired)| fates(fired)).collect()
    }

    pub(crate) fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

fn fates(fired: &Fired) -> Vec<String> {
    let word = |dialect: DialectId, what: &str| format!("{dialect} {what}");
    let ran = fired.trace.runs.iter();
    let ran = ran.map(|run| word(run.handler.dialect, "ran"));
    let skipped = fired.trace.skipped.iter();
    let skipped = skipped.map(|skip| word(skip.handler.dialect, skip.reason.as_str()));
    ran.chain(skipped)
        .filter(|fate| !fate.ends_with(" event"))
        .collect()
}

impl Bench {
    /// A project in which the model plays this script, with every call allowed by the mode.
    pub(crate) fn new(turns: impl IntoIterator<Item = Play>) -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            scripts: Scripts::main(turns),
            hooks: BTreeMap::new(),
            mode: Mode::BypassPermissions,
            stop_cap: None,
            stderr_summary: None,
            profile: Profile::default(),
            ephemeral: false,
            rereads: false,
        }
    }

    /// A model that calls Bash once and then says something.
    pub(crate) fn shell(command: &str) -> Self {
        Self::new([bash(command), Play::text("Done.")])
    }

    /// One more hook: `handler` is a command or a whole handler object.
    pub(crate) fn on(self, dialect: DialectId, event: &str, handler: impl Into<Value>) -> Self {
        self.on_matching(dialect, event, "", handler)
    }

    pub(crate) fn on_matching(
        mut self,
        dialect: DialectId,
        event: &str,
        matcher: &str,
        handler: impl Into<Value>,
    ) -> Self {
        let handler = match handler.into() {
            Value::String(command) => json!({"type": "command", "command": command}),
            object => object,
        };
        let mut group = json!({"hooks": [handler]});
        if !matcher.is_empty() {
            group["matcher"] = json!(matcher);
        }
        let hooks = self.hooks.entry(dialect).or_insert_with(|| json!({}));
        match hooks[event].as_array_mut() {
            Some(groups) => groups.push(group),
            None => hooks[event] = json!([group]),
        }
        self
    }

    pub(crate) fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    pub(crate) fn stop_cap(mut self, cap: u32) -> Self {
        self.stop_cap = Some(cap);
        self
    }

    /// The longest summary of standard error in the log.
    pub(crate) fn stderr_summary(mut self, limit: NonZeroUsize) -> Self {
        self.stderr_summary = Some(limit);
        self
    }

    pub(crate) fn profile(mut self, profile: Profile) -> Self {
        self.profile = profile;
        self
    }

    /// A session without a log on disk.
    pub(crate) fn ephemeral(mut self) -> Self {
        self.ephemeral = true;
        self
    }

    /// Configurations that are edited take effect, without anybody's agreement.
    pub(crate) fn rereads(mut self) -> Self {
        self.rereads = true;
        self
    }

    pub(crate) fn project(&self) -> PathBuf {
        let project = self.folder.path().canonicalize().unwrap().join("project");
        std::fs::create_dir_all(&project).unwrap();
        project
    }

    /// Writes the configurations, builds the agent and registers a bridge per configured dialect,
    /// Claude's the elder.
    pub(crate) fn start(self) -> Running {
        let project = self.project();
        let home = project.parent().unwrap().to_path_buf();
        let place = Place::new(home.join("state"), &project);
        let session = if self.ephemeral {
            Session::ephemeral(&project)
        } else {
            Session::create(&place).unwrap()
        };
        let model = Recorder::new(Scripted::new(self.scripts.clone()));
        let agent = Agent::builder(model.clone(), session.clone())
            .tools(builtin::registry().unwrap())
            .model_name("test-model")
            .session_start_deadline(DEADLINE)
            .mode(self.mode)
            .build();
        let scope = Scope::root("test");
        let fired = Fires::default();
        let mut scopes = BTreeMap::new();
        let mut elder: Option<Arc<Bridge>> = None;
        for (dialect, hooks) in &self.hooks {
            let mut engine = engine((*dialect, self.profile), hooks, &home, &project);
            if self.rereads {
                let roots = engine.in_force().loaded().roots.clone();
                engine = engine.reread_by(Arc::new(Again(*dialect, roots)));
            }
            let engine = Arc::new(engine);
            let mut options = BridgeOptions::of(*dialect);
            options.stop_cap = self.stop_cap.unwrap_or(options.stop_cap);
            options.stderr_summary = self.stderr_summary.unwrap_or(options.stderr_summary);
            let witness: Arc<dyn Witness> = Arc::new(fired.clone());
            let bridge = Bridge::new(engine, options, elder.clone(), witness);
            let own = scope.child(dialect.as_str());
            assert!(bridge.register(&own, &agent.handle()));
            scopes.insert(*dialect, own);
            elder = Some(bridge);
        }
        Running {
            agent,
            scope,
            scopes,
            model,
            session,
            fired,
            folder: self.folder,
        }
    }

    /// One prompt, `go`, from beginning to end.
    pub(crate) async fn go(self) -> (TurnOutcome, Running) {
        let running = self.start();
        let outcome = running.send("go").await;
        (outcome, running)
    }
}

/// The engine of one dialect over hooks, which are written where the dialect looks for them.
pub(crate) fn engine(
    (dialect, profile): (DialectId, Profile),
    hooks: &Value,
    home: &Path,
    project: &Path,
) -> Engine {
    let file = match dialect {
        DialectId::Claude => project.join(".claude/settings.json"),
        DialectId::Codex => project.join(".codex/hooks.json"),
    };
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, json!({ "hooks": hooks }).to_string()).unwrap();
    let mut roots = Roots::new(home, project);
    roots.system = home.join("no-system");
    roots.profile = profile;
    let loaded = load(dialect, &roots);
    assert_eq!(loaded.diagnostics, [], "the configuration of the test");
    let handlers = loaded.handlers.iter();
    let trust = handlers.map(|handler| (handler.key.clone(), TrustState::Trusted));
    Engine::new(EngineParts {
        trust: trust.collect(),
        loaded,
        exec: Arc::new(Supervisor::new()),
        mcp: Arc::new(seamline_hooks::mcp::NoServers),
        base_env: std::env::vars_os().collect(),
        project: project.to_path_buf(),
        home: home.to_path_buf(),
        spill_dir: home.join("spill"),
    })
}

/// Reads a configuration again, whatever it says.
struct Again(DialectId, Roots);

impl Reread for Again {
    fn reread(&self) -> Result<(Loaded, BTreeMap<HandlerKey, TrustState>), String> {
        let loaded = load(self.0, &self.1);
        let handlers = loaded.handlers.iter();
        let trust = handlers.map(|handler| (handler.key.clone(), TrustState::Trusted));
        let trust = trust.collect();
        Ok((loaded, trust))
    }
}

impl Running {
    pub(crate) async fn send(&self, prompt: &str) -> TurnOutcome {
        soon(self.agent.send(prompt)).await
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        let project = self.folder.path().canonicalize().unwrap().join("project");
        project.join(name)
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        let entries = self.session.entries();
        entries.iter().map(|entry| entry.event.clone()).collect()
    }

    /// The log's events by name.
    pub(crate) fn kinds(&self) -> Vec<String> {
        let events = self.events();
        events.iter().map(|event| event.kind().to_owned()).collect()
    }

    /// What the user was told.
    pub(crate) fn notices(&self) -> Vec<String> {
        notices(&self.events())
    }

    /// The contexts in the log with the plugin each came from.
    pub(crate) fn contexts(&self) -> Vec<(String, String)> {
        pick(&self.events(), |event| match event {
            Event::ContextMessage(context) => {
                Some((context.source.to_string(), context.text.clone()))
            }
            _ => None,
        })
    }

    pub(crate) fn calls(&self) -> Vec<ToolCall> {
        pick(&self.events(), |event| match event {
            Event::ToolCall(call) => Some(call.clone()),
            _ => None,
        })
    }

    pub(crate) fn results(&self) -> Vec<ToolResult> {
        pick(&self.events(), |event| match event {
            Event::ToolResult(result) => Some(result.clone()),
            _ => None,
        })
    }

    /// What the model was shown for its first call.
    pub(crate) fn shown(&self) -> String {
        self.results()[0].content.to_text()
    }

    /// `hook/invoked` and `hook/result`, in order: the name, the turn and the data.
    pub(crate) fn hook_events(&self) -> Vec<(String, Option<u32>, Value)> {
        pick(&self.events(), |event| match event {
            Event::Extension(event) => {
                Some((event.kind.clone(), event.turn, event.data.value().clone()))
            }
            _ => None,
        })
    }

    /// The messages of the n-th request, in brief.
    pub(crate) fn asked(&self, n: usize) -> Vec<String> {
        let requests = self.model.requests();
        let messages = requests[n].messages.iter();
        messages.map(|message| shape(message)).collect()
    }

    pub(crate) fn requests(&self) -> usize {
        self.model.requests().len()
    }

    /// Closes the session with the hooks in force; what was witnessed of them, and told to the user.
    pub(crate) async fn close(self) -> (Fires, Vec<String>) {
        let (fired, session) = (self.fired, self.session);
        soon(self.agent.close("test")).await.unwrap();
        let entries = session.entries();
        let events: Vec<_> = entries.iter().map(|entry| entry.event.clone()).collect();
        (fired, notices(&events))
    }

    /// Lets go of everything, hooks first.
    pub(crate) async fn end(self) {
        soon(self.scope.dispose()).await;
        soon(self.agent.close("test")).await.unwrap();
    }
}

fn notices(events: &[Event]) -> Vec<String> {
    pick(events, |event| match event {
        Event::Notice(notice) => Some(notice.text.clone()),
        _ => None,
    })
}

fn pick<T>(events: &[Event], f: impl Fn(&Event) -> Option<T>) -> Vec<T> {
    events.iter().filter_map(f).collect()
}

fn shape(message: &Message) -> String {
    match message {
        Message::User { content, .. } => format!("user {}", content.to_text()),
        Message::Context { text, .. } => format!("context {text}"),
        Message::ToolResult { content, .. } => format!("result {}", content.to_text()),
        Message::Assistant { blocks } => {
            let blocks = blocks.iter().map(|block| match block {
                Block::Text { text } => text.clone(),
                Block::ToolCall { arguments, .. } => arguments.to_string(),
                _ => String::new(),
            });
            format!("assistant {}", blocks.collect::<Vec<_>>().join(" "))
        }
    }
}

/// A model's message that calls Bash.
pub(crate) fn bash(command: &str) -> Play {
    Play::call("Bash", json!({ "command": command }))
}

/// A command that prints one JSON object; `'` must not be in it.
pub(crate) fn prints(object: &Value) -> String {
    let text = object.to_string();
    assert!(!text.contains('\''), "{text}");
    format!("printf '%s' '{text}'")
}

/// A command that prints a `hookSpecificOutput` of an event.
pub(crate) fn answers(event: &str, mut fields: Value) -> String {
    fields["hookEventName"] = json!(event);
    prints(&json!({ "hookSpecificOutput": fields }))
}

/// A command that refuses with these words.
pub(crate) fn refuses(words: &str) -> String {
    format!("echo '{words}' >&2; exit 2")
}

/// How a turn ended: the word and the reason, where there is one.
pub(crate) fn ending(outcome: &TurnOutcome) -> (&'static str, Option<&str>) {
    match &outcome.end {
        TurnEndReason::Completed => ("completed", None),
        TurnEndReason::Stopped { reason, .. } => ("stopped", reason.as_deref()),
        TurnEndReason::Rejected { reason } => ("rejected", Some(reason)),
        other => panic!("{other:?}"),
    }
}

/// Awaits something that must not hang.
pub(crate) async fn soon<T>(something: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, something)
        .await
        .unwrap_or_else(|_| panic!("it hangs"))
}

/// Polls a condition until it holds.
pub(crate) async fn until(condition: impl Fn() -> bool) {
    soon(async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}
