//! Codex's `[projects."<folder>"]`: whether the layers of a project are in force at all.
//!
//! Measured: a project's files count only when the effective configuration says
//! `trust_level = "trusted"` for the folder that holds the `.codex`, for the repository's root, or
//! (read in the client's public source) for the repository a worktree belongs to; the first of
//! these that is listed decides. A project that is not listed is passed over by the client. Here
//! [`UnlistedProject`] says what happens to it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::codex::{Shape, mismatch};
use super::layers::repository_root;
use super::report::Report;
use super::tree::{Node, Span, Table};

/// What happens to the files of a project about which Codex's `[projects]` says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnlistedProject {
    /// Their hooks are read, since [trust](crate::trust) decides about each of them anyway; what
    /// they switch counts for themselves alone.
    #[default]
    Read,
    /// They count as if the project was listed as trusted.
    Trust,
    /// They are passed over, as the client does until somebody agrees to the project.
    PassOver,
}

/// A word of the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Trusted,
    Untrusted,
}

/// What a file says about one folder.
#[derive(Debug, Clone)]
pub(crate) struct Listed {
    pub(crate) level: Level,
    pub(crate) file: PathBuf,
    pub(crate) span: Span,
}

/// Folder, as written, to what is said about it.
pub(crate) type Projects = BTreeMap<String, Listed>;

/// Reads the table.
pub(crate) fn read(node: &Node, report: &Report<'_>, shapes: &mut Vec<Shape>) -> Projects {
    let Some(table) = node.as_table() else {
        shapes.push(mismatch(node, "a map"));
        return Projects::new();
    };
    let mut projects = Projects::new();
    for entry in table.effective() {
        let Some(fields) = entry.value.as_table() else {
            shapes.push(mismatch(&entry.value, "struct ProjectConfig"));
            continue;
        };
        match level(fields) {
            Ok(None) => {}
            Ok(Some((level, span))) => {
                let file = report.path.to_path_buf();
                let span = report.in_file(span);
                projects.insert(entry.key.clone(), Listed { level, file, span });
            }
            Err(shape) => shapes.push(shape),
        }
    }
    projects
}

fn level(fields: &Table) -> Result<Option<(Level, Span)>, Shape> {
    let Some(node) = fields.get("trust_level") else {
        return Ok(None);
    };
    match node.as_text() {
        Some("trusted") => Ok(Some((Level::Trusted, node.span))),
        Some("untrusted") => Ok(Some((Level::Untrusted, node.span))),
        Some(other) => {
            let message = format!("unknown variant `{other}`, expected `trusted` or `untrusted`");
            Err((node.span, message))
        }
        None => Err(mismatch(node, "a string")),
    }
}

/// Every listed folder by its path as written and by its path without links.
#[derive(Debug, Clone, Default)]
pub(crate) struct Index {
    projects: Projects,
    names: BTreeMap<PathBuf, String>,
}

impl Index {
    pub(crate) fn new(projects: Projects) -> Self {
        let mut names = BTreeMap::new();
        for name in projects.keys() {
            let path = PathBuf::from(name);
            if let Ok(real) = path.canonicalize() {
                names.insert(real, name.clone());
            }
        }
        let written = projects.keys().map(|name| (name.into(), name.clone()));
        names.extend(written);
        Self { projects, names }
    }

    /// What is said about the layer in `folder` of a session in `project`, with the folder it is
    /// said about.
    pub(crate) fn standing(&self, folder: &Path, project: &Path) -> Option<(&str, &Listed)> {
        let root = repository_root(project);
        let main = main_repository(root);
        let folders = [Some(folder), Some(root), main.as_deref()];
        let mut folders = folders.into_iter().flatten();
        let name = folders.find_map(|folder| {
            let real = || self.names.get(&folder.canonicalize().ok()?);
            self.names.get(folder).or_else(real)
        })?;
        Some((name, self.projects.get(name)?))
    }
}

/// The repository that a worktree belongs to, by its `.git` file.
fn main_repository(root: &Path) -> Option<PathBuf> {
    let text = std::fs::read_to_string(root.join(".git")).ok()?;
    let folder = root.join(text.strip_prefix("gitdir:")?.trim());
    let worktrees = folder.parent()?;
    let git = worktrees.parent()?;
    let is_worktree = worktrees.ends_with("worktrees") && git.ends_with(".git");
    git.parent().filter(|_| is_worktree).map(Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn projects(listed: &[(&Path, Level)]) -> Projects {
        let entries = listed.iter().map(|(folder, level)| {
            let listed = Listed {
                level: *level,
                file: PathBuf::new(),
                span: (0, 0),
            };
            (folder.display().to_string(), listed)
        });
        entries.collect()
    }

    /// The nearest folder that is listed decides: the layer's own, the repository's root, the
    /// repository of a worktree. A folder between them does not, and without a repository the
    /// start folder stands alone.
    #[test]
    fn the_layers_folder_then_the_root_then_the_main_repository_decide() {
        use Level::{Trusted, Untrusted};
        let dir = tempfile::tempdir().unwrap();
        let main = dir.path().join("main");
        let tree = dir.path().join("tree");
        let sub = tree.join("a/b");
        std::fs::create_dir_all(&sub).unwrap();
        std::fs::create_dir_all(main.join(".git/worktrees/tree")).unwrap();
        let gitdir = format!("gitdir: {}\n", main.join(".git/worktrees/tree").display());
        std::fs::write(tree.join(".git"), gitdir).unwrap();
        let between = tree.join("a");
        for (listed, expected) in [
            (projects(&[]), None),
            (projects(&[(&main, Trusted)]), Some(Trusted)),
            (projects(&[(&between, Trusted)]), None),
            (
                projects(&[(&main, Trusted), (&tree, Untrusted)]),
                Some(Untrusted),
            ),
            (
                projects(&[(&tree, Untrusted), (&sub, Trusted)]),
                Some(Trusted),
            ),
        ] {
            let index = Index::new(listed);
            let found = index.standing(&sub, &sub).map(|(_, listed)| listed.level);
            assert_eq!(found, expected, "{index:?}");
        }
        let alone = dir.path().join("alone/sub");
        let above = projects(&[(&dir.path().join("alone"), Trusted)]);
        assert!(Index::new(above).standing(&alone, &alone).is_none());
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_is_known_by_its_links_too() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().join("real");
        let link = dir.path().join("link");
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let listed = projects(&[(&link, Level::Untrusted)]);
        assert!(Index::new(listed).standing(&real, &real).is_some());
    }
}
