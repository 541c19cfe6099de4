//! Which layers of Codex are in force, by what other layers say about them.
//!
//! Two settings take a whole layer away: `allow_managed_hooks_only` of the organisation's
//! `requirements.toml` every layer that is not the organisation's, and `[projects]` those of a
//! project that is not trusted. What is taken away is still read, so that a list can show it with
//! the reason; it never runs, switches nothing, and is never complained about.

use std::path::PathBuf;

use super::layers::{LayerFiles, repository_root};
use super::loading::ReadLayer;
use super::part::Part;
use super::projects::{Index, Level, Listed, Projects};
use super::tree::Span;
use super::{Loaded, Roots, UnlistedProject};
use crate::diagnostic::{Diagnostic, Severity};
use crate::dialect::DialectId;

/// What the layers say about each other.
pub(crate) struct Policy {
    dialect: DialectId,
    managed_only: Option<(PathBuf, Span)>,
    projects: Index,
    unlisted: UnlistedProject,
    project: PathBuf,
}

/// Why a layer is not in force.
#[derive(Debug, Clone)]
pub(crate) enum Cause {
    /// `allow_managed_hooks_only`.
    ManagedOnly(PathBuf, Span),
    /// `trust_level = "untrusted"`, of this folder.
    Untrusted(String, Listed),
    /// `[projects]` does not list this folder.
    Unlisted(String),
}

impl Policy {
    /// Collects what the layers say. A project says nothing about itself.
    pub(crate) fn of(dialect: DialectId, layers: &[ReadLayer], roots: &Roots) -> Self {
        let mut policy = Self {
            dialect,
            managed_only: None,
            projects: Index::default(),
            unlisted: roots.unlisted,
            project: roots.project.clone(),
        };
        let mut listed = Projects::new();
        for layer in layers {
            for file in &layer.files {
                let Part {
                    managed_only,
                    projects,
                    ..
                } = &file.part;
                if let Some(span) = managed_only {
                    policy.managed_only = Some((file.path.clone(), *span));
                }
                if !layer.place.layer.comes_with_project() {
                    listed.extend(projects.clone());
                }
            }
        }
        policy.projects = Index::new(listed);
        policy
    }

    /// What `[projects]` says about the session's folder.
    pub(crate) fn trusts_project(&self) -> Option<bool> {
        let standing = self.projects.standing(&self.project, &self.project);
        standing.map(|(_, listed)| listed.level == Level::Trusted)
    }

    /// Whether it is a layer of a project that `[projects]` says nothing about.
    pub(crate) fn is_unlisted(&self, place: &LayerFiles) -> bool {
        let of_project = self.dialect == DialectId::Codex && place.layer.comes_with_project();
        let undecided = self.unlisted != UnlistedProject::Trust;
        of_project && undecided && self.standing(place).is_none()
    }

    fn standing(&self, place: &LayerFiles) -> Option<(&str, &Listed)> {
        self.projects.standing(&place.folder, &self.project)
    }

    /// Why a layer is not in force, if it is not.
    pub(crate) fn against(&self, place: &LayerFiles) -> Option<Cause> {
        if self.dialect != DialectId::Codex {
            return None;
        }
        if let Some((file, span)) = &self.managed_only
            && !place.layer.is_managed()
        {
            return Some(Cause::ManagedOnly(file.clone(), *span));
        }
        if !place.layer.comes_with_project() {
            return None;
        }
        match self.standing(place) {
            Some((name, listed)) if listed.level == Level::Untrusted => {
                Some(Cause::Untrusted(name.to_owned(), listed.clone()))
            }
            None if self.unlisted == UnlistedProject::PassOver => {
                let root = repository_root(&self.project).display().to_string();
                Some(Cause::Unlisted(root))
            }
            _ => None,
        }
    }
}

impl Cause {
    /// Whether the client does not even look at the layer's settings.
    pub(crate) fn hides_settings(&self) -> bool {
        !matches!(self, Self::ManagedOnly(..))
    }

    /// The words for a handler that is off.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::ManagedOnly(file, _) => {
                format!("`allow_managed_hooks_only` is true in {}", file.display())
            }
            Self::Untrusted(folder, listed) => format!(
                "`trust_level` of {folder} is \"untrusted\" in {}",
                listed.file.display()
            ),
            Self::Unlisted(root) => format!("Codex's [projects] does not list {root}"),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::ManagedOnly(..) => "managed-hooks-only",
            Self::Untrusted(..) => "project-untrusted",
            Self::Unlisted(_) => "project-unlisted",
        }
    }

    fn help(&self) -> Option<String> {
        match self {
            Self::ManagedOnly(..) => None,
            Self::Untrusted(..) => {
                Some("set it to \"trusted\" to be asked about the project's hooks again".into())
            }
            Self::Unlisted(root) => Some(format!(
                "[projects.\"{root}\"] trust_level = \"trusted\" in your config.toml lists it"
            )),
        }
    }
}

/// Says once for each cause how much it takes away.
pub(crate) fn report(loaded: &mut Loaded, causes: &[(Cause, usize)]) {
    let mut said: Vec<(String, usize, &Cause)> = Vec::new();
    for (cause, hooks) in causes.iter().filter(|(_, hooks)| *hooks > 0) {
        let words = cause.words();
        match said.iter_mut().find(|(known, ..)| *known == words) {
            Some((_, count, _)) => *count += hooks,
            None => said.push((words, *hooks, cause)),
        }
    }
    for (words, hooks, cause) in said {
        let (file, span) = match cause {
            Cause::ManagedOnly(file, span) => (file.clone(), Some(*span)),
            Cause::Untrusted(_, listed) => (listed.file.clone(), Some(listed.span)),
            Cause::Unlisted(_) => (loaded.roots.codex_home.join("config.toml"), None),
        };
        loaded.diagnostics.push(Diagnostic {
            severity: Severity::Warning,
            code: cause.code(),
            position: span.and_then(|span| loaded.position(&file, span.0)),
            file,
            span,
            handler: None,
            message: format!("{hooks} hook(s) are off: {words}"),
            help: cause.help(),
            managed: false,
        });
    }
}
