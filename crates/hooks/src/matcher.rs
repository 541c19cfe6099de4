//! Decides whether a group's matcher fits the subject of an event.
//!
//! Both dialects read a matcher in one of two ways, measured on both clients:
//!
//! * **All**: absent, empty or `*`.
//! * **List**: made only of harmless characters, it is a list of exact, case-sensitive names.
//!   Claude splits at `|` and `,` and trims; Codex splits at `|` only.
//! * **Regex**: anything else is an unanchored regular expression, ECMAScript's for Claude and the
//!   `regex` crate's for Codex.
//!
//! A pattern that does not compile never matches. An ECMAScript pattern can take exponential time;
//! one that could is matched on a thread of its own under a deadline. When the deadline passes,
//! the matcher **counts as matching**, for this subject and for the rest of its life, so that a
//! slow pattern can never let a call slip past its gate.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use crate::dialect::{Dialect, DialectId, MatcherStyle};

/// How long one match of a pattern that could take exponential time may last.
pub const DEADLINE: Duration = Duration::from_millis(100);

/// How a matcher is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading {
    /// Fits everything.
    All,
    /// Fits these names exactly.
    List(Vec<String>),
    /// Fits where the expression is found.
    Regex,
    /// Not a valid pattern, for this reason: fits nothing.
    Invalid(String),
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::List(names) => write!(f, "exact list: {}", names.join(", ")),
            Self::Regex => f.write_str("regex"),
            Self::Invalid(_) => f.write_str("invalid regex"),
        }
    }
}

/// What a match came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// It fits.
    Yes,
    /// It does not.
    No,
    /// It took longer than [`DEADLINE`] and counts as fitting.
    TimedOut,
}

enum Pattern {
    All,
    List(Vec<String>),
    Rust(Box<regex::Regex>),
    Script {
        regex: Arc<regress::Regex>,
        risky: bool,
        verdicts: Mutex<HashMap<String, Fit>>,
    },
    Invalid(String),
}

/// A compiled matcher.
pub struct Matcher {
    pattern: Pattern,
    deadline: Duration,
}

impl fmt::Debug for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Matcher").field(&self.reading()).finish()
    }
}

impl Matcher {
    /// Reads a matcher as written. Never fails: an invalid pattern is a matcher that fits nothing.
    #[must_use]
    pub fn compile(style: MatcherStyle, written: Option<&str>) -> Self {
        let pattern = match written {
            None | Some("" | "*") => Pattern::All,
            Some(text) => match style {
                MatcherStyle::Claude => claude(text),
                MatcherStyle::Codex => codex(text),
                MatcherStyle::Regex => rust(text),
            },
        };
        Self {
            pattern,
            deadline: DEADLINE,
        }
    }

    /// How it is read.
    #[must_use]
    pub fn reading(&self) -> Reading {
        match &self.pattern {
            Pattern::All => Reading::All,
            Pattern::List(names) => Reading::List(names.clone()),
            Pattern::Rust(_) | Pattern::Script { .. } => Reading::Regex,
            Pattern::Invalid(why) => Reading::Invalid(why.clone()),
        }
    }

    /// Whether it fits any of the names of one subject.
    #[must_use]
    pub fn fits(&self, names: &[&str]) -> Fit {
        match &self.pattern {
            Pattern::All => Fit::Yes,
            Pattern::List(list) => yes(list.iter().any(|item| names.contains(&item.as_str()))),
            Pattern::Rust(regex) => yes(names.iter().any(|name| regex.is_match(name))),
            Pattern::Invalid(_) => Fit::No,
            Pattern::Script {
                regex,
                risky: false,
                ..
            } => yes(names.iter().any(|name| regex.find(name).is_some())),
            Pattern::Script {
                regex,
                risky: true,
                verdicts,
            } => {
                let mut fit = Fit::No;
                for name in names {
                    match self.fits_slowly(regex, verdicts, name) {
                        Fit::Yes => return Fit::Yes,
                        Fit::TimedOut => fit = Fit::TimedOut,
                        Fit::No => {}
                    }
                }
                fit
            }
        }
    }

