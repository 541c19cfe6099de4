//! When a request that the server could not take is made again.

use std::time::{Duration, SystemTime};

use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};

/// How often and after how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// How many requests are made at most, the first one included.
    pub attempts: u32,
    /// The wait before the second one; it doubles each time.
    pub first: Duration,
    /// The longest wait. A server that asks for a longer one is told of to the user at once.
    pub longest: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            attempts: 5,
            first: Duration::from_millis(500),
            longest: Duration::from_secs(60),
        }
    }
}

/// Statuses that say "not now".
pub(super) fn passes(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 429 | 500 | 502 | 503 | 504 | 529)
}

impl Backoff {
    /// How long to wait after `attempt` failed; `None` when it is not made again.
    pub(super) fn wait(&self, attempt: u32, asked: Option<Duration>) -> Option<Duration> {
        if attempt >= self.attempts {
            return None;
        }
        let doubled = self
            .first
            .saturating_mul(1 << attempt.saturating_sub(1).min(16));
        match asked {
            Some(asked) if asked > self.longest => None,
            Some(asked) => Some(asked),
            None => Some(doubled.min(self.longest)),
        }
    }
}

/// The server's own word: `Retry-After` in seconds or as a date, or the finer `retry-after-ms`.
pub(super) fn asked(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(ms) = headers.get("retry-after-ms") {
        let ms = ms.to_str().ok()?.trim().parse().ok()?;
        return Some(Duration::from_millis(ms));
    }
    let value = text(RETRY_AFTER)?;
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(SystemTime::now()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits double up to the longest; the server's word is kept, unless it asks for too much.
    #[test]
    fn a_wait_is_the_servers_or_doubles() {
        let backoff = Backoff {
            attempts: 4,
            first: Duration::from_secs(1),
            longest: Duration::from_secs(3),
        };
        let seconds = |n| Some(Duration::from_secs(n));
        for (attempt, asked, wait) in [
            (1, None, seconds(1)),
            (2, None, seconds(2)),
            (3, None, seconds(3)),
            (4, None, None),
            (1, seconds(0), seconds(0)),
            (3, seconds(3), seconds(3)),
            (1, seconds(4), None),
        ] {
            assert_eq!(backoff.wait(attempt, asked), wait, "{attempt} {asked:?}");
        }
    }

    /// Retry-After is read in each form that servers write; nonsense is no word at all.
    #[test]
    fn retry_after_is_read_in_every_form() {
        let of = |name: &'static str, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            asked(&headers)
        };
        assert_eq!(of("retry-after", "7"), Some(Duration::from_secs(7)));
        assert_eq!(of("retry-after-ms", "20"), Some(Duration::from_millis(20)));
        let past = of("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(past, Some(Duration::ZERO));
        for nonsense in ["soon", "-1", "NaN"] {
            assert_eq!(of("retry-after", nonsense), None, "{nonsense}");
        }
    }
}
