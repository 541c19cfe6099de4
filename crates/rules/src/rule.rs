//! A parsed rule and its verdict on a call.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::answer::{Reading, Verdict};
use crate::call::Call;
use crate::command::{self, CommandPattern};
use crate::domain::DomainPattern;
use crate::error::RuleError;
use crate::name::{self, SkillPattern, ToolPattern};
use crate::parameter::ParameterPattern;
use crate::path::{self, PathPattern};
use crate::{domain, parse};

/// One rule: which tool, and which of its calls.
///
/// Two rules are equal when they have the same text and base. [`fmt::Display`] gives the text
/// back as it was written.
#[derive(Debug, Clone)]
pub struct Rule {
    pub(crate) text: String,
    pub(crate) tool: ToolPattern,
    pub(crate) specifier: Option<Specifier>,
    pub(crate) base: Option<PathBuf>,
}

/// What the parentheses of a rule say.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Specifier {
    /// `Tool()`: nothing. Covers every call (measured for `if`); as an allow rule it covers none
    /// (our choice: an empty pair is more likely a slip than a grant).
    Nothing,
    /// `Bash(npm run *)`.
    Command(CommandPattern),
    /// `Read(src/**)`.
    Path(PathPattern),
    /// `WebFetch(domain:example.com)`.
    Domain(DomainPattern),
    /// `Agent(Explore)`: a subagent type, exactly.
    Agent(String),
    /// `Skill(name)` and `Skill(name *)`.
    Skill(SkillPattern),
    /// `Tool(parameter:value)`.
    Parameter(ParameterPattern),
}

impl Rule {
    /// Reads a rule.
    ///
    /// # Errors
    ///
    /// When the text is not a rule; the error names the column and what to write instead.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        parse::rule(text)
    }

    /// Sets what `/path` patterns start from: the base of the file that states the rule
    /// (documented: the project root for project settings, `~/.claude` for user settings, the
    /// file's folder for `--settings`, the original directory for local settings and flags).
    /// Without it they start from the call's project.
    #[must_use]
    pub fn rooted_at(mut self, base: impl Into<PathBuf>) -> Self {
        self.base = Some(base.into());
        self
    }

    /// The tools the rule is about.
    #[must_use]
    pub fn tool(&self) -> &ToolPattern {
        &self.tool
    }

    /// What it says of their calls; `None` when it covers all of them.
    #[must_use]
    pub fn specifier(&self) -> Option<&Specifier> {
        self.specifier.as_ref()
    }

    /// Where `/path` patterns start, if set.
    #[must_use]
    pub fn base(&self) -> Option<&Path> {
        self.base.as_deref()
    }

    /// Whether the rule takes a path back (`Read(!keep.txt)`) instead of covering it.
    #[must_use]
    pub fn negated(&self) -> bool {
        matches!(&self.specifier, Some(Specifier::Path(p)) if p.negated())
    }

    /// Why the rule can never take effect when it is used this way; `None` when it can.
    /// All of these are documented as accepted with a warning.
    #[must_use]
    pub fn idle(&self, reading: Reading) -> Option<String> {
        if let Some(why) = self.tool.idle(reading) {
            return Some(why);
        }
        match (&self.specifier, reading) {
            (Some(Specifier::Nothing), Reading::Allow) => Some(format!(
                "`{self}` allows nothing; drop the parentheses to allow every call"
            )),
            (Some(Specifier::Parameter(_)), Reading::Allow) => {
                Some("parameter rules only deny or ask".to_owned())
            }
            (Some(Specifier::Path(p)), Reading::Condition | Reading::Allow) if p.negated() => {
                Some("`!` only takes back deny and ask rules".to_owned())
            }
            (Some(Specifier::Path(p)), Reading::Deny | Reading::Ask | Reading::Allow) => {
                path::unconsulted(self.tool.as_str(), p)
            }
            _ => None,
        }
    }

    /// Whether the rule covers the call.
    ///
    /// Of a rule that takes a path back the answer is always `No`: what it takes back depends on
    /// the rules before it, which a [`Policy`](crate::Policy) knows.
    ///
    /// Under [`Reading::Allow`] a shell command is covered only if this one rule covers every
    /// part of it; a [`Policy`](crate::Policy) lets several rules share the parts.
    #[must_use]
    pub fn verdict(&self, reading: Reading, call: &Call<'_>) -> Verdict {
        self.verdict_except(reading, call, &[])
    }

    /// The same, less the paths that later rules of the same source take back.
    pub(crate) fn verdict_except(
        &self,
        reading: Reading,
        call: &Call<'_>,
        except: &[&Self],
    ) -> Verdict {
        if let Some(why) = self.idle(reading) {
            return Verdict::no(why);
        }
        if self.negated() {
            return Verdict::no("`!` only takes back what an earlier rule covers");
        }
        if let Some(Specifier::Path(pattern)) = &self.specifier {
            return path::verdict(self, pattern, reading, call, except);
        }
        if !self.tool.names(reading, call) {
            return Verdict::no(format!("the tool is {}", call.tool()));
        }
        match &self.specifier {
            None | Some(Specifier::Nothing) => Verdict::yes(format!("every {} call", call.tool())),
            Some(Specifier::Command(pattern)) => command::verdict(pattern, reading, call),
            Some(Specifier::Domain(pattern)) => domain::verdict(pattern, call),
            Some(Specifier::Agent(wanted)) => name::agent_verdict(wanted, call),
            Some(Specifier::Skill(pattern)) => pattern.verdict(reading, call),
            Some(Specifier::Parameter(pattern)) => pattern.verdict(call),
            Some(Specifier::Path(_)) => Verdict::no("a path rule"),
        }
    }
}

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        Self::parse(text)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.base == other.base
    }
}

impl Eq for Rule {}
