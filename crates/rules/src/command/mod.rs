//! `Bash(npm run *)`: rules on shell commands.
//!
//! The command is parsed and taken apart into its simple commands, wherever they stand: behind
//! `&&`, `||`, `;`, `|`, `&` and line breaks, in subshells, loops, branches and function bodies,
//! in `$(…)`, backticks and `<(…)`. A pattern is compared with each of them, never with the whole.

mod doubts;
mod forms;
mod pattern;
mod script;
mod verdict;
mod walk;
mod word;

pub use pattern::CommandPattern;
pub(crate) use script::{Script, Unreadable};
pub(crate) use verdict::{Part, parts, verdict};

/// Why a shell command cannot be taken apart, so that rules answer `Unknown` to it; `None` when it
/// can. The parser is strict and not the shell's own: a command with a problem may still be valid.
#[must_use]
pub fn shell_problem(command: &str) -> Option<String> {
    Script::read(command).err().map(|why| why.to_string())
}
