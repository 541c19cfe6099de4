//! `Grep`: files by content.

use std::path::{Path, PathBuf};

use globset::{Glob as Pattern, GlobMatcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use ignore::types::{Types, TypesBuilder};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::read::blocking;
use super::walk::{base, files, shown};
use crate::content::Content;
use crate::tools::{Effects, Tool, ToolContext, ToolError};

/// How many lines of output one call brings when the model does not say. Our choice.
const DEFAULT_HEAD: usize = 250;
/// How long a line may be before it is cut, in characters. Our choice.
const LONGEST_LINE: usize = 500;

/// The `Grep` tool.
#[derive(Debug, Clone, Copy, Default)]
pub struct Grep;

/// Arguments of `Grep`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrepArgs {
    /// The regular expression (of the Rust `regex` crate).
    pub pattern: String,
    /// A file or folder; the current directory by default.
    #[serde(default)]
    pub path: Option<String>,
    /// Only files whose path or name fits.
    #[serde(default)]
    pub glob: Option<String>,
    /// Only files of this type, as ripgrep names them.
    #[serde(default, rename = "type")]
    pub kind: Option<String>,
    /// What is wanted.
    #[serde(default)]
    pub output_mode: OutputMode,
    /// Whether case does not matter.
    #[serde(default, rename = "-i")]
    pub ignore_case: bool,
    /// Whether lines are numbered, in `content`. Default true.
    #[serde(default, rename = "-n")]
    pub line_numbers: Option<bool>,
    /// Lines after each match, in `content`.
    #[serde(default, rename = "-A")]
    pub after: Option<usize>,
    /// Lines before each match, in `content`.
    #[serde(default, rename = "-B")]
    pub before: Option<usize>,
    /// Lines before and after each match, in `content`.
    #[serde(default, rename = "-C")]
    pub around: Option<usize>,
    /// How many lines or files to bring; 250 by default, 0 for all.
    #[serde(default)]
    pub head_limit: Option<usize>,
    /// Whether a match may span lines.
    #[serde(default)]
    pub multiline: bool,
}

/// What `Grep` brings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputMode {
    /// The names of the files that match.
    #[default]
    FilesWithMatches,
    /// The matching lines.
    Content,
    /// How many lines match in each file.
    Count,
}

/// What `Grep` found. The shape of `files_with_matches` is Claude Code's, measured on 2.1; the
/// others follow it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GrepValue {
    /// What was wanted.
    pub mode: OutputMode,
    /// The files that match, in `files_with_matches`.
    pub filenames: Vec<String>,
    /// How many files are here.
    pub num_files: usize,
    /// How many files match, in `files_with_matches`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_files: Option<usize>,
    /// The lines, in `content` and `count`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// How many lines are here, in `content`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub num_lines: Option<usize>,
    /// How many lines match in all, in `count`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub num_matches: Option<u64>,
    /// The limit, where it left something out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied_limit: Option<usize>,
}

impl Tool for Grep {
    type Args = GrepArgs;
    type Value = GrepValue;

    fn name(&self) -> &str {
        "Grep"
    }

    fn description(&self) -> &str {
        "Searches file contents with a regular expression. `output_mode`: files_with_matches \
         (default), content, or count. Ignored and binary files are left out."
    }

    fn schema(&self) -> Value {
        let count = |text: &str| json!({"type": "integer", "minimum": 0, "description": text});
        json!({
            "type": "object",
            "required": ["pattern"],
            "properties": {
                "pattern": {"type": "string", "minLength": 1, "description": "The expression"},
                "path": {"type": "string", "description": "A file or folder to search"},
                "glob": {"type": "string", "description": "Only files whose name fits"},
                "type": {"type": "string", "description": "Only files of this type, e.g. rust"},
                "output_mode": {"enum": ["content", "files_with_matches", "count"]},
                "-i": {"type": "boolean", "description": "Ignore case"},
                "-n": {"type": "boolean", "description": "Number the lines (content)"},
                "-A": count("Lines after each match (content)"),
                "-B": count("Lines before each match (content)"),
                "-C": count("Lines around each match (content)"),
                "head_limit": count("How many lines or files; 0 for all"),
                "multiline": {"type": "boolean", "description": "Let a match span lines"},
            },
        })
    }

