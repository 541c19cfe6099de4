//! What a tool is.

use std::fmt;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use seamline_seams::{Context, Signal};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::call::Call;
use super::nested::Origin;
use super::outcome::{Failure, Outcome, Success};
use super::registry::Registry;
use super::workspace::Workspace;
use crate::content::Content;
use crate::json::Json;
use crate::model::ToolSpec;

/// A tool, typed outside: arguments in, canonical value out.
///
/// The value is the tool's own structured result, which wrappers, policies and hooks see; what
/// the model is shown is [`render`](Tool::render)ed from it. Both directions pass through JSON
/// behind [`JsonTool`], which every `Tool` is.
pub trait Tool: Send + Sync + 'static {
    /// The arguments.
    type Args: DeserializeOwned + Send + Sync + 'static;
    /// The canonical value.
    type Value: Serialize + DeserializeOwned + Send + 'static;

    /// The name it is called by.
    fn name(&self) -> &str;

    /// What it does, for the model.
    fn description(&self) -> &str;

    /// The JSON Schema of its arguments.
    fn schema(&self) -> Value;

    /// Arguments to fill in where the model left them out, before anybody sees the call.
    fn defaults(&self) -> &[(&'static str, Value)] {
        &[]
    }

    /// What is wrong with arguments that fit the schema; a call with such arguments is invalid.
    fn check_args(&self, _args: &Json) -> Result<(), String> {
        Ok(())
    }

    /// Whether this call may overlap with other such calls.
    fn concurrency_safe(&self, _args: &Self::Args) -> bool {
        false
    }

    /// What this call would do to the world; paths may be relative to `cwd`.
    fn effects(&self, _args: &Self::Args, _cwd: &Path) -> Effects {
        Effects::Unknown
    }

    /// Does the work. A tool that can take long must watch [`ToolContext::signal`].
    fn run(
        &self,
        args: Self::Args,
        context: ToolContext,
    ) -> impl Future<Output = Result<Self::Value, ToolError>> + Send;

    /// What the model is shown for a value.
    fn render(&self, args: &Self::Args, value: &Self::Value) -> Content;

    /// The last word on what the model is shown, on every path, failures and denials included;
    /// `None` leaves it as it is.
    fn finalize(&self, _call: &Call, _outcome: &Outcome) -> Option<Content> {
        None
    }
}

/// What a call would do to the world, as far as it can be told from its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effects {
    /// It reads these files or directories and nothing else. Absolute paths.
    Reads(Vec<PathBuf>),
    /// It changes these files, and reads at most them. Absolute paths.
    Writes(Vec<PathBuf>),
    /// It runs this shell command.
    Command(String),
    /// Anything may happen.
    Unknown,
}

/// What a running tool may use.
#[derive(Clone)]
pub struct ToolContext {
    workspace: Workspace,
    signal: Signal,
    left: Arc<Left>,
    origin: Option<Arc<Origin>>,
}

/// What a running tool leaves beside its value.
#[derive(Debug, Default)]
struct Left {
    contexts: Mutex<Vec<Context>>,
    concludes: AtomicBool,
}

impl ToolContext {
    /// A context for running a tool by hand. Such a tool can make no calls.
    pub fn new(workspace: Workspace, signal: Signal) -> Self {
        Self {
            workspace,
            signal,
            left: Arc::default(),
            origin: None,
        }
    }

    pub(super) fn nested(workspace: Workspace, signal: Signal, origin: Arc<Origin>) -> Self {
        Self {
            origin: Some(origin),
            ..Self::new(workspace, signal)
        }
    }

    /// Where to work.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Cancelled when the call must end.
    pub fn signal(&self) -> &Signal {
        &self.signal
    }

    /// Adds text for the model beside the result. It is kept when the tool fails afterwards.
    pub fn add_context(&self, context: Context) {
        let contexts = self.left.contexts.lock();
        contexts
            .unwrap_or_else(PoisonError::into_inner)
            .push(context);
    }

    /// Ends the turn with this batch if the tool succeeds: no further request is made, unless
    /// somebody has steered. A failure concludes nothing. A tool that makes calls passes a
    /// conclusion of theirs on, or does not.
    pub fn conclude_turn(&self) {
        self.left.concludes.store(true, Ordering::Release);
    }

    /// Calls another tool, through the whole pipeline: policies, guards and hooks see it, and the
    /// log keeps it under the running call. It has its place behind the calls made before at once,
    /// and is carried out whether the future is awaited or not; the running call has no result
    /// before it has one.
    ///
    /// Calls that are safe to overlap do; any other waits for those before it. Text for the model
    /// that comes with a call is shown behind the running call's result.
    pub fn call(
        &self,
        tool: &str,
        arguments: Json,
    ) -> impl Future<Output = Result<Success, Failure>> + Send + use<> {
        self.call_as("", tool.to_owned(), arguments)
    }

    pub(super) fn call_as(
        &self,
        label: &str,
        tool: String,
        arguments: Json,
    ) -> impl Future<Output = Result<Success, Failure>> + Send + use<> {
        let answer = self
            .origin
            .as_ref()
            .map(|origin| origin.make(self, (label, tool, arguments)));
        async move {
            let answered = match answer {
                Some(answer) => answer.await.ok(),
                None => None,
            };
            answered.unwrap_or_else(|| Outcome::not_started().result)
        }
    }

