//! Matchers of MCP tools, whose names have rules of their own.

use super::look::{At, Look, Remark};
use super::{Check, Rule};
use crate::dialect::{DialectId, Subject};
use crate::matcher::Reading;

pub(super) const RULE: Rule = Rule {
    code: "mcp-matcher",
    about: "MCP tools are named mcp__server__tool. A server's name alone fits nothing, Codex \
            writes hyphens of a server's name as `_`, and an unanchored pattern also fits names \
            that merely contain it.",
    check: Check::Group(check),
};

fn check(look: &Look<'_>) -> Vec<Remark> {
    let Some(matcher) = look
        .written_matcher()
        .filter(|_| look.row.subject == Subject::Tool)
    else {
        return Vec::new();
    };
    let mut remarks = Vec::new();
    if let Reading::List(names) = look.matcher.reading() {
        let servers = names.iter().filter(|name| names_a_server(name));
        remarks.extend(servers.map(|name| {
            Remark::warning(
                At::Matcher,
                format!("`{name}` names a server and fits none of its tools"),
            )
            .help(format!("write `^{name}__.*$`"))
        }));
    }
    if look.is(DialectId::Codex) {
        remarks.extend(hyphenated(matcher).map(|name| {
            let message = format!("no tool is named `{name}...`: Codex writes hyphens as `_`");
            Remark::warning(At::Matcher, message)
                .help(format!("write `{}`", name.replace('-', "_")))
        }));
    }
    if look.matcher.reading() == Reading::Regex && matcher.starts_with("mcp__") {
        let message = format!("`{matcher}` also fits tools whose names merely contain it");
        remarks.push(Remark::note(At::Matcher, message).help(format!("write `^{matcher}`")));
    }
    remarks
}

fn names_a_server(name: &str) -> bool {
    name.strip_prefix("mcp__")
        .is_some_and(|rest| !rest.is_empty() && !rest.contains("__"))
}

/// The literal start of an MCP name with a hyphen in it.
fn hyphenated(matcher: &str) -> Option<&str> {
    let start = matcher.find("mcp__")?;
    let name = matcher.get(start..)?;
    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-'));
    let name = end.map_or(Some(name), |end| name.get(..end))?;
    name.contains('-').then_some(name)
}

#[cfg(test)]
mod tests {
    use super::super::trial::{claude, codex, command};
    use super::*;

    #[test]
    fn servers_hyphens_and_missing_anchors_are_found() {
        for (matcher, in_claude, in_codex) in [
            ("mcp__memory", 1, 1),
            ("mcp__memory__get", 0, 0),
            ("^mcp__memory__.*$", 0, 0),
            ("mcp__memory__.*", 1, 1),
            ("mcp__my-srv__get", 0, 2),
            ("^mcp__my-srv__.*", 0, 1),
            ("Bash", 0, 0),
        ] {
            let found = claude(RULE.code, "PreToolUse", matcher, &command("x"));
            assert_eq!(found.len(), in_claude, "claude {matcher}: {found:?}");
            let found = codex(RULE.code, "PreToolUse", matcher, &command("x"));
            assert_eq!(found.len(), in_codex, "codex {matcher}: {found:?}");
        }
    }
}
