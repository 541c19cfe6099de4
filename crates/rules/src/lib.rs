//! Permission rules: does this tool call fall under this text?
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
pub use command::CommandPattern;
pub use condition::Condition;
pub use domain::DomainPattern;
pub use error::{Problem, RuleError};
pub use name::{SkillPattern, ToolPattern};
pub use parameter::ParameterPattern;
pub use path::PathPattern;
pub use policy::{Hit, Policy, Ruling, Source, Stated, Tier};
pub use rule::{Rule, Specifier};
