//! Which tools there are, and who sees which.
//!
//! A registry is a layer. Its [children](Registry::child) see what it holds, and may hold tools of
//! their own that no other layer sees; a tool of the child's comes in place of one of the same
//! name above. So an agent gets a variant of a tool, or a tool that is nobody else's. A layer may
//! also [restrict](Registry::restrict) what it is handed from above, never what it holds itself.
//!
//! What is tied to a [`Scope`] is gone when that is disposed.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use seamline_seams::Scope;

use super::code_mode::RUN_CODE;
use super::schema::Schema;
use super::tool::JsonTool;
use crate::json::Json;
use crate::model::ToolSpec;

/// A tool that could not be registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// The name is taken in this layer.
    #[error(
        "tool {0:?} is already registered; for one agent's own variant, add it to a \
         `Registry::child` of that agent"
    )]
    Duplicate(String),
    /// The name is kept for programs that call tools.
    #[error(
        "tool {0:?} can be neither registered nor restricted: the name is kept for programs that \
         call tools"
    )]
    Reserved(String),
    /// The scope it was to live in is disposed.
    #[error("{0:?} cannot be registered: its scope is disposed")]
    Disposed(String),
    /// A restriction that names no tool.
    #[error("a restriction has to name at least one tool")]
    Nothing,
    /// A restriction of tools that are not handed down to this layer.
    #[error(
        "{0:?} cannot be restricted: no such tool is handed down to this layer, and its own are \
         not restricted"
    )]
    NotInherited(String),
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

/// Which of the tools from above a layer sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Restriction {
    /// These and no others.
    Only(Vec<String>),
    /// All but these.
    Without(Vec<String>),
}

impl Restriction {
    fn names(&self) -> &[String] {
        match self {
            Self::Only(names) | Self::Without(names) => names,
        }
    }

    fn admits(&self, name: &str) -> bool {
        let named = self.names().iter().any(|known| known == name);
        matches!(self, Self::Only(_)) == named
    }
}

/// The tools a model may call: those from above, then its own in the order they were added. Clones
/// are the same layer.
#[derive(Clone, Default)]
pub struct Registry(Arc<Layer>);

#[derive(Default)]
struct Layer {
    above: Option<Registry>,
    own: RwLock<Own>,
}

#[derive(Default)]
struct Own {
    tools: Vec<Kept<Arc<Registered>>>,
    restrictions: Vec<Kept<Restriction>>,
}

/// Something that is there until its scope is disposed, if it has one.
struct Kept<T> {
    what: T,
    scope: Option<Scope>,
}

impl<T> Kept<T> {
    fn get(&self) -> Option<&T> {
        let gone = self.scope.as_ref().is_some_and(Scope::is_disposed);
        (!gone).then_some(&self.what)
    }
}

impl Registry {
    /// A registry without tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// A layer below this one, for one agent: it sees what is here, now and later.
    #[must_use]
    pub fn child(&self) -> Self {
        Self(Arc::new(Layer {
            above: Some(self.clone()),
            own: RwLock::default(),
        }))
    }

    /// Adds a tool.
    pub fn add(&self, tool: impl JsonTool) -> Result<(), RegistryError> {
        self.add_shared(Arc::new(tool))
    }

    /// Adds a tool that is shared already.
    pub fn add_shared(&self, tool: Arc<dyn JsonTool>) -> Result<(), RegistryError> {
        self.keep(tool, None)
    }

    /// Adds a tool that is there until `scope` is disposed.
    pub fn add_in(&self, scope: &Scope, tool: impl JsonTool) -> Result<(), RegistryError> {
        self.keep(Arc::new(tool), Some(scope.clone()))
    }

    fn keep(&self, tool: Arc<dyn JsonTool>, scope: Option<Scope>) -> Result<(), RegistryError> {
        let name = tool.name().to_owned();
        if name == RUN_CODE {
            return Err(RegistryError::Reserved(name));
        }
        if scope.as_ref().is_some_and(Scope::is_disposed) {
            return Err(RegistryError::Disposed(name));
        }
        let what = Arc::new(Registered::new(tool)?);
        let mut own = self.0.own.write().unwrap_or_else(PoisonError::into_inner);
        own.tools.retain(|kept| kept.get().is_some());
        if own.tools.iter().any(|kept| kept.what.spec.name == name) {
            return Err(RegistryError::Duplicate(name));
        }
        own.tools.push(Kept { what, scope });
        Ok(())
    }

    /// Removes a tool of this layer; says whether there was one. Calls that were proposed before
    /// still run.
    pub fn remove(&self, name: &str) -> bool {
        let mut own = self.0.own.write().unwrap_or_else(PoisonError::into_inner);
        own.tools.retain(|kept| kept.get().is_some());
        let before = own.tools.len();
        own.tools.retain(|kept| kept.what.spec.name != name);
        own.tools.len() < before
    }

    /// Hides tools that are handed down to this layer, from it and all below, until `scope` is
    /// disposed. What several restrictions hide is hidden while any of them is there. A tool that
    /// is registered above later is judged by its name like the others.
    ///
    /// # Errors
    /// When it names no tool, one that is not handed down (a top layer is handed none), or one
    /// that cannot be restricted; nothing is hidden then.
    pub fn restrict(&self, scope: &Scope, restriction: Restriction) -> Result<(), RegistryError> {
        let names = restriction.names();
        if names.is_empty() {
            return Err(RegistryError::Nothing);
        }
        if scope.is_disposed() {
            return Err(RegistryError::Disposed("a restriction".to_owned()));
        }
        let handed = self.0.above.as_ref().map(Self::tools).unwrap_or_default();
        for name in names {
            if name == RUN_CODE {
                return Err(RegistryError::Reserved(name.clone()));
            }
            if !handed.iter().any(|known| known.spec.name == *name) {
                return Err(RegistryError::NotInherited(name.clone()));
            }
        }
        let mut own = self.0.own.write().unwrap_or_else(PoisonError::into_inner);
        own.restrictions.retain(|kept| kept.get().is_some());
        own.restrictions.push(Kept {
            what: restriction,
            scope: Some(scope.clone()),
        });
        Ok(())
    }

    /// The tools as the model is told about them.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools()
            .iter()
            .map(|known| known.spec.clone())
            .collect()
    }

    pub(super) fn get(&self, name: &str) -> Option<Arc<Registered>> {
        let own = self.0.own.read().unwrap_or_else(PoisonError::into_inner);
        let mut tools = own.tools.iter().filter_map(Kept::get);
        if let Some(known) = tools.find(|known| known.spec.name == name) {
            return Some(Arc::clone(known));
        }
        let admitted = own.admits(name);
        drop(own);
        let above = self.0.above.as_ref().filter(|_| admitted)?;
        above.get(name)
    }

    fn tools(&self) -> Vec<Arc<Registered>> {
        let handed = self.0.above.as_ref().map(Self::tools).unwrap_or_default();
        let own = self.0.own.read().unwrap_or_else(PoisonError::into_inner);
        let mine: Vec<_> = own.tools.iter().filter_map(Kept::get).cloned().collect();
        let shadowed = |name: &str| mine.iter().any(|known| known.spec.name == name);
        let mut tools = handed;
        tools.retain(|known| own.admits(&known.spec.name) && !shadowed(&known.spec.name));
        tools.extend(mine);
        tools
    }
}

impl Own {
    fn admits(&self, name: &str) -> bool {
        let mut restrictions = self.restrictions.iter().filter_map(Kept::get);
        restrictions.all(|restriction| restriction.admits(name))
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.tools().iter().map(|known| &known.spec.name))
            .finish()
    }
}

#[cfg(test)]
mod tests;
