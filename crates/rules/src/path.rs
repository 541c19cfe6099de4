//! `Read(src/**)`, `Edit(~/.ssh/**)`: path rules.

use std::fmt;
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::answer::{Reading, Verdict};
use crate::call::Call;
use crate::error::Problem;
use crate::parse::Located;
use crate::place;
use crate::rule::{Rule, Specifier};
use crate::tool;

/// A path pattern, compiled.
///
/// A pattern is written as in `.gitignore`, behind one of our anchors:
///
/// | written | starts at |
/// |---|---|
/// | `//p` | the file system's root |
/// | `~/p` | the home folder |
/// | `/p` | the base of the file that states the rule |
/// | `p`, `./p` | the current directory |
///
/// A pattern without a slash covers that name at any depth below its start, `*` stays within one
/// part of a path, `**` crosses parts, and what covers a folder covers everything in it. `{a,b}` is
/// either of them (our choice; to gitignore braces are plain).
///
/// `name/**` with a single plain name is the one shape that reads differently: `<cwd>/name` only
/// in allow rules and conditions, a `name` at any depth in deny and ask rules (documented).
#[derive(Clone)]
pub struct PathPattern {
    text: String,
    negated: bool,
    anchor: Anchor,
    globs: Arc<Globs>,
}

/// The pattern in its two readings.
struct Globs {
    /// For allow rules and conditions.
    narrow: Gitignore,
    /// For deny and ask rules.
    wide: Gitignore,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Anchor {
    Root,
    Home,
    Base,
    Cwd,
}

/// How a path is covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cover {
    None,
    /// The pattern fits the path, and none of the folders it is in.
    Itself,
    /// The pattern fits a folder the path is in.
    Folder,
}

impl PathPattern {
    pub(crate) fn parse(text: &str) -> Located<Self> {
        let (negated, written) = match text.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (anchor, rest) = anchored(written);
        if negated && anchor != Anchor::Cwd {
            return Err((1, Problem::AnchoredNegation));
        }
        if rest.trim_matches(['/', ' ']).is_empty() || rest == "." {
            return Err((0, Problem::NoPath));
        }
        let at = text.len() - rest.len();
        if let Some(climb) = rest.split('/').position(|part| part == "..") {
            let before = rest
                .split('/')
                .take(climb)
                .map(|part| part.len() + 1)
                .sum::<usize>();
            return Err((at + before, Problem::Climbs));
        }
        let line = if anchor == Anchor::Cwd {
            rest.to_owned()
        } else {
            format!("/{rest}")
        };
        let compile = |line: &str| compile(line).map_err(|problem| (at, problem));
        let wide = if one_folder(&line) {
            format!("**/{line}")
        } else {
            line.clone()
        };
        let globs = Globs {
            narrow: compile(&narrowed(line))?,
            wide: compile(&wide)?,
        };
        Ok(Self {
            text: text.to_owned(),
            negated,
            anchor,
            globs: Arc::new(globs),
        })
    }

    /// The pattern as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it begins with `!`.
    #[must_use]
    pub fn negated(&self) -> bool {
        self.negated
    }

    /// `path` is absolute and plain.
    pub(crate) fn cover(
        &self,
        rule: &Rule,
        reading: Reading,
        call: &Call<'_>,
        path: &str,
    ) -> Cover {
        let places = call.places();
        let root = match self.anchor {
            Anchor::Root => String::new(),
            Anchor::Home => place::folder(places.home),
            Anchor::Base => place::folder(rule.base().unwrap_or(places.project)),
            Anchor::Cwd => place::folder(places.cwd),
        };
        let Some(rest) = place::below(path, &root) else {
            return Cover::None;
        };
        let Globs { narrow, wide } = self.globs.as_ref();
        let globs = if reading.restricts() { wide } else { narrow };
        let folders = rest
            .match_indices('/')
            .filter_map(|(slash, _)| rest.get(..slash));
        for folder in folders {
            if globs.matched(folder, true).is_ignore() {
                return Cover::Folder;
            }
        }
        // A path that ends in what may be a folder: `secrets/` covers `secrets` itself too.
        if globs.matched(rest, false).is_ignore() || globs.matched(rest, true).is_ignore() {
            return Cover::Itself;
        }
        Cover::None
    }
}

impl fmt::Debug for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PathPattern").field(&self.text).finish()
    }
}

fn anchored(text: &str) -> (Anchor, &str) {
    if let Some(rest) = text.strip_prefix("//") {
        (Anchor::Root, rest)
    } else if let Some(rest) = text.strip_prefix("~/") {
        (Anchor::Home, rest)
    } else if let Some(rest) = text.strip_prefix('/') {
        (Anchor::Base, rest)
    } else {
        (Anchor::Cwd, text.strip_prefix("./").unwrap_or(text))
    }
}

/// `name/**`, the name without wildcards.
fn one_folder(line: &str) -> bool {
    line.strip_suffix("/**").is_some_and(plain_name)
}

fn plain_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '*', '?', '[', '{', '\\'])
}

/// `name/` names a folder as `name/**` does, so it gets the same narrow reading (our choice).
fn narrowed(line: String) -> String {
    match line.strip_suffix('/') {
        Some(name) if plain_name(name) => format!("/{line}"),
        _ => line,
    }
}

