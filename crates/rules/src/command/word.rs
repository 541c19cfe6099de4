//! One word of a shell command: what is written, what it says, and what only the run knows.

use std::ops::Range;

use tree_sitter::Node;

use crate::wildcard::Token;

/// A word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// As written, quotes and all.
    pub(crate) source: String,
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    /// Text without its quotes.
    Text(String),
    /// A part that is known only at run time, as written.
    Hole(String),
}

impl Word {
    /// A word made of one or several nodes that touch.
    pub(crate) fn read(nodes: &[Node<'_>], source: &str) -> Self {
        let mut word = Self {
            source: String::new(),
            pieces: Vec::new(),
        };
        for node in nodes {
            word.source.push_str(slice(source, node.byte_range()));
            word.add(*node, source);
        }
        if has_braces(&word.source) {
            word.pieces = vec![Piece::Hole(word.source.clone())];
        }
        word
    }

    /// A word that is taken as it stands.
    pub(crate) fn unquoted(text: &str) -> Self {
        Self {
            source: text.to_owned(),
            pieces: vec![Piece::Text(text.to_owned())],
        }
    }

    /// The word without quotes; a hole stands as it is written.
    pub(crate) fn plain(&self) -> String {
        self.pieces
            .iter()
            .map(|p| match p {
                Piece::Text(text) | Piece::Hole(text) => text.as_str(),
            })
            .collect()
    }

    /// The word, if nothing in it is left to the run.
    pub(crate) fn literal(&self) -> Option<String> {
        (!self.has_hole()).then(|| self.plain())
    }

    /// Whether the shell makes several words of it by braces.
    pub(crate) fn has_braces(&self) -> bool {
        has_braces(&self.source)
    }

    pub(crate) fn has_hole(&self) -> bool {
        self.pieces.iter().any(|p| matches!(p, Piece::Hole(_)))
    }

    /// Whether nothing may be left of the word, and the next one be taken for it: `$x`, `$(…)`.
    pub(crate) fn may_vanish(&self) -> bool {
        let quoted = self.source.contains(['"', '\'']);
        !quoted && self.pieces.iter().all(|p| matches!(p, Piece::Hole(_)))
    }

    /// Whether the shell would look for files, or for a home folder, in place of the word.
    pub(crate) fn is_glob(&self) -> bool {
        let class = self
            .source
            .split_once('[')
            .is_some_and(|(_, rest)| rest.contains(']'));
        class || self.source.starts_with('~') || self.source.contains(['*', '?'])
    }

    /// The word for [`Wildcard::could_match`](crate::wildcard::Wildcard::could_match). In the
    /// place of the command's name, `*`, `?` and `[…]` are holes too.
    pub(crate) fn tokens(&self, as_name: bool) -> Vec<Token> {
        let glob = as_name && self.is_glob();
        let mut tokens = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Hole(_) => tokens.push(Token::Any),
                Piece::Text(text) if glob => tokens.extend(globbed(text)),
                Piece::Text(text) => tokens.extend(text.chars().map(Token::Char)),
            }
        }
        tokens
    }

    fn add(&mut self, node: Node<'_>, source: &str) {
        match node.kind() {
            "raw_string" => self.text(unquoted(slice(source, node.byte_range()), "'")),
            "ansi_c_string" => {
                let written = slice(source, node.byte_range());
                match written.strip_prefix('$').map(|s| unquoted(s, "'")) {
                    Some(text) if !text.contains('\\') => self.text(text),
                    _ => self.hole(written),
                }
            }
            "string" => {
                self.drop_translation_mark(slice(source, 0..node.start_byte()));
                self.parts(node, source, inner(node), unescape_quoted);
            }
            "translated_string" | "concatenation" => {
                self.parts(node, source, node.byte_range(), unescape);
            }
            kind if is_hole(kind) => self.hole(slice(source, node.byte_range())),
            _ => self.parts(node, source, node.byte_range(), unescape),
        }
    }

    /// `$"x"` is `"x"` in the user's language.
    fn drop_translation_mark(&mut self, before: &str) {
        let marked = before.strip_suffix('$').is_some_and(|b| !b.ends_with('\\'));
        if let Some(Piece::Text(text)) = self.pieces.last_mut().filter(|_| marked)
            && text.ends_with('$')
        {
            text.pop();
        }
    }

    /// The children that mean something, and the text between them.
    fn parts(
        &mut self,
        node: Node<'_>,
        source: &str,
        within: Range<usize>,
        text: fn(&str) -> String,
    ) {
        let mut at = within.start;
        let mut cursor = node.walk();
        let parts = node.children(&mut cursor).filter(|c| is_part(c.kind()));
        for child in parts {
            self.text(&text(slice(source, at..child.start_byte())));
            self.add(child, source);
            at = child.end_byte();
        }
        self.text(&text(slice(source, at..within.end)));
    }

    fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.pieces.push(Piece::Text(text.to_owned()));
        }
    }

    fn hole(&mut self, written: &str) {
        self.pieces.push(Piece::Hole(written.to_owned()));
    }
}

