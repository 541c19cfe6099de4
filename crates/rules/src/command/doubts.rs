//! Where the parser may read a command otherwise than bash would.
//!
//! The parser serves editors: it is lenient, and here and there it takes for one word, or for a
//! comment, or for the text of a here-document, what bash would run. Each such place that was
//! found (by running generated commands in bash and comparing) is looked for here; a command with
//! one is unreadable: no allow rule on commands covers it, and every deny rule does.

use tree_sitter::Node;

use super::word::{Word, slice};

/// What bash takes for part of a word, and the parser for a blank.
const FALSE_BLANKS: [char; 3] = ['\r', '\u{b}', '\u{c}'];

/// A word begins behind any of these.
const STARTS_A_WORD: [char; 9] = [' ', '\t', '\n', ';', '&', '|', '(', ')', '`'];

const BROKEN_LINE: &str = "where a word or a command ends is not certain at a line break";

const LONE_DOLLAR: &str = "a `$` stands alone";

/// Doubts about the text as a whole.
pub(crate) fn of_text(source: &str) -> Option<&'static str> {
    if source.contains(FALSE_BLANKS) {
        return Some("it has a control character that is no blank");
    }
    source
        .contains("$\\\n")
        .then_some("a `$` stands at the end of a broken line")
}

/// Doubts about one node.
pub(crate) fn of_node(node: Node<'_>, source: &str) -> Option<&'static str> {
    let text = slice(source, node.byte_range());
    match node.kind() {
        "command" | "declaration_command" | "unset_command" | "file_redirect" => {
            on_one_line(node, source)
        }
        "word" | "extglob_pattern" | "regex" if text.contains('\n') => Some(BROKEN_LINE),
        "word" | "extglob_pattern" | "regex" | "string_content" => hidden(text),
        "translated_string" => (!text.starts_with("$\"")).then_some(LONE_DOLLAR),
        "comment" => comment(slice(source, 0..node.start_byte())),
        "heredoc_redirect" => here_document(node, source),
        "command_substitution" => backticks(text),
        "compound_statement" => brace(text),
        "simple_expansion" => text.contains(char::is_whitespace).then_some(LONE_DOLLAR),
        "expansion" => {
            let starts = text.contains("<(") || text.contains(">(");
            starts.then_some("`${…}` starts a process")
        }
        _ => None,
    }
}

/// Doubts about the name of a command: words of the shell's own, which the parser takes for names
/// (also behind `time`), names in braces, and assignments it did not recognise.
pub(crate) fn of_name(words: &[Word]) -> Option<String> {
    let timed = words.first().is_some_and(|w| w.source == "time");
    let timing = |w: &&Word| timed && (w.source == "time" || w.source.starts_with('-'));
    let name = words.iter().find(|w| !timing(w))?;
    if is_reserved(&name.source) {
        return Some(format!(
            "`{}` stands where a command is expected",
            name.source
        ));
    }
    let assigns = name.source.contains("]=") || name.source.contains("]+=");
    let subscript = timed && name.source != "[" && name.source.contains('[');
    let doubtful = name.has_braces() || assigns || subscript;
    doubtful.then(|| format!("`{}` stands for the name of a command", name.source))
}

fn is_reserved(name: &str) -> bool {
    const RESERVED: [&str; 20] = [
        "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac",
        "select", "function", "coproc", "{", "}", "[[", "]]", "!",
    ];
    RESERVED.contains(&name)
}

/// The parts of a command stand on one line, or on lines that are broken between them. The parser
/// misses the end of a line that a backslash follows, and makes two words of one that is broken
/// in the middle. It also sees an assignment end where nothing ends it.
fn on_one_line(node: Node<'_>, source: &str) -> Option<&'static str> {
    let mut cursor = node.walk();
    let mut before: Option<Node<'_>> = None;
    for child in node.children(&mut cursor) {
        let end = before.map_or(child.start_byte(), |b| b.end_byte());
        let gap = slice(source, end..child.start_byte());
        let left = gap.replace("\\\n", "");
        if left.contains('\n') || (left.is_empty() && !gap.is_empty()) {
            return Some(BROKEN_LINE);
        }
        let assigned = before.is_some_and(|b| b.kind() == "variable_assignment");
        if assigned && gap.is_empty() && !child.kind().ends_with("redirect") {
            return Some("where an assignment ends is not certain");
        }
        before = Some(child);
    }
    None
}

/// A comment starts a word. The parser also sees one behind a broken line inside a word.
fn comment(before: &str) -> Option<&'static str> {
    let before = before.trim_end_matches("\\\n");
    let escaped = before
        .strip_suffix([' ', '\t', '\n'])
        .is_some_and(|b| b.ends_with('\\'));
    let starts = before.is_empty() || before.ends_with(STARTS_A_WORD);
    (escaped || !starts).then_some("a `#` may or may not begin a comment")
}

/// Inside backticks a backslash is taken off before the text is read; the parser leaves it.
fn backticks(text: &str) -> Option<&'static str> {
    (text.starts_with('`') && text.contains('\\')).then_some("a backslash stands in backticks")
}

