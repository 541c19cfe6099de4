//! A shell command as the words a shell would see, with their quoting.
//!
//! This is a reader for hints and fingerprints, never for policy: it knows quotes, variables,
//! substitutions, redirections and the words that start a command, and reads everything else as
//! plain text. What it cannot follow (`eval`, here-documents, aliases) it reads as ordinary words.

/// A stretch of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Literal text, quotes removed.
    Text { text: String, quoted: bool },
    /// `$name` or `${name}`, and `${name:-...}` with everything after the name dropped.
    Variable { name: String, quoted: bool },
    /// `$(...)` or backticks: the text inside.
    Command { text: String, quoted: bool },
}

/// What a word is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The program of a simple command.
    Program,
    /// One of its arguments.
    Argument,
    /// `name=value` before the program.
    Assignment,
    /// What a redirection reads.
    Input,
    /// Where a redirection writes.
    Output,
}

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) role: Role,
    /// Which simple command of the text it belongs to, from 0.
    pub(crate) command: usize,
}

impl Word {
    /// The word as it could be written, quotes left out.
    pub(crate) fn shown(&self) -> String {
        let pieces = self.pieces.iter().map(|piece| match piece {
            Piece::Text { text, .. } => text.clone(),
            Piece::Variable { name, .. } => format!("${{{name}}}"),
            Piece::Command { text, .. } => format!("$({text})"),
        });
        pieces.collect()
    }

    /// The text of a word that has neither variables nor substitutions.
    pub(crate) fn literal(&self) -> Option<String> {
        self.pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text { text, .. } => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }
}

/// Words after which the next word is a program again.
const KEYWORDS: [&str; 11] = [
    "if", "then", "elif", "else", "while", "until", "do", "!", "{", "time", "exec",
];

/// The words of a command.
pub(crate) fn words(command: &str) -> Vec<Word> {
    let mut reader = Reader {
        text: command,
        at: 0,
        words: Vec::new(),
        command: 0,
        expects_program: true,
        target: None,
    };
    reader.run();
    reader.words
}

/// Substitutions are followed this deep; a command that nests deeper is nobody's hook.
const DEPTH: usize = 8;

/// The words of a command and of the substitutions in it, outer words first; every simple
/// command has a number of its own.
pub(crate) fn words_within(command: &str) -> Vec<Word> {
    let mut all = words(command);
    let mut level: Vec<Word> = all.clone();
    for _ in 0..DEPTH {
        let mut inner = Vec::new();
        for text in level.iter().flat_map(substitutions) {
            let next = all.iter().chain(&inner).map(|word| word.command + 1).max();
            let numbered = words(text).into_iter().map(|word| Word {
                command: word.command + next.unwrap_or(0),
                ..word
            });
            inner.extend(numbered);
        }
        all.extend(inner.iter().cloned());
        level = inner;
    }
    all
}

fn substitutions(word: &Word) -> impl Iterator<Item = &str> {
    word.pieces.iter().filter_map(|piece| match piece {
        Piece::Command { text, .. } => Some(text.as_str()),
        _ => None,
    })
}