    /// Matches on another thread; the verdict stays, so that a slow pattern costs its deadline
    /// once per name.
    fn fits_slowly(
        &self,
        regex: &Arc<regress::Regex>,
        verdicts: &Mutex<HashMap<String, Fit>>,
        name: &str,
    ) -> Fit {
        let mut known = verdicts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fit) = known.get(name) {
            return *fit;
        }
        let (sender, receiver) = mpsc::channel();
        let (regex, subject) = (Arc::clone(regex), name.to_owned());
        let started = std::thread::Builder::new()
            .name("matcher".into())
            .spawn(move || {
                // The receiver may have given up; then nobody needs the answer.
                let _ = sender.send(regex.find(&subject).is_some());
            });
        let fit = match started {
            Ok(_) => receiver
                .recv_timeout(self.deadline)
                .map_or(Fit::TimedOut, yes),
            Err(_) => Fit::TimedOut,
        };
        known.insert(name.to_owned(), fit);
        fit
    }
}

fn yes(fits: bool) -> Fit {
    if fits { Fit::Yes } else { Fit::No }
}

fn claude(text: &str) -> Pattern {
    let listed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' ' | ',' | '|');
    if text.chars().all(listed) {
        return list(text.split(['|', ',']).map(str::trim));
    }
    match regress::Regex::new(text) {
        Ok(regex) => Pattern::Script {
            regex: Arc::new(regex),
            risky: could_explode(text),
            verdicts: Mutex::default(),
        },
        Err(error) => Pattern::Invalid(error.to_string()),
    }
}

fn codex(text: &str) -> Pattern {
    if text
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '|'))
    {
        return list(text.split('|'));
    }
    rust(text)
}

fn rust(text: &str) -> Pattern {
    match regex::Regex::new(text) {
        Ok(regex) => Pattern::Rust(Box::new(regex)),
        Err(error) => Pattern::Invalid(error.to_string()),
    }
}

/// What is wrong with a matcher, in the words of the commission; `None` when nothing is.
#[must_use]
pub fn diagnose(dialect: &Dialect, written: &str) -> Option<String> {
    let mode = match dialect.id {
        DialectId::Claude => "claude-code",
        DialectId::Codex => "codex",
    };
    let matcher = Matcher::compile(dialect.matcher, Some(written));
    let invalid = matches!(matcher.reading(), Reading::Invalid(_));
    let quoted = serde_json::Value::from(written);
    invalid.then(|| format!("invalid {mode} regex matcher {quoted}"))
}

fn list<'a>(items: impl Iterator<Item = &'a str>) -> Pattern {
    Pattern::List(
        items
            .filter(|item| !item.is_empty())
            .map(str::to_owned)
            .collect(),
    )
}

/// Whether a backtracking matcher could need more than a few steps per character of the subject.
///
/// Errs on the side of caution: a quantified group, a back-reference, a look-around or more than
/// two open quantifiers are enough. Such patterns are only slower to start, never refused.
#[must_use]
pub fn could_explode(pattern: &str) -> bool {
    let mut open_quantifiers = 0;
    let mut in_class = false;
    let mut after_group = false;
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        let closes = c == ')' && !in_class;
        match c {
            '\\' => {
                let escaped = chars.next();
                if escaped.is_some_and(|next| next.is_ascii_digit() || next == 'k') {
                    return true;
                }
            }
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class && looks_around(chars.as_str()) => return true,
            '*' | '+' | '{' if !in_class && after_group => return true,
            '*' | '+' | '{' if !in_class => open_quantifiers += 1,
            _ => {}
        }
        after_group = closes;
    }
    open_quantifiers > 2
}