    fn concurrency_safe(&self, _args: &GrepArgs) -> bool {
        true
    }

    fn effects(&self, args: &GrepArgs, cwd: &Path) -> Effects {
        Effects::Reads(vec![
            args.path
                .as_ref()
                .map_or_else(|| cwd.to_owned(), |p| cwd.join(p)),
        ])
    }

    async fn run(&self, args: GrepArgs, context: ToolContext) -> Result<GrepValue, ToolError> {
        blocking(move || search(&args, &context)).await
    }

    fn render(&self, _args: &GrepArgs, value: &GrepValue) -> Content {
        let files = |n: usize| {
            if n == 1 {
                "1 file".to_owned()
            } else {
                format!("{n} files")
            }
        };
        let mut text = match (value.mode, value.content.as_deref()) {
            (OutputMode::FilesWithMatches, _) if value.filenames.is_empty() => {
                "No files found".to_owned()
            }
            (OutputMode::FilesWithMatches, _) => {
                let total = value.total_files.unwrap_or(value.num_files);
                format!("Found {}\n{}", files(total), value.filenames.join("\n"))
            }
            (_, None | Some("")) => "No matches found".to_owned(),
            (OutputMode::Content, Some(lines)) => lines.to_owned(),
            (OutputMode::Count, Some(lines)) => {
                let matches = value.num_matches.unwrap_or_default();
                format!(
                    "{lines}\n\n{matches} matching lines in {}",
                    files(value.num_files)
                )
            }
        };
        if let Some(limit) = value.applied_limit {
            text.push_str(&format!(
                "\n(Only the first {limit} are shown: raise head_limit.)"
            ));
        }
        Content::text(text)
    }
}

/// What one file brought.
#[derive(Default)]
struct Hits {
    matches: u64,
    lines: Vec<String>,
}

/// Collects the hits of one file.
struct Collector<'a> {
    hits: Hits,
    name: &'a str,
    numbers: bool,
    lines: bool,
    /// Stop at the first match.
    first: bool,
}

impl Collector<'_> {
    fn line(&mut self, number: Option<u64>, bytes: &[u8], mark: char) {
        if !self.lines {
            return;
        }
        let text = String::from_utf8_lossy(bytes);
        for (offset, line) in text.trim_end_matches(['\n', '\r']).split('\n').enumerate() {
            let number = number.filter(|_| self.numbers).map(|n| n + offset as u64);
            let number = number.map_or_else(String::new, |n| format!("{n}{mark}"));
            let line = cut(line);
            self.hits
                .lines
                .push(format!("{}{mark}{number}{line}", self.name));
        }
    }
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(LONGEST_LINE) {
        Some((end, _)) => format!("{}… [line cut]", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}

impl Sink for Collector<'_> {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, hit: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        self.hits.matches += hit.lines().count() as u64;
        self.line(hit.line_number(), hit.bytes(), ':');
        Ok(!self.first)
    }

    fn context(&mut self, _: &Searcher, near: &SinkContext<'_>) -> Result<bool, Self::Error> {
        self.line(near.line_number(), near.bytes(), '-');
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, Self::Error> {
        if self.lines {
            self.hits.lines.push("--".to_owned());
        }
        Ok(true)
    }
}

/// One search: what to look for, where.
struct Search<'a> {
    args: &'a GrepArgs,
    matcher: RegexMatcher,
    glob: Option<GlobMatcher>,
    base: PathBuf,
    cwd: PathBuf,
}

fn search(args: &GrepArgs, context: &ToolContext) -> Result<GrepValue, ToolError> {
    let cwd = context.workspace().cwd();
    let search = Search {
        args,
        matcher: matcher(args)?,
        glob: args.glob.as_deref().map(glob).transpose()?,
        base: base(args.path.as_deref(), &cwd)?,
        cwd,
    };
    let types = args.kind.as_deref().map(types).transpose()?;
    let paths = match search.base.is_file() {
        true => vec![search.base.clone()],
        false => files(&search.base, types, context.signal()),
    };
    let mut found: Vec<(String, Hits)> = Vec::new();
    for path in paths.iter().filter(|path| search.wants(path)) {
        if context.signal().is_cancelled() {
            break;
        }
        let name = shown(path, &search.cwd);
        let hits = search.file(path, &name);
        if hits.matches > 0 {
            found.push((name, hits));
        }
    }
    Ok(value(args, found))
}

