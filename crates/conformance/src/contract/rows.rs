//! The rows of the contract, read from its page.

use std::sync::LazyLock;

use regex::Regex;

/// One behaviour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// A letter, two digits, sometimes a letter: `A01`, `M09J`.
    pub id: String,
    /// What has to hold.
    pub text: String,
}

impl Row {
    /// The letter of its part.
    #[must_use]
    pub fn part(&self) -> char {
        self.id.chars().next().unwrap_or('?')
    }
}

/// `H14.`, `H14–16.`: the id, and the last number of a range.
static ID: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\b([A-Z])(\d\d)([A-Z]?)(?:[–-](\d\d))?\. ").ok());

/// Reads a page: under a heading `## X. Name`, every id of the letter X begins a row, which goes to
/// the next id or the end of the line. The rows of a range share their text.
#[must_use]
pub fn read(page: &str) -> Vec<Row> {
    let mut part = None;
    let mut rows = Vec::new();
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            part = heading.chars().next();
        } else if let Some(part) = part {
            rows.extend(rows_of(part, line));
        }
    }
    rows
}

fn rows_of(part: char, line: &str) -> Vec<Row> {
    let Some(id) = ID.as_ref() else {
        return Vec::new();
    };
    let found: Vec<_> = id
        .captures_iter(line)
        .filter(|found| found.get(1).is_some_and(|m| m.as_str().starts_with(part)))
        .filter_map(|found| Some((found.get(0)?, ids(part, &found))))
        .collect();
    let ends = found.iter().skip(1).map(|(at, _)| at.start());
    let ends: Vec<usize> = ends.chain([line.len()]).collect();
    let mut rows = Vec::new();
    for ((at, ids), end) in found.iter().zip(ends) {
        let text = line.get(at.end()..end).unwrap_or_default();
        let text = text.trim().trim_end_matches([';', '/']).trim_end();
        rows.extend(ids.iter().map(|id| Row {
            id: id.clone(),
            text: text.to_owned(),
        }));
    }
    rows
}

fn ids(part: char, found: &regex::Captures<'_>) -> Vec<String> {
    let number = |group: usize| {
        found
            .get(group)
            .and_then(|m| m.as_str().parse::<u32>().ok())
    };
    let suffix = found.get(3).map_or("", |m| m.as_str());
    let first = number(2).unwrap_or_default();
    (first..=number(4).unwrap_or(first))
        .map(|n| format!("{part}{n:02}{suffix}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids_of(page: &str) -> Vec<String> {
        read(page).into_iter().map(|row| row.id).collect()
    }

    #[test]
    fn every_form_of_an_id_is_read() {
        let page = "# Intro A01. not a row\n## H. Bridge\nH05. missing / H06. invalid / H07. gone.\n\
            H14–16. post folding.\n## M. Loop\nM09. parked. M09J. [J] runs. See H05. too.\n";
        let wanted = ["H05", "H06", "H07", "H14", "H15", "H16", "M09", "M09J"];
        assert_eq!(ids_of(page), wanted);
        let texts: Vec<_> = read(page).into_iter().map(|row| row.text).collect();
        assert_eq!(texts.first().map(String::as_str), Some("missing"));
        assert_eq!(texts.get(4).map(String::as_str), Some("post folding."));
        assert_eq!(
            texts.last().map(String::as_str),
            Some("[J] runs. See H05. too.")
        );
    }

    #[test]
    fn the_imported_page_has_no_id_twice_and_no_gap() {
        let rows = read(include_str!("../../fixtures/contract/rows.md"));
        let mut seen = std::collections::BTreeSet::new();
        let mut before: Option<(char, u32)> = None;
        for row in &rows {
            assert!(seen.insert(&row.id), "{} comes twice", row.id);
            assert!(!row.text.is_empty(), "{} says nothing", row.id);
            let number: u32 = row.id[1..3].parse().unwrap();
            let wanted = match before {
                Some((part, n)) if part == row.part() => [n, n + 1],
                _ => [1, 1],
            };
            assert!(wanted.contains(&number), "{} does not follow", row.id);
            before = Some((row.part(), number));
        }
        assert!(rows.len() > 400, "{} rows", rows.len());
    }
}
