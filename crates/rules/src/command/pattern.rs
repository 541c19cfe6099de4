//! The text between the parentheses of `Bash(…)`.

use super::forms::Form;
use crate::answer::Reading;
use crate::error::Problem;
use crate::parse::Located;
use crate::wildcard::Wildcard;

/// A command pattern.
///
/// * Without `*`: exactly this command.
/// * `*` anywhere: any run of characters, spaces included; nothing escapes it.
/// * A ` *` at the end, or `:*`: the text before it, alone or followed by a space and anything.
///   When another `*` stands before it, the text alone does not count.
/// * A `*` at the end without a space: any text that begins so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandPattern {
    text: String,
    /// The command as a whole, from which the bare form of a prefix is left out.
    whole: Wildcard,
    /// The text before a final ` *` that is the only wildcard.
    prefix: Option<Wildcard>,
    any_case: bool,
    shape: Shape,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Exact,
    /// A command's name and a wildcard: `rm *`, `rm:*`, `rm*`.
    NameOnly,
    Other,
}

impl CommandPattern {
    /// `any_case`: PowerShell compares without regard to case (documented).
    pub(crate) fn parse(text: &str, any_case: bool) -> Located<Self> {
        let written = match text.strip_suffix(":*") {
            Some("") => return Err((0, Problem::NoCommand)),
            Some(before) => format!("{before} *"),
            None => text.to_owned(),
        };
        let folded = if any_case {
            written.to_lowercase()
        } else {
            written
        };
        let bare = folded
            .strip_suffix(" *")
            .filter(|before| !before.contains('*'));
        let name = bare.or_else(|| folded.strip_suffix('*'));
        let name_only = name.is_some_and(|n| !n.is_empty() && !n.contains([' ', '*']));
        let shape = match (folded.contains('*'), name_only) {
            (false, _) => Shape::Exact,
            (true, true) => Shape::NameOnly,
            (true, false) => Shape::Other,
        };
        Ok(Self {
            text: text.to_owned(),
            whole: Wildcard::new(&folded),
            prefix: bare.map(Wildcard::new),
            any_case,
            shape,
        })
    }

    /// The pattern as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the pattern is one exact command, without wildcards.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.shape == Shape::Exact
    }

    /// Whether only the command's name matters.
    pub(crate) fn is_name_only(&self) -> bool {
        self.shape == Shape::NameOnly
    }

    pub(crate) fn any_case(&self) -> bool {
        self.any_case
    }

    /// Whether the pattern fits a form. What allows is compared only with what is written; what
    /// restricts, and a condition, also with what the quotes hide.
    pub(crate) fn fits(&self, form: &Form, reading: Reading) -> bool {
        if reading == Reading::Allow {
            // The arguments that `xargs` adds are unknown: they have to fall to a wildcard.
            return if form.open_ended {
                self.fits_text(&format!("{} \u{fffd}", form.source))
            } else {
                self.fits_text(&form.source)
            };
        }
        self.fits_text(&form.source) || self.fits_text(&form.plain)
    }

    /// Whether some run of the form makes the pattern fit.
    pub(crate) fn could_fit(&self, form: &Form) -> bool {
        let prefix = self
            .prefix
            .as_ref()
            .is_some_and(|p| p.could_match(&form.tokens));
        prefix || self.whole.could_match(&form.tokens)
    }

    fn fits_text(&self, text: &str) -> bool {
        self.prefix.as_ref().is_some_and(|p| p.matches(text)) || self.whole.matches(text)
    }
}
