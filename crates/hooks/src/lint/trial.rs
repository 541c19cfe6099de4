//! Tries one rule on a configuration.

use std::path::Path;

use super::{Context, lint};
use crate::config::{Loaded, Roots, load};
use crate::dialect::DialectId;

/// Loads a text as the explicit file of a project folder.
pub(super) fn load_in(project: &Path, dialect: DialectId, text: &str) -> Loaded {
    let path = project.join("hooks-under-trial.json");
    std::fs::write(&path, text).unwrap();
    let mut roots = Roots::new(project.join("no-home"), project);
    roots.system = project.join("no-system");
    roots.explicit = Some(path);
    load(dialect, &roots)
}

/// What one rule says about a configuration in a project folder with these files.
pub(super) fn findings_with(
    files: &[(&str, &str)],
    dialect: DialectId,
    code: &str,
    text: &str,
) -> Vec<String> {
    let project = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = project.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    let loaded = load_in(project.path(), dialect, text);
    assert!(
        !loaded.handlers.is_empty(),
        "nothing loaded: {:?}",
        loaded.diagnostics
    );
    let found = lint(&loaded, &Context::default());
    found
        .into_iter()
        .filter(|found| found.code == code)
        .map(|found| found.message)
        .collect()
}

/// What one rule says about one Claude group.
pub(super) fn claude(code: &str, event: &str, matcher: &str, handler: &str) -> Vec<String> {
    findings_with(
        &[],
        DialectId::Claude,
        code,
        &group(event, matcher, handler),
    )
}

/// What one rule says about one Codex group.
pub(super) fn codex(code: &str, event: &str, matcher: &str, handler: &str) -> Vec<String> {
    findings_with(&[], DialectId::Codex, code, &group(event, matcher, handler))
}

/// A configuration of one group.
pub(super) fn group(event: &str, matcher: &str, handler: &str) -> String {
    let matcher = serde_json::Value::from(matcher);
    format!(r#"{{"hooks": {{"{event}": [{{"matcher": {matcher}, "hooks": [{handler}]}}]}}}}"#)
}

/// A command handler.
pub(super) fn command(text: &str) -> String {
    serde_json::json!({ "type": "command", "command": text }).to_string()
}
