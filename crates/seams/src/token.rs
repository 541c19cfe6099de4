//! Call identity that cannot be forged.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// The identity of one call. Only a [`TokenMint`] makes one; it can be compared, hashed and
/// printed for a human, never taken apart, built from parts or stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Token {
    mint: u64,
    serial: u64,
}

/// Makes tokens. The pipeline owns one privately; a mint of somebody else's makes tokens that
/// equal none of this one's, and [`TokenMint::issued`] tells them apart.
pub struct TokenMint {
    id: u64,
    next: AtomicU64,
}

static MINTS: AtomicU64 = AtomicU64::new(0);

impl TokenMint {
    /// A mint unlike every other in this process.
    #[expect(
        clippy::new_without_default,
        reason = "every mint is another one, not a default"
    )]
    pub fn new() -> Self {
        Self {
            id: MINTS.fetch_add(1, Ordering::Relaxed),
            next: AtomicU64::new(0),
        }
    }

    /// A token that equals no other.
    #[must_use]
    pub fn mint(&self) -> Token {
        Token {
            mint: self.id,
            serial: self.next.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Whether this mint made the token.
    pub fn issued(&self, token: Token) -> bool {
        token.mint == self.id
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({}.{})", self.mint, self.serial)
    }
}

impl fmt::Debug for TokenMint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TokenMint({})", self.id)
    }
}
