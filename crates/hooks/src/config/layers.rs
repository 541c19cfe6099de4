//! Where each dialect looks, as one table: in the order in which hooks run.

use std::path::{Path, PathBuf};

use super::{Roots, session};
use crate::dialect::DialectId;
use crate::handler::Layer;

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Json,
    Toml,
    /// Codex's `requirements.toml`: what an organisation asks for.
    Requirements,
}

/// What a row's paths are relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    Home,
    CodexHome,
    /// Codex's folder below the system's.
    CodexSystem,
    Project,
    /// Every folder from the repository's root down to the project.
    ProjectChain,
    /// No folder: what the command line says.
    CommandLine,
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

/// Measured: what an organisation asks for comes first, in each layer the JSON file before the TOML
/// file, and the organisation's old file last.
const CODEX: &[Row] = &[
    Row {
        layer: Layer::Managed,
        base: Base::CodexSystem,
        files: &[("requirements.toml", Form::Requirements)],
    },
    Row {
        layer: Layer::System,
        base: Base::CodexSystem,
        files: &[("hooks.json", Form::Json), ("config.toml", Form::Toml)],
    },
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
    Row {
        layer: Layer::Session,
        base: Base::CommandLine,
        files: &[(session::PLACE, Form::Toml)],
    },
    Row {
        layer: Layer::Managed,
        base: Base::CodexSystem,
        files: &[("managed_config.toml", Form::Toml)],
    },
];

/// The files of one layer in one folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LayerFiles {
    pub(crate) layer: Layer,
    /// The folder that the files' names are relative to.
    pub(crate) folder: PathBuf,
    pub(crate) files: Vec<(PathBuf, Form)>,
}

/// The files to look for, in run order. An explicit file stands for the user's and the project's,
/// never for those of an organisation or for the command line.
pub(crate) fn files(dialect: DialectId, roots: &Roots) -> Vec<LayerFiles> {
    let table = match dialect {
        DialectId::Claude => CLAUDE,
        DialectId::Codex => CODEX,
    };
    let mut found: Vec<LayerFiles> = Vec::new();
    let mut explicit = roots.explicit.as_deref().map(explicit_file);
    let stands_in = explicit.is_some();
    for row in table {
        if stands_in && replaced(&row.layer) {
            found.extend(explicit.take());
            continue;
        }
        for folder in row.base.folders(roots) {
            let files: Vec<_> = row
                .files
                .iter()
                .map(|(name, form)| (folder.join(name), *form))
                // A session in the home folder: the user's own file is not the project's too.
                .filter(|file| !found.iter().any(|earlier| earlier.files.contains(file)))
                .collect();
            if !files.is_empty() {
                let layer = row.layer.clone();
                found.push(LayerFiles {
                    layer,
                    folder,
                    files,
                });
            }
        }
    }
    found
}

/// Whether `--hooks-config` stands for such a layer.
fn replaced(layer: &Layer) -> bool {
    *layer == Layer::User || layer.comes_with_project()
}

fn explicit_file(path: &Path) -> LayerFiles {
    let toml = path
        .extension()
        .is_some_and(|extension| extension == "toml");
    let form = if toml { Form::Toml } else { Form::Json };
    LayerFiles {
        layer: Layer::Explicit,
        folder: path.parent().unwrap_or(path).to_path_buf(),
        files: vec![(path.to_path_buf(), form)],
    }
}

impl Base {
    fn folders(self, roots: &Roots) -> Vec<PathBuf> {
        match self {
            Self::Home => vec![roots.home.clone()],
            Self::CodexHome => vec![roots.codex_home.clone()],
            Self::CodexSystem => vec![roots.system.join("codex")],
            Self::CommandLine if roots.session.is_empty() => Vec::new(),
            Self::CommandLine => vec![PathBuf::from("/")],
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

    fn with_system(home: &str, project: &Path) -> Roots {
        let mut roots = Roots::new(home, project);
        roots.system = "/s".into();
        roots
    }

    /// All seven layers of Codex but the plugins, in run order, the JSON file of each first.
    #[test]
    fn codex_has_its_layers_in_run_order_and_walks_from_the_repository_root_down() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("repo");
        let project = root.join("a/b");
        std::fs::create_dir_all(&project).unwrap();
        std::fs::write(root.join(".git"), "gitdir: elsewhere").unwrap();
        let mut roots = with_system("/h", &project);
        roots.session.give("hooks.Stop=[]").unwrap();
        let below = |folder: &str| dir.path().join("repo").join(folder).display().to_string();
        let expected = [
            ("managed", "/s/codex/requirements.toml".to_owned()),
            ("system", "/s/codex/hooks.json".to_owned()),
            ("system", "/s/codex/config.toml".to_owned()),
            ("user", "/h/.codex/hooks.json".to_owned()),
            ("user", "/h/.codex/config.toml".to_owned()),
            ("project", below(".codex/hooks.json")),
            ("project", below(".codex/config.toml")),
            ("project", below("a/.codex/hooks.json")),
            ("project", below("a/.codex/config.toml")),
            ("project", below("a/b/.codex/hooks.json")),
            ("project", below("a/b/.codex/config.toml")),
            ("session", "/<session-flags>/config.toml".to_owned()),
            ("managed", "/s/codex/managed_config.toml".to_owned()),
        ];
        let expected = expected.map(|(layer, path)| (layer.to_owned(), path));
        assert_eq!(paths(DialectId::Codex, &roots), expected);
    }

    #[test]
    fn without_a_repository_the_start_folder_is_the_only_project_layer() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().join("a/b");
        let found = paths(DialectId::Codex, &with_system("/h", &project));
        let of_project = found.iter().filter(|(layer, _)| layer == "project");
        assert_eq!(of_project.count(), 2);
    }

    #[test]
    fn a_session_in_the_home_folder_reads_the_users_file_once_and_as_the_users() {
        let roots = with_system("/h", Path::new("/h"));
        let layers: Vec<_> = paths(DialectId::Claude, &roots);
        assert_eq!(layers[0].0, "user");
        assert_eq!(layers.len(), 2);
        let layers = paths(DialectId::Codex, &roots);
        assert!(!layers.iter().any(|(layer, _)| layer == "project"));
    }

    /// An explicit file takes the place of the user's and the project's, never an organisation's.
    #[test]
    fn an_explicit_file_stands_for_what_is_not_managed_and_its_extension_says_how_it_is_written() {
        for (name, form) in [
            ("x.toml", Form::Toml),
            ("x.json", Form::Json),
            ("x", Form::Json),
        ] {
            let mut roots = with_system("/h", Path::new("/p"));
            roots.explicit = Some(name.into());
            let found = files(DialectId::Codex, &roots);
            let layers: Vec<_> = found.iter().map(|layer| layer.layer.as_str()).collect();
            assert_eq!(layers, ["managed", "system", "explicit", "managed"]);
            assert_eq!(found[2].files, [(PathBuf::from(name), form)]);
            let found = files(DialectId::Claude, &roots);
            assert_eq!(found.len(), 1);
            assert_eq!(found[0].layer, Layer::Explicit);
        }
    }
}
