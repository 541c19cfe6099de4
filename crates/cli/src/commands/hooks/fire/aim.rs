//! Which configurations an event is fired at.

use std::collections::BTreeSet;

use seamline_hooks::config::nearest;
use seamline_hooks::trust::TrustStore;
use seamline_hooks::{DialectId, EventRow};

use crate::args::Selection;
use crate::error::CliError;
use crate::places::Places;
use crate::setup::Setup;

/// The configurations to fire, each with the event's row.
pub(super) fn aim(
    event: &str,
    selection: &Selection,
    places: &Places,
    store: &TrustStore,
) -> Result<Vec<(Setup, &'static EventRow)>, CliError> {
    let named = selection.named();
    let candidates = named.map_or(DialectId::ALL.to_vec(), |dialect| vec![dialect]);
    let knowing: Vec<(DialectId, &EventRow)> = candidates
        .iter()
        .filter_map(|dialect| Some((*dialect, dialect.table().event(event)?)))
        .collect();
    if knowing.is_empty() {
        return Err(unknown_event(event, &candidates));
    }
    let mut setups: Vec<_> = knowing
        .into_iter()
        .map(|(dialect, row)| (Setup::read(places, dialect, store), row))
        .collect();
    // With no configuration at all, one firing says so; two would say it twice.
    if setups
        .iter()
        .any(|(setup, _)| setup.loaded.configures_hooks())
    {
        setups.retain(|(setup, _)| setup.loaded.configures_hooks());
    } else {
        setups.truncate(1);
    }
    Ok(setups)
}

fn unknown_event(event: &str, dialects: &[DialectId]) -> CliError {
    let names = || {
        dialects
            .iter()
            .flat_map(|d| d.table().events)
            .map(|row| row.name)
    };
    let elsewhere = DialectId::ALL
        .into_iter()
        .find(|d| d.table().event(event).is_some());
    let hint = match (elsewhere, nearest(event, names())) {
        (Some(other), _) => format!("it is an event of {other}: --dialect {other}"),
        (None, Some(meant)) => format!("did you mean {meant}?"),
        (None, None) => format!("the events are {}", sorted(names())),
    };
    CliError::Usage {
        message: format!("there is no event {event:?}"),
        hint: Some(hint),
    }
}

fn sorted(names: impl Iterator<Item = &'static str>) -> String {
    let names: BTreeSet<_> = names.collect();
    names.into_iter().collect::<Vec<_>>().join(", ")
}
