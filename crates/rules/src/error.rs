//! What can be wrong with the text of a rule.

use thiserror::Error;

/// A rule that cannot be read, with the place and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("rule `{rule}`, column {column}: {problem}")]
pub struct RuleError {
    /// The rule as it was written.
    pub rule: String,
    /// Where the problem is: the column in characters, from 1.
    pub column: usize,
    /// What is wrong and what to write instead.
    pub problem: Problem,
}

impl RuleError {
    /// `at` is a byte offset into `rule`.
    pub(crate) fn at(rule: &str, at: usize, problem: Problem) -> Self {
        let column = rule.char_indices().take_while(|(i, _)| *i < at).count() + 1;
        Self {
            rule: rule.to_owned(),
            column,
            problem,
        }
    }
}

/// The kinds of problem.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Problem {
    /// There is no text.
    #[error("the rule is empty; write `Tool` or `Tool(specifier)`")]
    Empty,
    /// The text begins or ends with a space.
    #[error("a rule has no space around it; remove it (such a rule never applies)")]
    Padded,
    /// A list of tools where one is expected.
    #[error("a rule names exactly one tool; write one rule for each instead of joining by `{0}`")]
    SeveralTools(char),
    /// A character that no tool name has.
    #[error("`{0}` cannot be part of a tool name; a rule is `Tool` or `Tool(specifier)`")]
    NameCharacter(char),
    /// No name in front of the parenthesis.
    #[error("the tool's name is missing in front of `(`")]
    NoName,
    /// The last character is not the closing parenthesis.
    #[error("the parenthesis is not closed; a rule that opens one ends with `)`")]
    Unclosed,
    /// A wildcard in the name together with a specifier.
    #[error("a tool name with `*` takes no specifier; name one tool, or drop the parentheses")]
    GlobWithSpecifier,
    /// The tool takes no specifier of its own.
    #[error(
        "`{tool}` takes no text in parentheses, only `{tool}(parameter:value)`; \
         the tools that take one are Bash, PowerShell, Read, Edit, Write, MultiEdit, \
         NotebookEdit, Glob, Grep, WebFetch, Agent and Skill"
    )]
    NoSpecifier {
        /// The tool of the rule.
        tool: String,
    },
    /// A tool's name in another case.
    #[error("no tool is called `{tool}`; names are compared with their case: write `{meant}`")]
    WrongCase {
        /// The tool of the rule.
        tool: String,
        /// The tool that exists.
        meant: &'static str,
    },
    /// A parameter rule on the field that the tool's own specifier is about.
    #[error("`{field}` cannot be matched as a parameter; write {instead}")]
    PrimaryField {
        /// The parameter of the rule.
        field: String,
        /// The form that does what is meant.
        instead: String,
    },
    /// A parameter rule without a value.
    #[error("a value is missing after `{0}:`; write the value, or `*` for any")]
    NoValue(String),
    /// A command pattern that is only `:*`.
    #[error("a command is missing in front of `:*`; write `Bash(git:*)`, or `Bash` for all")]
    NoCommand,
    /// A path pattern without a path.
    #[error("a path is missing; write a pattern as in `.gitignore`, or drop the parentheses")]
    NoPath,
    /// A path pattern that gitignore does not accept.
    #[error(
        "the path pattern does not compile ({0}); close `[` and `{{`, or escape them with `\\`"
    )]
    Glob(String),
    /// A path pattern with `..` in it.
    #[error("a path pattern cannot climb by `..`; write the path from the root: `//path`")]
    Climbs,
    /// A negation with an anchor.
    #[error("`!` takes only paths relative to the current directory (`!path` or `!./path`)")]
    AnchoredNegation,
    /// A WebFetch specifier that is not a domain.
    #[error("WebFetch takes `domain:host`; write `WebFetch(domain:example.com)`")]
    NotADomain,
    /// A character that no host name has.
    #[error(
        "`{0}` cannot be part of a host name; write only the host, without scheme, port and path"
    )]
    HostCharacter(char),
    /// A skill pattern without a name.
    #[error("the skill's name is missing; write `Skill(name)` or `Skill(name *)`")]
    NoSkill,
}