/// Every variable a command reads.
pub(crate) fn variables(command: &str) -> Vec<String> {
    let pieces = words_within(command)
        .into_iter()
        .flat_map(|word| word.pieces);
    pieces
        .filter_map(|piece| match piece {
            Piece::Variable { name, .. } => Some(name),
            _ => None,
        })
        .collect()
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    words: Vec<Word>,
    command: usize,
    expects_program: bool,
    /// The role of the next word, when a redirection waits for it.
    target: Option<Role>,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn eat(&mut self, wanted: char) -> bool {
        let there = self.peek() == Some(wanted);
        if there {
            self.next();
        }
        there
    }

    fn run(&mut self) {
        while let Some(c) = self.peek() {
            match c {
                '\n' | ';' | '&' | '|' | '(' | ')' => self.operator(c),
                c if c.is_whitespace() => {
                    self.next();
                }
                '#' => self.comment(),
                '<' | '>' => self.redirection(),
                _ => self.word(),
            }
        }
    }

    fn operator(&mut self, c: char) {
        self.next();
        if c == '&' && self.peek() == Some('>') {
            return;
        }
        self.command += 1;
        self.expects_program = true;
        self.target = None;
    }

    fn comment(&mut self) {
        while self.peek().is_some_and(|c| c != '\n') {
            self.next();
        }
    }

    fn redirection(&mut self) {
        let reads = self.peek() == Some('<');
        while matches!(self.peek(), Some('<' | '>' | '|' | '&')) {
            self.next();
        }
        self.target = Some(if reads { Role::Input } else { Role::Output });
    }

    fn word(&mut self) {
        let start = self.at;
        let mut pieces = Pieces::default();
        while let Some(c) = self.peek() {
            match c {
                '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>' => break,
                c if c.is_whitespace() => break,
                _ => {
                    self.next();
                    self.piece(c, false, &mut pieces);
                }
            }
        }
        let pieces = pieces.finish();
        let text = self.text.get(start..self.at).unwrap_or("");
        // `2>file`: the number belongs to the redirection.
        if matches!(self.peek(), Some('<' | '>')) && text.chars().all(|c| c.is_ascii_digit()) {
            return;
        }
        let role = self.role(text);
        let word = Word {
            pieces,
            role,
            command: self.command,
        };
        self.words.push(word);
    }

    fn role(&mut self, text: &str) -> Role {
        if let Some(target) = self.target.take() {
            return target;
        }
        if !self.expects_program {
            return Role::Argument;
        }
        if assignment(text) {
            return Role::Assignment;
        }
        self.expects_program = KEYWORDS.contains(&text);
        Role::Program
    }

    /// Reads on after the character `c` of a word.
    fn piece(&mut self, c: char, quoted: bool, pieces: &mut Pieces) {
        match c {
            '\'' if !quoted => {
                let rest = self.rest();
                let end = rest.find('\'').unwrap_or(rest.len());
                let inside = rest.get(..end).unwrap_or("").to_owned();
                self.at += end;
                self.eat('\'');
                pieces.text(&inside, true);
            }
            '"' if !quoted => {
                pieces.text("", true);
                while let Some(inner) = self.next() {
                    if inner == '"' {
                        break;
                    }
                    self.piece(inner, true, pieces);
                }
            }
            '\\' => match self.next() {
                Some('\n') | None => {}
                Some(escaped) => pieces.text(escaped.encode_utf8(&mut [0; 4]), true),
            },
            '`' => {
                let text = self.until_backtick();
                pieces.push(Piece::Command { text, quoted });
            }
            '$' => self.dollar(quoted, pieces),
            other => pieces.text(other.encode_utf8(&mut [0; 4]), quoted),
        }
    }

    fn until_backtick(&mut self) -> String {
        let rest = self.rest();
        let end = rest.find('`').unwrap_or(rest.len());
        let inside = rest.get(..end).unwrap_or("").to_owned();
        self.at += end;
        self.eat('`');
        inside
    }

    fn dollar(&mut self, quoted: bool, pieces: &mut Pieces) {
        match self.peek() {
            Some('(') => {
                self.next();
                let text = self.balanced(')', '(');
                pieces.push(Piece::Command { text, quoted });
            }
            Some('{') => {
                self.next();
                let inside = self.balanced('}', '{');
                let name: String = inside.chars().take_while(|c| named(*c)).collect();
                pieces.push(Piece::Variable { name, quoted });
            }
            Some(c) if named(c) => {
                let name: String = self.rest().chars().take_while(|c| named(*c)).collect();
                self.at += name.len();
                pieces.push(Piece::Variable { name, quoted });
            }
            _ => pieces.text("$", quoted),
        }
    }

    /// The text up to the bracket that closes the one just read, quotes respected.
    fn balanced(&mut self, close: char, open: char) -> String {
        let start = self.at;
        let mut depth = 0_usize;
        let mut quote = None;
        while let Some(c) = self.next() {
            match (quote, c) {
                (Some('\''), _) if c != '\'' => {}
                (_, '\\') => {
                    self.next();
                }
                (Some(mark), _) if mark == c => quote = None,
                (Some(_), _) => {}
                (None, '\'' | '"') => quote = Some(c),
                (None, _) if c == open => depth += 1,
                (None, _) if c == close && depth == 0 => {
                    let end = self.at - close.len_utf8();
                    return self.text.get(start..end).unwrap_or("").to_owned();
                }
                (None, _) if c == close => depth -= 1,
                (None, _) => {}
            }
        }
        self.text.get(start..).unwrap_or("").to_owned()
    }
}

