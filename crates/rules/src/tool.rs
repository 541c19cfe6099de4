//! The tools whose rules take a specifier of their own: one row each.
//!
//! Names and fields are Claude Code's (documented, 2026-10). A tool without a row here takes only
//! parameter rules.

/// What the text in the parentheses is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    /// A shell command.
    Command,
    /// A file.
    Path,
    /// A URL's host.
    Domain,
    /// A subagent type.
    Agent,
    /// A skill's name.
    Skill,
}

/// What rules need to know of one tool.
#[derive(Debug)]
pub(crate) struct ToolFacts {
    pub(crate) name: &'static str,
    pub(crate) family: Family,
    /// The input field the specifier is compared with.
    pub(crate) primary: &'static str,
    /// A parameter rule on the primary field is refused (documented); where it is not, it is
    /// just another way to write the specifier.
    pub(crate) primary_forbidden: bool,
    /// The other scalar fields of the input; they tell a parameter rule from a specifier with a
    /// colon in it.
    pub(crate) fields: &'static [&'static str],
}

const SHELL_FIELDS: &[&str] = &[
    "timeout",
    "description",
    "run_in_background",
    "dangerouslyDisableSandbox",
];

const fn row(
    name: &'static str,
    family: Family,
    primary: &'static str,
    fields: &'static [&'static str],
) -> ToolFacts {
    let primary_forbidden = !matches!(family, Family::Agent | Family::Skill);
    ToolFacts {
        name,
        family,
        primary,
        primary_forbidden,
        fields,
    }
}

static TOOLS: &[ToolFacts] = &[
    row("Bash", Family::Command, "command", SHELL_FIELDS),
    row("PowerShell", Family::Command, "command", SHELL_FIELDS),
    row(
        "Read",
        Family::Path,
        "file_path",
        &["offset", "limit", "pages"],
    ),
    row(
        "Edit",
        Family::Path,
        "file_path",
        &["old_string", "new_string", "replace_all"],
    ),
    row("Write", Family::Path, "file_path", &["content"]),
    row("MultiEdit", Family::Path, "file_path", &[]),
    row(
        "NotebookEdit",
        Family::Path,
        "notebook_path",
        &["cell_id", "cell_type", "edit_mode", "new_source"],
    ),
    row("Glob", Family::Path, "path", &["pattern"]),
    row(
        "Grep",
        Family::Path,
        "path",
        &["pattern", "glob", "type", "output_mode", "head_limit"],
    ),
    row("WebFetch", Family::Domain, "url", &["prompt"]),
    row(
        "Agent",
        Family::Agent,
        "subagent_type",
        &[
            "description",
            "prompt",
            "model",
            "isolation",
            "run_in_background",
            "name",
            "resume",
        ],
    ),
    row("Skill", Family::Skill, "skill", &["args"]),
];

/// The row of a tool, by its name or its older one.
pub(crate) fn facts(name: &str) -> Option<&'static ToolFacts> {
    let name = current_name(name);
    TOOLS.iter().find(|t| t.name == name)
}

/// The tool that has this name but for the case of its letters.
pub(crate) fn in_any_case(name: &str) -> Option<&'static str> {
    TOOLS
        .iter()
        .map(|t| t.name)
        .find(|known| known.eq_ignore_ascii_case(name))
}

/// `Task` is the older name of `Agent`; both name the tool (measured for matchers, documented for
/// rules).
pub(crate) fn current_name(name: &str) -> &str {
    if name == "Task" { "Agent" } else { name }
}

/// Whether an `Edit(path)` permission rule covers the tool (documented: every built-in editor).
pub(crate) fn edits_files(name: &str) -> bool {
    matches!(name, "Edit" | "Write" | "MultiEdit" | "NotebookEdit")
}

/// Whether a `Read(path)` permission rule covers the tool (documented, best effort).
pub(crate) fn reads_files(name: &str) -> bool {
    matches!(name, "Read" | "Grep" | "Glob")
}
