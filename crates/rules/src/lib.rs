//! Permission rules: does this tool call fall under this text?
//!
//! # The grammar
//!
//! A rule names one tool and, in parentheses, which of its calls:
//!
//! ```text
//! Bash                          every shell command
//! Bash(npm run build)           this command
//! Bash(git push *)              `git push`, alone or with anything behind it; also `git push:*`
//! Read(.env)                    a file of that name, at any depth
//! Edit(//etc/**)                below /etc; `~/…` is home, `/…` the base of the rule's file
//! WebFetch(domain:*.example.com)
//! mcp__server__tool             one tool of an MCP server; `mcp__server` all of them
//! Agent(Explore)                a subagent type; the tool's older name is Task
//! Skill(commit *)               a skill, with or without arguments
//! Agent(model:opus)             any call with this value in this field of its input
//! ```
//!
//! A rule ends with the parenthesis it opens; further ones inside are literal, and nothing is
//! escaped. Names are compared with their case. There are no spaces around a rule and no lists of
//! tools. [`CommandPattern`], [`PathPattern`], [`DomainPattern`], [`SkillPattern`],
//! [`ParameterPattern`] and [`ToolPattern`] tell the rest, each for its kind.
//!
//! # Three answers
//!
//! A rule answers [`Answer::Yes`], [`Answer::No`] or [`Answer::Unknown`]. The last is for what
//! cannot be told from the text, above all a shell command that does not parse. What doing nothing
//! would put at risk acts on it: conditions let the hook run, deny and ask rules take effect.
//! Allow rules do not ([`Verdict::acts`]).
//!
//! # Four readings
//!
//! The same text means different things by what it is used for ([`Reading`]):
//!
//! | | condition (`if` of a hook) | deny, ask | allow |
//! |---|---|---|---|
//! | source | measured, Claude Code 2.1.332 | documented | documented |
//! | a compound command | one part is enough | one part is enough | every part |
//! | `VAR=x git push` | dropped | dropped | only harmless ones are |
//! | `timeout 5 rm x` | not looked through, but for bare `xargs` | looked through | looked through |
//! | a here-document | every pattern passes | its text is data | its text is data |
//! | `echo $(date)`, `echo $X` | passes patterns longer than a name | as written | as written |
//! | a name that is `$X` | passes | as written, and left out | not known |
//! | quotes, `\rm` | taken off | taken off | as written |
//! | `> file` | – | also `Edit` rules | needs an `Edit` rule |
//! | `src/**` | `<cwd>/src` | any `src` below cwd | `<cwd>/src` |
//! | `Edit(x)` on Write | no | yes | yes |
//! | `!x` | never | takes an earlier rule back | never |
//! | `mcp__server`, `*` in a name | never | yes | `*` behind a server |
//!
//! The documentation and the measurements disagree in places; then the measurements win, and the
//! test tables say which is which.
//!
//! # What it is not
//!
//! Rules are about what is written. `/bin/rm`, `sh -c 'rm x'`, `git -C . push` and `r$X` are not
//! `rm` and `git push` to any client. What a command does is for a sandbox to limit.
//!
//! The crate is pure: no files, no processes. The folders, and where a link leads, are given to it
//! ([`Places`], [`Call::resolving_to`]). A command is parsed once per [`Call`], in some
//! microseconds; the most hostile of 10,000 characters takes a quarter of a second.
//!
//! # Use
//!
//! ```
//! use std::path::Path;
//! use seamline_rules::{Call, Condition, Places, Policy, Rule, Ruling, Source, Tier};
//! use serde_json::json;
//!
//! let places = Places {
//!     cwd: Path::new("/project"),
//!     project: Path::new("/project"),
//!     home: Path::new("/home/me"),
//! };
//! let input = json!({ "command": "npm test && git push origin" });
//! let call = Call::new("Bash", &input, places);
//!
//! assert!(Condition::parse("Bash(git push *)").passes(&call));
//!
//! let mut policy = Policy::new();
//! let settings = Source { name: ".claude/settings.json".to_owned(), position: Some((3, 7)) };
//! policy.add(Tier::Deny, Rule::parse("Bash(git push *)")?, settings);
//! let Ruling::Deny(hit) = policy.decide(&call) else { unreachable!() };
//! assert_eq!(hit.by.to_string(), "`Bash(git push *)` (.claude/settings.json:3:7)");
//! assert_eq!(hit.verdict.why, "sub-command `git push origin` fits `git push *`");
//! # Ok::<(), seamline_rules::RuleError>(())
//! ```

mod answer;
mod call;
mod command;
mod condition;
mod domain;
mod error;
mod name;
mod parameter;
mod parse;
mod path;
mod place;
mod policy;
mod rule;
mod tool;
mod wildcard;

pub use answer::{Answer, Reading, Verdict};
pub use call::{Call, Places};
pub use command::{CommandPattern, shell_problem};
pub use condition::Condition;
pub use domain::DomainPattern;
pub use error::{Problem, RuleError};
pub use name::{SkillPattern, ToolPattern};
pub use parameter::ParameterPattern;
pub use path::PathPattern;
pub use policy::{Hit, Policy, Ruling, Source, Stated, Tier};
pub use rule::{Rule, Specifier};

/// The README, so that its example is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
