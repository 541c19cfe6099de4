//! What all cases share: the recorder and the slowed-down `sleep`, one program under two names.
//!
//! A configuration that was measured says `$REC NAME`. Here `$REC` is one path for all cases, a
//! link named `rec` to the conformance program, which looks at the name it was started by.
//! Duplicates of a configuration are found by comparing command texts, so the path must not
//! differ between the places it is written to.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// Links to the conformance program.
#[derive(Debug)]
pub struct Bench {
    folder: TempDir,
}

impl Bench {
    /// Makes the links to `program`, the conformance binary.
    ///
    /// # Errors
    /// When the temporary folder or a link cannot be made.
    pub fn new(program: &Path) -> io::Result<Self> {
        let folder = TempDir::with_prefix("conformance-bench-")?;
        for name in ["rec", "path/sleep"] {
            let link = folder.path().join(name);
            if let Some(parent) = link.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::os::unix::fs::symlink(program, link)?;
        }
        Ok(Self { folder })
    }

    /// The value of `$REC`.
    #[must_use]
    pub fn recorder(&self) -> PathBuf {
        self.folder.path().join("rec")
    }

    /// The `PATH` of the hooks: the one of this process, with our `sleep` before it if asked for.
    #[must_use]
    pub fn path(&self, own_sleep: bool) -> OsString {
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        if !own_sleep {
            return inherited;
        }
        let folders = std::iter::once(self.folder.path().join("path"));
        let folders = folders.chain(std::env::split_paths(&inherited));
        std::env::join_paths(folders).unwrap_or(inherited)
    }
}
