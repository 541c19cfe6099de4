//! The part of `docs/why.md` that the mapping writes.

use std::fmt::Write as _;

use super::mapping::{Held, Mapping};
use super::rows::Row;

/// What the part begins with.
pub const START: &str = "<!-- contract -->\n";
/// What it ends with.
pub const END: &str = "<!-- end of contract -->";

/// `text` with the rows that do not hold here between the marks.
///
/// # Errors
/// When a mark is missing.
pub fn page(text: &str, rows: &[Row], mapping: &Mapping) -> Result<String, String> {
    let (before, rest) = text.split_once(START).ok_or("the first mark is missing")?;
    let (_, after) = rest.split_once(END).ok_or("the second mark is missing")?;
    let mut list = String::from("\n");
    for row in rows {
        if let Some(Held::Not(why)) = mapping.of(&row.id) {
            // A String takes everything that is written to it.
            let _ = writeln!(list, "* **{}** ({}) {why}", row.id, row.text);
        }
    }
    list.push('\n');
    Ok(format!("{before}{START}{list}{END}{after}"))
}