impl Search<'_> {
    fn wants(&self, path: &Path) -> bool {
        let Some(glob) = &self.glob else { return true };
        let below = path.strip_prefix(&self.base).unwrap_or(path);
        glob.is_match(below) || path.file_name().is_some_and(|name| glob.is_match(name))
    }

    /// Searches one file. A file that cannot be read brings nothing.
    fn file(&self, path: &Path, name: &str) -> Hits {
        let args = self.args;
        let lines = args.output_mode == OutputMode::Content;
        let near = |side: Option<usize>| side.or(args.around).filter(|_| lines).unwrap_or(0);
        let mut searcher = SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .multi_line(args.multiline)
            .before_context(near(args.before))
            .after_context(near(args.after))
            .build();
        let mut collector = Collector {
            hits: Hits::default(),
            name,
            numbers: args.line_numbers.unwrap_or(true),
            lines,
            first: args.output_mode == OutputMode::FilesWithMatches,
        };
        match searcher.search_path(&self.matcher, path, &mut collector) {
            Ok(()) => collector.hits,
            Err(_) => Hits::default(),
        }
    }
}

fn matcher(args: &GrepArgs) -> Result<RegexMatcher, ToolError> {
    let mut builder = RegexMatcherBuilder::new();
    builder.case_insensitive(args.ignore_case);
    match args.multiline {
        true => builder.multi_line(true).dot_matches_new_line(true),
        false => builder.line_terminator(Some(b'\n')),
    };
    builder
        .build(&args.pattern)
        .map_err(|error| ToolError::new(format!("The pattern does not parse: {error}")))
}

fn glob(glob: &str) -> Result<GlobMatcher, ToolError> {
    let glob = Pattern::new(glob);
    glob.map(|glob| glob.compile_matcher())
        .map_err(|error| ToolError::new(format!("The glob does not parse: {error}")))
}

fn types(kind: &str) -> Result<Types, ToolError> {
    let mut builder = TypesBuilder::new();
    builder.add_defaults().select(kind);
    builder
        .build()
        .map_err(|error| ToolError::new(format!("There is no file type: {error}")))
}

fn value(args: &GrepArgs, found: Vec<(String, Hits)>) -> GrepValue {
    let head = match args.head_limit {
        None => DEFAULT_HEAD,
        Some(0) => usize::MAX,
        Some(limit) => limit,
    };
    let total = found.len();
    let matches = found.iter().map(|(_, hits)| hits.matches).sum();
    let items: Vec<String> = match args.output_mode {
        OutputMode::FilesWithMatches => found.into_iter().map(|(name, _)| name).collect(),
        OutputMode::Content => found.into_iter().flat_map(|(_, hits)| hits.lines).collect(),
        OutputMode::Count => found
            .iter()
            .map(|(name, hits)| format!("{name}:{}", hits.matches))
            .collect(),
    };
    let applied_limit = (items.len() > head).then_some(head);
    let items: Vec<String> = items.into_iter().take(head).collect();
    let mut value = GrepValue {
        mode: args.output_mode,
        filenames: Vec::new(),
        num_files: total,
        total_files: None,
        content: None,
        num_lines: None,
        num_matches: None,
        applied_limit,
    };
    match args.output_mode {
        OutputMode::FilesWithMatches => {
            value.num_files = items.len();
            value.total_files = Some(total);
            value.filenames = items;
        }
        OutputMode::Content => {
            value.num_lines = Some(items.len());
            value.content = Some(items.join("\n"));
        }
        OutputMode::Count => {
            value.num_matches = Some(matches);
            value.content = Some(items.join("\n"));
        }
    }
    value
}
