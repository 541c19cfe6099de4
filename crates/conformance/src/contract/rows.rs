//! The rows of the contract.

use regex::Regex;

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// A letter, two digits, and sometimes a letter behind them.
    pub id: String,
    /// What it says. Rows that stand in a range share it.
    pub text: String,
}

impl Row {
    /// The part it belongs to.
    #[must_use]
    pub fn part(&self) -> &str {
        self.id.get(..1).unwrap_or_default()
    }
}

/// Reads rows: `A01. text`, several in a line, ranges such as `H14–16. text`, and the slashes of
/// `H05. … / H06. …`.
#[must_use]
pub fn rows(text: &str) -> Vec<Row> {
    let Ok(start) = Regex::new(r"(?:^|[\s/])([A-Z])(\d\d)([A-Z]?)(?:[–-](\d\d))?\.\s") else {
        return Vec::new();
    };
    let mut rows = Vec::new();
    for line in text.lines() {
        let starts: Vec<_> = start.captures_iter(line).collect();
        for (index, found) in starts.iter().enumerate() {
            let whole = found.get(0).map_or(0..0, |whole| whole.range());
            let next = starts.get(index + 1).and_then(|next| next.get(0));
            let end = next.map_or(line.len(), |next| next.start());
            let text = line.get(whole.end..end).unwrap_or_default();
            let text = text
                .trim()
                .trim_end_matches(" /")
                .trim_end_matches('/')
                .trim();
            for id in ids(found) {
                let text = text.to_owned();
                rows.push(Row { id, text });
            }
        }
    }
    rows
}

fn ids(found: &regex::Captures<'_>) -> Vec<String> {
    let part = |index: usize| found.get(index).map_or("", |part| part.as_str());
    let (letter, first, suffix) = (part(1), part(2), part(3));
    match (first.parse::<u32>(), part(4).parse::<u32>()) {
        (Ok(first), Ok(last)) => (first..=last).map(|n| format!("{letter}{n:02}")).collect(),
        _ => vec![format!("{letter}{first}{suffix}")],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_told_apart() {
        let text = "# Title 1.\nA01. one → two. A02. [J] three.\nH05. x / H06. y / H07. z.\n\
                    H14–16. folding. M09J. [J] later. P08. nothing, see M01 (1.5).\n";
        let found = rows(text);
        let ids: Vec<_> = found.iter().map(|row| row.id.as_str()).collect();
        let expected = [
            "A01", "A02", "H05", "H06", "H07", "H14", "H15", "H16", "M09J", "P08",
        ];
        assert_eq!(ids, expected);
        assert_eq!(
            found.first().map(|row| row.text.as_str()),
            Some("one → two.")
        );
        assert_eq!(found.get(2).map(|row| row.text.as_str()), Some("x"));
        assert_eq!(found.first().map(Row::part), Some("A"));
    }
}
