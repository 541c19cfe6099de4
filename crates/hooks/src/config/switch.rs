//! The settings that turn hooks off: Claude's `disableAllHooks`, Codex's `[features] hooks`, and
//! `enabled = false` for one handler.
//!
//! Of the layers that set the switch, the nearest decides, in both directions (measured on Claude
//! Code: a project's `false` wins over the user's `true`); what an organisation's requirements pin
//! decides over all (measured on Codex). A project that Codex's `[projects]` does not list switches
//! nothing but its own: the client would not read it. Managed handlers stay on whatever a lower layer says.

use std::path::PathBuf;

use super::Loaded;
use super::tree::Span;
use crate::diagnostic::{Diagnostic, Severity};
use crate::handler::{Handler, Layer};

/// One setting of the switch.
#[derive(Debug, Clone)]
pub(crate) struct Switch {
    /// Whether hooks are off.
    pub(crate) off: bool,
    /// Whether no nearer setting overrides it.
    pub(crate) pinned: bool,
    /// Whether it counts for what comes with the same project alone.
    pub(crate) own_only: bool,
    /// The setting in the file's words: `disableAllHooks is true`.
    pub(crate) words: &'static str,
    pub(crate) file: PathBuf,
    pub(crate) layer: Layer,
    pub(crate) span: Span,
}

/// The words for a handler that `[hooks.state]` turns off.
pub const OFF_BY_STATE: &str = "`enabled = false` in [hooks.state] of the user's file";

/// The setting that decides.
fn deciding(switches: &[Switch]) -> Option<&Switch> {
    let pinned = switches.iter().find(|switch| switch.pinned);
    pinned.or_else(|| switches.iter().rfind(|switch| !switch.own_only))
}

/// Turns off what the deciding switch and the user's own `[hooks.state]` turn off.
pub(crate) fn apply(loaded: &mut Loaded, switches: &[Switch]) {
    for switch in switches.iter().filter(|it| it.own_only && it.off) {
        turn_off(loaded, switch, |layer| layer.comes_with_project());
    }
    let passed_over = |handler: &Handler| handler.disabled.is_some();
    for handler in loaded
        .handlers
        .iter_mut()
        .filter(|handler| !handler.layer.is_managed() && !passed_over(handler))
    {
        let state = loaded.codex_state.get(&handler.key);
        if state.and_then(|state| state.enabled) == Some(false) {
            handler.disabled = Some(OFF_BY_STATE.into());
        }
    }
    let Some(switch) = deciding(switches).filter(|switch| switch.off) else {
        return;
    };
    turn_off(loaded, switch, |layer| {
        switch.layer.is_managed() || !layer.is_managed()
    });
    warn_of_borrowed_power(loaded, switch);
}

fn turn_off(loaded: &mut Loaded, switch: &Switch, whose: impl Fn(&Layer) -> bool) {
    let handlers = loaded.handlers.iter_mut();
    for handler in handlers.filter(|handler| whose(&handler.layer)) {
        handler.disabled = Some(format!("{} in {}", switch.words, switch.file.display()));
    }
}

/// A file that comes with a repository turns off hooks of the user: allowed, and never in silence.
fn warn_of_borrowed_power(loaded: &mut Loaded, switch: &Switch) {
    let of_the_user = loaded
        .handlers
        .iter()
        .filter(|handler| !handler.layer.comes_with_project() && !handler.layer.is_managed())
        .count();
    if !switch.layer.comes_with_project() || of_the_user == 0 {
        return;
    }
    loaded.diagnostics.push(Diagnostic {
        severity: Severity::Warning,
        code: "project-disables-user-hooks",
        file: switch.file.clone(),
        position: loaded.position(&switch.file, switch.span.0),
        span: Some(switch.span),
        handler: None,
        message: format!(
            "this file of the project turns off {of_the_user} hook(s) of your own: {}",
            switch.words
        ),
        help: Some("a nearer setting decides; remove it here to keep your own hooks on".into()),
        managed: false,
    });
}
