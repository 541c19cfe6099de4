//! Listeners that run all at once: what `Answerers` and `Contributors` have in common.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::contain::listen;
use crate::scope::Pass;
use crate::table::{Chain, Entry, Level};
use crate::{FaultKind, Name};

/// Who of those that were asked has not finished. Dropped before all have, it records that they
/// were cut off: one fault, with all their names.
pub(crate) struct Crew<L: ?Sized + Send + Sync + 'static> {
    level: Arc<Level<L>>,
    waiting: Vec<Option<Name>>,
}

/// One listener let in, ready to be called.
pub(crate) struct Member<L: ?Sized + Send + Sync + 'static> {
    level: Arc<Level<L>>,
    entry: Arc<Entry<L>>,
    pass: Pass,
    /// Its place among those asked, in registration order.
    position: usize,
}

impl<L: ?Sized + Send + Sync + 'static> Crew<L> {
    /// Everyone in the chain who lets us in.
    pub(crate) fn gather(level: &Arc<Level<L>>, chain: &Chain<L>) -> (Self, Vec<Member<L>>) {
        let entered = chain
            .iter()
            .filter_map(|entry| Some((entry, entry.gate.enter()?)));
        let member = |(position, (entry, pass)): (usize, (&Arc<Entry<L>>, Pass))| Member {
            level: Arc::clone(level),
            entry: Arc::clone(entry),
            pass,
            position,
        };
        let members: Vec<_> = entered.enumerate().map(member).collect();
        let waiting = members
            .iter()
            .map(|member| Some(member.pass.name().clone()))
            .collect();
        (
            Self {
                level: Arc::clone(level),
                waiting,
            },
            members,
        )
    }

    /// Strikes a finished listener off and returns its name.
    pub(crate) fn finished(&mut self, position: usize) -> Name {
        let name = self.waiting.get_mut(position).and_then(Option::take);
        name.unwrap_or(Name::from_static("?"))
    }

    /// Those who have not finished, in registration order.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &Name> {
        self.waiting.iter().flatten()
    }

    /// Gives up on those who have not finished: one fault each.
    pub(crate) fn give_up(&mut self) {
        for name in self.waiting.drain(..).flatten() {
            self.level.record(&name, FaultKind::Overdue);
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
    /// Calls the listener; a fault is recorded and counts as no result.
    pub(crate) async fn work<T>(
        self,
        call: impl FnOnce(&L) -> BoxFuture<'static, T>,
    ) -> (usize, Option<T>) {
        let Self {
            level,
            entry,
            pass,
            position,
        } = self;
        let result = listen(&pass, || call(&entry.listener)).await;
        let result = result.map_err(|kind| level.record(pass.name(), kind));
        (position, result.ok())
    }
}