fn named(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name.chars().all(named)
            && !name.starts_with(|c: char| c.is_ascii_digit())
    })
}

#[derive(Default)]
struct Pieces(Vec<Piece>);

impl Pieces {
    fn push(&mut self, piece: Piece) {
        self.0.push(piece);
    }

    fn text(&mut self, more: &str, now_quoted: bool) {
        match self.0.last_mut() {
            Some(Piece::Text { text, quoted }) if *quoted == now_quoted => text.push_str(more),
            _ => self.push(Piece::Text {
                text: more.to_owned(),
                quoted: now_quoted,
            }),
        }
    }

    fn finish(self) -> Vec<Piece> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each word as `role text`, with `«name»` for a variable inside quotes and `‹name›` outside.
    fn shown(command: &str) -> Vec<String> {
        let show = |piece: &Piece| match piece {
            Piece::Text { text, .. } => text.clone(),
            Piece::Variable { name, quoted: true } => format!("«{name}»"),
            Piece::Variable { name, .. } => format!("‹{name}›"),
            Piece::Command { text, quoted } => {
                format!("({text}){}", if *quoted { "q" } else { "" })
            }
        };
        words(command)
            .iter()
            .map(|word| {
                let role = match word.role {
                    Role::Program => "P",
                    Role::Argument => "a",
                    Role::Assignment => "=",
                    Role::Input => "<",
                    Role::Output => ">",
                };
                let text: String = word.pieces.iter().map(show).collect();
                format!("{role} {text}")
            })
            .collect()
    }

    #[test]
    fn commands_are_split_into_words_with_roles_and_quoting() {
        let table: &[(&str, &[&str])] = &[
            ("a b", &["P a", "a b"]),
            (
                "a 'b c' \"d $e\" f\\ g",
                &["P a", "a b c", "a d «e»", "a f g"],
            ),
            ("sh \"$R\"/bin/x $R/y", &["P sh", "a «R»/bin/x", "a ‹R›/y"]),
            (
                "X=1 Y=\"$Z\" a; b && c | d",
                &["= X=1", "= Y=«Z»", "P a", "P b", "P c", "P d"],
            ),
            ("a >> f 2>&1 <g", &["P a", "> f", "> 1", "< g"]),
            ("a &> f; b", &["P a", "> f", "P b"]),
            (
                "if ! a b; then c; fi",
                &["P if", "P !", "P a", "a b", "P then", "P c", "P fi"],
            ),
            (
                "x $(git rev-parse \"a)\")/y",
                &["P x", "a (git rev-parse \"a)\")/y"],
            ),
            (
                "x \"$(a 'b')/y\" `c d`",
                &["P x", "a (a 'b')q/y", "a (c d)"],
            ),
            ("a # b c\nd", &["P a", "P d"]),
            ("a ${B:-c d} $1 $", &["P a", "a ‹B›", "a ‹1›", "a $"]),
            ("a ''", &["P a", "a "]),
            ("", &[]),
        ];
        for (command, expected) in table {
            assert_eq!(shown(command), *expected, "{command}");
        }
    }

    #[test]
    fn variables_are_found_inside_substitutions_too() {
        assert_eq!(variables("a $A \"$(b ${C})\" 'x $D'"), ["A", "C"]);
        assert_eq!(variables(&"$(".repeat(100_000)), [""; 0]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_gives_words_and_no_more_text_than_it_has(
            command in "[ -~\n]{0,60}|\\PC{0,30}",
        ) {
            let pieces = words(&command).into_iter().flat_map(|word| word.pieces);
            let length = |piece: Piece| match piece {
                Piece::Text { text, .. } | Piece::Command { text, .. } => text.len(),
                Piece::Variable { name, .. } => name.len() + 1,
            };
            proptest::prop_assert!(pieces.map(length).sum::<usize>() <= command.len());
        }
    }
}
