//! From text to [`Rule`].

use crate::command::CommandPattern;
use crate::domain::DomainPattern;
use crate::error::{Problem, RuleError};
use crate::name::{SkillPattern, ToolPattern};
use crate::parameter::ParameterPattern;
use crate::path::PathPattern;
use crate::rule::{Rule, Specifier};
use crate::tool::{self, Family, ToolFacts};

/// A problem and the byte offset it stands at, within the part that was looked at.
pub(crate) type Located<T> = Result<T, (usize, Problem)>;

pub(crate) fn rule(text: &str) -> Result<Rule, RuleError> {
    let fail = |(at, problem)| RuleError::at(text, at, problem);
    shape(text).map_err(fail)?;
    let (name, content) = match text.split_once('(') {
        None => (text, None),
        Some((name, rest)) => {
            let Some(content) = rest.strip_suffix(')') else {
                return Err(RuleError::at(text, name.len(), Problem::Unclosed));
            };
            (name, Some(content))
        }
    };
    tool_name(name, content.is_some()).map_err(fail)?;
    let specifier = match content {
        None => None,
        Some(content) => {
            let start = name.len() + 1;
            specifier(name, content).map_err(|(at, problem)| fail((start + at, problem)))?
        }
    };
    let tool = ToolPattern::new(name);
    Ok(Rule {
        text: text.to_owned(),
        tool,
        specifier,
        base: None,
    })
}

fn shape(text: &str) -> Located<()> {
    if text.trim().is_empty() {
        return Err((0, Problem::Empty));
    }
    if text.starts_with(char::is_whitespace) {
        return Err((0, Problem::Padded));
    }
    if text.ends_with(char::is_whitespace) {
        return Err((text.trim_end().len(), Problem::Padded));
    }
    Ok(())
}

fn tool_name(name: &str, has_specifier: bool) -> Located<()> {
    if name.is_empty() {
        return Err((0, Problem::NoName));
    }
    for (at, c) in name.char_indices() {
        match c {
            '|' | ',' | '&' | ';' => return Err((at, Problem::SeveralTools(c))),
            '*' if has_specifier => return Err((at, Problem::GlobWithSpecifier)),
            _ if c.is_alphanumeric() || "_-.:/*".contains(c) => {}
            _ => return Err((at, Problem::NameCharacter(c))),
        }
    }
    Ok(())
}

/// `None` stands for "every call".
fn specifier(name: &str, content: &str) -> Located<Option<Specifier>> {
    if content.is_empty() {
        return Ok(Some(Specifier::Nothing));
    }
    let facts = tool::facts(name);
    if let Some(parameter) = parameter(facts, content)? {
        return Ok(Some(Specifier::Parameter(parameter)));
    }
    let Some(facts) = facts else {
        let tool = name.to_owned();
        return Err(match tool::in_any_case(name) {
            Some(meant) => (0, Problem::WrongCase { tool, meant }),
            None => (0, Problem::NoSpecifier { tool }),
        });
    };
    Ok(Some(match facts.family {
        Family::Command | Family::Agent | Family::Skill if content == "*" => return Ok(None),
        Family::Command => {
            Specifier::Command(CommandPattern::parse(content, facts.name == "PowerShell")?)
        }
        Family::Path => Specifier::Path(PathPattern::parse(content)?),
        Family::Domain => Specifier::Domain(DomainPattern::parse(content)?),
        Family::Agent => Specifier::Agent(content.to_owned()),
        Family::Skill => Specifier::Skill(SkillPattern::parse(content)?),
    }))
}

/// `parameter:value`, when the part before the colon names a field of the tool. Of a tool we have
/// no facts on, every identifier may be one.
fn parameter(facts: Option<&ToolFacts>, content: &str) -> Located<Option<ParameterPattern>> {
    let Some((field, value)) = content.split_once(':') else {
        return Ok(None);
    };
    let (name, value) = (field.trim(), value.trim());
    let identifier = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || !name.chars().all(identifier) {
        return Ok(None);
    }
    if let Some(facts) = facts {
        // `Bash(timeout:*)` is every `timeout` command, as `Bash(git:*)` is every `git` command.
        let prefix = facts.family == Family::Command && value == "*";
        let known = name == facts.primary || facts.fields.contains(&name);
        if prefix || !known {
            return Ok(None);
        }
        if name == facts.primary && facts.primary_forbidden {
            return Err((0, primary_field(facts)));
        }
    }
    if value.is_empty() {
        return Err((content.len(), Problem::NoValue(name.to_owned())));
    }
    Ok(Some(ParameterPattern::new(name, value)))
}

fn primary_field(facts: &ToolFacts) -> Problem {
    let instead = match facts.family {
        Family::Domain => "`WebFetch(domain:host)`".to_owned(),
        Family::Command => format!("the command itself: `{}(text)`", facts.name),
        _ => format!("the path itself: `{}(path)`", facts.name),
    };
    Problem::PrimaryField {
        field: facts.primary.to_owned(),
        instead,
    }
}
