//! How fast a case is played.
//!
//! Measured hooks sleep for up to a minute. [`Pace::of`] finds the longest sleep of a case and
//! scales all of its sleeps, and with them the timeouts, so that the longest takes 1.5 seconds:
//! whatever timed out still times out, and in the same order. Configured timeouts never go below
//! 0.4 seconds, so that a busy machine does not time out what should not. A case whose sleeps are
//! short already is played as it is. Where nothing but the sleeps gives the order of finishing,
//! short ones are stretched ([`Pace::of_order`]).

use std::sync::LazyLock;
use std::time::Duration;

use regex::Regex;
use seamline_hooks::Handler;
use serde_json::Value;

/// The longest sleep after scaling, in seconds.
const LONGEST: f64 = 1.5;
/// The shortest configured timeout after scaling, in seconds.
const SHORTEST_TIMEOUT: f64 = 0.4;
/// How long a recorder's child sleeps when the case does not say.
pub const CHILD_SLEEP: f64 = 61.0;
/// Names the scale to the recorder and to the `sleep` of the hooks' `PATH`.
pub const VARIABLE: &str = "CONFORMANCE_PACE";

/// What sleeps and timeouts are multiplied with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace(f64);

impl Pace {
    /// The pace of a case whose configuration (commands, files, behaviour) is in `parts`.
    #[must_use]
    pub fn of(parts: &[&Value]) -> Self {
        let found = Found::of(parts);
        let scale = found.longest.map_or(1.0, |longest| LONGEST / longest);
        let least = found
            .shortest_timeout
            .map_or(0.0, |shortest| SHORTEST_TIMEOUT / shortest);
        Self(scale.max(least).min(1.0))
    }

    /// The same for a case whose hooks finish in order only because some of them sleep: its longest
    /// sleep takes 1.5 seconds, also when it was shorter.
    #[must_use]
    pub fn of_order(parts: &[&Value]) -> Self {
        match Found::of(parts).longest {
            Some(longest) if longest < LONGEST => Self(LONGEST / longest),
            _ => Self::of(parts),
        }
    }

    /// The pace of an environment, 1 when it names none.
    #[must_use]
    pub fn from_env() -> Self {
        let word = std::env::var(VARIABLE).ok();
        Self(word.and_then(|word| word.parse().ok()).unwrap_or(1.0))
    }

    /// The value for [`VARIABLE`].
    #[must_use]
    pub fn word(self) -> String {
        self.0.to_string()
    }

    /// Whether anything is scaled.
    #[must_use]
    pub fn scales(self) -> bool {
        (self.0 - 1.0).abs() > f64::EPSILON
    }

    /// A time of the case as it is waited for here. Negative times are none.
    #[must_use]
    pub fn scaled(self, seconds: f64) -> Duration {
        Duration::try_from_secs_f64(seconds * self.0).unwrap_or_default()
    }

    /// Scales the timeout of a loaded handler, its event's default included.
    ///
    /// `environment` lists variables of the client that set a default themselves; such a handler
    /// keeps what the engine makes of it.
    pub fn set_timeout(self, handler: &mut Handler, environment: &[String]) {
        if !self.scales() {
            return;
        }
        let row = handler.dialect.table().event(handler.event);
        let by_environment = environment.iter().any(|name| {
            name.starts_with("CLAUDE_CODE_SESSIONEND") && handler.event == "SessionEnd"
        });
        let default = row
            .map(|row| row.timeouts.default)
            .filter(|_| !by_environment);
        if let Some(timeout) = handler.timeout.or(default) {
            handler.timeout = Some(self.scaled(timeout.as_secs_f64()));
        }
    }
}

#[derive(Default)]
struct Found {
    longest: Option<f64>,
    shortest_timeout: Option<f64>,
}

impl Found {
    fn of(parts: &[&Value]) -> Self {
        let mut found = Self::default();
        for part in parts {
            found.look(part);
        }
        found
    }

    fn look(&mut self, value: &Value) {
        match value {
            Value::String(text) => literal_sleeps(text).for_each(|s| self.sleep(s)),
            Value::Array(items) => items.iter().for_each(|item| self.look(item)),
            Value::Object(map) => {
                let child = map
                    .get("child")
                    .is_some_and(|child| child != &Value::Bool(false));
                if child && !map.contains_key("child_sleep") {
                    self.sleep(CHILD_SLEEP);
                }
                map.iter().for_each(|(key, value)| self.field(key, value));
            }
            _ => {}
        }
    }

    fn field(&mut self, key: &str, value: &Value) {
        match (key, value.as_f64()) {
            ("sleep" | "child_sleep", Some(seconds)) => self.sleep(seconds),
            ("timeout", Some(seconds)) if seconds > 0.0 => {
                self.shortest_timeout = Some(
                    self.shortest_timeout
                        .map_or(seconds, |shortest| shortest.min(seconds)),
                );
            }
            _ => self.look(value),
        }
    }

    fn sleep(&mut self, seconds: f64) {
        if seconds > 0.0 {
            self.longest = Some(self.longest.map_or(seconds, |longest| longest.max(seconds)));
        }
    }
}

/// The arguments of each `sleep` in a shell text.
fn literal_sleeps(text: &str) -> impl Iterator<Item = f64> {
    static SLEEP: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\bsleep\s+(\d*\.?\d+)").ok());
    let found: Vec<f64> = SLEEP
        .iter()
        .filter(|_| text.contains("sleep"))
        .flat_map(|pattern| pattern.captures_iter(text))
        .filter_map(|found| found.get(1)?.as_str().parse().ok())
        .collect();
    found.into_iter()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn scaled(part: &Value, seconds: f64) -> f64 {
        Pace::of(&[part]).scaled(seconds).as_secs_f64()
    }

    #[test]
    fn short_sleeps_are_played_as_they_are() {
        let part = json!({"A": {"sleep": 0.4}, "command": "sleep .3; true"});
        assert!(!Pace::of(&[&part]).scales());
    }

    #[test]
    fn sleeps_that_give_the_order_are_stretched() {
        let part = json!({"command": "sleep .3; true"});
        let pace = Pace::of_order(&[&part]);
        assert!((pace.scaled(0.3).as_secs_f64() - LONGEST).abs() < 1e-6);
        assert!(!Pace::of_order(&[&json!({})]).scales());
        let long = json!({"command": "sleep 9"});
        assert_eq!(Pace::of_order(&[&long]), Pace::of(&[&long]));
    }

    #[test]
    fn the_longest_sleep_sets_the_pace_for_timeouts_too() {
        let part = json!({"A": [{"sleep": 63}], "B": {"sleep": 3}});
        assert!((scaled(&part, 63.0) - LONGEST).abs() < 1e-6);
        assert!(scaled(&part, 30.0) < scaled(&part, 63.0));
        let literal = json!({"command": "sleep 41 & sleep 44"});
        assert!((scaled(&literal, 44.0) - LONGEST).abs() < 1e-6);
    }

    #[test]
    fn a_timeout_is_never_scaled_to_nothing() {
        let part = json!({"command": "sleep 44", "timeout": 1});
        assert!((scaled(&part, 1.0) - SHORTEST_TIMEOUT).abs() < 1e-6);
    }

    #[test]
    fn a_child_without_a_time_counts_with_its_default() {
        assert!(Pace::of(&[&json!({"A": {"child": "quiet"}})]).scales());
        assert!(!Pace::of(&[&json!({"A": {"child": true, "child_sleep": 1}})]).scales());
    }
}
