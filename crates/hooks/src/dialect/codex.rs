use super::{Dialect, DialectId, MatcherStyle, Order, ReasonPick};

/// Codex.
pub static CODEX: Dialect = Dialect {
    id: DialectId::Codex,
    measured_on: "Codex 0.171.0",
    events: &[],
    term_grace: None,
    trailing_newline: false,
    dedupe: false,
    context_order: Order::Configured,
    reason: ReasonPick::FirstConfigured,
    timeout_fails: true,
    aliases: &[("apply_patch", &["Write", "Edit"])],
    matcher: MatcherStyle::Codex,
    tools: &[],
};
