//! A matcher that is valid and can fit nothing.

use super::look::{At, Look, Remark};
use super::{Check, Rule};
use crate::config::nearest;
use crate::dialect::{CLAUDE, DialectId, EventRow, Subject};
use crate::matcher::{Fit, Reading};

pub(super) const RULE: Rule = Rule {
    code: "dead-matcher",
    about: "A matcher that fits none of the values its event can have: another event's value, a \
            tool name in the wrong case or misspelt. The hooks never run and nobody says so.",
    check: Check::Group(check),
};

fn check(look: &Look<'_>) -> Vec<Remark> {
    let Some(matcher) = look.written_matcher() else {
        return Vec::new();
    };
    match look.row.subject {
        Subject::Tool => tools(look, matcher),
        Subject::Field(field) if !look.row.subjects.is_empty() => values(look, matcher, field),
        _ => Vec::new(),
    }
}

fn values(look: &Look<'_>, matcher: &str, field: &str) -> Vec<Remark> {
    let known = look.row.subjects;
    let message = |written: &str| {
        format!(
            "`{written}` fits no {field} of {}: it is {}",
            look.row.name,
            known.join(", ")
        )
    };
    match look.matcher.reading() {
        Reading::List(names) => names
            .iter()
            .filter(|name| !known.contains(&name.as_str()))
            .map(|name| {
                let help = nearest(name, known.iter().copied())
                    .map(|near| format!("did you mean `{near}`?"))
                    .or_else(|| elsewhere(look, name));
                Remark::warning(At::Matcher, message(name)).maybe_help(help)
            })
            .collect(),
        Reading::Regex
            if known
                .iter()
                .all(|value| look.matcher.fits(&[value]) == Fit::No) =>
        {
            vec![Remark::warning(At::Matcher, message(matcher))]
        }
        _ => Vec::new(),
    }
}

/// The event whose value it is.
fn elsewhere(look: &Look<'_>, value: &str) -> Option<String> {
    let mut events = look.dialect.events.iter();
    let owner = |row: &&EventRow| row.subjects.contains(&value);
    events
        .find(owner)
        .map(|row| format!("`{value}` is a value of {}", row.name))
}

fn tools(look: &Look<'_>, matcher: &str) -> Vec<Remark> {
    match look.matcher.reading() {
        Reading::List(names) => names.iter().filter_map(|name| tool(look, name)).collect(),
        Reading::Regex => pattern(look, matcher).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn tool(look: &Look<'_>, name: &str) -> Option<Remark> {
    let strange = !name.starts_with("mcp__")
        && look.tools().all(|known| known != name)
        && !of_the_other_client(look, name);
    if !strange {
        return None;
    }
    let client = look.client();
    Some(match nearest(name, look.tools()) {
        Some(near) => Remark::warning(At::Matcher, format!("`{name}` is no tool of {client}"))
            .help(format!(
                "did you mean `{near}`? Names must agree letter for letter"
            )),
        None => Remark::note(
            At::Matcher,
            format!("no tool named `{name}` is known in {client}"),
        )
        .help("if a plugin or an MCP server brings it, all is well"),
    })
}

/// The rule about Claude's tools in Codex files says more.
fn of_the_other_client(look: &Look<'_>, name: &str) -> bool {
    look.is(DialectId::Codex) && CLAUDE.tools.contains(&name)
}

fn pattern(look: &Look<'_>, matcher: &str) -> Option<Remark> {
    // Names of MCP tools are open, and permission rules have a rule of their own.
    let open = matcher.contains("mcp") || matcher.contains('(') && matcher.ends_with(')');
    if open
        || look
            .tools()
            .any(|name| look.matcher.fits(&[name]) != Fit::No)
    {
        return None;
    }
    let message = format!(
        "matcher {matcher:?} is read as a regular expression and fits no known tool of {}",
        look.client()
    );
    let listed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '|' | ',' | ' ' | '-');
    let help = (look.is(DialectId::Codex) && matcher.chars().all(listed))
        .then(|| "Codex splits lists at `|` only, without spaces".to_owned());
    Some(Remark::warning(At::Matcher, message).maybe_help(help))
}

#[cfg(test)]
mod tests {
    use super::super::trial::{claude, codex, command};
    use super::*;

    #[test]
    fn values_of_another_event_and_misspelt_ones_are_dead() {
        for (event, matcher, dead) in [
            ("SessionStart", "startup|clear|compact", 0),
            ("SessionStart", "init", 1),
            ("SessionStart", "startup|Resume|maintenance", 2),
            ("SessionStart", "^re", 0),
            ("SessionStart", "^init$", 1),
            ("Setup", "init", 0),
            ("PreCompact", "auto", 0),
            ("PreCompact", "threshold", 1),
            ("SubagentStop", "anything", 0),
        ] {
            let found = claude(RULE.code, event, matcher, &command("x"));
            assert_eq!(found.len(), dead, "{event} {matcher}: {found:?}");
        }
    }

    #[test]
    fn tool_names_agree_letter_for_letter() {
        for (matcher, dead) in [
            ("Bash", 0),
            ("bash", 1),
            ("Edit|write|Wirte", 2),
            ("Task|Agent", 0),
            ("mcp__a__b", 0),
            ("Frobnicate", 1),
            ("^(Write|Edit)$", 0),
            ("^edit$", 1),
            (".*", 0),
            ("(?i)x", 0),
            ("mcp__.*", 0),
        ] {
            let found = claude(RULE.code, "PreToolUse", matcher, &command("x"));
            assert_eq!(found.len(), dead, "{matcher}: {found:?}");
        }
    }

    #[test]
    fn codex_lists_have_no_commas_and_no_spaces() {
        for (matcher, dead) in [
            ("Bash|apply_patch", 0),
            ("Bash, Write", 1),
            ("Bash ", 1),
            ("Write|Edit", 0),
            ("Agent", 0),
        ] {
            let found = codex(RULE.code, "PreToolUse", matcher, &command("x"));
            assert_eq!(found.len(), dead, "{matcher}: {found:?}");
        }
    }
}
