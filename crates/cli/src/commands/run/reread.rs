//! Reads the hooks of a run again when one of their files is edited.
//!
//! What was agreed to when the run began stays agreed to. Anything else that comes with the project
//! needs an agreement of its own (`seamline hooks trust`), `--trust-project-hooks` or not: the agent
//! itself may have written it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use seamline_hooks::config::Loaded;
use seamline_hooks::engine::Reread;
use seamline_hooks::trust::{TrustState, TrustStore, kept};
use seamline_hooks::{Diagnostic, DialectId, Handler, HandlerKey, Layer};

use super::hooks::Ready;
use super::scratch;
use crate::places::Places;
use crate::render::{firing, visible};
use crate::setup::Setup;

/// How one protocol's hooks were read when the run began.
pub(super) struct Again {
    dialect: DialectId,
    places: Places,
    /// The copy of the project that a rehearsal works in.
    copy: Option<PathBuf>,
    /// Whether `--hooks` leaves this protocol out, but for what is managed.
    managed_only: bool,
    /// What was agreed to: the hooks of the project, and the variables it gives them.
    agreed: BTreeSet<String>,
    variables: Vec<Variables>,
    /// Whether those variables were left out, since nobody trusts the project.
    without_variables: bool,
}

type Variables = BTreeMap<String, String>;

impl Again {
    /// As this was read; every hook in it was agreed to.
    pub(super) fn new(
        setup: &Setup,
        without_variables: bool,
        places: &Places,
        copy: Option<&Path>,
    ) -> Self {
        Self {
            dialect: setup.loaded.dialect,
            places: places.clone(),
            copy: copy.map(Path::to_path_buf),
            managed_only: setup.managed_only,
            agreed: setup.loaded.handlers.iter().map(kept).collect(),
            variables: variables(&setup.loaded),
            without_variables,
        }
    }

    fn untrusted(&self, setup: &Setup, handler: &Handler) -> bool {
        let known = self.agreed.contains(&kept(handler));
        let same = known && variables(&setup.loaded) == self.variables;
        handler.disabled.is_none()
            && !same
            && !(self.is_own(handler) && setup.trust_of(handler).runs())
    }

    /// Whether no agreement is needed for what it says now. A file that was named on the command line
    /// and lies in the project may have been written by the agent.
    fn is_own(&self, handler: &Handler) -> bool {
        let inside = handler.source.starts_with(&self.places.roots.project);
        handler.layer != Layer::Explicit || !inside
    }

    /// The configuration with the project's variables as far as they count: when they are those it
    /// began with, as then; others when the project's hooks were trusted with them since.
    fn with_variables(&self, setup: &Setup) -> Result<Loaded, String> {
        let same = variables(&setup.loaded) == self.variables;
        let counts = setup.trusts_project() || (same && !self.without_variables);
        if counts || self.without_variables {
            return Ok(setup.with_trusted_variables(counts).0);
        }
        Err("nobody has agreed to the `env` that the project's settings have now".to_owned())
    }
}

fn name(handler: &Handler, places: &Places) -> String {
    let what = visible(&handler.action.summary());
    let place = firing::place(handler, places);
    format!("{} `{what}` ({place})", handler.event)
}

fn point(found: &Diagnostic, places: &Places) -> String {
    let at = found
        .position
        .map(|at| format!(":{}:{}", at.line, at.column));
    let (file, message) = (places.show(&found.file), visible(&found.message));
    format!("{file}{}: {message}", at.unwrap_or_default())
}

impl Reread for Again {
    fn reread(&self) -> Result<Ready, String> {
        let store =
            TrustStore::open(self.places.trust_file()).map_err(|error| error.to_string())?;
        let mut places = self.places.clone();
        if let Some(copy) = &self.copy {
            places.roots.project.clone_from(copy);
        }
        let mut setup = Setup::read(&places, self.dialect, &store);
        if self.managed_only {
            setup.keep_managed();
        }
        let broken: Vec<_> = setup.broken().map(|found| point(found, &places)).collect();
        if !broken.is_empty() {
            return Err(broken.join("; "));
        }
        if self.copy.is_some() {
            let original = Setup::read(&self.places, self.dialect, &store);
            scratch::as_in_its_place(&mut setup.loaded, &original.loaded);
        }
        let handlers = setup.loaded.handlers.iter();
        let untrusted: Vec<_> = handlers
            .filter(|handler| self.untrusted(&setup, handler))
            .map(|handler| name(handler, &places))
            .collect();
        if !untrusted.is_empty() {
            let untrusted = untrusted.join(", ");
            let way = match self.copy {
                Some(_) => "a rehearsal runs no others than those it began with",
                None => "look at it, then: seamline hooks trust",
            };
            return Err(format!("nobody has agreed to {untrusted}; {way}"));
        }
        let loaded = self.with_variables(&setup)?;
        let trust = states(&loaded);
        Ok((loaded, trust))
    }

    fn besides(&self) -> Vec<PathBuf> {
        vec![self.places.trust_file()]
    }
}

/// The project's variables, layer by layer.
fn variables(loaded: &Loaded) -> Vec<Variables> {
    let layers = loaded.env_layers.iter();
    let layers = layers.filter(|(layer, env)| layer.comes_with_project() && !env.is_empty());
    layers.map(|(_, env)| env.clone()).collect()
}

/// Whose each handler is, when all of them were agreed to.
pub(super) fn states(loaded: &Loaded) -> BTreeMap<HandlerKey, TrustState> {
    let state = |layer: &Layer| match layer {
        layer if layer.is_managed() => TrustState::Managed,
        layer if layer.comes_with_project() => TrustState::Trusted,
        _ => TrustState::Own,
    };
    let handlers = loaded.handlers.iter();
    handlers
        .map(|handler| (handler.key.clone(), state(&handler.layer)))
        .collect()
}
