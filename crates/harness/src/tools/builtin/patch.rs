//! What changed in a file, as hunks.

use serde::{Deserialize, Serialize};
use similar::{ChangeTag, DiffOp, TextDiff};

/// Lines of context around a change.
const CONTEXT: usize = 3;
/// What stands behind a last line without line break.
const NO_NEWLINE: &str = "\\ No newline at end of file";

/// One hunk of a patch. The shape is Claude Code's, measured on 2.1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hunk {
    /// The first line in the old file, from 1.
    pub old_start: usize,
    /// How many lines of the old file.
    pub old_lines: usize,
    /// The first line in the new file, from 1.
    pub new_start: usize,
    /// How many lines of the new file.
    pub new_lines: usize,
    /// The lines, each behind ` `, `-` or `+`.
    pub lines: Vec<String>,
}

/// The hunks that turn `old` into `new`.
pub(super) fn hunks(old: &str, new: &str) -> Vec<Hunk> {
    let diff = TextDiff::from_lines(old, new);
    diff.grouped_ops(CONTEXT)
        .iter()
        .map(|ops| hunk(&diff, ops))
        .collect()
}

fn hunk(diff: &TextDiff<'_, '_, str>, ops: &[DiffOp]) -> Hunk {
    let first = |range: Option<std::ops::Range<usize>>| range.map_or(0, |range| range.start) + 1;
    let mut hunk = Hunk {
        old_start: first(ops.first().map(DiffOp::old_range)),
        old_lines: ops.iter().map(|op| op.old_range().len()).sum(),
        new_start: first(ops.first().map(DiffOp::new_range)),
        new_lines: ops.iter().map(|op| op.new_range().len()).sum(),
        lines: Vec::new(),
    };
    for change in ops.iter().flat_map(|op| diff.iter_changes(op)) {
        let sign = match change.tag() {
            ChangeTag::Equal => ' ',
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
        };
        hunk.lines
            .push(format!("{sign}{}", change.value().trim_end_matches('\n')));
        if change.missing_newline() {
            hunk.lines.push(NO_NEWLINE.to_owned());
        }
    }
    hunk
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The two measured patches, and two places far apart.
    #[test]
    fn measured_shapes() {
        let lines = |old, new| {
            hunks(old, new)
                .into_iter()
                .map(|h| h.lines)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            lines("one\ntwo\n", "one\nTWO\n"),
            [[" one", "-two", "+TWO"]]
        );
        assert_eq!(lines("x", "y"), [["-x", NO_NEWLINE, "+y", NO_NEWLINE]]);
        assert!(hunks("same", "same").is_empty());
        let old: String = (1..=20).map(|n| format!("{n}\n")).collect();
        let new = old.replace("2\n3", "2\nthree").replace("19\n", "");
        let places: Vec<_> = hunks(&old, &new)
            .iter()
            .map(|h| (h.old_start, h.old_lines, h.new_start, h.new_lines))
            .collect();
        assert_eq!(places, [(1, 6, 1, 6), (16, 5, 16, 4)]);
    }
}
