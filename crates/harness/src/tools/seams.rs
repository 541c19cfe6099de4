//! The seams of one tool call.

use std::time::Duration;

use seamline_seams::{
    Answerers, Around, Context, Contributors, FaultLog, Guards, Listener, Observers, Policy,
    Question, Repeats, Rewrites, Signal, Source, Waterfall, Wrap,
};

use super::call::{Call, Proposal};
use super::outcome::{Ending, Outcome};
use crate::content::Content;
use crate::json::Json;
use crate::permission::Update;

/// Every place where someone may interfere with a tool call, in the order a call meets them.
#[derive(Debug, Clone)]
pub struct ToolSeams {
    /// Where arguments change. Per call, in model order.
    pub propose: Waterfall<Propose>,
    /// Whether the call may run. Sees the final arguments.
    pub pre: Waterfall<Pre>,
    /// Who is asked when a call needs a person's yes.
    pub approval: Answerers<ApprovalQuestion>,
    /// What must hold whatever was decided before: a guard can only deny.
    pub guards: Guards<Call>,
    /// Stands around the work: timeouts, retries, metrics.
    pub dispatch: Around<Dispatch>,
    /// What the model is shown of the result. Sees denials too.
    pub post: Waterfall<Post>,
    /// Told the final result of each call.
    pub result: Observers<ToolResult>,
    /// Told of each denial; may add text for the model.
    pub denied: Contributors<ToolDenied, Vec<Context>>,
}

impl ToolSeams {
    /// Seams without listeners.
    pub fn new(faults: &FaultLog) -> Self {
        Self {
            propose: Waterfall::new(faults),
            pre: Waterfall::new(faults),
            approval: Answerers::new(faults),
            guards: Guards::new("tools.guards", faults),
            dispatch: Around::new(faults),
            post: Waterfall::new(faults),
            result: Observers::new("tools.result", faults),
            denied: Contributors::new("tools.denied", faults),
        }
    }

    /// One agent's seams: these, outermost, and then its own.
    #[must_use]
    pub fn child(&self) -> Self {
        Self {
            propose: self.propose.child(),
            pre: self.pre.child(),
            approval: self.approval.child(),
            guards: self.guards.child(),
            dispatch: self.dispatch.child(),
            post: self.post.child(),
            result: self.result.child(),
            denied: self.denied.child(),
        }
    }

    /// Everybody who is registered, seam by seam.
    pub fn describe(&self) -> Vec<Listener> {
        [
            self.propose.describe(),
            self.pre.describe(),
            self.approval.describe(),
            self.guards.describe(),
            self.dispatch.describe(),
            self.post.describe(),
            self.result.describe(),
            self.denied.describe(),
        ]
        .concat()
    }
}

/// `tools.propose`: where arguments change.
///
/// A rewriter answers [`ProposeDecision::Rewrite`]. To let those further in see the change it
/// runs them with [`Proposal::with_arguments`], and keeps its own rewrite only where they answer
/// [`ProposeDecision::Keep`]. The result is checked against the tool's schema; a rewrite that
/// does not fit is a denial that says so.
#[derive(Debug)]
pub struct Propose;

impl Policy for Propose {
    const NAME: &'static str = "tools.propose";
    type Event = Proposal;
    type Decision = ProposeDecision;
}

impl Rewrites for Propose {}

/// What becomes of the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProposeDecision {
    /// They stay.
    Keep,
    /// They are replaced, as a whole.
    Rewrite {
        /// The new arguments.
        arguments: Json,
        /// Who rewrote them, first to last; the last one's arguments stand.
        by: Vec<Source>,
    },
}

impl ProposeDecision {
    /// The rewrite of one rewriter.
    pub fn rewrite(arguments: Json, by: Source) -> Self {
        Self::Rewrite {
            arguments,
            by: vec![by],
        }
    }

    /// What a rewriter answers when those further in, who saw its arguments, answered `self`.
    #[must_use]
    pub fn after(self, arguments: Json, by: Source) -> Self {
        match self {
            Self::Keep => Self::rewrite(arguments, by),
            Self::Rewrite {
                arguments,
                by: further,
            } => Self::Rewrite {
                arguments,
                by: std::iter::once(by).chain(further).collect(),
            },
        }
    }
}

/// `tools.pre`: whether the call may run.
#[derive(Debug)]
pub struct Pre;

impl Policy for Pre {
    const NAME: &'static str = "tools.pre";
    type Event = Proposal;
    type Decision = PreDecision;
}

