//! Where each dialect looks, as one table: from the farthest layer to the nearest.

use std::path::{Path, PathBuf};

use super::Roots;
use crate::dialect::DialectId;
use crate::handler::Layer;

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Json,
    Toml,
}

/// What a row's paths are relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    Home,
    CodexHome,
    Project,
    /// Every folder from the repository's root down to the project.
    ProjectChain,
}

struct Row {
    layer: Layer,
    base: Base,
    files: &'static [(&'static str, Form)],
}

/// Measured: the project's files are looked for in the start folder only, never above it.
const CLAUDE: &[Row] = &[
    Row {
        layer: Layer::User,
        base: Base::Home,
        files: &[(".claude/settings.json", Form::Json)],
    },
    Row {
        layer: Layer::Project,
        base: Base::Project,
        files: &[(".claude/settings.json", Form::Json)],
    },
    Row {
        layer: Layer::Local,
        base: Base::Project,
        files: &[(".claude/settings.local.json", Form::Json)],
    },
];

/// Measured: in each layer the JSON file first, then the TOML file.
const CODEX: &[Row] = &[
    Row {
        layer: Layer::User,
        base: Base::CodexHome,
        files: &[("hooks.json", Form::Json), ("config.toml", Form::Toml)],
    },
    Row {
        layer: Layer::Project,
        base: Base::ProjectChain,
        files: &[
            (".codex/hooks.json", Form::Json),
            (".codex/config.toml", Form::Toml),
        ],
    },
];

/// The files of one layer in one folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LayerFiles {
    pub(crate) layer: Layer,
    pub(crate) files: Vec<(PathBuf, Form)>,
}

/// The files to look for, in run order. An explicit file stands for all of them.
pub(crate) fn files(dialect: DialectId, roots: &Roots) -> Vec<LayerFiles> {
    if let Some(path) = &roots.explicit {
        let toml = path
            .extension()
            .is_some_and(|extension| extension == "toml");
        let form = if toml { Form::Toml } else { Form::Json };
        return vec![LayerFiles {
            layer: Layer::Explicit,
            files: vec![(path.clone(), form)],
        }];
    }
    let table = match dialect {
        DialectId::Claude => CLAUDE,
        DialectId::Codex => CODEX,
    };
    let mut found: Vec<LayerFiles> = Vec::new();
    for row in table {
        for folder in row.base.folders(roots) {
            let files: Vec<_> = row
                .files
                .iter()
                .map(|(name, form)| (folder.join(name), *form))
                // A session in the home folder: the user's own file is not the project's too.
                .filter(|file| !found.iter().any(|earlier| earlier.files.contains(file)))
                .collect();
            if !files.is_empty() {
                found.push(LayerFiles {
                    layer: row.layer.clone(),
                    files,
                });
            }
        }
    }
    found
}

impl Base {
    fn folders(self, roots: &Roots) -> Vec<PathBuf> {
        match self {
            Self::Home => vec![roots.home.clone()],
            Self::CodexHome => vec![roots.codex_home.clone()],
            Self::Project => vec![roots.project.clone()],
            Self::ProjectChain => chain(&roots.project),
        }
    }
}

/// The repository's root: the nearest folder with a `.git` (a worktree's is a file); without one,
/// the folder itself.
pub(crate) fn repository_root(project: &Path) -> &Path {
    project
        .ancestors()
        .find(|folder| folder.join(".git").exists())
        .unwrap_or(project)
}

fn chain(project: &Path) -> Vec<PathBuf> {
    let root = repository_root(project);
    let mut folders: Vec<_> = project
        .ancestors()
        .take_while(|folder| folder.starts_with(root))
        .map(Path::to_path_buf)
        .collect();
    folders.reverse();
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(dialect: DialectId, roots: &Roots) -> Vec<(String, String)> {
        files(dialect, roots)
            .iter()
            .flat_map(|layer| layer.files.iter().map(move |file| (layer, file)))
            .map(|(layer, (path, _))| (layer.layer.as_str().into(), path.display().to_string()))
            .collect()
    }

    #[test]
    fn claude_looks_at_home_and_at_the_start_folder_only() {
        let roots = Roots::new("/h", "/h/p/sub");
        let expected = [
            ("user", "/h/.claude/settings.json"),
            ("project", "/h/p/sub/.claude/settings.json"),
            ("local", "/h/p/sub/.claude/settings.local.json"),
        ];
        let expected = expected.map(|(layer, path)| (layer.to_owned(), path.to_owned()));
        assert_eq!(paths(DialectId::Claude, &roots), expected);
    }

    #[test]
    fn codex_walks_from_the_repository_root_down() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("repo");
        let project = root.join("a/b");
        std::fs::create_dir_all(&project).unwrap();
        std::fs::write(root.join(".git"), "gitdir: elsewhere").unwrap();
        let roots = Roots::new("/h", &project);
        let folders: Vec<_> = files(DialectId::Codex, &roots)
            .iter()
            .map(|layer| layer.files[0].0.parent().unwrap().to_path_buf())
            .collect();
        let expected = [
            PathBuf::from("/h/.codex"),
            root.join(".codex"),
            root.join("a/.codex"),
            project.join(".codex"),
        ];
        assert_eq!(folders, expected);
    }

    #[test]
    fn without_a_repository_the_start_folder_is_the_only_project_layer() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().join("a/b");
        let roots = Roots::new("/h", &project);
        assert_eq!(files(DialectId::Codex, &roots).len(), 2);
    }

    #[test]
    fn a_session_in_the_home_folder_reads_the_users_file_once_and_as_the_users() {
        let roots = Roots::new("/h", "/h");
        let layers: Vec<_> = paths(DialectId::Claude, &roots);
        assert_eq!(layers[0].0, "user");
        assert_eq!(layers.len(), 2);
        assert_eq!(files(DialectId::Codex, &roots).len(), 1);
    }

    #[test]
    fn an_explicit_file_stands_for_all_layers_and_its_extension_says_how_it_is_written() {
        for (name, form) in [
            ("x.toml", Form::Toml),
            ("x.json", Form::Json),
            ("x", Form::Json),
        ] {
            let mut roots = Roots::new("/h", "/p");
            roots.explicit = Some(name.into());
            let found = files(DialectId::Codex, &roots);
            assert_eq!(found.len(), 1);
            assert_eq!(found[0].layer, Layer::Explicit);
            assert_eq!(found[0].files, [(PathBuf::from(name), form)]);
        }
    }
}
