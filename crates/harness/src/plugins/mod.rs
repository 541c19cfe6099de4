//! Behaviour a host may switch on: each plugin stands on the public seams alone.
//!
//! A plugin is registered in a [`Scope`](seamline_seams::Scope) and is gone when that is disposed.

mod permission_rules;
mod shell_syntax;

pub use permission_rules::PermissionRules;
pub use shell_syntax::ShellSyntax;
