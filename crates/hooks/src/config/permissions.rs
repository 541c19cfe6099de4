//! Claude's `permissions`: rules over tool calls, stated beside the hooks.
//!
//! The client drops a rule that it cannot read and goes on (measured). A deny or ask rule that is
//! dropped gates nothing, so here it is broken like a hook that is dropped; without an allow rule
//! there is only more to ask, which is a warning.

use std::path::{Path, PathBuf};

use seamline_rules::{Policy, Rule, Source, Tier};

use super::report::{Finding, Report};
use super::tree::{Node, Table};
use super::{Loaded, did_you_mean};
use crate::diagnostic::Position;
use crate::dialect::CLAUDE;
use crate::handler::Layer;

/// The lists, in the order they are heard.
const LISTS: [(&str, Tier); 3] = [
    ("deny", Tier::Deny),
    ("ask", Tier::Ask),
    ("allow", Tier::Allow),
];

/// Settings beside the lists that are known and not applied, and what to do instead.
const NOT_APPLIED: [(&str, &str); 3] = [
    ("defaultMode", "pass --permission-mode"),
    ("additionalDirectories", "allow their files by rules"),
    ("disableAutoMode", "there is no mode `auto` here"),
];

/// One permission rule of a settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionRule {
    /// Its list.
    pub tier: Tier,
    /// The rule; `/path` in it starts at the folder its layer stands for (documented).
    pub rule: Rule,
    /// The layer of its file.
    pub layer: Layer,
    /// Its file.
    pub file: PathBuf,
    /// Where it stands there.
    pub position: Position,
}

/// Where a file forbids the mode `bypassPermissions`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoBypass {
    /// The file.
    pub file: PathBuf,
    /// The place of the setting.
    pub position: Position,
}

/// What one file says.
#[derive(Debug, Default)]
pub(crate) struct Permissions {
    pub(crate) rules: Vec<PermissionRule>,
    pub(crate) no_bypass: Option<NoBypass>,
}

impl Loaded {
    /// The permission rules that `keep` wants, as one policy. `name` says how a file is called in
    /// denials and questions.
    pub fn policy(
        &self,
        name: impl Fn(&Path) -> String,
        keep: impl Fn(&PermissionRule) -> bool,
    ) -> Policy {
        let mut policy = Policy::new();
        for stated in self.permissions.iter().filter(|rule| keep(rule)) {
            let Position { line, column } = stated.position;
            let source = Source {
                name: name(&stated.file),
                position: Some((line, column)),
            };
            policy.add(stated.tier, stated.rule.clone(), source);
        }
        policy
    }
}

/// Reads the lists; `Err` is the first value of a wrong type with its key and what it should be,
/// which costs the file.
pub(crate) fn read<'t>(
    report: &mut Report<'_>,
    table: &'t Table,
) -> Result<Permissions, (&'t Node, String, &'static str)> {
    let mut read = Permissions::default();
    for (key, tier) in LISTS {
        let Some(node) = table.get(key) else { continue };
        let wrong = || (node, format!("permissions.{key}"), "a list of rules");
        for item in node.as_list().ok_or_else(wrong)? {
            read.rules.extend(rule(report, tier, item));
        }
    }
    if let Some(node) = table.get("disableBypassPermissionsMode") {
        read.no_bypass = (node.as_text() == Some("disable")).then(|| NoBypass {
            file: report.path.to_path_buf(),
            position: report.position(node.span.0),
        });
    }
    for (key, instead) in NOT_APPLIED {
        if let Some(entry) = table.entry(key) {
            let message = format!("`permissions.{key}` is not applied");
            let note = Finding::warning("setting-not-applied", entry.key_span, message);
            report.add(note.help(instead));
        }
    }
    Ok(read)
}

/// One entry of a list. Whatever is wrong with it costs that entry alone (measured).
fn rule(report: &mut Report<'_>, tier: Tier, node: &Node) -> Option<PermissionRule> {
    let Some(text) = node.as_text() else {
        let found = node.describe();
        let message = format!("a permission rule is a string, found {found}; it is dropped");
        report.add(dropped(tier, node, message));
        return None;
    };
    let rule = match Rule::parse(text) {
        Ok(rule) => rule,
        Err(error) => {
            let message = format!("`{text}` is no permission rule and is dropped: {error}");
            report.add(dropped(tier, node, message));
            return None;
        }
    };
    if text.starts_with("mcp__") && rule.specifier().is_some() {
        let message = format!("`{text}` is dropped: rules of settings take an MCP tool as a whole");
        report.add(dropped(tier, node, message).help("drop the parentheses"));
        return None;
    }
    warn(report, tier, node, &rule);
    Some(PermissionRule {
        tier,
        rule: rule.rooted_at(base(report)),
        layer: report.layer.clone(),
        file: report.path.to_path_buf(),
        position: report.position(node.span.0),
    })
}

fn dropped(tier: Tier, node: &Node, message: String) -> Finding {
    match tier {
        Tier::Deny | Tier::Ask => Finding::broken("bad-rule", node.span, message),
        Tier::Allow => Finding::warning("bad-rule", node.span, message),
    }
}

