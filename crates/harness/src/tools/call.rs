//! A call before and after it is sealed.
//!
//! A [`Proposal`] is what the model asked for, frozen: listeners of `tools.propose` and
//! `tools.pre` read it, and a rewriter derives a changed one from it. Once it is decided what the
//! call is, and the log holds that, the pipeline seals it: a [`Call`] has no setters and no
//! public constructor, so nothing after the seal can disagree with the log.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use seamline_seams::{Signal, Token};

use super::registry::Registered;
use super::tool::Effects;
use crate::content::Source;
use crate::facts::Facts;
use crate::json::Json;
use crate::session::event::DeniedNote;

/// Whether a call could run as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Validity {
    /// The tool exists and the arguments fit its schema.
    Valid,
    /// There is no tool of that name.
    UnknownTool,
    /// The arguments do not fit; one line per violation.
    InvalidArguments(Vec<String>),
}

/// A call somebody proposes. Cloning is cheap; nothing in it changes.
#[derive(Clone)]
pub struct Proposal(Arc<Proposed>);

struct Proposed {
    token: Token,
    parent: Option<Token>,
    call_id: String,
    name: String,
    written: Json,
    arguments: Json,
    validity: Validity,
    tool: Option<Arc<Registered>>,
    facts: Arc<Facts>,
    signal: Signal,
}

/// What a proposal is made from. See [`Proposal::new`].
pub(super) struct Draft {
    pub(super) token: Token,
    pub(super) parent: Option<Token>,
    pub(super) call_id: String,
    pub(super) name: String,
    pub(super) written: Json,
    pub(super) tool: Option<Arc<Registered>>,
    pub(super) facts: Arc<Facts>,
    pub(super) signal: Signal,
}

impl Proposal {
    pub(super) fn new(draft: Draft) -> Self {
        let Draft {
            token,
            parent,
            call_id,
            name,
            written,
            tool,
            facts,
            signal,
        } = draft;
        let (arguments, validity) = fit(tool.as_deref(), &written);
        let proposed = Proposed {
            token,
            parent,
            call_id,
            name,
            written,
            arguments,
            validity,
            tool,
            facts,
            signal,
        };
        Self(Arc::new(proposed))
    }

    /// The pipeline's identity of the call. Remember things under this, never under the call id,
    /// which the provider may repeat.
    pub fn token(&self) -> Token {
        self.0.token
    }

    /// The identity of the call whose body makes this one; `None` when the model does.
    pub fn parent(&self) -> Option<Token> {
        self.0.parent
    }

    /// The provider's id of the call; of a nested one, the outer id with a number behind it.
    pub fn call_id(&self) -> &str {
        &self.0.call_id
    }

    /// The tool's name, as the model wrote it.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The model's own arguments.
    pub fn written(&self) -> &Json {
        &self.0.written
    }

    /// The arguments as they stand, the tool's defaults filled in.
    pub fn arguments(&self) -> &Json {
        &self.0.arguments
    }

    /// Whether the call could run as it stands.
    pub fn validity(&self) -> &Validity {
        &self.0.validity
    }

    /// Whether [`validity`](Self::validity) is [`Validity::Valid`].
    pub fn is_valid(&self) -> bool {
        self.0.validity == Validity::Valid
    }

    /// Where the session stood when the call was proposed.
    pub fn facts(&self) -> &Facts {
        &self.0.facts
    }

    /// The turn's signal; policies that take long must watch it.
    pub fn signal(&self) -> &Signal {
        &self.0.signal
    }

    /// What the call would do to the world. Of a tool that panics over this, nothing is known.
    pub fn effects(&self) -> Effects {
        let cwd = &self.0.facts.cwd;
        let effects = |known: &Arc<Registered>| {
            catch_unwind(AssertUnwindSafe(|| {
                known.tool.effects(self.arguments(), cwd)
            }))
            .ok()
        };
        let known = self.0.tool.as_ref().filter(|_| self.is_valid());
        known.and_then(effects).unwrap_or(Effects::Unknown)
    }

    /// The same call with other arguments, checked anew. This is what a rewriter hands
    /// downstream.
    #[must_use]
    pub fn with_arguments(&self, arguments: &Json) -> Self {
        let (arguments, validity) = fit(self.0.tool.as_deref(), arguments);
        Self(Arc::new(Proposed {
            token: self.0.token,
            parent: self.0.parent,
            call_id: self.0.call_id.clone(),
            name: self.0.name.clone(),
            written: self.0.written.clone(),
            arguments,
            validity,
            tool: self.0.tool.clone(),
            facts: Arc::clone(&self.0.facts),
            signal: self.0.signal.clone(),
        }))
    }

