use super::{Dialect, DialectId, MatcherStyle, Order, ReasonPick};
use std::time::Duration;

/// Claude Code.
pub static CLAUDE: Dialect = Dialect {
    id: DialectId::Claude,
    measured_on: "Claude Code 2.1.332",
    events: &[],
    term_grace: Some(Duration::from_millis(1450)),
    trailing_newline: true,
    dedupe: true,
    context_order: Order::Finished,
    reason: ReasonPick::LastFinished,
    timeout_fails: false,
    aliases: &[("Agent", &["Task"]), ("Task", &["Agent"])],
    matcher: MatcherStyle::Claude,
    tools: &[],
};
