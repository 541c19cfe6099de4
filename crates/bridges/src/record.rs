//! What is kept of each run: a pair of events in the session's log, and a line for whoever watches.

use std::sync::Arc;

use seamline_harness::json::Json;
use seamline_hooks::outcome::Decision;
use seamline_hooks::payload::Payload;
use seamline_hooks::trace::{Run, RunStatus};
use seamline_hooks::{Fired, Handler};
use serde_json::{Value, json};

use crate::bridge::Bridge;

/// Told of every firing that had handlers of its event, run or skipped: the terminal shows a line,
/// `--debug-hooks` keeps files.
pub trait Witness: Send + Sync {
    /// One event was fired.
    fn fired(&self, event: &'static str, payload: &Payload, fired: &Fired);

    /// A hook in background has ended.
    fn ended(&self, run: &Run) {
        let _ = run;
    }
}

/// Nobody watches.
impl Witness for () {
    fn fired(&self, _: &'static str, _: &Payload, _: &Fired) {}
}

impl Bridge {
    /// `hook/invoked`, before the hook runs.
    pub(crate) fn record_invoked(&self, turn: Option<u32>, handler: &Handler) {
        let mut data = json!({
            "turn": turn,
            "point": handler.event,
            "dialect": self.dialect().as_str(),
            "handlerId": handler.key.0,
        });
        if let (Some(matcher), Some(object)) = (&handler.matcher, data.as_object_mut()) {
            object.insert("matcher".into(), json!(matcher));
        }
        self.append("hook/invoked", turn, data);
    }

    /// `hook/result`, when it has run.
    pub(crate) fn record_result(&self, turn: Option<u32>, run: &Run) {
        let mut data = json!({
            "turn": turn,
            "point": run.handler.event,
            "dialect": self.dialect().as_str(),
            "handlerId": run.handler.key.0,
            "decision": decision_word(run),
            "status": run.status.as_str(),
            "durationMs": u64::try_from(run.duration.as_millis()).unwrap_or(u64::MAX),
        });
        if let Some(object) = data.as_object_mut() {
            if let Some(code) = run.exit_code() {
                object.insert("exitCode".into(), json!(code));
            }
            if let Some(summary) = summary(&run.stderr, self.options.stderr_summary.get()) {
                object.insert("stderrSummary".into(), json!(summary));
            }
        }
        self.append("hook/result", turn, data);
    }

    /// A log that cannot be written is reported by the loop itself, at its next own event.
    ///
    /// A run in background may end while its turn is being closed: then it belongs to no turn.
    fn append(&self, kind: &str, turn: Option<u32>, mut data: Value) {
        let Some(agent) = self.agent() else { return };
        let logged = agent.log_extension(kind, turn, Json::from(data.clone()));
        if let (Err(_), Some(_), Some(object)) = (logged, turn, data.as_object_mut()) {
            object.insert("turn".into(), Value::Null);
            let _ = agent.log_extension(kind, None, Json::from(data));
        }
    }
}

/// The run's own decision, `stop` for a halt, `pass` for nothing.
fn decision_word(run: &Run) -> &'static str {
    match (run.decision, run.status) {
        (Decision::None, RunStatus::Stopped) => "stop",
        (Decision::None, _) => "pass",
        (decision, _) => decision.as_str(),
    }
}

/// Standard error, trimmed and cut; `None` when blank.
fn summary(stderr: &[u8], limit: usize) -> Option<String> {
    let text = String::from_utf8_lossy(stderr);
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let cut: String = text.chars().take(limit).collect();
    Some(if cut.len() < text.len() {
        format!("{cut}…")
    } else {
        cut
    })
}

/// Two witnesses, in order.
impl Witness for Vec<Arc<dyn Witness>> {
    fn fired(&self, event: &'static str, payload: &Payload, fired: &Fired) {
        for witness in self {
            witness.fired(event, payload, fired);
        }
    }

    fn ended(&self, run: &Run) {
        for witness in self {
            witness.ended(run);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_trimmed_cut_after_the_limit_and_absent_when_blank() {
        assert_eq!(summary(b" \n", 500), None);
        assert_eq!(summary(b" no \n", 500).as_deref(), Some("no"));
        let exact = "x".repeat(500);
        assert_eq!(summary(exact.as_bytes(), 500), Some(exact.clone()));
        assert_eq!(
            summary(format!("{exact}y").as_bytes(), 500),
            Some(format!("{exact}…"))
        );
    }
}
