//! A home folder, a project folder, and what is loaded from them.

use std::fs;
use std::path::{Path, PathBuf};

use seamline_hooks::config::{FileState, Loaded, Roots, load};
use seamline_hooks::{DialectId, Layer, Severity};

/// Temporary folders that stand for the user's machine.
pub(crate) struct Sandbox {
    dir: tempfile::TempDir,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["home", "project"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        Self { dir }
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    /// What stands for `/etc`.
    pub(crate) fn system(&self) -> PathBuf {
        self.dir.path().join("etc")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    pub(crate) fn roots(&self) -> Roots {
        let mut roots = Roots::new(self.home(), self.project());
        roots.system = self.system();
        roots
    }

    /// Writes a file below the home folder.
    pub(crate) fn at_home(&self, name: &str, text: &str) -> &Self {
        write(&self.home().join(name), text);
        self
    }

    /// Writes a file of the organisation, below its Codex folder.
    pub(crate) fn in_system(&self, name: &str, text: &str) -> &Self {
        write(&self.system().join("codex").join(name), text);
        self
    }

    /// Writes a file below the project folder.
    pub(crate) fn in_project(&self, name: &str, text: &str) -> &Self {
        write(&self.project().join(name), text);
        self
    }

    pub(crate) fn load(&self, dialect: DialectId) -> Loaded {
        load(dialect, &self.roots())
    }

    /// Loads one text as the explicit file.
    pub(crate) fn explicit(&self, dialect: DialectId, name: &str, text: &str) -> Loaded {
        let path = self.dir.path().join(name);
        write(&path, text);
        let mut roots = self.roots();
        roots.explicit = Some(path);
        load(dialect, &roots)
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// What each handler does, in run order.
pub(crate) fn actions(loaded: &Loaded) -> Vec<String> {
    let handlers = loaded.handlers.iter();
    handlers.map(|handler| handler.action.summary()).collect()
}

/// The codes of the findings of one severity, in reading order.
pub(crate) fn codes(loaded: &Loaded, severity: Severity) -> Vec<&'static str> {
    let found = loaded.diagnostics.iter();
    found
        .filter(|d| d.severity == severity)
        .map(|d| d.code)
        .collect()
}

/// `line:column code`, for every finding.
pub(crate) fn placed(loaded: &Loaded) -> Vec<String> {
    let found = loaded.diagnostics.iter();
    found
        .map(|d| match d.position {
            Some(at) => format!("{}:{} {}", at.line, at.column, d.code),
            None => d.code.to_owned(),
        })
        .collect()
}

/// What became of the explicit file.
pub(crate) fn given(loaded: &Loaded) -> FileState {
    let mut files = loaded.files.iter();
    let file = files.find(|file| file.layer == Layer::Explicit);
    file.unwrap().state
}
