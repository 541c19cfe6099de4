//! Walking a project the way a search should: no ignored files, no `.git`.

use std::path::{Path, PathBuf};

use ignore::types::Types;
use ignore::{DirEntry, WalkBuilder};
use seamline_seams::Signal;

use crate::tools::ToolError;

/// The files under `base` that no ignore file excludes, in a stable order. Cancelling stops the
/// walk and keeps what was found.
pub(super) fn files(base: &Path, types: Option<Types>, signal: &Signal) -> Vec<PathBuf> {
    let mut walk = WalkBuilder::new(base);
    walk.hidden(false).sort_by_file_path(Path::cmp);
    walk.filter_entry(|entry| entry.file_name() != ".git");
    if let Some(types) = types {
        walk.types(types);
    }
    walk.build()
        .take_while(|_| !signal.is_cancelled())
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .map(DirEntry::into_path)
        .collect()
}

/// A path as the model should see it: relative to `cwd` where it is below.
pub(super) fn shown(path: &Path, cwd: &Path) -> String {
    path.strip_prefix(cwd).unwrap_or(path).display().to_string()
}

/// The place a search starts in; it has to exist.
pub(super) fn base(path: Option<&str>, cwd: &Path) -> Result<PathBuf, ToolError> {
    let base = path.map_or_else(|| cwd.to_owned(), |path| cwd.join(path));
    match base.exists() {
        true => Ok(base),
        false => Err(ToolError::new(format!("There is no {}.", base.display()))),
    }
}
