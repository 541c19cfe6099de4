//! Running a failed call again.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use seamline_seams::{Inner, Scope, Signal};

use super::Seams;
use crate::permission::only_reads;
use crate::tools::{Call, Dispatch, Failure, Outcome, code};

type Judge = dyn Fn(&Call, &Failure) -> bool + Send + Sync;

/// Runs a call that failed again, a bounded number of times.
///
/// A tool that failed may have done half of its work, so which calls can bear it has to be said:
/// those that only read, or those a predicate knows to be idempotent. Cancellation beats retry.
/// Nothing of a failed attempt is kept; the last one is the result. A failure of a *listener*
/// further in is never tried again.
#[derive(Clone)]
pub struct Retry {
    times: u32,
    pause: Duration,
    worth_it: Arc<Judge>,
}

impl Retry {
    /// The name it registers under.
    pub const NAME: &str = "retry";

    /// The pause before each further attempt, by default. Our choice.
    pub const PAUSE: Duration = Duration::from_millis(100);

    /// Calls that change nothing, when the tool itself failed or ran out of time: up to `times`
    /// further attempts.
    pub fn of_reads(times: u32) -> Self {
        Self::when(times, |call, failure| {
            let own = failure.error.as_ref();
            own.is_none_or(|error| error.code == code::TOOL_TIMEOUT)
                && only_reads(&call.effects(), call.facts())
        })
    }

    /// Calls for which `worth_it` says yes after each failure: up to `times` further attempts.
    pub fn when(
        times: u32,
        worth_it: impl Fn(&Call, &Failure) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self {
            times,
            pause: Self::PAUSE,
            worth_it: Arc::new(worth_it),
        }
    }

    /// Another pause before each further attempt.
    #[must_use]
    pub fn with_pause(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }

    /// Stands around the calls of these seams until `scope` is disposed.
    pub fn install<'a>(self, scope: &Scope, seams: impl Into<Seams<'a>>) {
        let tools = seams.into().tools;
        tools
            .dispatch
            .on(scope, Self::NAME, move |call, signal, inner| {
                let retry = self.clone();
                async move { Ok(retry.run(&call, signal, inner).await) }
            });
    }

    async fn run(&self, call: &Call, signal: Signal, inner: Inner<Dispatch>) -> Outcome {
        for _ in 0..self.times {
            let outcome = inner.again().run(signal.clone()).await;
            let tired = match &outcome.result {
                Ok(_) => true,
                Err(failure) => signal.is_cancelled() || !(self.worth_it)(call, failure),
            };
            let pause = tokio::time::sleep(self.pause);
            if tired || signal.run_until_cancelled(pause).await.is_none() {
                return outcome;
            }
        }
        inner.run(signal).await
    }
}

impl fmt::Debug for Retry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retry")
            .field("times", &self.times)
            .field("pause", &self.pause)
            .finish_non_exhaustive()
    }
}
