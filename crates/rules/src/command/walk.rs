//! From the syntax tree to a [`Script`].
//!
//! The walk visits every node once, without recursion, so that no nesting can exhaust the stack.

use std::cell::RefCell;

use tree_sitter::{Node, Parser, Tree};

use super::script::{Assignment, Loose, Script, Simple, Target, Unreadable};
use super::word::{Word, slice};

thread_local! {
    static PARSER: RefCell<Option<Parser>> = const { RefCell::new(None) };
}

/// What the parser takes for a blank and the shell does not.
const FALSE_BLANKS: [char; 3] = ['\r', '\u{b}', '\u{c}'];

/// A word begins behind any of these.
const STARTS_A_WORD: [char; 9] = [' ', '\t', '\n', ';', '&', '|', '(', ')', '`'];

pub(crate) fn read(source: &str) -> Result<Script, Unreadable> {
    if let Some(blank) = source.chars().find(|c| FALSE_BLANKS.contains(c)) {
        return Err(Unreadable::new(format!(
            "it has the control character {}",
            blank.escape_debug()
        )));
    }
    let tree = parse(source).ok_or_else(|| Unreadable::new("the shell parser did not start"))?;
    let root = tree.root_node();
    if root.has_error() {
        let at = first_error(root).map_or(0, |node| node.start_byte());
        let column = slice(source, 0..at).chars().count() + 1;
        return Err(Unreadable::new(format!(
            "the command does not parse (character {column})"
        )));
    }
    let mut walk = Walk {
        source,
        script: Script::default(),
        loose: Loose::default(),
        ends: vec![],
    };
    walk.run(root)?;
    let Walk {
        mut script, loose, ..
    } = walk;
    script.settle(loose);
    Ok(script)
}

fn parse(source: &str) -> Option<Tree> {
    PARSER.with_borrow_mut(|slot| {
        if slot.is_none() {
            let mut parser = Parser::new();
            parser
                .set_language(&tree_sitter_bash::LANGUAGE.into())
                .ok()?;
            *slot = Some(parser);
        }
        slot.as_mut()?.parse(source, None)
    })
}

fn first_error(root: Node<'_>) -> Option<Node<'_>> {
    let mut node = root;
    loop {
        if node.is_error() || node.is_missing() {
            return Some(node);
        }
        let mut cursor = node.walk();
        node = node.children(&mut cursor).find(Node::has_error)?;
    }
}

struct Walk<'s> {
    source: &'s str,
    script: Script,
    loose: Loose,
    /// Where each of the script's commands ends, so that words behind a redirection find theirs.
    ends: Vec<usize>,
}

/// A node to visit and where it stands.
#[derive(Clone, Copy)]
struct Visit<'t> {
    node: Node<'t>,
    parent: &'t str,
    /// Inside the value of an assignment, and in no substitution of that value.
    assigned: bool,
}

impl<'t> Walk<'_> {
    fn run(&mut self, root: Node<'t>) -> Result<(), Unreadable> {
        let mut open = vec![Visit {
            node: root,
            parent: "",
            assigned: false,
        }];
        while let Some(visit) = open.pop() {
            self.visit(visit)?;
            let Visit {
                node,
                parent,
                assigned,
            } = visit;
            let assigned = match node.kind() {
                "variable_assignment" => parent != "declaration_command",
                "command_substitution" | "process_substitution" => false,
                _ => assigned,
            };
            let first = open.len();
            let mut cursor = node.walk();
            let children = node.named_children(&mut cursor);
            open.extend(children.map(|node| Visit {
                node,
                parent: visit.node.kind(),
                assigned,
            }));
            if let Some(added) = open.get_mut(first..) {
                added.reverse();
            }
        }
        Ok(())
    }

    fn visit(&mut self, visit: Visit<'t>) -> Result<(), Unreadable> {
        let Visit {
            node,
            parent,
            assigned,
        } = visit;
        match node.kind() {
            "command" | "declaration_command" | "unset_command" | "test_command" => {
                self.command(node)?
            }
            "compound_statement" => self.arithmetic(node),
            "word" | "extglob_pattern" | "regex"
                if slice(self.source, node.byte_range()).contains('\n') =>
            {
                return Err(broken_line());
            }
            "variable_assignment" => self.assignment(node, parent),
            "for_statement" => self.bind(node.child_by_field_name("variable")),
            "file_redirect" => self.redirection(node, parent)?,
            "heredoc_redirect" => {
                self.script.here_document = true;
                let mut cursor = node.walk();
                let words = node.children_by_field_name("argument", &mut cursor);
                self.behind(node, words.collect())?;
            }
            "comment" => self.comment(node)?,
            "command_substitution" if self.escapes_in_backticks(node) => {
                return Err(Unreadable::new("a backslash stands in backticks"));
            }
            "simple_expansion" | "expansion" if !assigned => self.used(node, variable(node)),
            "command_substitution" | "process_substitution" if !assigned => self.used(node, None),
            _ => {}
        }
        Ok(())
    }

