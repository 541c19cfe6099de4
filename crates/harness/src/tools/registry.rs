//! Which tools there are.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use super::code_mode::RUN_CODE;
use super::schema::Schema;
use super::tool::JsonTool;
use crate::json::Json;
use crate::model::ToolSpec;

/// A tool that could not be registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// The name is taken.
    #[error("tool {0:?} is already registered; unregister the other one first")]
    Duplicate(String),
    /// The name is kept for programs that call tools.
    #[error("tool {0:?} cannot be registered: the name is kept for programs that call tools")]
    Reserved(String),
    /// The schema of the arguments is not a valid JSON Schema.
    #[error("tool {name:?} has no usable schema: {message}")]
    Schema {
        /// The tool.
        name: String,
        /// What is wrong.
        message: String,
    },
}

/// A tool with its compiled schema.
pub(super) struct Registered {
    pub(super) tool: Arc<dyn JsonTool>,
    pub(super) schema: Schema,
    pub(super) spec: ToolSpec,
}

impl Registered {
    /// Compiles a tool's schema.
    pub(super) fn new(tool: Arc<dyn JsonTool>) -> Result<Self, RegistryError> {
        let name = tool.name().to_owned();
        let text = tool.schema();
        let schema = Schema::compile(&text).map_err(|message| RegistryError::Schema {
            name: name.clone(),
            message,
        })?;
        let description = tool.description().to_owned();
        let spec = ToolSpec {
            name,
            description,
            schema: Json::from_value(text),
        };
        Ok(Self { tool, schema, spec })
    }
}

/// The tools a model may call, in the order they were added. Clones are the same registry.
#[derive(Clone, Default)]
pub struct Registry(Arc<RwLock<Vec<Arc<Registered>>>>);

impl Registry {
    /// A registry without tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool.
    pub fn add(&self, tool: impl JsonTool) -> Result<(), RegistryError> {
        self.add_shared(Arc::new(tool))
    }

    /// Adds a tool that is shared already.
    pub fn add_shared(&self, tool: Arc<dyn JsonTool>) -> Result<(), RegistryError> {
        let name = tool.name().to_owned();
        if name == RUN_CODE {
            return Err(RegistryError::Reserved(name));
        }
        let registered = Registered::new(tool)?;
        let mut tools = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if tools.iter().any(|known| known.spec.name == name) {
            return Err(RegistryError::Duplicate(name));
        }
        tools.push(Arc::new(registered));
        Ok(())
    }

    /// Removes a tool; says whether there was one. Calls that were proposed before still run.
    pub fn remove(&self, name: &str) -> bool {
        let mut tools = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let before = tools.len();
        tools.retain(|known| known.spec.name != name);
        tools.len() < before
    }

    /// The tools as the model is told about them.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools()
            .iter()
            .map(|known| known.spec.clone())
            .collect()
    }

    pub(super) fn get(&self, name: &str) -> Option<Arc<Registered>> {
        self.tools()
            .into_iter()
            .find(|known| known.spec.name == name)
    }

    fn tools(&self) -> Vec<Arc<Registered>> {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.tools().iter().map(|known| &known.spec.name))
            .finish()
    }
}
