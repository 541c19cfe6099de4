//! "Did you mean": the known name that is nearest to an unknown one.

/// The name among `known` that a typing error could have turned into `word`; `None` when nothing
/// is near. Letter case, `_` and `-` do not count as differences.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = fold(word);
    let allowed = (folded.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|name| (distance(&folded, &fold(name)), name))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

fn fold(word: &str) -> String {
    word.chars()
        .filter(|c| !matches!(c, '_' | '-' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Levenshtein's distance, in characters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        let mut next = vec![left];
        for (y, above) in b.iter().zip(row.iter().skip(1)) {
            left = (diagonal + usize::from(x != *y))
                .min(left + 1)
                .min(above + 1);
            diagonal = *above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENTS: [&str; 4] = ["PreToolUse", "PostToolUse", "Stop", "UserPromptSubmit"];

    #[test]
    fn finds_what_was_meant() {
        for (word, meant) in [
            ("preToolUse", "PreToolUse"),
            ("pre_tool_use", "PreToolUse"),
            ("PreToolUs", "PreToolUse"),
            ("PosToolUse", "PostToolUse"),
            ("stop", "Stop"),
            ("UserPromtSubmit", "UserPromptSubmit"),
        ] {
            assert_eq!(nearest(word, EVENTS), Some(meant), "{word}");
        }
    }

    #[test]
    fn says_nothing_rather_than_nonsense() {
        for word in ["", "BeforeTool", "Xyzzy", "SessionStart"] {
            assert_eq!(nearest(word, EVENTS), None, "{word}");
        }
    }

    #[test]
    fn distance_counts_single_edits() {
        for (a, b, edits) in [
            ("", "", 0),
            ("", "ab", 2),
            ("kitten", "sitting", 3),
            ("ab", "ba", 2),
        ] {
            assert_eq!(distance(a, b), edits, "{a} {b}");
            assert_eq!(distance(b, a), edits, "{b} {a}");
        }
    }
}
