//! A timeout that looks like milliseconds.

use std::time::Duration;

use super::look::{At, Look, Remark};
use super::{Check, Rule};

pub(super) const RULE: Rule = Rule {
    code: "timeout-in-milliseconds",
    about: "Timeouts are in seconds. One of 1000 and more was likely meant in milliseconds, and \
            lets a hook that hangs hold the agent for a long time.",
    check: Check::Each(check),
};

const SUSPICIOUS: Duration = Duration::from_secs(1000);

fn check(look: &Look<'_>) -> Vec<Remark> {
    let Some(timeout) = look
        .handler
        .timeout
        .filter(|timeout| *timeout >= SUSPICIOUS)
    else {
        return Vec::new();
    };
    let seconds = timeout.as_secs();
    let message = format!(
        "a timeout of {seconds} looks like milliseconds: it is {} minutes",
        seconds / 60
    );
    let meant = timeout.as_secs_f64() / 1000.0;
    vec![
        Remark::warning(At::Field("timeout"), message).help(format!("write {meant} for {meant} s")),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::trial::{claude, codex};
    use super::*;

    #[test]
    fn a_thousand_seconds_is_where_doubt_begins() {
        for (timeout, count) in [(5000, 1), (1000, 1), (999, 0), (600, 0)] {
            let handler = format!(r#"{{"type": "command", "command": "x", "timeout": {timeout}}}"#);
            assert_eq!(
                claude(RULE.code, "Stop", "", &handler).len(),
                count,
                "{timeout}"
            );
            assert_eq!(
                codex(RULE.code, "Stop", "", &handler).len(),
                count,
                "{timeout}"
            );
        }
    }
}
