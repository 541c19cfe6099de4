//! The MCP servers of a command: read, and started only as far as somebody agreed to them.
//!
//! The user's own come from seamline's `config.toml` and from Codex's, the project's from its
//! `.seamline/config.toml` and its `.mcp.json`. What a project
//! brings is a program of somebody else's: it is started when the project's hooks are run on the word
//! of the command line (`--trust-project-hooks`), and never else. Whatever is not started is named,
//! and a call to it fails with the reason.

use std::path::Path;

use seamline_hooks::{Diagnostic, Position, Severity};
use seamline_providers::mcp::config::{
    Configured, PROJECT_FILE, Problem, ProblemKind, read_codex, read_project, read_toml,
};
use seamline_providers::mcp::{Servers, ServersBuilder};

use crate::error::CliError;
use crate::places::Places;
use crate::render::caret::Pointer;
use crate::render::{count, visible};
use crate::{output, own};

/// The servers of one command.
pub(crate) struct ServerSetup {
    /// None is started yet.
    pub(crate) servers: Servers,
    /// What is not started, in words for the user.
    pub(crate) off: Vec<String>,
    broken: Vec<Pointer>,
}

impl ServerSetup {
    /// Reads the files. Servers run in `folder`, which is the project or a copy of it.
    pub(crate) fn read(places: &Places, folder: &Path, trust_project: bool) -> Self {
        let hidden = places.own.hidden_variables();
        let variable = |name: &str| std::env::var(name).ok().filter(|_| !hidden.contains(name));
        let own = [
            read_toml(&places.own_file()),
            read_codex(&places.roots.codex_home),
        ];
        let project = [
            (
                own::PROJECT_FILE,
                read_toml(&folder.join(own::PROJECT_FILE)),
            ),
            (PROJECT_FILE, read_project(folder, &variable)),
        ];
        let env = places.own.environment();
        let mut builder = ServersBuilder::default();
        let (mut off, mut broken) = (Vec::new(), Vec::new());
        let mut add = |configured: &Configured, builder: &mut ServersBuilder| {
            builder.add(configured, folder, &env);
            off.extend(unsupported(configured, places, folder));
            broken.extend(pointers(configured, places, folder));
        };
        for configured in &own {
            add(configured, &mut builder);
        }
        let mut held = Vec::new();
        for (file, configured) in &project {
            if trust_project {
                add(configured, &mut builder);
            } else {
                held.extend(held_back(file, configured, &mut builder));
            }
        }
        off.extend(held);
        let file = |config: &Path| shown(config, places, folder);
        off.extend(builder.shadowed().iter().map(|config| {
            let (name, line) = (visible(&config.name), config.place.line);
            let of_project = config.place.file.starts_with(folder);
            let first = if of_project {
                "your own"
            } else {
                "seamline's own configuration"
            };
            let file = file(&config.place.file);
            format!("MCP server {name} of {file}:{line} is not started: {first} has its name")
        }));
        Self {
            servers: builder.build(),
            off,
            broken,
        }
    }

    /// Broken parts end the command, or are shown when they are to be ignored.
    pub(crate) fn check(&mut self, ignore: bool) -> Result<(), CliError> {
        let findings = std::mem::take(&mut self.broken);
        if findings.is_empty() {
            return Ok(());
        }
        if !ignore {
            return Err(CliError::Broken {
                findings,
                managed: false,
            });
        }
        for finding in findings {
            output::diagnostic(&finding.render());
        }
        Ok(())
    }
}

/// What to say of servers that come with a project nobody has agreed to.
fn held_back(file: &str, project: &Configured, builder: &mut ServersBuilder) -> Option<String> {
    let started = project.servers.iter().map(|server| server.name.as_str());
    let failing = project.problems.iter();
    let failing = failing.filter_map(|problem| problem.server.as_deref());
    let mut names: Vec<&str> = started.chain(failing).collect();
    names.dedup();
    for name in &names {
        let why = "it comes with the project, which is not trusted (--trust-project-hooks)";
        builder.refuse(name, &format!("MCP server '{name}' is not started: {why}"));
    }
    let servers = count(names.len(), "MCP server", "");
    let are = if names.len() == 1 { "is" } else { "are" };
    let names: Vec<String> = names.into_iter().map(visible).collect();
    let names = names.join(", ");
    (!project.is_empty()).then(|| {
        format!(
            "{servers} of the project ({file}) {are} not started, since it is not trusted: \
             {names}; --trust-project-hooks starts them for this once"
        )
    })
}

fn unsupported(
    configured: &Configured,
    places: &Places,
    folder: &Path,
) -> impl Iterator<Item = String> {
    let problems = configured.problems.iter();
    let problems = problems.filter(|problem| problem.kind == ProblemKind::Unsupported);
    problems.map(move |problem| {
        let file = shown(&problem.place.file, places, folder);
        let (line, column) = (problem.place.line, problem.place.column);
        let server = problem.server.as_deref().unwrap_or_default();
        let what = format!("MCP server {server} is not started: {}", problem.message);
        format!("{file}:{line}:{column}: {}", visible(&what))
    })
}

fn pointers(
    configured: &Configured,
    places: &Places,
    folder: &Path,
) -> impl Iterator<Item = Pointer> {
    let problems = configured.problems.iter();
    let problems = problems.filter(|problem| problem.kind == ProblemKind::Broken);
    problems.map(move |problem| {
        let text = std::fs::read_to_string(&problem.place.file).ok();
        let file = shown(&problem.place.file, places, folder);
        Pointer::new(&finding(problem), &file, text.as_deref())
    })
}

fn finding(problem: &Problem) -> Diagnostic {
    let server = problem.server.as_ref();
    let about = server.map_or_else(String::new, |name| format!("MCP server {name:?}: "));
    Diagnostic {
        severity: Severity::Broken,
        code: "bad-server",
        file: problem.place.file.clone(),
        position: Some(Position {
            line: problem.place.line,
            column: problem.place.column,
        }),
        span: Some(problem.span),
        handler: None,
        message: format!("{about}{}", problem.message),
        help: None,
        managed: false,
    }
}

/// A file of a copy is shown as that of the project.
fn shown(file: &Path, places: &Places, folder: &Path) -> String {
    match file.strip_prefix(folder) {
        Ok(inside) => places.show(&places.roots.project.join(inside)),
        Err(_) => places.show(file),
    }
}
