//! The profile `seeds`: the two protocols as the commission of this project describes them, where
//! that differs from the clients that were measured since.
//!
//! What the commission lists as limitation or as deferred is not taken over: events, rewriting,
//! `continue: false` and the rest are as measured.

use super::{
    CLAUDE, CODEX, ConfigStyle, Dialect, MatcherStyle, Order, OutputStyle, Profile, ReasonPick,
};

/// Claude Code as the commission describes it.
pub static CLAUDE_SEEDS: Dialect = Dialect {
    profile: Profile::Seeds,
    context_order: Order::Configured,
    reason: ReasonPick::Joined,
    output: OutputStyle::Lenient,
    config: ConfigStyle::Lenient,
    ..CLAUDE
};

/// Codex as the commission describes it.
pub static CODEX_SEEDS: Dialect = Dialect {
    profile: Profile::Seeds,
    matcher: MatcherStyle::Regex,
    reason: ReasonPick::Joined,
    output: OutputStyle::Lenient,
    config: ConfigStyle::Lenient,
    timeout_keys: &["timeout", "timeoutSec"],
    background: false,
    ..CODEX
};

#[cfg(test)]
mod tests {
    use crate::dialect::{DialectId, Profile};

    #[test]
    fn a_profile_has_the_events_of_its_dialect_and_its_own_rules() {
        for dialect in DialectId::ALL {
            let (measured, seeds) = (dialect.table(), dialect.profile(Profile::Seeds));
            assert_eq!(seeds.id, measured.id);
            assert_eq!(seeds.events.len(), measured.events.len());
            assert_eq!(dialect.profile(Profile::Measured).output, measured.output);
            assert_ne!(seeds.output, measured.output);
        }
    }
}
