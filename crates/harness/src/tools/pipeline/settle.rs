//! Post, finalize and result: what the model is shown and the log keeps.

use std::panic::AssertUnwindSafe;

use seamline_seams::{Context, Reply, Riders, Source};

use super::execute::{panic_text, replaced};
use super::{Executed, Pipeline, Settled};
use crate::content::{Content, Part};
use crate::json::Json;
use crate::tools::outcome::{Ending, Failure, Outcome};
use crate::tools::seams::{PostDecision, PostEvent, ToolResult};

impl Pipeline {
    /// Gives a call its final result and tells the observers.
    ///
    /// `tools.post` is not asked about calls that never started or whose policy failed; the
    /// tool's `finalize` and the observers see every call.
    pub async fn settle(&self, mut executed: Executed) -> Settled {
        if !matches!(executed.ending, Ending::NotStarted | Ending::Faulted) {
            self.post(&mut executed).await;
        }
        finalize(&mut executed);
        let mut told = Vec::new();
        if let Some(denial) = &executed.denial {
            let deadline = self.0.deadline;
            let collected = self.0.seams.denied.collect(denial.clone(), deadline).await;
            told.extend(
                collected
                    .ready
                    .into_iter()
                    .flat_map(|(_, contexts)| contexts),
            );
        }
        let Executed {
            call,
            mut outcome,
            ending,
            elapsed,
            denial,
            riders,
            ..
        } = executed;
        let mut contexts = riders.contexts;
        contexts.append(&mut outcome.contexts);
        contexts.append(&mut told);
        let result = ToolResult {
            call,
            outcome,
            ending,
            elapsed,
        };
        self.0.seams.result.notify(&result);
        Settled {
            result,
            denial,
            contexts,
            notices: riders.notices,
            halt: riders.halt,
        }
    }

    async fn post(&self, executed: &mut Executed) {
        if self.0.seams.post.is_empty() {
            executed.spoil(executed.ending == Ending::Ran);
            return;
        }
        let event = PostEvent {
            call: executed.call.clone(),
            outcome: executed.outcome.clone(),
            ending: executed.ending,
            elapsed: executed.elapsed,
            signal: executed.signal.clone(),
        };
        match self
            .0
            .seams
            .post
            .dispatch(event, |_| async { PostDecision::Accept })
            .await
        {
            Ok(reply) => executed.apply(reply),
            Err(fault) => {
                executed.outcome = fault.into();
                executed.ending = Ending::Faulted;
            }
        }
        executed.spoil(executed.ending == Ending::Ran);
    }
}

impl Executed {
    fn apply(&mut self, reply: Reply<PostDecision>) {
        let (decision, riders) = reply.riders();
        let mut contexts = std::mem::take(&mut self.outcome.contexts);
        match decision {
            PostDecision::Accept => {}
            PostDecision::ReplaceContent(content) => self.show(content),
            PostDecision::ReplaceValue(value) => {
                self.outcome = match &self.outcome.result {
                    Ok(before) => replaced(&self.call, value).concluding(before.concludes),
                    Err(_) => Outcome::failed(
                        "tools.post cannot replace the value of a failed result",
                        None,
                    ),
                };
            }
            PostDecision::Block {
                feedback,
                keep_output: true,
            } => {
                let text = feedback_or_default(feedback);
                // A program does not see the content: the model is told behind its result.
                if self.call.parent().is_some() {
                    let (source, text) = (Source::new("tools.post"), text.clone());
                    contexts.push(Context { source, text });
                }
                let mut parts = self.outcome.content().parts().to_vec();
                parts.push(Part::Text { text });
                self.outcome.set_content(parts.into());
            }
            PostDecision::Block {
                feedback,
                keep_output: false,
            } => {
                contexts.clear();
                self.outcome = blocked(feedback_or_default(feedback));
            }
        }
        contexts.extend(riders.contexts);
        self.outcome.contexts = contexts;
        self.ride(Riders {
            contexts: Vec::new(),
            ..riders
        });
    }

    /// Shows something else. What a program is given is the value, so that of a nested call is hidden
    /// with it: whoever replaces what is shown may want to keep the rest from the model.
    fn show(&mut self, content: Content) {
        if let (Some(_), Ok(success)) = (self.call.parent(), &mut self.outcome.result) {
            success.value = Json::from_value(content.to_text().into());
        }
        self.outcome.set_content(content);
    }

    /// Takes in what came beside a decision or from nested calls.
    pub(super) fn ride(&mut self, riders: Riders) {
        self.riders.notices.extend(riders.notices);
        let before = std::mem::take(&mut self.riders.halt);
        let halts = before.into_iter().chain(riders.halt);
        self.riders.halt = halts.fold(Reply::new(()), Reply::with_halt).halt;
    }
}

fn feedback_or_default(feedback: String) -> String {
    match feedback.is_empty() {
        true => "tool result blocked by post-execute policy".to_owned(),
        false => feedback,
    }
}

fn blocked(feedback: String) -> Outcome {
    Failure {
        content: Content::text(feedback.clone()),
        message: feedback,
        error: None,
    }
    .into()
}

/// The tool's own last word, exactly once. If that fails, its failure is the result.
fn finalize(executed: &mut Executed) {
    let Some(known) = executed.call.tool() else {
        return;
    };
    let last_word = || known.tool.finalize(&executed.call, &executed.outcome);
    match std::panic::catch_unwind(AssertUnwindSafe(last_word)) {
        Ok(None) => {}
        Ok(Some(content)) => executed.outcome.set_content(content),
        Err(panic) => {
            let text = panic_text(panic.as_ref());
            let name = executed.call.name();
            let contexts = std::mem::take(&mut executed.outcome.contexts);
            executed.outcome =
                Outcome::failed(format!("tool {name:?} panicked in finalize: {text}"), None);
            executed.outcome.contexts = contexts;
        }
    }
}
