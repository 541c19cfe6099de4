//! Permission rules of a run: those of Claude's settings, whatever `--hooks` says.
//!
//! No option of ours takes a deny or ask rule away. Allow rules that come with a project count
//! only when its hooks do: a repository must not agree to its own commands.

use std::path::Path;

use seamline_harness::permission::Mode;
use seamline_harness::plugins::PermissionRules;
use seamline_hooks::config::{self, FileState, Loaded, PermissionRule};
use seamline_hooks::trust::TrustStore;
use seamline_hooks::{Diagnostic, DialectId, Severity};
use seamline_rules::{Policy, Tier};

use super::RunArgs;
use super::scratch::Scratch;
use crate::args::Selection;
use crate::error::CliError;
use crate::places::Places;
use crate::render::count;
use crate::setup::Setup;

/// Findings about what stands in a settings file and does not act.
const IDLE: [&str; 3] = ["bad-rule", "idle-rule", "setting-not-applied"];

/// The settings that rules are taken from.
pub(super) struct Settings {
    /// The usual files, and the one that was named, where it is Claude's.
    setups: Vec<Setup>,
}

impl Settings {
    /// Reads them. `selected` are the places with `--hooks-config` or `config` applied.
    pub(super) fn read(
        usual: &Places,
        selected: &Places,
        selection: &Selection,
        store: &TrustStore,
    ) -> Self {
        let mut setups = vec![Setup::read(usual, DialectId::Claude, store)];
        let configured = selected.own.of(DialectId::Claude).config.is_some();
        if configured || selection.named() == Some(DialectId::Claude) {
            setups.push(Setup::read(selected, DialectId::Claude, store));
        }
        Self { setups }
    }

    /// What the client would drop, rules with it. Files that are read for their hooks too are left
    /// to those.
    pub(super) fn broken(&self, hooks: &[Setup]) -> impl Iterator<Item = (&Setup, &Diagnostic)> {
        let read = move |setup: &&Setup| {
            let same = |other: &Setup| {
                other.loaded.dialect == setup.loaded.dialect
                    && other.loaded.roots == setup.loaded.roots
            };
            !hooks.iter().any(same)
        };
        self.setups.iter().filter(read).flat_map(|setup| {
            let costs_rules = |found: &&Diagnostic| {
                let file = setup.loaded.files.iter().find(|f| f.path == found.file);
                found.code == "bad-rule" || file.is_some_and(|f| f.state == FileState::Broken)
            };
            setup
                .broken()
                .filter(costs_rules)
                .map(move |found| (setup, found))
        })
    }

    /// The rules in force, and in words what is not.
    pub(super) fn rules(
        &self,
        args: &RunArgs,
        places: &Places,
        scratch: Option<&Scratch>,
        trusted: bool,
    ) -> Result<(PermissionRules, Vec<String>), CliError> {
        let (mut policies, mut off) = (Policy::new(), Vec::new());
        for setup in &self.setups {
            forbid_bypass(args, setup, places)?;
            off.extend(idle(setup, places));
            let trusted = trusted || setup.trusts_project();
            off.extend(held(setup, places, trusted));
            let copied = scratch.map(|scratch| in_copy(setup, scratch.path()));
            let loaded = copied.as_ref().unwrap_or(&setup.loaded);
            let name = |file: &Path| name(file, places, scratch);
            policies.append(loaded.policy(name, |rule| trusted || !is_held(rule)));
        }
        Ok((PermissionRules::new(policies, &places.roots.home), off))
    }
}

fn forbid_bypass(args: &RunArgs, setup: &Setup, places: &Places) -> Result<(), CliError> {
    let Some(no) = &setup.loaded.no_bypass else {
        return Ok(());
    };
    if args.permission_mode != Mode::BypassPermissions {
        return Ok(());
    }
    let (file, at) = (places.show(&no.file), no.position);
    Err(CliError::usage(format!(
        "--permission-mode bypassPermissions is forbidden by {file}:{}:{}",
        at.line, at.column
    )))
}

fn idle(setup: &Setup, places: &Places) -> impl Iterator<Item = String> {
    let idle =
        |found: &&Diagnostic| IDLE.contains(&found.code) && found.severity != Severity::Broken;
    let findings = setup.findings.iter().filter(idle);
    findings.map(|found| {
        let at = found.position.unwrap_or_default();
        let help = found.help.as_ref().map(|help| format!(" ({help})"));
        let (file, help) = (places.show(&found.file), help.unwrap_or_default());
        format!("{file}:{}:{}: {}{help}", at.line, at.column, found.message)
    })
}

/// Whether a rule waits for the project to be trusted.
fn is_held(rule: &PermissionRule) -> bool {
    rule.tier == Tier::Allow && rule.layer.comes_with_project()
}

fn held(setup: &Setup, places: &Places, trusted: bool) -> Option<String> {
    let held = setup.loaded.permissions.iter().filter(|rule| is_held(rule));
    let (first, number) = (held.clone().next()?, held.count());
    let rules = count(number, "allow rule", "");
    let file = places.show(&first.file);
    (!trusted).then(|| format!("{rules} of the project ({file}) left out, since it is not trusted"))
}

/// The same settings as a copy of the project has them, so that `/path` means the copy.
fn in_copy(setup: &Setup, copy: &Path) -> Loaded {
    let mut roots = setup.loaded.roots.clone();
    roots.project = copy.to_path_buf();
    config::load(DialectId::Claude, &roots)
}

fn name(file: &Path, places: &Places, scratch: Option<&Scratch>) -> String {
    let inside = scratch.and_then(|scratch| file.strip_prefix(scratch.path()).ok());
    match inside {
        Some(inside) => places.show(&places.roots.project.join(inside)),
        None => places.show(file),
    }
}
