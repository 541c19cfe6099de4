//! Reads what `config.toml` says about hooks beside the hooks: `[features]`, `[hooks.state]`,
//! `[plugins]`; and the keys that only `requirements.toml` has.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::CodexState;
use super::codex::{Shape, mismatch};
use super::report::{Finding, Report};
use super::switch::Switch;
use super::tree::{Node, Span, Table};
use crate::handler::HandlerKey;

/// Codex's own trust entries.
pub(crate) type States = BTreeMap<HandlerKey, CodexState>;

/// The name `[features] hooks` had before.
const OLD_NAME: &str = "codex_hooks";

/// `[features] hooks`, or its old name.
pub(crate) fn feature(
    features: &Node,
    report: &Report<'_>,
    shapes: &mut Vec<Shape>,
) -> Option<Switch> {
    let Some(table) = features.as_table() else {
        shapes.push(mismatch(features, "a map"));
        return None;
    };
    let (words, node) = match (table.get("hooks"), table.get(OLD_NAME)) {
        (Some(node), _) => ("`hooks` is false under [features]", node),
        (None, Some(node)) => ("`codex_hooks` is false under [features]", node),
        (None, None) => return None,
    };
    let Some(on) = node.as_bool() else {
        shapes.push(mismatch(node, "a boolean"));
        return None;
    };
    Some(Switch {
        off: !on,
        pinned: false,
        own_only: false,
        words,
        file: report.path.to_path_buf(),
        layer: report.layer.clone(),
        span: report.in_file(node.span),
    })
}

/// The client announces the old name as well (measured).
pub(crate) fn deprecated_alias(features: &Node) -> Option<Finding> {
    let entry = features.as_table()?.entry(OLD_NAME)?;
    let message = "`codex_hooks` is an old name";
    let finding = Finding::note("deprecated-feature", entry.key_span, message);
    Some(finding.help("write `hooks` under [features]"))
}

/// `[hooks.state."<key>"]`.
pub(crate) fn state(node: &Node, shapes: &mut Vec<Shape>) -> States {
    let Some(table) = node.as_table() else {
        shapes.push(mismatch(node, "a map"));
        return States::new();
    };
    let mut states = States::new();
    for entry in table.effective() {
        let Some(fields) = entry.value.as_table() else {
            shapes.push(mismatch(&entry.value, "struct HookStateToml"));
            continue;
        };
        let mut state = CodexState::default();
        if let Some(node) = fields.get("trusted_hash") {
            state.trusted_hash = node.as_text().map(str::to_owned);
            let wrong = state.trusted_hash.is_none();
            shapes.extend(wrong.then(|| mismatch(node, "a string")));
        }
        if let Some(node) = fields.get("enabled") {
            state.enabled = node.as_bool();
            let wrong = state.enabled.is_none();
            shapes.extend(wrong.then(|| mismatch(node, "a boolean")));
        }
        states.insert(HandlerKey(entry.key.clone()), state);
    }
    states
}

/// `allow_managed_hooks_only = true`: where it says so.
pub(crate) fn managed_only(
    table: &Table,
    report: &Report<'_>,
    shapes: &mut Vec<Shape>,
) -> Option<Span> {
    let node = table.get("allow_managed_hooks_only")?;
    let only = node.as_bool();
    shapes.extend(only.is_none().then(|| mismatch(node, "a boolean")));
    (only == Some(true)).then(|| report.in_file(node.span))
}

/// `managed_dir` under `[hooks]`: the folder the organisation keeps its scripts in. The client
/// names the hooks after it when it is absolute (measured).
pub(crate) fn managed_folder(hooks: &Table, shapes: &mut Vec<Shape>) -> Option<PathBuf> {
    let node = hooks.get("managed_dir")?;
    let folder = node.as_text().map(PathBuf::from);
    shapes.extend(folder.is_none().then(|| mismatch(node, "a path")));
    folder.filter(|folder| folder.is_absolute())
}

/// Plugins may bring hooks, and none of theirs are read: each that is on is said.
pub(crate) fn plugins(node: &Node) -> Vec<Finding> {
    let entries = node.as_table().map(Table::effective).unwrap_or_default();
    let off = |node: &Node| {
        let enabled = node.as_table().and_then(|fields| fields.get("enabled"));
        enabled.and_then(Node::as_bool) == Some(false)
    };
    let on = entries.into_iter().filter(|entry| !off(&entry.value));
    on.map(|entry| {
        let message = format!(
            "hooks of the Codex plugin `{}` are not read; if it has any, they do not run",
            entry.key
        );
        Finding::warning("plugin-not-read", entry.key_span, message)
            .help("copy them into a hooks.json of your own, or of the project")
    })
    .collect()
}
