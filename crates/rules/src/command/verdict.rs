//! How a command pattern is answered, reading by reading.

use super::forms::{self, Form};
use super::pattern::CommandPattern;
use super::script::{Script, Simple, Target};
use crate::answer::{Reading, Verdict};
use crate::call::Call;

pub(crate) fn verdict(pattern: &CommandPattern, reading: Reading, call: &Call<'_>) -> Verdict {
    if pattern.any_case() {
        return Verdict::unknown("PowerShell text is not parsed");
    }
    let script = match call.script() {
        Ok(script) => script,
        Err(unreadable) => return Verdict::unknown(unreadable.to_string()),
    };
    match reading {
        Reading::Condition => condition(pattern, script),
        Reading::Deny | Reading::Ask => {
            any(pattern, script, reading).unwrap_or_else(|| Verdict::no(none(pattern)))
        }
        Reading::Allow => all(pattern, script),
    }
}

fn none(pattern: &CommandPattern) -> String {
    format!("no sub-command fits `{}`", pattern.as_str())
}

/// One fitting sub-command is enough.
fn any(pattern: &CommandPattern, script: &Script, reading: Reading) -> Option<Verdict> {
    let forms = script
        .commands
        .iter()
        .flat_map(|c| forms::forms(c, reading));
    let fitting = forms.into_iter().find(|form| pattern.fits(form, reading))?;
    let (found, wanted) = (fitting.source, pattern.as_str());
    Some(Verdict::yes(format!(
        "sub-command `{found}` fits `{wanted}`"
    )))
}

/// The `if` of a hook, as measured: a here-document passes every pattern; where something is left
/// to the run, a pattern of a name and a wildcard is still decided by the commands' names, and
/// every other pattern passes.
fn condition(pattern: &CommandPattern, script: &Script) -> Verdict {
    let reading = Reading::Condition;
    if let Some(yes) = any(pattern, script, reading) {
        return yes;
    }
    if script.here_document {
        return Verdict::unknown(
            "it has a here-document, with which every command condition passes",
        );
    }
    if let Some(open) = script.open.as_ref().filter(|_| !pattern.is_name_only()) {
        return Verdict::unknown(format!(
            "what `{open}` stands for is known only when it runs"
        ));
    }
    let forms = script
        .commands
        .iter()
        .flat_map(|c| forms::forms(c, reading));
    match forms.into_iter().find(|form| pattern.could_fit(form)) {
        Some(Form { source, .. }) => Verdict::unknown(format!(
            "`{source}` may become `{}` when it runs",
            pattern.as_str()
        )),
        None => Verdict::no(none(pattern)),
    }
}

/// One part of a command that an allow rule has to cover.
pub(crate) enum Part<'s> {
    Command(&'s Simple),
    Writes(Target),
}

/// Everything of a command that needs a rule's leave.
pub(crate) fn parts(script: &Script) -> impl Iterator<Item = Part<'_>> {
    let assigns_only = |c: &Simple| c.words.is_empty() && forms::harmless(c);
    let commands = script
        .commands
        .iter()
        .filter(move |c| !assigns_only(c))
        .map(Part::Command);
    let writes = script
        .files()
        .filter(|t| t.written && t.source != "/dev/null");
    commands.chain(writes.map(Part::Writes))
}

impl Part<'_> {
    /// Whether a command pattern covers this part. Only commands are its business.
    pub(crate) fn allowed_by(&self, pattern: &CommandPattern) -> bool {
        let Self::Command(simple) = self else {
            return false;
        };
        if pattern.any_case() || self.name_unknown() || (wary(simple) && !pattern.is_exact()) {
            return false;
        }
        forms::forms(simple, Reading::Allow)
            .iter()
            .any(|f| pattern.fits(f, Reading::Allow))
    }

    /// The program is known only when it runs; no rule can vouch for it.
    pub(crate) fn name_unknown(&self) -> bool {
        matches!(self, Self::Command(simple) if forms::program_unknown(simple))
    }

    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Command(simple) => {
                let assignments = simple.assignments.iter().map(|a| a.source.as_str());
                let words = simple.words.iter().map(|w| w.source.as_str());
                format!(
                    "`{}`",
                    assignments.chain(words).collect::<Vec<_>>().join(" ")
                )
            }
            Self::Writes(target) => format!("writing `{}`", target.source),
        }
    }
}

/// Programs that run whatever follows them: only an exact rule allows them (documented; `-ok`
/// and the `-exec…` variants are ours to add).
fn wary(simple: &Simple) -> bool {
    let words = forms::innermost(simple);
    let acts = |text: &str| {
        ["-exec", "-ok", "-delete"]
            .iter()
            .any(|a| text.starts_with(a))
    };
    match words
        .first()
        .and_then(super::word::Word::literal)
        .as_deref()
    {
        Some("watch" | "setsid" | "ionice" | "flock") => true,
        Some("find") => words.iter().any(|w| acts(&w.plain()) || w.has_hole()),
        _ => false,
    }
}

fn all(pattern: &CommandPattern, script: &Script) -> Verdict {
    let mut covered = false;
    for part in parts(script) {
        if part.allowed_by(pattern) {
            covered = true;
            continue;
        }
        return match part {
            Part::Command(_) if part.name_unknown() => Verdict::unknown(format!(
                "which program {} is, is known only when it runs",
                part.describe()
            )),
            Part::Command(_) => Verdict::no(format!(
                "{} does not fit `{}`",
                part.describe(),
                pattern.as_str()
            )),
            Part::Writes(_) => {
                Verdict::unknown(format!("{} needs an Edit rule as well", part.describe()))
            }
        };
    }
    if covered {
        Verdict::yes(format!("every sub-command fits `{}`", pattern.as_str()))
    } else {
        Verdict::no("there is nothing in it to allow")
    }
}
