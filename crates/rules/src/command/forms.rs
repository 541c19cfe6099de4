//! The texts a simple command is compared by.
//!
//! One command can be meant in several ways: with its leading assignments or without, with the
//! `timeout 5` in front or without. Each is a [`Form`]; a pattern fits the command when it fits
//! one of them.

use super::script::{Simple, Target};
use super::word::Word;
use crate::answer::Reading;
use crate::wildcard::Token;

/// One way to read a command.
#[derive(Debug)]
pub(crate) struct Form {
    /// As written, one space between the words.
    pub(crate) source: String,
    /// The same without quotes.
    pub(crate) plain: String,
    /// For questions about what the run could make of it.
    pub(crate) tokens: Vec<Token>,
    /// `xargs` adds arguments at the end.
    pub(crate) open_ended: bool,
}

/// Environment variables that an allow rule looks past. The client's set is not published; this
/// one is ours: they change what a program prints, not what it does.
const HARMLESS: &[&str] = &[
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "COLUMNS",
    "LINES",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "CI",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "NODE_ENV",
    "PYTHONUNBUFFERED",
    "DEBIAN_FRONTEND",
];

/// The forms that count in this reading.
///
/// * A condition drops assignments, and `xargs` without flags, and nothing else (measured).
/// * Deny and ask rules see the command with and without assignments and wrappers.
/// * Allow rules drop only harmless assignments; with others in front, only the whole text counts.
pub(crate) fn forms(simple: &Simple, reading: Reading) -> Vec<Form> {
    let mut forms = Vec::new();
    let kept = match reading {
        Reading::Condition => false,
        Reading::Allow => !harmless(simple),
        Reading::Deny | Reading::Ask => !simple.assignments.is_empty(),
    };
    if kept {
        forms.push(assigning(simple));
        if reading == Reading::Allow {
            return forms;
        }
    }
    let mut words = simple.words.as_slice();
    let mut open_ended = false;
    while !words.is_empty() {
        forms.push(form(words, open_ended));
        let Some(inner) = unwrap(words, reading) else {
            break;
        };
        open_ended |= name(words) == "xargs";
        words = inner;
    }
    forms
}

/// Whether every assignment of the command is one that an allow rule looks past.
pub(crate) fn harmless(simple: &Simple) -> bool {
    let known = |name: &str| name.starts_with("LC_") || HARMLESS.contains(&name);
    simple.assignments.iter().all(|a| known(&a.name))
}

/// What the command really runs, all wrappers off, for rules on the program itself.
pub(crate) fn innermost(simple: &Simple) -> &[Word] {
    layers(simple).last().unwrap_or_default()
}

/// Whether the program, or one that starts it, is known only when it runs.
pub(crate) fn program_unknown(simple: &Simple) -> bool {
    layers(simple).any(|words| words.first().is_some_and(Word::has_hole))
}

/// The command, then what its wrapper starts, and so on.
fn layers(simple: &Simple) -> impl Iterator<Item = &[Word]> {
    std::iter::successors(Some(simple.words.as_slice()), |words| {
        unwrap(words, Reading::Deny)
    })
}

/// The files that the command names, if it is one that is known to read or write files.
pub(crate) fn files(simple: &Simple) -> Vec<Target> {
    let words = innermost(simple);
    let arguments = words.get(1..).unwrap_or_default();
    let flag = |w: &&Word| w.source.starts_with('-');
    let starts = |w: &Word, flags: [&str; 2]| flags.iter().any(|f| w.source.starts_with(f));
    let script_given = |w: &Word| starts(w, ["-e", "-f"]);
    let short = |w: &Word| flag(&w) && !starts(w, ["--", "-e"]);
    let in_place =
        |w: &Word| w.source.starts_with("--in-place") || short(w) && w.source.contains('i');
    let (written, skipped) = match name(words).as_str() {
        "cat" | "head" | "tail" => (false, 0),
        "tee" => (true, 0),
        "sed" => {
            let script_first = !arguments.iter().any(script_given);
            (arguments.iter().any(in_place), usize::from(script_first))
        }
        _ => return Vec::new(),
    };
    let named = arguments.iter().filter(|w| !flag(w)).skip(skipped);
    named.map(|w| Target::new(w, written)).collect()
}

fn assigning(simple: &Simple) -> Form {
    let assignments = simple.assignments.iter().map(|a| a.source.as_str());
    let before = assignments.collect::<Vec<_>>().join(" ");
    let mut form = form(&simple.words, false);
    for text in [&mut form.source, &mut form.plain] {
        *text = format!("{before} {text}").trim_end().to_owned();
    }
    form
}

fn form(words: &[Word], open_ended: bool) -> Form {
    let join = |text: fn(&Word) -> String| words.iter().map(text).collect::<Vec<_>>().join(" ");
    let mut tokens = Vec::new();
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            tokens.push(Token::Char(' '));
        }
        tokens.extend(word.tokens(index == 0));
    }
    Form {
        source: join(|w| w.source.clone()),
        plain: join(Word::plain),
        tokens,
        open_ended,
    }
}

fn name(words: &[Word]) -> String {
    words.first().and_then(Word::literal).unwrap_or_default()
}

/// The command that a wrapper starts; `None` when the first word is no wrapper (documented set).
fn unwrap(words: &[Word], reading: Reading) -> Option<&[Word]> {
    let (first, rest) = words.split_first()?;
    let vanishes = reading.restricts() && first.may_vanish();
    // Behind `time` or a redirection the parser does not know an assignment.
    let assigns = reading != Reading::Allow && assigns(&first.source);
    if vanishes || assigns {
        return (!rest.is_empty()).then_some(rest);
    }
    let wrapper = first.literal()?;
    if reading == Reading::Condition && wrapper != "xargs" {
        return None;
    }
    let skipped = match wrapper.as_str() {
        "noglob" => 0,
        "nohup" | "builtin" => only(rest, &["--"])?,
        "command" => only(rest, &["-p", "--"])?,
        "xargs" => only(rest, &[])?,
        "time" => only(rest, &["-p"])?,
        "nice" => flags(rest, &["-n", "--adjustment"]),
        "stdbuf" => flags(rest, &["-i", "-o", "-e", "--input", "--output", "--error"]),
        "timeout" => flags(rest, &["-k", "-s", "--kill-after", "--signal"]) + 1,
        _ => return None,
    };
    let (dropped, inner) = rest.split_at_checked(skipped)?;
    // What is left to the run could be a command of its own; only a denial may look past it.
    let certain = dropped.iter().all(|w| !w.has_hole());
    (!inner.is_empty() && (certain || reading.restricts())).then_some(inner)
}

/// Whether a word in front of a command would be an assignment.
fn assigns(word: &str) -> bool {
    let name = word.split(['=', '[', '+']).next().unwrap_or_default();
    let starts = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    starts && word.contains('=') && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// How many words the flags take, if there are no others than these. With others the wrapper may
/// do something else than start a command (`command -v`, `xargs -n1`).
fn only(words: &[Word], known: &[&str]) -> Option<usize> {
    let count = flags(words, &[]);
    let known = |w: &Word| known.contains(&w.source.as_str());
    words.iter().take(count).all(known).then_some(count)
}

/// How many words the flags take, with the values of those that have one in the next word.
fn flags(words: &[Word], valued: &[&str]) -> usize {
    let mut count = 0;
    while let Some(word) = words.get(count).filter(|w| w.source.starts_with('-')) {
        count += 1 + usize::from(valued.contains(&word.source.as_str()));
    }
    count.min(words.len())
}