/// What is accepted and does nothing.
fn warn(report: &mut Report<'_>, tier: Tier, node: &Node, rule: &Rule) {
    let name = rule.tool().as_str();
    if let Some(why) = rule.idle(tier.reading()) {
        let message = format!("the rule `{rule}` never takes effect: {why}");
        report.add(Finding::warning("idle-rule", node.span, message));
    } else if !name.contains(['_', '*']) && !CLAUDE.tools.contains(&name) {
        let message =
            format!("the rule `{rule}` is about `{name}`, which is no tool of the client");
        let known = CLAUDE.tools.iter().copied();
        let finding = Finding::warning("idle-rule", node.span, message);
        report.add(finding.maybe_help(did_you_mean(name, known)));
    }
}

/// What `/path` starts from (documented): `~/.claude` for the user's file, the project for the
/// project's, the folder of a file that was named.
fn base(report: &Report<'_>) -> PathBuf {
    let folder = report.path.parent().unwrap_or(report.path);
    let base = match report.layer.comes_with_project() {
        true => folder.parent().unwrap_or(folder),
        false => folder,
    };
    base.to_path_buf()
}

#[cfg(test)]
mod tests {
    use super::super::{FileState, Roots, load};
    use super::*;
    use crate::dialect::DialectId;

    fn loaded(settings: &str) -> Loaded {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("p");
        std::fs::create_dir_all(project.join(".claude")).unwrap();
        std::fs::write(project.join(".claude/settings.json"), settings).unwrap();
        let mut roots = Roots::new(folder.path().join("home"), project);
        roots.system = folder.path().join("etc");
        load(DialectId::Claude, &roots)
    }

    fn codes(loaded: &Loaded) -> Vec<&'static str> {
        loaded.diagnostics.iter().map(|found| found.code).collect()
    }

    /// A rule that cannot be read is broken where it would gate; what costs no gate is a warning.
    #[test]
    fn what_is_wrong_with_a_rule_is_said() {
        for (permissions, expected) in [
            (r#"{"deny": ["Bash(rm *)", "Read(.env)"]}"#, vec![]),
            (r#"{"deny": ["Bash(rm"]}"#, vec!["bad-rule"]),
            (r#"{"ask": [""]}"#, vec!["bad-rule"]),
            (r#"{"allow": ["Bash(rm"]}"#, vec!["bad-rule"]),
            (r#"{"deny": ["mcp__s__t(x:1)"]}"#, vec!["bad-rule"]),
            (r#"{"deny": ["mcp__s"]}"#, vec![]),
            (r#"{"deny": ["Bahs"]}"#, vec!["idle-rule"]),
            (r#"{"deny": ["Bahs(rm *)"]}"#, vec!["bad-rule"]),
            (r#"{"allow": ["Bash()"]}"#, vec!["idle-rule"]),
            (r#"{"defaultMode": "plan"}"#, vec!["setting-not-applied"]),
            (r#"{"deny": "Bash"}"#, vec!["bad-setting"]),
            (r#"{"deny": ["Bash", 3]}"#, vec!["bad-rule"]),
            ("3", vec!["bad-setting"]),
        ] {
            let loaded = loaded(&format!(r#"{{"permissions": {permissions}}}"#));
            assert_eq!(codes(&loaded), expected, "{permissions}");
            let gates = !permissions.starts_with("{\"allow") && expected == ["bad-rule"];
            let named = loaded.broken().any(|found| found.code == "bad-rule");
            assert_eq!(named, gates, "{permissions}");
            let broken = expected == ["bad-setting"];
            assert_eq!(
                loaded.files.iter().any(|f| f.state == FileState::Broken),
                broken,
                "{permissions}"
            );
        }
    }

    /// Rules know their list, place and base.
    #[test]
    fn rules_are_where_they_were_written() {
        let loaded =
            loaded("{\"permissions\": {\n  \"allow\": [\"Read(/a)\"],\n  \"deny\": [\"Bash\"]}}");
        let found: Vec<_> = loaded
            .permissions
            .iter()
            .map(|r| {
                (
                    r.tier,
                    r.rule.to_string(),
                    r.position.line,
                    r.position.column,
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                (Tier::Deny, "Bash".to_owned(), 3, 12),
                (Tier::Allow, "Read(/a)".to_owned(), 2, 13),
            ]
        );
        let base = loaded.permissions.last().unwrap().rule.base().unwrap();
        assert_eq!(base, loaded.roots.project);
        let policy = loaded.policy(|_| "F".to_owned(), |rule| rule.tier == Tier::Deny);
        assert_eq!(
            policy.rules(Tier::Deny).first().unwrap().to_string(),
            "`Bash` (F:3:12)"
        );
        assert!(policy.rules(Tier::Allow).is_empty());
    }

    #[test]
    fn bypass_is_forbidden_by_the_word_only() {
        for (word, forbidden) in [("\"disable\"", true), ("\"off\"", false), ("true", false)] {
            let text = format!(r#"{{"permissions": {{"disableBypassPermissionsMode": {word}}}}}"#);
            assert_eq!(loaded(&text).no_bypass.is_some(), forbidden, "{word}");
        }
    }
}
