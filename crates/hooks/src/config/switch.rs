//! The settings that turn hooks off: Claude's `disableAllHooks`, Codex's `[features] hooks`, and
//! `enabled = false` for one handler.
//!
//! Of the layers that set the switch, the nearest decides, in both directions (measured on Claude
//! Code: a project's `false` wins over the user's `true`). Managed handlers stay on whatever a
//! lower layer says.

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
    /// The setting in the file's words: `disableAllHooks is true`.
    pub(crate) words: &'static str,
    pub(crate) file: PathBuf,
    pub(crate) layer: Layer,
    pub(crate) span: Span,
}

/// Turns off what the nearest switch and the user's own `[hooks.state]` turn off.
pub(crate) fn apply(loaded: &mut Loaded, nearest: Option<&Switch>) {
    for handler in loaded
        .handlers
        .iter_mut()
        .filter(|handler| !managed(handler))
    {
        let state = loaded.codex_state.get(&handler.key);
        if state.and_then(|state| state.enabled) == Some(false) {
            handler.disabled = Some("`enabled = false` in [hooks.state] of the user's file".into());
        }
    }
    if let Some(switch) = nearest.filter(|switch| switch.off) {
        for handler in loaded
            .handlers
            .iter_mut()
            .filter(|handler| !managed(handler))
        {
            handler.disabled = Some(format!("{} in {}", switch.words, switch.file.display()));
        }
        warn_of_borrowed_power(loaded, switch);
    }
}

fn managed(handler: &Handler) -> bool {
    matches!(handler.layer, Layer::Managed | Layer::System)
}

/// A file that comes with a repository turns off hooks of the user: allowed, and never in silence.
fn warn_of_borrowed_power(loaded: &mut Loaded, switch: &Switch) {
    let of_the_user = loaded
        .handlers
        .iter()
        .filter(|handler| !handler.layer.comes_with_project() && !managed(handler))
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