fn compile(line: &str) -> Result<Gitignore, Problem> {
    // Behind an anchor of ours neither `#` nor `!` has gitignore's meaning.
    let line = if line.starts_with(['#', '!']) {
        format!("\\{line}")
    } else {
        line.to_owned()
    };
    let glob = |e: ignore::Error| Problem::Glob(e.to_string());
    let mut builder = GitignoreBuilder::new("");
    builder.add_line(None, &line).map_err(glob)?;
    builder.build().map_err(glob)
}

/// Why a path rule on this tool is never looked at outside conditions (documented).
pub(crate) fn unconsulted(tool: &str, pattern: &PathPattern) -> Option<String> {
    let covering = match tool {
        "Read" | "Edit" => return None,
        "Write" | "MultiEdit" | "NotebookEdit" => "Edit",
        _ => "Read",
    };
    Some(format!(
        "path rules on {tool} are not looked at; `{covering}({})` covers {tool}",
        pattern.as_str()
    ))
}

/// One path rule put to one call.
struct Question<'q, 'c> {
    rule: &'q Rule,
    pattern: &'q PathPattern,
    reading: Reading,
    call: &'q Call<'c>,
    /// Later rules of the same source that take paths back.
    except: &'q [&'q Rule],
}

pub(crate) fn verdict(
    rule: &Rule,
    pattern: &PathPattern,
    reading: Reading,
    call: &Call<'_>,
    except: &[&Rule],
) -> Verdict {
    let question = Question {
        rule,
        pattern,
        reading,
        call,
        except,
    };
    if applies(rule, reading, call) {
        return question.file();
    }
    if reading.restricts() && call.names().any(|name| name == "Bash") {
        return question.shell();
    }
    Verdict::no(format!("the tool is {}", call.tool()))
}

/// Whether the rule is about this call's tool: in a condition exactly the tool it names
/// (measured: `Edit(…)` does not cover Write there), elsewhere `Edit` is every editor, `Read`
/// every reader, and a `Read` denial also stops Edit and Write.
fn applies(rule: &Rule, reading: Reading, call: &Call<'_>) -> bool {
    let wanted = rule.tool().as_str();
    if reading == Reading::Condition {
        return rule.tool().names(reading, call);
    }
    call.names().any(|name| match wanted {
        "Edit" => tool::edits_files(name),
        "Read" => {
            let edited = tool::edits_files(name) && name != "NotebookEdit";
            tool::reads_files(name) || (reading == Reading::Deny && edited)
        }
        _ => false,
    })
}

impl Question<'_, '_> {
    /// A tool that names its file.
    fn file(&self) -> Verdict {
        let Some(file) = self.call.file() else {
            return Verdict::unknown("the call names no file");
        };
        let mut paths = vec![file.to_string_lossy().into_owned()];
        if let Some(resolved) = self.call.resolved() {
            paths.push(place::absolute(
                &resolved.to_string_lossy(),
                &self.call.places(),
            ));
        }
        let outside = paths.iter().find(|path| !self.covers(path));
        let inside = paths.iter().find(|path| self.covers(path));
        let pattern = self.pattern.as_str();
        match (inside, outside) {
            (_, Some(path)) if self.reading == Reading::Allow => {
                Verdict::no(format!("`{path}` does not fit `{pattern}`"))
            }
            (Some(path), _) => Verdict::yes(format!("`{path}` fits `{pattern}`")),
            (None, _) => Verdict::no(format!("`{}` does not fit `{pattern}`", file.display())),
        }
    }

    /// Deny and ask rules also cover what a shell command is seen to read or write: the files of
    /// `cat`, `head`, `tail`, `sed`, `tee`, and redirections (documented, best effort). A file
    /// whose name is left to the run is not seen.
    fn shell(&self) -> Verdict {
        let script = match self.call.script() {
            Ok(script) => script,
            Err(why) => return Verdict::unknown(format!("{why}, so its files are not known")),
        };
        let edits = self.rule.tool().as_str() == "Edit";
        for target in script.files().filter(|t| t.written || !edits) {
            let Some(text) = target.literal() else {
                continue;
            };
            let path = place::absolute(text, &self.call.places());
            if self.covers(&path) {
                let does = if target.written { "writes" } else { "reads" };
                let pattern = self.pattern.as_str();
                return Verdict::yes(format!("it {does} `{path}`, which fits `{pattern}`"));
            }
        }
        Verdict::no(format!("no file of it fits `{}`", self.pattern.as_str()))
    }

    fn covers(&self, path: &str) -> bool {
        let cover =
            |rule: &Rule, pattern: &PathPattern| pattern.cover(rule, self.reading, self.call, path);
        let taken_back = |rule: &&Rule| match rule.specifier() {
            Some(Specifier::Path(pattern)) => cover(rule, pattern) != Cover::None,
            _ => false,
        };
        match cover(self.rule, self.pattern) {
            Cover::None => false,
            Cover::Folder => true,
            Cover::Itself => !self.except.iter().any(taken_back),
        }
    }
}

/// Whether an `Edit(path)` allow rule covers a file that a shell command writes.
pub(crate) fn allows_writing(rule: &Rule, call: &Call<'_>, target: &str) -> bool {
    let Some(Specifier::Path(pattern)) = rule.specifier() else {
        return false;
    };
    let path = place::absolute(target, &call.places());
    rule.tool().as_str() == "Edit"
        && !pattern.negated()
        && pattern.cover(rule, Reading::Allow, call, &path) != Cover::None
}
