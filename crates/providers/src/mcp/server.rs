//! One server: started once, asked often, ended once.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ClientConfig,
    Implementation, Tool,
};
use rmcp::service::{Peer, RoleClient, RunningService, ServiceError, serve_client};
use seamline_harness::mcp::{Answer, McpError, McpRequest, McpResult, McpTool};
use serde_json::Value;
use tokio::io::AsyncReadExt as _;
use tokio::process::ChildStderr;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::config::ServerConfig;
use super::process::{Process, Surroundings};

/// How much of what a server last wrote to standard error is kept.
const LAST_WORDS: usize = 2000;

/// How long the last words of a server that has gone are waited for.
const FAREWELL: Duration = Duration::from_millis(300);

/// How long the protocol may take to end.
const GOODBYE: Duration = Duration::from_millis(500);

/// One server.
pub(super) struct Server {
    pub(super) config: ServerConfig,
    around: Surroundings,
    state: OnceLock<watch::Receiver<Option<State>>>,
    process: Mutex<Option<Process>>,
    closing: CancellationToken,
}

/// Up, or why not.
type State = Result<Arc<Live>, String>;

/// A server that is up.
struct Live {
    peer: Peer<RoleClient>,
    service: Mutex<Option<RunningService<RoleClient, ClientConfig>>>,
    tools: Vec<McpTool>,
    words: Words,
}

impl Server {
    pub(super) fn new(config: ServerConfig, around: Surroundings) -> Arc<Self> {
        Arc::new(Self {
            config,
            around,
            state: OnceLock::new(),
            process: Mutex::default(),
            closing: CancellationToken::new(),
        })
    }

    /// Starts it if nobody has, and waits until it is up or known not to be. Whoever stops waiting
    /// stops nobody else.
    pub(super) async fn up(self: &Arc<Self>) -> Result<(), String> {
        self.live().await.map(|_| ())
    }

    /// The tools the model is offered, if it is up.
    pub(super) fn tools(&self) -> Vec<McpTool> {
        let state = self.state.get().map(|state| state.borrow().clone());
        match state.flatten() {
            Some(Ok(live)) => live.tools.clone(),
            _ => Vec::new(),
        }
    }

    pub(super) async fn call(self: Arc<Self>, request: McpRequest) -> Answer {
        let live = self.live().await.map_err(McpError::Failed)?;
        let call = CallToolRequestParams::new(request.tool).with_arguments(request.arguments);
        let limit = self.config.call_timeout;
        // Dropping the call tells the server that nobody waits any more.
        let answer = timeout(limit, live.peer.call_tool_once(call)).await;
        let why = match answer {
            Ok(Ok(CallToolResponse::Complete(result))) => return Ok(read(&result)),
            Ok(Ok(_)) => "wants something that is not supported here".to_owned(),
            Ok(Err(ServiceError::McpError(error))) => {
                format!("answered with an error: {}", error.message)
            }
            Ok(Err(ServiceError::TransportClosed | ServiceError::TransportSend(_))) => {
                format!("has ended{}", live.words.last().await)
            }
            Ok(Err(error)) => format!("gave no answer: {error}"),
            Err(_) => format!("did not answer within {}", seconds(limit)),
        };
        Err(McpError::Failed(self.says(&why)))
    }

    /// Ends it; nothing of it runs afterwards.
    pub(super) async fn close(&self) {
        self.closing.cancel();
        if let Some(state) = self.state.get() {
            let mut state = state.clone();
            let state = state.wait_for(Option::is_some).await;
            let live = state.ok().and_then(|state| state.clone()?.ok());
            let service = live.and_then(|live| lock(&live.service).take());
            if let Some(mut service) = service {
                // A service that does not end in time is dropped, which closes the pipes too.
                let _ = service.close_with_timeout(GOODBYE).await;
            }
        }
        let process = lock(&self.process).take();
        if let Some(process) = process {
            process.end().await;
        }
    }

    async fn live(self: &Arc<Self>) -> State {
        let state = self.state.get_or_init(|| {
            let (tell, state) = watch::channel(None);
            let server = Arc::clone(self);
            tokio::spawn(async move {
                let started = server.start().await.map_err(|why| server.says(&why));
                tell.send_replace(Some(started));
            });
            state
        });
        let mut state = state.clone();
        let state = state.wait_for(Option::is_some).await;
        let known = state.ok().and_then(|state| state.clone());
        known.unwrap_or_else(|| Err(self.says("was never started")))
    }

