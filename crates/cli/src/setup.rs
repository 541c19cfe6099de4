//! One protocol's configuration with everything that is known about it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use seamline_hooks::config::{self, FileState, Loaded};
use seamline_hooks::trust::{Standing, TrustState, TrustStore};
use seamline_hooks::{Diagnostic, DialectId, Handler, HandlerKey, Severity, lint};

use crate::args::Selection;
use crate::error::CliError;
use crate::places::Places;

/// A configuration, who trusts it, and what is wrong with it.
#[derive(Debug)]
pub(crate) struct Setup {
    /// What was read.
    pub loaded: Loaded,
    /// Trust of each handler.
    pub trust: HashMap<HandlerKey, Standing>,
    /// What is wrong: first what reading found, then what lint found.
    pub findings: Vec<Diagnostic>,
}

impl Setup {
    /// Reads one protocol's configuration.
    pub(crate) fn read(places: &Places, dialect: DialectId, store: &TrustStore) -> Self {
        let loaded = config::load(dialect, &places.roots);
        let handlers = loaded.handlers.iter();
        let trust = handlers
            .map(|h| (h.key.clone(), store.status(h, &loaded)))
            .collect();
        let mut findings = loaded.diagnostics.clone();
        findings.extend(lint::lint(&loaded, &surroundings()));
        Self {
            loaded,
            trust,
            findings,
        }
    }

    /// Trust of a handler; one that nobody knows is untrusted.
    pub(crate) fn trust_of(&self, handler: &Handler) -> TrustState {
        let standing = self.trust.get(&handler.key);
        standing.map_or(TrustState::Untrusted, |standing| standing.state)
    }

    /// What changed since a modified handler was trusted.
    pub(crate) fn changed(&self, handler: &Handler) -> Option<&str> {
        self.trust.get(&handler.key)?.why.as_deref()
    }

    /// Files that were looked for, when none of them is there.
    pub(crate) fn looked_in(&self) -> Vec<PathBuf> {
        if self.loaded.any_file() {
            return Vec::new();
        }
        self.loaded
            .files
            .iter()
            .map(|file| file.path.clone())
            .collect()
    }

    /// The findings that keep a command from running anything.
    pub(crate) fn broken(&self) -> impl Iterator<Item = &Diagnostic> {
        self.findings
            .iter()
            .filter(|finding| finding.severity == Severity::Broken)
    }
}

/// What lint must know beside the configuration: the variables that hooks will find set.
fn surroundings() -> lint::Context {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    lint::Context {
        variables: names.collect(),
        ..lint::Context::default()
    }
}

/// Applies `--hooks-config` to the places; the file must be there.
pub(crate) fn select(mut places: Places, selection: &Selection) -> Result<Places, CliError> {
    if let Some(file) = &selection.hooks_config {
        let unreadable = |source| CliError::Unreadable {
            path: file.clone(),
            source,
        };
        let path = file.canonicalize().map_err(unreadable)?;
        std::fs::read(&path).map_err(unreadable)?;
        places.roots.explicit = Some(path);
    }
    Ok(places)
}

/// The timeout of a handler, and whether it is its event's default.
pub(crate) fn timeout(handler: &Handler) -> (Duration, bool) {
    let row = handler.dialect.table().event(handler.event);
    let default = row.map_or(Duration::ZERO, |row| row.timeouts.default);
    (
        handler.timeout.unwrap_or(default),
        handler.timeout.is_none(),
    )
}

/// The word for what became of a file.
pub(crate) fn state_word(state: FileState) -> &'static str {
    match state {
        FileState::Absent => "absent",
        FileState::Loaded => "loaded",
        FileState::Broken => "broken",
    }
}
