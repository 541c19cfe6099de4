//! From the syntax tree to a [`Script`].
//!
//! The walk visits every node once, without recursion, so that no nesting can exhaust the stack.

use std::cell::RefCell;

use tree_sitter::{Node, Parser, Tree};

use super::doubts;
use super::script::{Assignment, Loose, Script, Simple, Target, Unreadable};
use super::word::{Word, slice};

thread_local! {
    static PARSER: RefCell<Option<Parser>> = const { RefCell::new(None) };
}

pub(crate) fn read(source: &str) -> Result<Script, Unreadable> {
    if let Some(doubt) = doubts::of_text(source) {
        return Err(Unreadable::new(doubt));
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
        if let Some(doubt) = doubts::of_node(node, self.source) {
            return Err(Unreadable::new(doubt));
        }
        match node.kind() {
            "command" | "declaration_command" | "unset_command" | "test_command" => {
                self.command(node)?;
            }
            "compound_statement" => self.arithmetic(node),
            "variable_assignment" => self.assignment(node, parent),
            "for_statement" => self.bind(node.child_by_field_name("variable")),
            "file_redirect" => self.redirection(node, parent)?,
            "heredoc_redirect" => {
                self.script.here_document = true;
                let mut cursor = node.walk();
                let mut words = Vec::new();
                node.children_by_field_name("argument", &mut cursor)
                    .for_each(|word| join(&mut words, word));
                self.behind(node, &words)?;
            }
            "simple_expansion" | "expansion" if !assigned => self.used(node, variable(node)),
            "command_substitution" | "process_substitution" if !assigned => self.used(node, None),
            _ => {}
        }
        Ok(())
    }

    fn text(&self, node: Node<'t>) -> &str {
        slice(self.source, node.byte_range())
    }

    /// `((…))`: to bash a sum, to a plainer shell two subshells, so its text is a command too.
    fn arithmetic(&mut self, node: Node<'t>) {
        let text = self.text(node);
        if let Some(inner) = text.strip_prefix("((").and_then(|t| t.strip_suffix("))")) {
            let words = inner.split_whitespace().map(Word::unquoted).collect();
            self.push(
                node,
                Simple {
                    words,
                    ..Simple::default()
                },
            );
        }
    }

    /// A command with a name. Also `export`, `declare`, `unset` and the like.
    fn command(&mut self, node: Node<'t>) -> Result<(), Unreadable> {
        let mut simple = Simple::default();
        let mut words: Vec<Vec<Node<'t>>> = Vec::new();
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "variable_assignment" if words.is_empty() => {
                    simple.assignments.push(self.leading(child));
                }
                "file_redirect" => words.extend(destinations(child).into_iter().skip(1)),
                "herestring_redirect" | "heredoc_redirect" | "comment" => {}
                _ => join(&mut words, child),
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
        let doubt = doubts::of_name(&simple.words).filter(|_| node.kind() == "command");
        if let Some(doubt) = doubt {
            return Err(Unreadable::new(doubt));
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

    fn leading(&self, node: Node<'t>) -> Assignment {
        let name = node.child_by_field_name("name").map(|n| self.text(n));
        Assignment {
            name: name.unwrap_or_default().to_owned(),
            source: self.text(node).to_owned(),
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
        let name = name.map(|n| self.text(n).to_owned());
        self.loose.bound.extend(name);
    }

    /// Of the parts that are open in any case, one is enough.
    fn used(&mut self, node: Node<'t>, variable: Option<Node<'t>>) {
        let text = |n: Node<'t>| self.text(n).to_owned();
        let name = variable.map(text);
        if name.is_some() || self.loose.uses.iter().all(|(_, name)| name.is_some()) {
            self.loose.uses.push((text(node), name));
        }
    }

    fn redirection(&mut self, node: Node<'t>, parent: &str) -> Result<(), Unreadable> {
        let mut found = destinations(node).into_iter();
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
        let word = Word::read(&file, self.source);
        let process = file.iter().any(|n| n.kind() == "process_substitution");
        let descriptor = word.source.chars().all(|c| c.is_ascii_digit() || c == '-');
        let copied = operator.ends_with('&') && descriptor;
        if !copied && !process {
            self.script
                .redirected
                .push(Target::new(&word, operator.contains('>')));
        }
        if parent == "command" {
            Ok(())
        } else {
            self.behind(node, &behind)
        }
    }

    /// Words behind a redirection belong to the command in front of it.
    fn behind(&mut self, redirection: Node<'t>, words: &[Vec<Node<'t>>]) -> Result<(), Unreadable> {
        if words.is_empty() {
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
            .extend(words.iter().map(|nodes| Word::read(nodes, self.source)));
        if let Some(end) = owner.and_then(|i| self.ends.get_mut(i)) {
            *end = words.iter().flatten().last().map_or(*end, Node::end_byte);
        }
        Ok(())
    }
}

/// Adds a node to the word it touches, or as a word of its own.
fn join<'t>(words: &mut Vec<Vec<Node<'t>>>, node: Node<'t>) {
    let last = words.last_mut();
    match last.filter(|word| {
        word.last()
            .is_some_and(|n| n.end_byte() == node.start_byte())
    }) {
        Some(word) => word.push(node),
        None => words.push(vec![node]),
    }
}

/// The file of a redirection, and the words behind it that the parser takes for more files.
fn destinations(redirection: Node<'_>) -> Vec<Vec<Node<'_>>> {
    let mut words = Vec::new();
    let mut cursor = redirection.walk();
    for node in redirection.children_by_field_name("destination", &mut cursor) {
        join(&mut words, node);
    }
    words
}

/// The name in `$x`, `${x}` and `${x:-…}`.
fn variable(node: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor)
        .find(|n| n.kind() == "variable_name")
}
