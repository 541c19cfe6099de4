//! Which handlers a person has agreed to.
//!
//! Handlers that come with a project run only when their content is trusted. Trust is kept per
//! handler, by a [`hash`] of what it would do, in one [`TrustStore`] for both dialects; Codex's own
//! `[hooks.state]` counts as well.
//!
//! # What a trusted handler is trusted for
//!
//! For its definition, and for the bytes of the [`scripts`] of the project that its command names.
//! A pull that leaves the configuration alone and changes `.claude/hooks/gate.sh` makes the handler
//! [`Modified`](TrustState::Modified), with words that name the script.
//!
//! What that does not cover, by nature: programs found on `PATH`, files outside the project, what
//! a script itself starts or imports, paths built at run time, and the instant between the check
//! and the run. Codex's entries know hashes of definitions only. Trust says "I have read this"; it is no sandbox.
//!
//! A handler that only moved within its file keeps its trust: positions are names, not content.

mod codex_file;
mod hash;
mod scripts;
mod store;

pub use codex_file::CodexFileError;
pub use hash::{hash, kept};
pub(crate) use scripts::has_script_ending;
pub use scripts::{Reference, references, scripts};
pub use store::{Grant, TrustError, TrustStore};

use crate::config::Loaded;
use crate::handler::Handler;

/// Whether a handler may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TrustState {
    /// Managed by the organisation: always runs.
    Managed,
    /// The user's own file, or one named on the command line: needs no trust.
    Own,
    /// Trusted as it is now.
    Trusted,
    /// Never seen.
    Untrusted,
    /// Trusted once, and changed since.
    Modified,
}

impl TrustState {
    /// Whether it may run.
    #[must_use]
    pub fn runs(self) -> bool {
        matches!(self, Self::Managed | Self::Own | Self::Trusted)
    }

    /// The word in lists and JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::Own => "own",
            Self::Trusted => "trusted",
            Self::Untrusted => "untrusted",
            Self::Modified => "modified",
        }
    }
}

/// A trust state, and what led to it where that is not plain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The state.
    pub state: TrustState,
    /// Why it is modified: what changed since it was trusted.
    pub why: Option<String>,
}

impl Standing {
    fn plain(state: TrustState) -> Self {
        Self { state, why: None }
    }

    fn modified(why: String) -> Self {
        Self {
            state: TrustState::Modified,
            why: Some(why),
        }
    }
}

/// The state Codex itself would give a handler of its own: by `[hooks.state]` of the user's
/// `config.toml` alone, for the user's files too (measured).
#[must_use]
pub fn codex_status(handler: &Handler, loaded: &Loaded) -> TrustState {
    if handler.layer.is_managed() {
        return TrustState::Managed;
    }
    let state = loaded.codex_state.get(&handler.key);
    match state.and_then(|state| state.trusted_hash.as_deref()) {
        None => TrustState::Untrusted,
        Some(known) if known == hash(handler) => TrustState::Trusted,
        Some(_) => TrustState::Modified,
    }
}
