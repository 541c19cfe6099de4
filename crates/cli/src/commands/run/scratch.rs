//! A copy of the project to work in.

use std::path::{Path, PathBuf};
use std::{fs, io};

use seamline_hooks::config::Loaded;
use seamline_hooks::trust::kept;
use tempfile::TempDir;

use crate::error::CliError;

/// Folders that are not copied: history, and what can be built again.
const LEFT_OUT: [&str; 4] = [".git", "target", "node_modules", ".venv"];
/// More than this is no project to rehearse in.
const LARGEST: u64 = 64 << 20;

/// A temporary copy; it goes when it is dropped.
#[derive(Debug)]
pub(super) struct Scratch {
    /// Keeps the folder.
    _folder: TempDir,
    path: PathBuf,
}

impl Scratch {
    /// Copies a project without its history and its build products.
    pub(super) fn copy(project: &Path) -> Result<Self, CliError> {
        let failed = |source| CliError::Write {
            what: "a copy of the project".into(),
            source,
        };
        let folder = TempDir::with_prefix("seamline-rehearsal-").map_err(failed)?;
        let name = project.file_name().unwrap_or("project".as_ref());
        let path = folder.path().canonicalize().map_err(failed)?.join(name);
        let mut left = LARGEST;
        copy(project, &path, &mut left).map_err(failed)?;
        Ok(Self {
            _folder: folder,
            path,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// What the user says about a project's hooks is said about its place, not about a copy's: hooks of
/// the copy are off where the same ones are off there.
pub(super) fn as_in_its_place(copy: &mut Loaded, original: &Loaded) {
    let originals = original.handlers.iter();
    let mut originals: Vec<_> = originals.map(|it| (kept(it), &it.disabled)).collect();
    for handler in &mut copy.handlers {
        let this = kept(handler);
        if let Some(at) = originals.iter().position(|(hash, _)| *hash == this) {
            handler.disabled.clone_from(originals.remove(at).1);
        }
    }
}

fn copy(from: &Path, to: &Path, left: &mut u64) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            let left_out = LEFT_OUT.iter().any(|name| entry.file_name() == *name);
            if !left_out {
                copy(&entry.path(), &target, left)?;
            }
        } else if kind.is_symlink() {
            symlink(&fs::read_link(entry.path())?, &target)?;
        } else if kind.is_file() {
            *left = left
                .checked_sub(entry.metadata()?.len())
                .ok_or_else(too_large)?;
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

fn too_large() -> io::Error {
    let limit = LARGEST >> 20;
    io::Error::other(format!(
        "it is larger than {limit} MiB; rehearse in a smaller folder (-C DIR)"
    ))
}

#[cfg(unix)]
fn symlink(target: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_the_files_their_modes_and_no_history_and_goes_with_its_value() {
        use std::os::unix::fs::PermissionsExt as _;
        let project = tempfile::tempdir().unwrap();
        let file = |name: &str| project.path().join(name);
        fs::create_dir_all(file(".git")).unwrap();
        fs::create_dir_all(file(".claude/hooks")).unwrap();
        fs::write(file(".claude/hooks/guard.sh"), "exit 2").unwrap();
        fs::set_permissions(
            file(".claude/hooks/guard.sh"),
            fs::Permissions::from_mode(0o755),
        )
        .unwrap();
        let scratch = Scratch::copy(project.path()).unwrap();
        let copied = scratch.path().join(".claude/hooks/guard.sh");
        assert_eq!(
            fs::metadata(&copied).unwrap().permissions().mode() & 0o777,
            0o755
        );
        assert!(!scratch.path().join(".git").exists());
        drop(scratch);
        assert!(!copied.exists());
    }
}
