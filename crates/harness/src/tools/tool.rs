//! What a tool is.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use seamline_seams::{Context, Signal};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::call::Call;
use super::outcome::Outcome;
use super::workspace::Workspace;
use crate::content::Content;
use crate::json::Json;

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
#[derive(Debug, Clone)]
pub struct ToolContext {
    workspace: Workspace,
    signal: Signal,
    contexts: Arc<Mutex<Vec<Context>>>,
}

impl ToolContext {
    /// A context for running a tool by hand.
    pub fn new(workspace: Workspace, signal: Signal) -> Self {
        Self {
            workspace,
            signal,
            contexts: Arc::default(),
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
        self.contexts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(context);
    }

    pub(super) fn take_contexts(&self) -> Vec<Context> {
        std::mem::take(&mut *self.contexts.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A tool that failed. What it did before may stand.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    /// What failed; policies and hooks see this text.
    pub message: String,
    /// What the model is shown, where it is not simply `Error: ` and the message.
    pub content: Option<Content>,
}

impl ToolError {
    /// A failure the model is shown as `Error: ` and the message.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            content: None,
        }
    }

    /// A failure whose message the model is shown as it is.
    pub fn verbatim(message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            content: Some(Content::text(message.clone())),
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
