//! What `--json` prints: documented objects, described in `docs/hooks-json.md`.
//!
//! The shapes are an interface. Keys may be added; a change of meaning raises [`VERSION`].

pub(crate) mod firing;
pub(crate) mod listing;

use serde::Serialize;

/// The version of the objects.
pub(crate) const VERSION: u32 = 1;

/// An object (or several) as it is printed.
pub(crate) fn print<T: Serialize>(value: &T) -> String {
    // Keys are strings and numbers finite, so there is nothing to fail on.
    serde_json::to_string_pretty(value).map_or_else(|e| e.to_string(), |text| text + "\n")
}