    pub(super) fn tool(&self) -> Option<&Arc<Registered>> {
        self.0.tool.as_ref()
    }

    /// Whether the call may overlap with other such calls. Only a valid call of a tool that says
    /// so may; one of a tool that panics over this may not.
    pub fn is_concurrency_safe(&self) -> bool {
        let safe = |known: &Arc<Registered>| {
            let asked = || known.tool.concurrency_safe(self.arguments());
            catch_unwind(AssertUnwindSafe(asked)).unwrap_or(false)
        };
        self.is_valid() && self.tool().is_some_and(safe)
    }
}

/// Fills in a tool's defaults and checks the result against its schema.
fn fit(tool: Option<&Registered>, arguments: &Json) -> (Json, Validity) {
    let Some(known) = tool else {
        return (arguments.clone(), Validity::UnknownTool);
    };
    let defaults = known.tool.defaults().iter();
    let filled = defaults.fold(arguments.clone(), |filled, (key, value)| {
        filled.with_default(key, value)
    });
    let mut violations = known.schema.violations(filled.value());
    if violations.is_empty() {
        let checked = catch_unwind(AssertUnwindSafe(|| known.tool.check_args(&filled)));
        violations.extend(match checked {
            Ok(checked) => checked.err(),
            Err(_) => Some("the tool panicked over them".to_owned()),
        });
    }
    match violations.is_empty() {
        true => (filled, Validity::Valid),
        false => (arguments.clone(), Validity::InvalidArguments(violations)),
    }
}

impl fmt::Debug for Proposal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proposal")
            .field("token", &self.0.token)
            .field("call_id", &self.0.call_id)
            .field("name", &self.0.name)
            .field("arguments", &self.0.arguments)
            .field("validity", &self.0.validity)
            .finish_non_exhaustive()
    }
}

/// A call that was decided and is in the log. Sealed: it can be read, and cloned cheaply.
#[derive(Clone)]
pub struct Call(Arc<Sealed>);

struct Sealed {
    proposal: Proposal,
    rewritten_by: Vec<Source>,
    denied: Option<DeniedNote>,
}

impl Call {
    pub(super) fn seal(
        proposal: Proposal,
        rewritten_by: Vec<Source>,
        denied: Option<DeniedNote>,
    ) -> Self {
        Self(Arc::new(Sealed {
            proposal,
            rewritten_by,
            denied,
        }))
    }

    /// The pipeline's identity of the call, the same as the proposal's.
    pub fn token(&self) -> Token {
        self.0.proposal.token()
    }

    /// The identity of the call whose body made this one; `None` when the model did.
    pub fn parent(&self) -> Option<Token> {
        self.0.proposal.parent()
    }

    /// The provider's id of the call; of a nested one, the outer id with a number behind it.
    pub fn call_id(&self) -> &str {
        self.0.proposal.call_id()
    }

    /// The tool's name, as the model wrote it.
    pub fn name(&self) -> &str {
        self.0.proposal.name()
    }

    /// The model's own arguments.
    pub fn written(&self) -> &Json {
        self.0.proposal.written()
    }

    /// The arguments in force.
    pub fn arguments(&self) -> &Json {
        self.0.proposal.arguments()
    }

    /// Who rewrote the arguments, first to last; empty when nobody did.
    pub fn rewritten_by(&self) -> &[Source] {
        &self.0.rewritten_by
    }

    /// The denial that was committed with the call. Guards decide later and are not here.
    pub fn denied(&self) -> Option<&DeniedNote> {
        self.0.denied.as_ref()
    }

    /// Whether the call could run at all.
    pub fn validity(&self) -> &Validity {
        self.0.proposal.validity()
    }

    /// Where the session stood when the call was proposed.
    pub fn facts(&self) -> &Facts {
        self.0.proposal.facts()
    }

    /// What the call would do to the world.
    pub fn effects(&self) -> Effects {
        self.0.proposal.effects()
    }

    /// Whether `value` could be this tool's own; the error says why not.
    pub fn check_value(&self, value: &Json) -> Result<(), String> {
        let known = self
            .0
            .proposal
            .tool()
            .ok_or_else(|| "there is no such tool".to_owned())?;
        known.tool.check_value(value)
    }

    pub(super) fn tool(&self) -> Option<&Arc<Registered>> {
        self.0.proposal.tool()
    }

    pub(super) fn proposal(&self) -> &Proposal {
        &self.0.proposal
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("proposal", &self.0.proposal)
            .field("rewritten_by", &self.0.rewritten_by)
            .field("denied", &self.0.denied)
            .finish()
    }
}
