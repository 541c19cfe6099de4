//! What the command prints.

use std::fmt::Write as _;

use serde_json::{Value, json as object};

use super::check::{Check, Count};

/// A table of the parts, then the rows of which nothing is said, then the mistakes.
#[must_use]
pub fn text(check: &Check) -> String {
    let mut out = String::from("part  rows  tested  explained  unmapped\n");
    for (part, count) in check.counts() {
        line(&mut out, &part.to_string(), count);
    }
    line(&mut out, "all", total(check));
    for row in check.unmapped() {
        let _ = write!(out, "\nunmapped {}: {}", row.id, row.text);
    }
    for wrong in &check.wrong {
        let _ = write!(out, "\nwrong {wrong}");
    }
    if !check.holds() {
        out.push('\n');
    }
    out
}

fn line(out: &mut String, part: &str, count: Count) {
    let Count {
        rows,
        tested,
        explained,
        unmapped,
    } = count;
    let _ = writeln!(
        out,
        "{part:<4}{rows:>6}{tested:>8}{explained:>11}{unmapped:>10}"
    );
}

fn total(check: &Check) -> Count {
    let counts = check.counts().into_values();
    counts.fold(Count::default(), |sum, count| Count {
        rows: sum.rows + count.rows,
        tested: sum.tested + count.tested,
        explained: sum.explained + count.explained,
        unmapped: sum.unmapped + count.unmapped,
    })
}

/// The same as one JSON object.
#[must_use]
pub fn json(check: &Check) -> Value {
    let count = |count: Count| {
        object!({"rows": count.rows, "tested": count.tested, "explained": count.explained,
            "unmapped": count.unmapped})
    };
    let parts = check.counts().into_iter();
    let parts = parts.map(|(part, numbers)| (part.to_string(), count(numbers)));
    let unmapped = check.unmapped();
    let unmapped: Vec<Value> = unmapped
        .map(|row| object!({"id": row.id, "text": row.text}))
        .collect();
    object!({
        "holds": check.holds(),
        "parts": parts.collect::<serde_json::Map<String, Value>>(),
        "all": count(total(check)),
        "unmapped": unmapped,
        "wrong": check.wrong,
    })
}
