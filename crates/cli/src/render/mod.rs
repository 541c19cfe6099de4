//! How things look in a terminal.
//!
//! Everything is rendered into a `String` with colours in it; [`crate::output`] takes the colours
//! out again where nobody would see them.

pub(crate) mod caret;
pub(crate) mod table;
