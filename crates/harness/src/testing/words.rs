//! Events and decisions in a few words.

use seamline_seams::{Reply, When};

use crate::agent::{
    AgentEvent, BatchDecision, BatchEvent, Change, Changed, ContinuationDecision,
    ContinuationEvent, DisplayEvent, PromptDecision, PromptEvent, RequestErrorDecision,
    RequestErrorEvent, RequestEvent, RequestSettings, SessionEndEvent, SessionStartEvent,
    TurnStopEvent,
};
use crate::json::Json;
use crate::tools::{
    ApprovalQuestion, Call, Ending, Outcome, PostDecision, PostEvent, PreDecision, Proposal,
    ProposeDecision, ToolDenied, ToolResult,
};

/// Something that can be said in a few words, the same each time.
pub(super) trait Words {
    fn words(&self) -> String;
}

pub(super) fn called(call: &Call) -> String {
    format!("{} {}", call.name(), call.arguments())
}

pub(super) fn outcome(outcome: &Outcome) -> String {
    let how = if outcome.is_error() { "failed" } else { "ok" };
    format!("{how}: {}", outcome.content().to_text())
}

/// What rides beside a decision.
pub(super) fn riders<D>(reply: &Reply<D>) -> String {
    let contexts = reply
        .contexts
        .iter()
        .map(|it| format!(" + context {:?}", it.text));
    let notices = reply
        .notices
        .iter()
        .map(|it| format!(" + notice {:?}", it.text));
    let halt = reply.halt.iter().map(|halt| match halt.when {
        When::Now => " + halt now".to_owned(),
        When::AfterBatch => " + halt after the batch".to_owned(),
    });
    contexts.chain(notices).chain(halt).collect()
}

/// A word, and a reason where there is one.
fn because(word: &str, reason: Option<&str>) -> String {
    reason.map_or_else(|| word.to_owned(), |reason| format!("{word}: {reason}"))
}

fn ended(ending: Ending, result: &Outcome) -> String {
    let content = result.content().to_text();
    match ending {
        Ending::Ran => outcome(result),
        Ending::Denied => format!("denied: {content}"),
        Ending::Invalid => format!("invalid: {content}"),
        Ending::NotStarted => format!("not started: {content}"),
        Ending::Faulted => format!("faulted: {content}"),
    }
}

/// What was told to the observers of `agent.events`.
pub(super) fn event(event: &AgentEvent) -> String {
    match event {
        AgentEvent::SessionStarted { source, .. } => format!("session started: {source:?}"),
        AgentEvent::Title { title } => format!("title: {title}"),
        AgentEvent::TurnStarted { turn, .. } => format!("turn {turn} started"),
        AgentEvent::PromptEntered { content, .. } => {
            format!("prompt entered: {}", content.to_text())
        }
        AgentEvent::PromptBlocked { reason, .. } => format!("prompt blocked: {reason}"),
        AgentEvent::TextDelta { text } => format!("text delta: {text}"),
        AgentEvent::Text { text } => format!("text: {text}"),
        AgentEvent::ToolProposed { proposal } => format!("tool proposed: {}", proposal.words()),
        AgentEvent::ToolStarted(call) => format!("tool started: {}", called(call)),
        AgentEvent::ToolDenied { name, reason, .. } => format!("tool denied: {name}: {reason}"),
        AgentEvent::ToolDeferred { proposal, .. } => format!("tool deferred: {}", proposal.words()),
        AgentEvent::ToolFinished(result) => format!("tool finished: {}", result.words()),
        AgentEvent::Context { text, .. } => format!("context: {text}"),
        AgentEvent::Steering { text, .. } => format!("steering: {text}"),
        AgentEvent::Notice { text, .. } => format!("notice: {text}"),
        AgentEvent::RequestEnded {
            attempt, outcome, ..
        } => match outcome {
            Ok(_) => format!("request answered at attempt {attempt}"),
            Err(error) => format!("request failed at attempt {attempt}: {error}"),
        },
        AgentEvent::RequestRetried { attempt, .. } => {
            format!("request retried after attempt {attempt}")
        }
        AgentEvent::TurnEnded(outcome) => {
            let end = Json::of(&outcome.end).map_or_else(|_| String::new(), |end| end.to_string());
            format!("turn ended: {end}")
        }
        AgentEvent::SessionEnded { reason } => format!("session ended: {reason}"),
    }
}

impl Words for SessionStartEvent {
    fn words(&self) -> String {
        format!("{:?}", self.source)
    }
}

