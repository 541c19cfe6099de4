//! `Glob`: files by name.

use std::path::Path;
use std::time::{Instant, SystemTime};

use globset::GlobBuilder;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::read::blocking;
use super::walk::{base, files, shown};
use crate::content::Content;
use crate::tools::{Effects, Tool, ToolContext, ToolError};

/// How many names one call brings. Our choice.
const MOST: usize = 100;

/// The `Glob` tool.
#[derive(Debug, Clone, Copy, Default)]
pub struct Glob;

/// Arguments of `Glob`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GlobArgs {
    /// The pattern, matched against paths relative to `path`.
    pub pattern: String,
    /// Where to look; the current directory by default.
    #[serde(default)]
    pub path: Option<String>,
}

/// What `Glob` found. The shape is Claude Code's, measured on 2.1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GlobValue {
    /// The names, last changed first, relative to the current directory where they are below it.
    pub filenames: Vec<String>,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// How many names are here.
    pub num_files: usize,
    /// Whether there are more.
    pub truncated: bool,
    /// How many there are.
    pub total_matches: usize,
    /// Whether `total_matches` is all; false when the search was cancelled.
    pub count_is_complete: bool,
}

impl Tool for Glob {
    type Args = GlobArgs;
    type Value = GlobValue;

    fn name(&self) -> &str {
        "Glob"
    }

    fn description(&self) -> &str {
        "Finds files by name, last changed first. `*` stays within a folder, `**` does not: \
         `src/**/*.rs`. Ignored files are left out."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "required": ["pattern"],
            "properties": {
                "pattern": {"type": "string", "minLength": 1, "description": "The glob pattern"},
                "path": {"type": "string", "description": "Where to look"},
            },
        })
    }

    fn concurrency_safe(&self, _args: &GlobArgs) -> bool {
        true
    }

    fn effects(&self, args: &GlobArgs, cwd: &Path) -> Effects {
        Effects::Reads(vec![
            args.path
                .as_ref()
                .map_or_else(|| cwd.to_owned(), |p| cwd.join(p)),
        ])
    }

    async fn run(&self, args: GlobArgs, context: ToolContext) -> Result<GlobValue, ToolError> {
        blocking(move || find(&args, &context)).await
    }

    fn render(&self, _args: &GlobArgs, value: &GlobValue) -> Content {
        if value.filenames.is_empty() {
            return Content::text("No files found");
        }
        let mut text = value.filenames.join("\n");
        if value.truncated {
            text.push_str(&format!(
                "\n(These are {} of {}. Use a narrower pattern or path.)",
                value.num_files, value.total_matches
            ));
        }
        Content::text(text)
    }
}

fn find(args: &GlobArgs, context: &ToolContext) -> Result<GlobValue, ToolError> {
    let started = Instant::now();
    let cwd = context.workspace().cwd();
    let base = base(args.path.as_deref(), &cwd)?;
    let glob = GlobBuilder::new(&args.pattern)
        .literal_separator(true)
        .build()
        .map_err(|error| ToolError::new(format!("The pattern does not parse: {error}")))?
        .compile_matcher();
    let matches = |path: &Path| glob.is_match(path.strip_prefix(&base).unwrap_or(path));
    let mut found: Vec<_> = files(&base, None, context.signal())
        .into_iter()
        .filter(|path| matches(path))
        .map(|path| (changed(&path), path))
        .collect();
    found.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    let total_matches = found.len();
    let filenames: Vec<String> = found
        .iter()
        .take(MOST)
        .map(|(_, path)| shown(path, &cwd))
        .collect();
    Ok(GlobValue {
        duration_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        num_files: filenames.len(),
        truncated: total_matches > filenames.len(),
        filenames,
        total_matches,
        count_is_complete: !context.signal().is_cancelled(),
    })
}

fn changed(path: &Path) -> SystemTime {
    path.metadata()
        .and_then(|data| data.modified())
        .unwrap_or(SystemTime::UNIX_EPOCH)
}
