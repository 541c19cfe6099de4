//! What every seam is asked and answers, in order.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use seamline_seams::{
    Answerers, Around, Contributors, Guards, Observers, Policy, Question, Reply, Scope, Waterfall,
};

use super::words::{Words, called, event, outcome, riders};
use crate::agent::AgentSeams;
use crate::plugins::Seams;
use crate::tools::{Dispatch, ToolSeams};

const NAME: &str = "journal";

/// Writes down what every seam is asked and answers, and every event. Clones are one journal.
///
/// It decides nothing. On policies and wrappers it stands outside those that were there when it
/// was installed, so install it last: then the answers in it are the final ones. Guards,
/// answerers, contributors and observers it only sees being asked; it comes after the others, so
/// that a guard that denies is not followed by an entry of `tools.guards`. As with every listener
/// of `agent.display`, texts are not streamed to the observers while it is installed.
#[derive(Debug, Clone, Default)]
pub struct Journal(Arc<Mutex<Vec<Entry>>>);

/// One thing a seam was asked, answered or told. Shown as one line, for example
/// `tools.pre? Bash {"command":"ls"}` and `tools.pre: allow`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// The seam, for example `tools.pre`.
    pub seam: &'static str,
    /// Asked, answered, or told.
    pub moment: Moment,
    /// About what, or with what. In brief; for people and for tests.
    pub text: String,
}

/// What an entry is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// The seam was asked: `?`.
    Asked,
    /// It answered, riders included: `:`.
    Answered,
    /// Something was made known on it: `!`.
    Told,
}

impl Journal {
    /// An empty journal.
    pub fn new() -> Self {
        Self::default()
    }

    /// The entries so far, oldest first.
    pub fn entries(&self) -> Vec<Entry> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The entries so far as lines.
    pub fn lines(&self) -> Vec<String> {
        self.entries().iter().map(Entry::to_string).collect()
    }

    /// The seams in the order in which they were asked or told something.
    pub fn seams(&self) -> Vec<&'static str> {
        let entries = self.entries().into_iter();
        entries
            .filter(|entry| entry.moment != Moment::Answered)
            .map(|entry| entry.seam)
            .collect()
    }

    /// Writes down what happens on these seams until `scope` is disposed.
    pub fn install<'a>(&self, scope: &Scope, seams: impl Into<Seams<'a>>) {
        let Seams { agent, tools } = seams.into();
        self.on_agent(scope, agent);
        self.on_tools(scope, tools);
    }

    /// Takes the struct apart, so that a seam that is added is not forgotten here.
    fn on_agent(&self, scope: &Scope, seams: &AgentSeams) {
        let AgentSeams {
            session_start,
            prompt,
            request,
            request_error,
            display,
            batch,
            continuation,
            turn_stop,
            changed,
            session_end,
            events,
        } = seams;
        self.contributors(scope, "agent.session_start", session_start);
        self.policy(scope, prompt);
        self.policy(scope, request);
        self.policy(scope, request_error);
        self.policy(scope, display);
        self.policy(scope, batch);
        self.policy(scope, continuation);
        self.guards(scope, "agent.turn_stop", turn_stop);
        self.contributors(scope, "agent.changed", changed);
        self.contributors(scope, "agent.session_end", session_end);
        let journal = self.clone();
        events.on(scope, NAME, move |told| {
            journal.write("agent.events", Moment::Told, event(told));
        });
    }

    fn on_tools(&self, scope: &Scope, seams: &ToolSeams) {
        let ToolSeams {
            propose,
            pre,
            approval,
            guards,
            dispatch,
            post,
            result,
            denied,
        } = seams;
        self.policy(scope, propose);
        self.policy(scope, pre);
        self.answerers(scope, approval);
        self.guards(scope, "tools.guards", guards);
        self.wrapper(scope, dispatch);
        self.policy(scope, post);
        self.observers(scope, "tools.result", result);
        self.contributors(scope, "tools.denied", denied);
    }

    fn policy<S: Policy>(&self, scope: &Scope, seam: &Waterfall<S>)
    where
        S::Event: Words,
        S::Decision: Words,
    {
        let journal = self.clone();
        seam.on_first(scope, NAME, move |event, next| {
            let journal = journal.clone();
            async move {
                journal.write(S::NAME, Moment::Asked, event.words());
                let reply: Reply<S::Decision> = next.run().await?;
                let text = format!("{}{}", reply.decision.words(), riders(&reply));
                journal.write(S::NAME, Moment::Answered, text);
                Ok(reply)
            }
        });
    }

    fn wrapper(&self, scope: &Scope, seam: &Around<Dispatch>) {
        let journal = self.clone();
        seam.on_first(scope, NAME, move |call, signal, inner| {
            let journal = journal.clone();
            async move {
                journal.write("tools.dispatch", Moment::Asked, called(&call));
                let result = inner.run(signal).await;
                journal.write("tools.dispatch", Moment::Answered, outcome(&result));
                Ok(result)
            }
        });
    }

    fn answerers<Q: Question + Words>(&self, scope: &Scope, seam: &Answerers<Q>) {
        let journal = self.clone();
        seam.on(scope, NAME, move |question: Q, _| {
            journal.write(Q::NAME, Moment::Asked, question.words());
            async { None }
        });
    }

    fn guards<E: Words + 'static>(&self, scope: &Scope, name: &'static str, seam: &Guards<E>) {
        let journal = self.clone();
        seam.add(scope, NAME, move |event| {
            journal.write(name, Moment::Asked, event.words());
            None
        });
    }

    fn contributors<E, C>(&self, scope: &Scope, name: &'static str, seam: &Contributors<E, C>)
    where
        E: Words + Clone + Send + Sync + 'static,
        C: Default + Send + 'static,
    {
        let journal = self.clone();
        seam.on(scope, NAME, move |event: E| {
            journal.write(name, Moment::Told, event.words());
            async { C::default() }
        });
    }

    fn observers<E: Words + 'static>(
        &self,
        scope: &Scope,
        name: &'static str,
        seam: &Observers<E>,
    ) {
        let journal = self.clone();
        seam.on(scope, NAME, move |event| {
            journal.write(name, Moment::Told, event.words());
        });
    }

    fn write(&self, seam: &'static str, moment: Moment, text: String) {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.push(Entry { seam, moment, text });
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seam, moment, text } = self;
        match moment {
            Moment::Asked => write!(f, "{seam}? {text}"),
            Moment::Answered => write!(f, "{seam}: {text}"),
            Moment::Told => write!(f, "{seam}! {text}"),
        }
    }
}