    /// The tools that [`call`](Self::call) reaches.
    pub fn tools(&self) -> Vec<ToolSpec> {
        let registry = self
            .origin
            .as_ref()
            .map(|origin| origin.pipeline.registry());
        registry.map(Registry::specs).unwrap_or_default()
    }

    /// What a program may use.
    #[cfg(feature = "code-mode")]
    pub(super) fn limits(&self) -> super::code_mode::Limits {
        let pipeline = self.origin.as_ref().map(|origin| origin.pipeline.limits());
        pipeline.unwrap_or_default()
    }

    /// Gives up the calls that were made and have not begun.
    pub fn give_up_calls(&self) {
        if let Some(origin) = &self.origin {
            origin.give_up();
        }
    }

    pub(super) fn take_contexts(&self) -> Vec<Context> {
        let contexts = self.left.contexts.lock();
        std::mem::take(&mut *contexts.unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn concludes(&self) -> bool {
        self.left.concludes.load(Ordering::Acquire)
    }
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolContext")
            .field("workspace", &self.workspace)
            .finish_non_exhaustive()
    }
}

/// A tool that failed. What it did before may stand.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    /// What failed; policies and hooks see this text.
    pub message: String,
    /// Its identity, one of [`code`](super::code); most failures of tools have none.
    pub code: Option<&'static str>,
    /// What the model is shown, where it is not simply `Error: ` and the message.
    pub content: Option<Content>,
}

impl ToolError {
    /// A failure the model is shown as `Error: ` and the message.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            code: None,
            content: None,
        }
    }

    /// The same failure with an identity.
    #[must_use]
    pub fn with_code(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }

    /// A failure whose message the model is shown as it is.
    pub fn verbatim(message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            content: Some(Content::text(message.clone())),
            code: None,
            message,
        }
    }
}

/// A tool, JSON inside: what the registry holds and the pipeline runs. Implement [`Tool`]
/// instead, unless the arguments are only known at run time (tools of an MCP server).
pub trait JsonTool: Send + Sync + 'static {
    /// The name it is called by.
    fn name(&self) -> &str;
    /// What it does, for the model.
    fn description(&self) -> &str;
    /// The JSON Schema of its arguments.
    fn schema(&self) -> Value;
    /// See [`Tool::defaults`].
    fn defaults(&self) -> &[(&'static str, Value)] {
        &[]
    }
    /// See [`Tool::check_args`].
    fn check_args(&self, _args: &Json) -> Result<(), String> {
        Ok(())
    }
    /// See [`Tool::concurrency_safe`]. Arguments it cannot read are not safe.
    fn concurrency_safe(&self, _args: &Json) -> bool {
        false
    }
    /// See [`Tool::effects`].
    fn effects(&self, _args: &Json, _cwd: &Path) -> Effects {
        Effects::Unknown
    }
    /// See [`Tool::run`].
    fn run(&self, args: Json, context: ToolContext) -> BoxFuture<'_, Result<Json, ToolError>>;
    /// Whether a value somebody else made could be this tool's; the error says why not.
    fn check_value(&self, value: &Json) -> Result<(), String>;
    /// See [`Tool::render`]; the error says why the value cannot be shown.
    fn render(&self, args: &Json, value: &Json) -> Result<Content, String>;
    /// See [`Tool::finalize`].
    fn finalize(&self, _call: &Call, _outcome: &Outcome) -> Option<Content> {
        None
    }
}

impl<T: Tool> JsonTool for T {
    fn name(&self) -> &str {
        Tool::name(self)
    }

    fn description(&self) -> &str {
        Tool::description(self)
    }

    fn schema(&self) -> Value {
        Tool::schema(self)
    }

    fn defaults(&self) -> &[(&'static str, Value)] {
        Tool::defaults(self)
    }

    fn check_args(&self, args: &Json) -> Result<(), String> {
        Tool::check_args(self, args)
    }

    fn concurrency_safe(&self, args: &Json) -> bool {
        args.to::<T::Args>()
            .is_ok_and(|args| Tool::concurrency_safe(self, &args))
    }

    fn effects(&self, args: &Json, cwd: &Path) -> Effects {
        args.to::<T::Args>()
            .map_or(Effects::Unknown, |args| Tool::effects(self, &args, cwd))
    }

    fn run(&self, args: Json, context: ToolContext) -> BoxFuture<'_, Result<Json, ToolError>> {
        Box::pin(async move {
            let args = args.to::<T::Args>().map_err(|error| {
                ToolError::new(format!("the arguments cannot be read: {error}"))
            })?;
            let value = Tool::run(self, args, context).await?;
            Json::of(&value)
                .map_err(|error| ToolError::new(format!("the value is not JSON: {error}")))
        })
    }

    fn check_value(&self, value: &Json) -> Result<(), String> {
        value
            .to::<T::Value>()
            .map(|_| ())
            .map_err(|error| error.to_string())
    }

    fn render(&self, args: &Json, value: &Json) -> Result<Content, String> {
        let args = args.to::<T::Args>().map_err(|error| error.to_string())?;
        let value = value.to::<T::Value>().map_err(|error| error.to_string())?;
        Ok(Tool::render(self, &args, &value))
    }

    fn finalize(&self, call: &Call, outcome: &Outcome) -> Option<Content> {
        Tool::finalize(self, call, outcome)
    }
}