/// A substitution that the parser left in plain text.
fn hidden(text: &str) -> Option<&'static str> {
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', _) => {
                chars.next();
            }
            ('`', _) | ('$', Some('(')) => return Some("a substitution may stand in its text"),
            _ => {}
        }
    }
    None
}

/// The text of a here-document whose delimiter is not quoted has substitutions in it; the parser
/// does not see backticks there.
fn here_text(body: Node<'_>, source: &str) -> Option<&'static str> {
    let mut at = body.start_byte();
    let mut cursor = body.walk();
    let parts = body.named_children(&mut cursor);
    for part in parts.filter(|c| c.kind() != "heredoc_content") {
        if let Some(doubt) = hidden(slice(source, at..part.start_byte())) {
            return Some(doubt);
        }
        at = part.end_byte();
    }
    hidden(slice(source, at..body.end_byte()))
}

/// `{` groups commands only as a word of its own.
fn brace(text: &str) -> Option<&'static str> {
    let rest = text.strip_prefix('{')?;
    (!rest.starts_with([' ', '\t', '\n'])).then_some("a `{` stands in front of a name")
}

/// The text of a here-document ends at the first line that is the delimiter and nothing else; what
/// the parser takes for text behind that line would be run.
fn here_document(node: Node<'_>, source: &str) -> Option<&'static str> {
    const UNCERTAIN: Option<&str> = Some("where a here-document ends is not certain");
    let part = |kind: &str| {
        let mut cursor = node.walk();
        node.children(&mut cursor).find(|c| c.kind() == kind)
    };
    let (Some(start), Some(end)) = (part("heredoc_start"), part("heredoc_end")) else {
        return UNCERTAIN;
    };
    const QUOTES: [char; 3] = ['\'', '"', '\\'];
    let written = slice(source, start.byte_range());
    let delimiter = written.replace(QUOTES, "");
    let tabs = slice(source, node.byte_range()).starts_with("<<-");
    let mut at = start.end_byte();
    let lines = slice(source, at..source.len()).split_inclusive('\n');
    for (index, line) in lines.enumerate() {
        let whole = line.strip_suffix('\n').unwrap_or(line);
        let trimmed = whole.trim_start_matches(|c| tabs && c == '\t');
        if index > 0 && trimmed == delimiter {
            let broken = slice(source, 0..at).ends_with("\\\n");
            if broken || at + whole.len() != end.end_byte() {
                return UNCERTAIN;
            }
            let body = part("heredoc_body").filter(|_| !written.contains(QUOTES));
            return body.and_then(|body| here_text(body, source));
        }
        at += line.len();
    }
    UNCERTAIN
}
