//! The tools that come with the harness.
//!
//! Their names, argument shapes and canonical values are Claude Code's (2.1), so that hooks
//! written for its `tool_input` and `tool_response` find the fields they know. What the model is
//! shown is worded by us where the wording was not measured.
//!
//! Relative paths are resolved against the session's current directory.

mod apply_patch;
mod bash;
mod edit;
mod glob;
mod grep;
mod patch;
mod read;
#[cfg(test)]
mod tests;
mod walk;
mod write;

pub use apply_patch::{
    ApplyPatch, ApplyPatchArgs, ApplyPatchValue, Change, FileChange, Patch, PatchError, PatchHunk,
};
pub use bash::{Bash, BashArgs, BashValue};
pub use edit::{Edit, EditArgs, EditValue};
pub use glob::{Glob, GlobArgs, GlobValue};
pub use grep::{Grep, GrepArgs, GrepValue, OutputMode};
pub use patch::Hunk;
pub use read::{Read, ReadArgs, ReadFile, ReadKind, ReadValue};
pub use write::{Write, WriteArgs, WriteKind, WriteValue};

use super::registry::{Registry, RegistryError};

/// A registry of those that Claude Code has too: all but [`ApplyPatch`].
pub fn registry() -> Result<Registry, RegistryError> {
    let registry = Registry::new();
    registry.add(Bash::new())?;
    registry.add(Read)?;
    registry.add(Write)?;
    registry.add(Edit::new())?;
    registry.add(Glob)?;
    registry.add(Grep)?;
    Ok(registry)
}
