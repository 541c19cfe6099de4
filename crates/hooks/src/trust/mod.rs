//! Which handlers a person has agreed to.
//!
//! Handlers that come with a project run only when their content is trusted. Trust is kept per
//! handler, by a hash of what it would do, in one store for both dialects.

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