/// What policy says about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PreDecision {
    /// No objection.
    Allow {
        /// Also skip the question the permission mode would ask. Ask rules and guards stand.
        pre_approved: bool,
    },
    /// It may not run.
    Deny {
        /// Why; the model sees it behind `Error: `.
        reason: String,
        /// Who says so.
        by: Source,
    },
    /// A person must be asked, whatever the permission mode.
    Ask {
        /// Why, for the person; the model sees it when nobody can be asked.
        reason: Option<String>,
        /// Who says so.
        by: Source,
    },
    /// Not now: the call stays open and the turn ends after this batch. One call per turn.
    Defer {
        /// Why.
        reason: Option<String>,
        /// Who says so.
        by: Source,
    },
}

/// A question to a person, or to whoever answers for them.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ApprovalQuestion {
    /// The call as it would run.
    pub proposal: Proposal,
    /// Why it is asked, where a policy asked for it.
    pub reason: Option<String>,
    /// The policy that asked; `None` when the permission mode asks.
    pub by: Option<Source>,
}

impl Question for ApprovalQuestion {
    const NAME: &'static str = "tools.approval";
    type Answer = ApprovalAnswer;
}

/// The answer to an [`ApprovalQuestion`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalAnswer {
    /// This call may run.
    AllowOnce {
        /// With these arguments instead. They are checked like any rewrite, and shown to
        /// `tools.pre` once more, where only a denial counts.
        arguments: Option<Json>,
        /// Changes to the permissions of the rest of the session.
        updates: Vec<Update>,
    },
    /// It may not run.
    Deny {
        /// What the model is told instead of the usual text.
        message: Option<String>,
        /// Also stop the turn once the batch has settled.
        interrupt: bool,
    },
}

/// `tools.dispatch`: stands around the tool's work.
#[derive(Debug)]
pub struct Dispatch;

impl Wrap for Dispatch {
    const NAME: &'static str = "tools.dispatch";
    type Event = Call;
    type Outcome = Outcome;
}

/// A wrapper may run the tool again. Whether that does harm is for the wrapper to know.
impl Repeats for Dispatch {}

/// `tools.post`: what the model is shown of a result.
#[derive(Debug)]
pub struct Post;

impl Policy for Post {
    const NAME: &'static str = "tools.post";
    type Event = PostEvent;
    type Decision = PostDecision;
}

/// A decided call with its result, before anybody saw it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PostEvent {
    /// The call.
    pub call: Call,
    /// Its result.
    pub outcome: Outcome,
    /// Whether it ran, was denied, was never valid, …
    pub ending: Ending,
    /// How long the work took; zero when there was none.
    pub elapsed: Duration,
    /// The turn's signal; policies that take long must watch it.
    pub signal: Signal,
}

/// What becomes of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PostDecision {
    /// It stands.
    Accept,
    /// The model is shown something else; the value stays. Not a way to keep a secret.
    ReplaceContent(Content),
    /// The value is another one; it is checked and shown anew. Only for a success.
    ReplaceValue(Json),
    /// There is an objection.
    Block {
        /// The objection, for the model, verbatim.
        feedback: String,
        /// `true`: the result stays what it is and the feedback is appended to what the model
        /// is shown, so that a success stays a success. `false`: the feedback takes the
        /// result's place and the call counts as failed.
        keep_output: bool,
    },
}

/// The final result of a call.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ToolResult {
    /// The call.
    pub call: Call,
    /// What the model is shown, and the value, which is not kept.
    pub outcome: Outcome,
    /// Whether it ran, was denied, was never valid, …
    pub ending: Ending,
    /// How long the work took; zero when there was none.
    pub elapsed: Duration,
}

/// A denial.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ToolDenied {
    /// The call.
    pub call: Call,
    /// Why.
    pub reason: String,
    /// What kind of authority denied it.
    pub cause: DenyCause,
    /// The turn's signal; who takes long must watch it.
    pub signal: Signal,
}

/// The kinds of authority that deny.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DenyCause {
    /// A listener of `tools.pre`.
    Policy,
    /// A rewrite or an amendment that does not fit the tool.
    Rewrite,
    /// The permission mode: `plan`, or `dontAsk` for what would be asked.
    Mode,
    /// It had to be asked, and nobody could answer.
    Unanswered,
    /// Somebody was asked and said no.
    Approval,
    /// A guard.
    Guard,
}
