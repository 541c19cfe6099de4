//! How things look in a terminal.
//!
//! Everything is rendered into a `String` with colours in it; [`crate::output`] takes the colours
//! out again where nobody would see them.

pub(crate) mod caret;
pub(crate) mod firing;
pub(crate) mod listing;
pub(crate) mod table;

use std::time::{Duration, UNIX_EPOCH};

/// A command in one line of bearable length. The whole of it is in `--json`.
pub(crate) fn one_line(text: &str) -> String {
    cut(text, 100)
}

/// A text in one line of at most so many characters, and three dots.
pub(crate) fn cut(text: &str, longest: usize) -> String {
    let line = visible(text);
    match line.char_indices().nth(longest) {
        Some((end, _)) => format!("{}...", line.get(..end).unwrap_or(&line)),
        None => line,
    }
}

/// The text with everything escaped that would act on a terminal instead of being seen: control
/// characters, line ends, and characters that turn the direction of writing. Texts of
/// configurations and hooks are somebody else's, and one of them may be shown in order to be
/// trusted.
pub(crate) fn visible(text: &str) -> String {
    let turns = |c| matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || turns(c) {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
    }
    line
}

/// A number of things, in words: `1 file`, `2 files looked for`.
pub(crate) fn count(number: usize, noun: &str, rest: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural} {rest}")
        .trim_end()
        .to_owned()
}

/// What to say of process groups that hooks left behind and that were ended, if there were any.
pub(crate) fn left_behind(groups: usize) -> Option<String> {
    let what = count(groups, "group", "of processes that hooks had left behind");
    (groups > 0).then(|| format!("ended {what}"))
}

/// A moment given in milliseconds since 1970, to the second, in UTC.
pub(crate) fn utc(milliseconds: u64) -> String {
    let moment = UNIX_EPOCH + Duration::from_millis(milliseconds);
    humantime::format_rfc3339_seconds(moment).to_string()
}

/// Seconds without needless zeros.
pub(crate) fn seconds(duration: Duration) -> String {
    duration.as_secs_f64().to_string()
}

/// Milliseconds, precise where they are few.
pub(crate) fn milliseconds(duration: Duration) -> String {
    let ms = duration.as_secs_f64() * 1e3;
    if ms < 10.0 {
        format!("{ms:.1} ms")
    } else {
        format!("{ms:.0} ms")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_many_lined_texts_become_one_line() {
        assert_eq!(one_line("# a\n\tb"), "# a\\n\\tb");
        assert_eq!(cut("ääää", 4), "ääää");
        assert_eq!(cut("ääääa", 4), "ääää...");
    }

    #[test]
    fn nothing_acts_on_the_terminal() {
        let text = "rm \u{1b}[8mx\u{1b}[0m\r\u{202e}y";
        assert_eq!(visible(text), "rm \\u{1b}[8mx\\u{1b}[0m\\r\\u{202e}y");
        assert_eq!(visible("ä – 字 \"q\" \\"), "ä – 字 \"q\" \\");
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(count(1, "file", ""), "1 file");
        assert_eq!(count(0, "file", "more"), "0 files more");
        assert_eq!(seconds(Duration::from_millis(1500)), "1.5");
        assert_eq!(seconds(Duration::from_secs(600)), "600");
        assert_eq!(milliseconds(Duration::from_micros(1234)), "1.2 ms");
        assert_eq!(milliseconds(Duration::from_micros(123_456)), "123 ms");
    }
}
