//! The list in `docs/why.md` of rows that do not hold here.

use std::fmt::Write as _;

use super::check::Check;

const BEGIN: &str = "<!-- contract: generated, UPDATE_DOCS=1 cargo nextest run -p seamline-conformance --test contract -->";
const END: &str = "<!-- contract: end -->";

/// The list: row, its text, and why.
#[must_use]
pub fn page(check: &Check) -> String {
    let mut out = format!("{BEGIN}\n");
    for mapped in &check.rows {
        let why = mapped.line.as_ref().and_then(|line| line.why.as_deref());
        if let Some(why) = why {
            let row = &mapped.row;
            let _ = write!(
                out,
                "\n* **{}** ({}) {why}\n",
                row.id,
                row.text.trim_end_matches('.')
            );
        }
    }
    out.push('\n');
    out.push_str(END);
    out
}

/// A document with the list between its markers made new; `None` when it has no markers.
#[must_use]
pub fn regenerate(document: &str, check: &Check) -> Option<String> {
    let (before, rest) = document.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{}{after}", page(check)))
}