fn looks_around(after_paren: &str) -> bool {
    ["?=", "?!", "?<"]
        .iter()
        .any(|start| after_paren.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(style: MatcherStyle, matcher: &str, name: &str) -> bool {
        Matcher::compile(style, Some(matcher)).fits(&[name]) == Fit::Yes
    }

    /// Matcher, name, fits in Claude, fits in Codex (both measured).
    const TABLE: &[(&str, &str, bool, bool)] = &[
        ("", "Bash", true, true),
        ("*", "Bash", true, true),
        ("Bash", "Bash", true, true),
        ("Bash", "BashOutput", false, false),
        ("bash", "Bash", false, false),
        ("Bas", "Bash", false, false),
        ("Edit|Write", "Edit", true, true),
        ("Edit|Write", "Write", true, true),
        ("Edit|Write", "EditX", false, false),
        ("Bash|", "Bash", true, true),
        ("Bash, Edit", "Bash", true, false),
        ("Bash | Edit", "Edit", true, false),
        (" Bash ", "Bash", true, false),
        ("Bash Edit", "Bash", false, false),
        ("Bash,Edit", "Edit", true, false),
        ("general-purpose", "general-purpose", true, true),
        ("mcp__tiny", "mcp__tiny__echo", false, false),
        ("mcp__tiny__*", "mcp__tiny__echo", true, true),
        ("mcp__.*", "notmcp__s__t", true, true),
        ("^Ba", "Bash", true, true),
        ("^Bash$", "Bash", true, true),
        ("^Bash$", "BashOutput", false, false),
        ("(", "Bash", false, false),
        ("B(a|b)sh", "Bash", true, true),
        ("(?i)bash", "Bash", false, true),
        ("^(?!Read)", "Bash", true, false),
        ("^(?!Read)", "Read", false, false),
        ("[", "Bash", false, false),
        ("*Bash", "Bash", false, false),
        ("Bash(git commit*)", "Bash", false, false),
        ("Bash.", "Bash", false, false),
        ("!Bash", "Bash", false, false),
        ("\\bBash\\b", "Bash", true, true),
        ("Bash\t", "Bash", false, false),
    ];

    #[test]
    fn each_dialect_reads_matchers_as_its_client_does() {
        for (matcher, name, claude, codex) in TABLE {
            assert_eq!(
                fits(MatcherStyle::Claude, matcher, name),
                *claude,
                "claude {matcher:?}"
            );
            assert_eq!(
                fits(MatcherStyle::Codex, matcher, name),
                *codex,
                "codex {matcher:?}"
            );
        }
    }

    #[test]
    fn an_absent_matcher_fits_everything() {
        for style in [MatcherStyle::Claude, MatcherStyle::Codex] {
            assert_eq!(Matcher::compile(style, None).fits(&["x"]), Fit::Yes);
        }
    }

    #[test]
    fn any_name_of_the_subject_is_enough() {
        let matcher = Matcher::compile(MatcherStyle::Codex, Some("Edit"));
        assert_eq!(matcher.fits(&["apply_patch", "Write", "Edit"]), Fit::Yes);
    }

    #[test]
    fn an_invalid_pattern_says_why_and_never_fits() {
        let matcher = Matcher::compile(MatcherStyle::Codex, Some("["));
        assert!(matches!(matcher.reading(), Reading::Invalid(why) if why.contains("unclosed")));
        assert_eq!(matcher.fits(&["["]), Fit::No);
    }

    #[test]
    fn a_pattern_past_its_deadline_counts_as_fitting_for_good() {
        let name = format!("{}!", "a".repeat(40));
        let mut matcher = Matcher::compile(MatcherStyle::Claude, Some("^(a+)+$"));
        matcher.deadline = Duration::from_millis(1);
        assert_eq!(matcher.fits(&[&name]), Fit::TimedOut);
        matcher.deadline = Duration::from_secs(60);
        assert_eq!(
            matcher.fits(&[&name]),
            Fit::TimedOut,
            "it is not tried again"
        );
        assert_eq!(
            matcher.fits(&["b"]),
            Fit::No,
            "other names are not concerned"
        );
    }

    #[test]
    fn only_patterns_that_could_explode_leave_the_thread() {
        for tame in [
            "^Bash$",
            "mcp__.*",
            "B(a|b)sh",
            "Edit|Write.",
            "^mcp__.*__get$",
            "[*+{]{2}",
        ] {
            assert!(!could_explode(tame), "{tame}");
        }
        for risky in [
            "^(a+)+$",
            "(a|aa)*b",
            "(.)\\1",
            "^(?=.*x)",
            "a*b*c*",
            "(x{2,}){3}",
        ] {
            assert!(could_explode(risky), "{risky}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_matcher_and_no_name_can_panic(matcher in ".{0,24}", name in ".{0,24}") {
            for style in [MatcherStyle::Claude, MatcherStyle::Codex] {
                let compiled = Matcher::compile(style, Some(&matcher));
                let fit = compiled.fits(&[&name]);
                if matches!(compiled.reading(), Reading::Invalid(_)) {
                    proptest::prop_assert_eq!(fit, Fit::No);
                }
            }
        }
    }
}