    /// `((…))`: to bash a sum, to a plainer shell two subshells, so its text is a command too.
    fn arithmetic(&mut self, node: Node<'t>) {
        let text = slice(self.source, node.byte_range());
        if let Some(inner) = text.strip_prefix("((").and_then(|t| t.strip_suffix("))")) {
            let words = inner.split_whitespace().map(Word::unquoted).collect();
            self.push(
                node,
                Simple {
                    assignments: vec![],
                    words,
                },
            );
        }
    }

    /// A command with a name. Also `export`, `declare`, `unset` and the like.
    fn command(&mut self, node: Node<'t>) -> Result<(), Unreadable> {
        let mut simple = Simple::default();
        let mut words: Vec<Vec<Node<'t>>> = Vec::new();
        self.on_one_line(node)?;
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "variable_assignment" if words.is_empty() => {
                    simple.assignments.push(self.leading(child));
                }
                "file_redirect" => {
                    let mut cursor = child.walk();
                    let found = child.children_by_field_name("destination", &mut cursor);
                    words.extend(found.skip(1).map(|node| vec![node]));
                }
                "herestring_redirect" | "heredoc_redirect" | "comment" => {}
                _ => match words.last_mut() {
                    Some(word) if Self::touches(word, child) => word.push(child),
                    _ => words.push(vec![child]),
                },
            }
        }
        simple.words = words
            .iter()
            .map(|nodes| Word::read(nodes, self.source))
            .collect();
        let name = simple
            .words
            .first()
            .and_then(Word::literal)
            .unwrap_or_default();
        if node.kind() == "command" {
            is_command(&simple.words)?;
        }
        if name == "read" {
            let names = simple.words.iter().skip(1).filter_map(Word::literal);
            self.loose.bound.extend(names);
        }
        self.push(node, simple);
        Ok(())
    }

    fn push(&mut self, node: Node<'t>, simple: Simple) {
        self.script.commands.push(simple);
        self.ends.push(node.end_byte());
    }

    /// Inside backticks a backslash is taken off before the text is read; the parser does not.
    fn escapes_in_backticks(&self, node: Node<'t>) -> bool {
        let text = slice(self.source, node.byte_range());
        text.starts_with('`') && text.contains('\\')
    }

    /// A comment starts a word. The parser also takes a `#` for one that a broken line puts
    /// inside a word, and what follows would be hidden.
    fn comment(&self, node: Node<'t>) -> Result<(), Unreadable> {
        let before = slice(self.source, 0..node.start_byte());
        let before = before.trim_end_matches("\\\n");
        let escaped = before
            .strip_suffix([' ', '\t', '\n'])
            .is_some_and(|b| b.ends_with('\\'));
        if escaped || !(before.is_empty() || before.ends_with(STARTS_A_WORD)) {
            return Err(Unreadable::new("a `#` may or may not begin a comment"));
        }
        Ok(())
    }

    /// The parts of a command stand on one line, or on lines broken between them. The parser
    /// misses a line's end that a backslash follows, and takes the next command for an argument;
    /// and it makes two words of one that is broken in the middle.
    fn on_one_line(&self, node: Node<'t>) -> Result<(), Unreadable> {
        if node.kind() == "test_command" {
            return Ok(());
        }
        let mut cursor = node.walk();
        let mut at = node.start_byte();
        for child in node.children(&mut cursor) {
            let gap = slice(self.source, at..child.start_byte());
            let left = gap.replace("\\\n", "");
            if left.contains('\n') || (left.is_empty() && !gap.is_empty()) {
                return Err(broken_line());
            }
            at = child.end_byte();
        }
        Ok(())
    }

    /// Whether a node goes on where the word ends.
    fn touches(word: &[Node<'t>], next: Node<'t>) -> bool {
        word.last()
            .is_some_and(|last| last.end_byte() == next.start_byte())
    }

    fn leading(&self, node: Node<'t>) -> Assignment {
        let name = node
            .child_by_field_name("name")
            .map(|n| slice(self.source, n.byte_range()));
        Assignment {
            name: name.unwrap_or_default().to_owned(),
            source: slice(self.source, node.byte_range()).to_owned(),
        }
    }

    /// Every assignment gives its name a value; one that belongs to no command is a command.
    fn assignment(&mut self, node: Node<'t>, parent: &str) {
        self.bind(node.child_by_field_name("name"));
        if !matches!(
            parent,
            "command" | "declaration_command" | "c_style_for_statement"
        ) {
            let assignments = vec![self.leading(node)];
            self.push(
                node,
                Simple {
                    assignments,
                    words: vec![],
                },
            );
        }
    }

    fn bind(&mut self, name: Option<Node<'t>>) {
        let name = name.map(|n| slice(self.source, n.byte_range()).to_owned());
        self.loose.bound.extend(name);
    }

    /// Of the parts that are open in any case, one is enough.
    fn used(&mut self, node: Node<'t>, variable: Option<Node<'t>>) {
        let text = |n: Node<'t>| slice(self.source, n.byte_range()).to_owned();
        let name = variable.map(text);
        if name.is_some() || self.loose.uses.iter().all(|(_, name)| name.is_some()) {
            self.loose.uses.push((text(node), name));
        }
    }

    fn redirection(&mut self, node: Node<'t>, parent: &str) -> Result<(), Unreadable> {
        self.on_one_line(node)?;
        let mut cursor = node.walk();
        let mut found = node.children_by_field_name("destination", &mut cursor);
        let Some(file) = found.next() else {
            return Ok(());
        };
        let behind: Vec<_> = found.collect();
        let mut cursor = node.walk();
        let operator = node
            .children(&mut cursor)
            .map(|c| c.kind())
            .find(|k| k.contains(['<', '>']));
        let operator = operator.unwrap_or_default();
        let word = Word::read(&[file], self.source);
        let descriptor = word.source.chars().all(|c| c.is_ascii_digit() || c == '-');
        if !(operator.ends_with('&') && descriptor) && file.kind() != "process_substitution" {
            self.script
                .redirected
                .push(Target::new(&word, operator.contains('>')));
        }
        if parent == "command" {
            Ok(())
        } else {
            self.behind(node, behind)
        }
    }

    /// Words behind a redirection belong to the command in front of it.
    fn behind(&mut self, redirection: Node<'t>, nodes: Vec<Node<'t>>) -> Result<(), Unreadable> {
        if nodes.is_empty() {
            return Ok(());
        }
        let before = self
            .ends
            .iter()
            .enumerate()
            .filter(|(_, end)| **end <= redirection.start_byte());
        // Of those that end there, the first is the outermost.
        let owner = before
            .rev()
            .max_by_key(|(_, end)| **end)
            .map(|(index, _)| index);
        let Some(simple) = owner.and_then(|i| self.script.commands.get_mut(i)) else {
            return Err(Unreadable::new(
                "words behind a redirection belong to no command",
            ));
        };
        simple
            .words
            .extend(nodes.iter().map(|node| Word::read(&[*node], self.source)));
        if let Some(end) = owner.and_then(|i| self.ends.get_mut(i)) {
            *end = nodes.last().map_or(*end, Node::end_byte);
        }
        Ok(())
    }
}

fn broken_line() -> Unreadable {
    Unreadable::new("where a command or a word ends is not certain at a line break")
}

/// The name in `$x`, `${x}` and `${x:-…}`.
fn variable(node: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor)
        .find(|n| n.kind() == "variable_name")
}

/// The shell's own words do not start a command, not even behind `time`.
fn is_command(words: &[Word]) -> Result<(), Unreadable> {
    let timed = words.first().is_some_and(|w| w.source == "time");
    let timing = |w: &&Word| timed && (w.source == "time" || w.source.starts_with('-'));
    match words.iter().find(|w| !timing(w)) {
        Some(word) if is_reserved(&word.source) => {
            let why = format!("`{}` stands where a command is expected", word.source);
            Err(Unreadable::new(why))
        }
        _ => Ok(()),
    }
}

/// Words that cannot be a command's name; the parser takes some of them for one.
fn is_reserved(name: &str) -> bool {
    matches!(
        name,
        "if" | "then"
            | "elif"
            | "else"
            | "fi"
            | "for"
            | "while"
            | "until"
            | "do"
            | "done"
            | "case"
            | "esac"
            | "select"
            | "function"
            | "coproc"
            | "{"
            | "}"
            | "[["
            | "]]"
            | "!"
    )
}
