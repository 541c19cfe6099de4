//! What a phase decides, and what may ride beside any decision.

use crate::Name;

/// A decision plus its riders: contexts for the model, notices for the user, a halt for the run.
///
/// A decision without riders converts by `into()`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a reply that is dropped decides nothing"]
pub struct Reply<D> {
    /// What this phase decides.
    pub decision: D,
    /// Text for the model, in the order it will be shown.
    pub contexts: Vec<Context>,
    /// Text for the user, in the order it will be shown.
    pub notices: Vec<Notice>,
    /// Whether the run should stop.
    pub halt: Option<Halt>,
}

/// A reply without its decision.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Riders {
    /// Text for the model.
    pub contexts: Vec<Context>,
    /// Text for the user.
    pub notices: Vec<Notice>,
    /// Whether the run should stop.
    pub halt: Option<Halt>,
}

/// Who said something: the plugin, and which of its handlers if it has several.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Source {
    /// The plugin, for example `hooks-claude`.
    pub plugin: Name,
    /// The handler within the plugin.
    pub key: Option<String>,
}

/// Text for the model, with its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// Who said it.
    pub source: Source,
    /// The text, verbatim.
    pub text: String,
}

/// Text for the user, with its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Who said it.
    pub source: Source,
    /// The text, verbatim.
    pub text: String,
}

/// A request to stop the run: a value the loop understands, never a decision and never an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Halt {
    /// How soon.
    pub when: When,
    /// Why, in words for the user.
    pub reason: Option<String>,
    /// Who asked.
    pub by: Source,
}

/// How soon a halt takes effect. The later variant is the stricter one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum When {
    /// After the running batch of tool calls has settled.
    AfterBatch,
    /// At once.
    Now,
}

impl Source {
    /// A plugin that speaks for itself, not for one of its handlers.
    pub fn new(plugin: impl Into<Name>) -> Self {
        Self {
            plugin: plugin.into(),
            key: None,
        }
    }

    /// The same plugin speaking for the handler `key`.
    #[must_use]
    pub fn with_key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }
}

impl<D> Reply<D> {
    /// A bare decision.
    pub fn new(decision: D) -> Self {
        Self {
            decision,
            contexts: Vec::new(),
            notices: Vec::new(),
            halt: None,
        }
    }

    /// Another decision with the same riders.
    pub fn map<T>(self, f: impl FnOnce(D) -> T) -> Reply<T> {
        let Self {
            decision,
            contexts,
            notices,
            halt,
        } = self;
        Reply {
            decision: f(decision),
            contexts,
            notices,
            halt,
        }
    }

    /// Adds one text for the model after those already here.
    pub fn with_context(mut self, context: Context) -> Self {
        self.contexts.push(context);
        self
    }

    /// Adds one text for the user after those already here.
    pub fn with_notice(mut self, notice: Notice) -> Self {
        self.notices.push(notice);
        self
    }

    /// Asks for a halt. With one already here the stricter wins, the earlier on a tie.
    pub fn with_halt(mut self, halt: Halt) -> Self {
        self.halt = stricter(self.halt, Some(halt));
        self
    }

    /// Takes the reply apart.
    pub fn riders(self) -> (D, Riders) {
        let Self {
            decision,
            contexts,
            notices,
            halt,
        } = self;
        (
            decision,
            Riders {
                contexts,
                notices,
                halt,
            },
        )
    }

    /// Puts `riders` before those already here.
    pub fn with_riders_before(mut self, mut riders: Riders) -> Self {
        riders.contexts.append(&mut self.contexts);
        riders.notices.append(&mut self.notices);
        self.contexts = riders.contexts;
        self.notices = riders.notices;
        self.halt = stricter(riders.halt, self.halt);
        self
    }

    /// Puts `riders` after those already here.
    pub fn with_riders_after(mut self, mut riders: Riders) -> Self {
        self.contexts.append(&mut riders.contexts);
        self.notices.append(&mut riders.notices);
        self.halt = stricter(self.halt, riders.halt);
        self
    }
}

impl<D> From<D> for Reply<D> {
    fn from(decision: D) -> Self {
        Self::new(decision)
    }
}

/// Of two halts the one that stops sooner; the first on a tie.
fn stricter(first: Option<Halt>, second: Option<Halt>) -> Option<Halt> {
    match (first, second) {
        (Some(first), Some(second)) if second.when > first.when => Some(second),
        (first, second) => first.or(second),
    }
}
