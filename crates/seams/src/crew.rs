//! Listeners that run all at once: what `Answerers` and `Contributors` have in common.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::contain::listen;
use crate::table::{Chain, Entry, Level};
use crate::{FaultKind, Name};

/// Everybody who was called at once, and who of them has not finished. Dropped before all have,
/// it records that they were cut off: one fault, with all their names.
pub(crate) struct Crew<L: ?Sized + Send + Sync + 'static> {
    level: Arc<Level<L>>,
    called: Vec<Called>,
}

struct Called {
    name: Name,
    finished: bool,
}

/// One of those called.
pub(crate) struct Member<L: ?Sized + Send + Sync + 'static> {
    level: Arc<Level<L>>,
    entry: Arc<Entry<L>>,
    /// Its place in registration order.
    position: usize,
}

impl<L: ?Sized + Send + Sync + 'static> Crew<L> {
    /// Everyone in the chain, still to be called.
    pub(crate) fn gather(
        level: &Arc<Level<L>>,
        chain: &Chain<L>,
    ) -> (Self, impl Iterator<Item = Member<L>>) {
        let name = |entry: &Arc<Entry<L>>| entry.gate.name().clone();
        let called = chain.iter().map(|entry| Called {
            name: name(entry),
            finished: false,
        });
        let members = chain.iter().zip(0..).map(|(entry, position)| {
            let (level, entry) = (Arc::clone(level), Arc::clone(entry));
            Member {
                level,
                entry,
                position,
            }
        });
        (
            Self {
                level: Arc::clone(level),
                called: called.collect(),
            },
            members,
        )
    }

    /// Strikes a finished listener off and returns its name.
    pub(crate) fn finished(&mut self, position: usize) -> Option<Name> {
        let called = self.called.get_mut(position)?;
        called.finished = true;
        Some(called.name.clone())
    }

    /// Those who have not finished, in registration order.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &Name> {
        self.called
            .iter()
            .filter(|called| !called.finished)
            .map(|called| &called.name)
    }

    /// Gives up on those who have not finished: one fault each.
    pub(crate) fn give_up(mut self) {
        let called = std::mem::take(&mut self.called);
        for called in called.iter().filter(|called| !called.finished) {
            self.level.record(&called.name, FaultKind::Overdue);
        }
    }
}

impl<L: ?Sized + Send + Sync + 'static> Drop for Crew<L> {
    fn drop(&mut self) {
        let names: Vec<_> = self.waiting().map(Name::as_str).collect();
        if !names.is_empty() {
            self.level
                .record(&Name::from(names.join(", ")), FaultKind::Dropped);
        }
    }
}

impl<L: ?Sized + Send + Sync + 'static> Member<L> {
    /// Calls the listener. No result if it is not to be called any more, or if it faults, which
    /// is recorded.
    pub(crate) async fn work<T>(
        self,
        call: impl FnOnce(&L) -> BoxFuture<'static, T>,
    ) -> (usize, Option<T>) {
        let Self {
            level,
            entry,
            position,
        } = self;
        let Some(pass) = entry.gate.enter() else {
            return (position, None);
        };
        let result = listen(&pass, || call(&entry.listener)).await;
        let result = result.map_err(|kind| level.record(pass.name(), kind));
        (position, result.ok())
    }
}