impl Words for SessionEndEvent {
    fn words(&self) -> String {
        self.reason.clone()
    }
}

impl Words for Changed {
    fn words(&self) -> String {
        match &self.change {
            Change::Cwd { old, new } => format!("{} to {}", old.display(), new.display()),
        }
    }
}

impl Words for PromptEvent {
    fn words(&self) -> String {
        self.content.to_text()
    }
}

impl Words for PromptDecision {
    fn words(&self) -> String {
        match self {
            Self::Enter { content: None } => "enter".to_owned(),
            Self::Enter {
                content: Some(content),
            } => format!("enter as {}", content.to_text()),
            Self::Block { reason, .. } => because("block", Some(reason)),
        }
    }
}

impl Words for RequestEvent {
    fn words(&self) -> String {
        self.settings.words()
    }
}

impl Words for RequestSettings {
    fn words(&self) -> String {
        self.model.clone()
    }
}

impl Words for RequestErrorEvent {
    fn words(&self) -> String {
        format!("{} (attempt {})", self.error, self.attempt)
    }
}

impl Words for RequestErrorDecision {
    fn words(&self) -> String {
        match self {
            Self::Retry => "retry".to_owned(),
            Self::Fail => "fail".to_owned(),
        }
    }
}

impl Words for DisplayEvent {
    fn words(&self) -> String {
        self.text.clone()
    }
}

/// The text that is shown.
impl Words for String {
    fn words(&self) -> String {
        self.clone()
    }
}

impl Words for BatchEvent {
    fn words(&self) -> String {
        let results: Vec<_> = self.results.iter().map(Words::words).collect();
        results.join(", ")
    }
}

impl Words for BatchDecision {
    fn words(&self) -> String {
        match self {
            Self::Proceed => "proceed".to_owned(),
            Self::EndTurn { reason, .. } => because("end the turn", reason.as_deref()),
        }
    }
}

impl Words for ContinuationEvent {
    fn words(&self) -> String {
        self.last_text.clone().unwrap_or_default()
    }
}

impl Words for ContinuationDecision {
    fn words(&self) -> String {
        match self {
            Self::Stop => "stop".to_owned(),
            Self::Continue { reasons } => {
                let texts: Vec<_> = reasons.iter().map(|steer| steer.text.as_str()).collect();
                because("continue", Some(&texts.join(", ")))
            }
        }
    }
}

impl Words for TurnStopEvent {
    fn words(&self) -> String {
        format!("kept going {} times", self.consecutive)
    }
}

impl Words for Proposal {
    fn words(&self) -> String {
        format!("{} {}", self.name(), self.arguments())
    }
}

impl Words for ProposeDecision {
    fn words(&self) -> String {
        match self {
            Self::Keep => "keep".to_owned(),
            Self::Rewrite { arguments, .. } => format!("rewrite to {arguments}"),
        }
    }
}

impl Words for PreDecision {
    fn words(&self) -> String {
        match self {
            Self::Allow {
                pre_approved: false,
            } => "allow".to_owned(),
            Self::Allow { pre_approved: true } => "allow, pre-approved".to_owned(),
            Self::Deny { reason, .. } => because("deny", Some(reason)),
            Self::Ask { reason, .. } => because("ask", reason.as_deref()),
            Self::Defer { reason, .. } => because("defer", reason.as_deref()),
        }
    }
}

impl Words for ApprovalQuestion {
    fn words(&self) -> String {
        because(&self.proposal.words(), self.reason.as_deref())
    }
}

impl Words for Call {
    fn words(&self) -> String {
        called(self)
    }
}

impl Words for PostEvent {
    fn words(&self) -> String {
        format!("{} {}", self.call.name(), ended(self.ending, &self.outcome))
    }
}

impl Words for PostDecision {
    fn words(&self) -> String {
        match self {
            Self::Accept => "accept".to_owned(),
            Self::ReplaceContent(content) => format!("show {}", content.to_text()),
            Self::ReplaceValue(value) => format!("replace the value by {value}"),
            Self::Block {
                feedback,
                keep_output: true,
            } => format!("add {feedback}"),
            Self::Block {
                feedback,
                keep_output: false,
            } => format!("block: {feedback}"),
        }
    }
}

impl Words for ToolResult {
    fn words(&self) -> String {
        format!("{} {}", self.call.name(), ended(self.ending, &self.outcome))
    }
}

impl Words for ToolDenied {
    fn words(&self) -> String {
        format!("{}: {}", self.call.name(), self.reason)
    }
}
