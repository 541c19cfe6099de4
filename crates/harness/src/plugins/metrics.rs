//! Counts and durations of tool calls.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use seamline_seams::Scope;

use super::Seams;
use crate::tools::{Ending, ToolResult};

/// Counts and times calls, by tool. Clones are the same counts.
///
/// What runs is timed where this plugin stands: installed after `Retry` it times each attempt,
/// installed before it, all of them with their pauses.
#[derive(Debug, Clone, Default)]
pub struct Metrics(Arc<Mutex<BTreeMap<String, ToolMetrics>>>);

/// What became of the calls of one tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolMetrics {
    /// Calls that have their result, whatever it is.
    pub calls: u64,
    /// Those that were denied.
    pub denied: u64,
    /// Those that ran and failed in the end.
    pub failed: u64,
    /// How often the work was begun.
    pub runs: u64,
    /// How long that took, added up.
    pub time: Duration,
    /// The longest run.
    pub longest: Duration,
}

impl Metrics {
    /// The name it registers under.
    pub const NAME: &str = "metrics";

    /// Nothing counted yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The counts so far, by the name the model called the tool by.
    pub fn snapshot(&self) -> BTreeMap<String, ToolMetrics> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Counts the calls of these seams until `scope` is disposed.
    pub fn install<'a>(&self, scope: &Scope, seams: impl Into<Seams<'a>>) {
        let tools = seams.into().tools;
        let (counts, timed) = (self.clone(), self.clone());
        tools
            .dispatch
            .on(scope, Self::NAME, move |call, signal, inner| {
                let metrics = timed.clone();
                async move {
                    let begun = Instant::now();
                    let outcome = inner.run(signal).await;
                    let took = begun.elapsed();
                    metrics.of(call.name(), |tool| {
                        tool.runs += 1;
                        tool.time += took;
                        tool.longest = tool.longest.max(took);
                    });
                    Ok(outcome)
                }
            });
        tools
            .result
            .on(scope, Self::NAME, move |result| counts.ended(result));
    }

    fn ended(&self, result: &ToolResult) {
        self.of(result.call.name(), |tool| {
            let failed = result.ending == Ending::Ran && result.outcome.is_error();
            tool.calls += 1;
            tool.denied += u64::from(result.ending == Ending::Denied);
            tool.failed += u64::from(failed);
        });
    }

    fn of(&self, name: &str, change: impl FnOnce(&mut ToolMetrics)) {
        let mut tools = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        change(tools.entry(name.to_owned()).or_default());
    }
}
