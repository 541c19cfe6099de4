//! One protocol's configuration with everything that is known about it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use seamline_hooks::config::{self, FileState, Loaded};
use seamline_hooks::trust::{Standing, TrustState, TrustStore};
use seamline_hooks::{Diagnostic, DialectId, Handler, HandlerKey, Severity, lint};

use crate::args::Selection;
use crate::error::CliError;
use crate::output;
use crate::own::Own;
use crate::places::Places;
use crate::render::caret::Pointer;
use crate::render::count;

/// Findings that a run tells: whole layers are not in force.
const TOLD: [&str; 3] = ["managed-hooks-only", "project-untrusted", "plugin-not-read"];

/// A configuration, who trusts it, and what is wrong with it.
#[derive(Debug)]
pub(crate) struct Setup {
    /// What was read.
    pub loaded: Loaded,
    /// Trust of each handler.
    pub trust: HashMap<HandlerKey, Standing>,
    /// What is wrong: first what reading found, then what lint found.
    pub findings: Vec<Diagnostic>,
    /// Whether only what an organisation manages was left.
    pub managed_only: bool,
}

impl Setup {
    /// Reads one protocol's configuration.
    pub(crate) fn read(places: &Places, dialect: DialectId, store: &TrustStore) -> Self {
        let loaded = config::load(dialect, &places.roots_of(dialect));
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
            managed_only: false,
        }
    }

    /// Reads the configuration of the named protocol, or of each.
    pub(crate) fn read_selected(
        places: &Places,
        selection: &Selection,
        store: &TrustStore,
    ) -> Vec<Self> {
        let named = selection.named();
        DialectId::ALL
            .into_iter()
            .filter(|dialect| named.is_none_or(|named| named == *dialect))
            .map(|dialect| Self::read(places, dialect, store))
            .collect()
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

    /// Leaves only what an organisation manages: no option of ours takes that away.
    pub(crate) fn keep_managed(&mut self) {
        self.managed_only = true;
        let loaded = &mut self.loaded;
        loaded.handlers.retain(|handler| handler.layer.is_managed());
        loaded.files.retain(|file| file.layer.is_managed());
        loaded.env_layers.retain(|(layer, _)| layer.is_managed());
        loaded.env = loaded
            .env_layers
            .iter()
            .flat_map(|(_, env)| env.clone())
            .collect();
        let files: Vec<_> = loaded.files.iter().map(|file| file.path.clone()).collect();
        loaded.diagnostics.retain(|it| files.contains(&it.file));
        self.findings.retain(|it| files.contains(&it.file));
    }

    /// What is off although it is configured, in words: what whole layers lose, and which setting
    /// turns single hooks off.
    pub(crate) fn off(&self) -> Vec<String> {
        let dialect = self.loaded.dialect;
        let told = |found: &&Diagnostic| TOLD.contains(&found.code);
        let told: Vec<&str> = self
            .findings
            .iter()
            .filter(told)
            .map(|found| found.message.as_str())
            .collect();
        let mut reasons: Vec<(&str, usize)> = Vec::new();
        for handler in &self.loaded.handlers {
            let Some(reason) = handler.disabled.as_deref() else {
                continue;
            };
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, hooks)) => *hooks += 1,
                None => reasons.push((reason, 1)),
            }
        }
        reasons.retain(|(reason, _)| !told.iter().any(|words| words.ends_with(reason)));
        let told = told.into_iter().map(|words| format!("{dialect}: {words}"));
        let off = reasons.into_iter().map(|(reason, hooks)| {
            let are = if hooks == 1 { "is" } else { "are" };
            let hooks = count(hooks, "hook", "");
            format!("{hooks} of {dialect} {are} off: {reason}")
        });
        told.chain(off).collect()
    }

    /// Files that were looked for, when none of them has hooks.
    pub(crate) fn looked_in(&self) -> Vec<PathBuf> {
        if self.loaded.configures_hooks() {
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

    /// A finding with the line it is about, as it was read.
    pub(crate) fn point(&self, finding: &Diagnostic, places: &Places) -> Pointer {
        let text = self.loaded.texts.get(&finding.file).map(|text| &**text);
        Pointer::new(finding, &places.show(&finding.file), text)
    }

    /// Shows what is broken on standard error; the number of findings.
    pub(crate) fn complain(&self, places: &Places) -> usize {
        let pointers = self.broken().map(|finding| self.point(finding, places));
        pointers
            .map(|pointer| output::diagnostic(&pointer.render()))
            .count()
    }

    /// Whether what comes with the project is trusted: there are hooks, and all of them are.
    pub(crate) fn trusts_project(&self) -> bool {
        let handlers = self.loaded.handlers.iter();
        let mut from_project = handlers.filter(|h| h.layer.comes_with_project()).peekable();
        from_project.peek().is_some() && from_project.all(|h| self.trust_of(h).runs())
    }

    /// The configuration without the variables of a project that nobody has agreed to: with
    /// `PATH` alone it could choose what the user's own hooks run. Says whether any were left out.
    pub(crate) fn with_trusted_variables(&self, trust_project: bool) -> (Loaded, bool) {
        let mut loaded = self.loaded.clone();
        if trust_project || self.trusts_project() {
            return (loaded, false);
        }
        let all = loaded.env_layers.len();
        loaded
            .env_layers
            .retain(|(layer, _)| !layer.comes_with_project());
        loaded.env = loaded
            .env_layers
            .iter()
            .flat_map(|(_, env)| env.clone())
            .collect();
        let left_out = loaded.env_layers.len() < all;
        (loaded, left_out)
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

/// Applies seamline's own configuration, `--profile`, `-c` and `--hooks-config` to the places; the file
/// must be there. The project's own word counts when it is trusted on the command line.
pub(crate) fn select(
    mut places: Places,
    selection: &Selection,
    trust_project: bool,
) -> Result<Places, CliError> {
    places.own = Own::read(&places, trust_project)?;
    places.roots.profile = selection.profile.into();
    places.roots.session = selection.settings.flags()?;
    if !places.roots.session.is_empty() && selection.named() == Some(DialectId::Claude) {
        return Err(CliError::usage(
            "-c sets a setting of Codex, and only Claude Code's hooks are read",
        ));
    }
    if let Some(file) = &selection.hooks_config {
        let unreadable = |source| CliError::Unreadable {
            path: file.clone(),
            source,
        };
        let path = file.canonicalize().map_err(unreadable)?;
        std::fs::read(&path).map_err(unreadable)?;
        places.roots.explicit = Some(path);
        places.own = places.own.in_usual_places();
    }
    Ok(places)
}

/// The timeout of a handler, and whether it is a default.
pub(crate) fn timeout(handler: &Handler) -> (Duration, bool) {
    (handler.time_limit(), handler.timeout.is_none())
}

/// The word for what became of a file.
pub(crate) fn state_word(state: FileState) -> &'static str {
    match state {
        FileState::Absent => "absent",
        FileState::Loaded => "loaded",
        FileState::Broken => "broken",
        FileState::PassedOver => "passed-over",
    }
}