    async fn start(&self) -> Result<Arc<Live>, String> {
        if self.closing.is_cancelled() {
            return Err("is not started any more: the session has ended".to_owned());
        }
        let (process, (stdout, stdin, stderr)) = Process::start(&self.config, &self.around)
            .map_err(|error| format!("could not be started: {error}"))?;
        *lock(&self.process) = Some(process);
        let words = Words::of(stderr, self.closing.clone());
        let met = async {
            let service = serve_client(client(), (stdout, stdin)).await;
            let service = service.map_err(|error| match error {
                rmcp::service::ClientInitializeError::ConnectionClosed(_) => {
                    "ended before it was up".to_owned()
                }
                error => format!("could not be greeted: {error}"),
            })?;
            let tools = listed(service.peer()).await?;
            Ok::<_, String>((service, tools))
        };
        let (service, tools) = match self.in_time(met).await {
            Ok(met) => met,
            Err(why) => return Err(format!("{why}{}", words.last().await)),
        };
        let offered = tools.into_iter();
        let offered = offered.filter(|tool| self.config.offered.has(&tool.name));
        Ok(Arc::new(Live {
            peer: service.peer().clone(),
            service: Mutex::new(Some(service)),
            tools: offered.map(|tool| self.tool(tool)).collect(),
            words,
        }))
    }

    async fn in_time<T>(&self, work: impl Future<Output = Result<T, String>>) -> Result<T, String> {
        let limit = self.config.startup_timeout;
        tokio::select! {
            done = timeout(limit, work) => {
                done.unwrap_or_else(|_| Err(format!("was not up within {}", seconds(limit))))
            }
            () = self.closing.cancelled() => Err("was ended before it was up".to_owned()),
        }
    }

    fn tool(&self, tool: Tool) -> McpTool {
        McpTool {
            server: self.config.name.clone(),
            name: tool.name.into_owned(),
            description: tool.description.unwrap_or_default().into_owned(),
            schema: Value::Object(tool.input_schema.as_ref().clone()),
        }
    }

    /// A sentence about it: its name, its command, and what is the matter.
    fn says(&self, what: &str) -> String {
        let command = [&self.config.command].into_iter().chain(&self.config.args);
        let command: Vec<&str> = command.map(String::as_str).collect();
        format!(
            "MCP server '{}' ({}) {what}",
            self.config.name,
            command.join(" ")
        )
    }
}

/// Who we are.
fn client() -> ClientConfig {
    let name = Implementation::new("seamline", env!("CARGO_PKG_VERSION"));
    ClientConfig::new(ClientCapabilities::default(), name)
}

/// All tools of a server; one that does not say that it has some has none.
async fn listed(peer: &Peer<RoleClient>) -> Result<Vec<Tool>, String> {
    let info = peer.peer_info();
    if info.is_some_and(|info| info.capabilities.tools.is_none()) {
        return Ok(Vec::new());
    }
    let tools = peer.list_all_tools().await;
    tools.map_err(|error| format!("could not list its tools: {error}"))
}

fn read(result: &CallToolResult) -> McpResult {
    let blocks = result.content.iter();
    McpResult {
        content: blocks
            .filter_map(|block| serde_json::to_value(block).ok())
            .collect(),
        structured: result.structured_content.clone(),
        is_error: result.is_error == Some(true),
    }
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a server writes to standard error: read always, so that it never waits for us, and kept as
/// far as it is the last of it.
struct Words {
    kept: Arc<Mutex<VecDeque<u8>>>,
    reader: tokio::sync::Mutex<JoinHandle<()>>,
}

impl Words {
    fn of(stderr: ChildStderr, closing: CancellationToken) -> Self {
        let kept = Arc::new(Mutex::new(VecDeque::new()));
        let keeps = Arc::clone(&kept);
        let reader = tokio::spawn(async move {
            let read = keep(stderr, &keeps);
            closing.run_until_cancelled(read).await;
        });
        Self {
            kept,
            reader: tokio::sync::Mutex::new(reader),
        }
    }

    /// The last line, for the end of a sentence.
    async fn last(&self) -> String {
        // What it wrote before it went may still be on its way.
        let mut reader = self.reader.lock().await;
        if !reader.is_finished() {
            let _ = timeout(FAREWELL, &mut *reader).await;
        }
        let bytes: Vec<u8> = lock(&self.kept).iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let mut lines = text.lines().map(str::trim).rev();
        let last = lines.find(|line| !line.is_empty());
        last.map_or_else(String::new, |line| format!("; its last words: {line}"))
    }
}

async fn keep(mut stderr: ChildStderr, kept: &Mutex<VecDeque<u8>>) {
    let mut buffer = [0; 1024];
    while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
        let mut kept = lock(kept);
        kept.extend(buffer.iter().take(count));
        let surplus = kept.len().saturating_sub(LAST_WORDS);
        kept.drain(..surplus);
    }
}