/// What only the run knows. A plain `$` is not among them.
fn is_hole(kind: &str) -> bool {
    matches!(
        kind,
        "command_substitution"
            | "process_substitution"
            | "simple_expansion"
            | "expansion"
            | "arithmetic_expansion"
            | "brace_expression"
    )
}

/// Children of a word that are not simply text.
fn is_part(kind: &str) -> bool {
    is_hole(kind)
        || matches!(
            kind,
            "raw_string" | "ansi_c_string" | "string" | "translated_string" | "concatenation"
        )
}

fn globbed(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '[' {
            chars.by_ref().find(|c| *c == ']');
        }
        let hole = matches!(c, '*' | '?' | '[');
        tokens.push(if hole { Token::Any } else { Token::Char(c) });
    }
    tokens
}

pub(crate) fn slice(source: &str, range: Range<usize>) -> &str {
    source.get(range).unwrap_or_default()
}

/// The range between the quotes of a string.
fn inner(node: Node<'_>) -> Range<usize> {
    let range = node.byte_range();
    let end = range.end.saturating_sub(1).max(range.start + 1);
    range.start + 1..end
}

fn unquoted<'s>(text: &'s str, quote: &str) -> &'s str {
    text.strip_prefix(quote)
        .and_then(|t| t.strip_suffix(quote))
        .unwrap_or(text)
}

/// Outside quotes a backslash keeps the next character, and removes a line break.
fn unescape(text: &str) -> String {
    unescape_where(text, |_| true)
}

/// Inside double quotes only these characters need one.
fn unescape_quoted(text: &str) -> String {
    unescape_where(text, |c| matches!(c, '$' | '`' | '"' | '\\' | '\n'))
}

fn unescape_where(text: &str, escapable: fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek().copied()) {
            ('\\', Some(next)) if escapable(next) => {
                if next != '\n' {
                    out.push(next);
                }
                chars.next();
            }
            _ => out.push(c),
        }
    }
    out
}

/// Whether brace expansion makes several words of this one: an unquoted `{…}` with a `,` or `..`
/// in it. Quotes inside the braces do not matter; a quoted brace does not count.
fn has_braces(source: &str) -> bool {
    if !source.contains('{') {
        return false;
    }
    let (mut open, mut parts, mut quote) = (false, false, None);
    let mut chars = source.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some(_), _) => {}
            (None, '\\') => {
                chars.next();
            }
            (None, '\'' | '"') => quote = Some(c),
            // `${x}` is no brace expansion.
            (None, '$') if chars.peek() == Some(&'{') => {
                chars.next();
            }
            (None, '{') => (open, parts) = (true, false),
            (None, ',') => parts |= open,
            (None, '.') if chars.peek() == Some(&'.') => parts |= open,
            (None, '}') if open && parts => return true,
            _ => {}
        }
    }
    false
}
