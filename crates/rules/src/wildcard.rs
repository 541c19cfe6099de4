//! Text patterns in which `*` is any run of characters, the empty one included.

/// A pattern: the literal texts between its stars.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wildcard(Vec<String>);

/// One character of a text, or any run of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token {
    Char(char),
    Any,
}

impl Wildcard {
    /// `*` is a wildcard wherever it stands; nothing escapes it.
    pub(crate) fn new(text: &str) -> Self {
        Self(text.split('*').map(str::to_owned).collect())
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        let Some((first, rest)) = self.0.split_first() else {
            return false;
        };
        let Some((last, middle)) = rest.split_last() else {
            return text == first;
        };
        let Some(mut left) = text.strip_prefix(first.as_str()) else {
            return false;
        };
        for literal in middle {
            // The earliest place leaves the most for what follows.
            let Some((_, behind)) = left.split_once(literal.as_str()) else {
                return false;
            };
            left = behind;
        }
        left.ends_with(last.as_str())
    }

    /// Whether some filling of the holes in `text` makes it match.
    pub(crate) fn could_match(&self, text: &[Token]) -> bool {
        let mut tokens = Vec::new();
        for (index, literal) in self.0.iter().enumerate() {
            if index > 0 {
                tokens.push(Token::Any);
            }
            tokens.extend(literal.chars().map(Token::Char));
        }
        meet(&tokens, text)
    }
}

/// Whether two patterns have a text in common.
///
/// Reads both from the end; `later[j]` says whether the rest of `a` meets the rest of `b` from
/// `j` on. Takes `a.len() * b.len()` steps whatever the patterns are.
fn meet(a: &[Token], b: &[Token]) -> bool {
    let only_wild = |rest: &[Token]| rest.iter().all(|t| *t == Token::Any);
    let mut later: Vec<bool> = (0..=b.len())
        .map(|j| b.get(j..).is_some_and(only_wild))
        .collect();
    for (i, token) in a.iter().enumerate().rev() {
        let mut now = vec![false; later.len()];
        if let Some(last) = now.last_mut() {
            *last = a.get(i..).is_some_and(only_wild);
        }
        for (j, other) in b.iter().enumerate().rev() {
            let at = |row: &[bool], j: usize| row.get(j).copied().unwrap_or(false);
            let met = match (token, other) {
                (Token::Char(x), Token::Char(y)) => x == y && at(&later, j + 1),
                _ => at(&later, j) || at(&now, j + 1),
            };
            if let Some(cell) = now.get_mut(j) {
                *cell = met;
            }
        }
        later = now;
    }
    later.first().copied().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `~` stands for a hole in the texts of this table.
    fn holes(text: &str) -> Vec<Token> {
        text.chars()
            .map(|c| if c == '~' { Token::Any } else { Token::Char(c) })
            .collect()
    }

    #[test]
    fn a_star_is_any_run_of_characters() {
        for (pattern, text, expected) in [
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("*", "a b", true),
            ("a*", "a", true),
            ("a*", "ba", false),
            ("*a", "ba", true),
            ("a*c", "abc", true),
            ("a*c", "ab", false),
            ("*b*", "abc", true),
            ("**", "x", true),
            ("a*b*c", "a-b-b-c", true),
            ("é*", "éa", true),
        ] {
            assert_eq!(
                Wildcard::new(pattern).matches(text),
                expected,
                "{pattern} {text}"
            );
        }
    }

    proptest::proptest! {
        /// The quick answer for plain texts is the answer for texts that happen to have no hole.
        #[test]
        fn both_ways_to_match_agree(pattern in "[ab*]{0,8}", text in "[ab]{0,8}") {
            let wildcard = Wildcard::new(&pattern);
            assert_eq!(wildcard.matches(&text), wildcard.could_match(&holes(&text)));
        }
    }

    #[test]
    fn a_hole_matches_whatever_the_pattern_needs() {
        for (pattern, text, expected) in [
            ("git push", "git ~", true),
            ("git push", "echo ~", false),
            ("git push *", "~ push x", true),
            ("git push *", "~", true),
            ("a*b", "~c", false),
            ("ab", "a~b", true),
            ("ab", "~", true),
            ("", "~", true),
            ("*x", "y~", true),
        ] {
            assert_eq!(
                Wildcard::new(pattern).could_match(&holes(text)),
                expected,
                "{pattern} {text}"
            );
        }
    }
}
