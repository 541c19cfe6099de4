//! Runs the real binary in folders of its own, with nothing of the tester's environment but `PATH`.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// What one run of the command said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Said {
    /// Standard output as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e} in {self:#?}"))
    }
}

/// A home folder and a project folder that vanish with it.
pub(crate) struct World {
    root: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let root = TempDir::new().unwrap();
        for folder in ["home", "project", "state"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        Self { root }
    }

    fn path(&self, folder: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(folder)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path("home")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.path("project")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.path("state")
    }

    /// What stands for `/etc`.
    pub(crate) fn system(&self) -> PathBuf {
        self.path("system")
    }

    /// Writes a file of the organisation, below its Codex folder.
    pub(crate) fn write_system(&self, name: &str, text: &str) -> PathBuf {
        write(&self.system().join("codex").join(name), text)
    }

    /// Writes a file below the project, with the folders it needs.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        write(&self.project().join(name), text)
    }

    /// Writes a file below the home folder.
    pub(crate) fn write_home(&self, name: &str, text: &str) -> PathBuf {
        write(&self.home().join(name), text)
    }

    /// The command, started in the project.
    pub(crate) fn seamline(&self) -> Seamline {
        let mut command = Seamline::new();
        command
            .0
            .current_dir(self.project())
            .env("HOME", self.home())
            .env("XDG_STATE_HOME", self.state())
            .env("SEAMLINE_TEST_SYSTEM", self.system());
        command
    }

    /// `text` with the folders of this world replaced by their names.
    pub(crate) fn plain(&self, text: &str) -> String {
        ["home", "project", "state", "system"]
            .iter()
            .fold(text.to_owned(), |text, folder| {
                text.replace(
                    &self.path(folder).display().to_string(),
                    &format!("<{folder}>"),
                )
            })
    }
}

fn write(path: &Path, text: &str) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    path.to_owned()
}

/// The command with its arguments so far.
pub(crate) struct Seamline(pub(crate) Command);

impl Seamline {
    pub(crate) fn new() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_seamline"));
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default());
        Self(command)
    }

    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.0.arg(arg);
        self
    }

    pub(crate) fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.0.args(args);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.0.env(name, value);
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.0.env_remove(name);
        self
    }

    pub(crate) fn run(self) -> Said {
        self.run_with("")
    }

    /// Runs it with `input` on standard input.
    pub(crate) fn run_with(mut self, input: &str) -> Said {
        self.0
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = self.0.spawn().unwrap();
        // The command may end without reading what it did not ask for.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        Said {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}
