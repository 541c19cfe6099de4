//! Whether a path is inside a directory, symbolic links resolved.

use std::path::{Component, Path, PathBuf};

/// Whether `path` (absolute) names something in `root` (absolute) or `root` itself.
///
/// What exists is resolved by the system; what does not exist yet is taken under the nearest
/// ancestor that does. A path with `..` behind a missing directory is not inside anything.
pub(super) fn is_inside(path: &Path, root: &Path) -> bool {
    let Ok(root) = root.canonicalize() else {
        return false;
    };
    resolve(path).is_some_and(|path| path.starts_with(root))
}

fn resolve(path: &Path) -> Option<PathBuf> {
    for ancestor in path.ancestors() {
        if let Ok(resolved) = ancestor.canonicalize() {
            let rest = path.strip_prefix(ancestor).ok()?;
            return is_plain(rest).then(|| resolved.join(rest));
        }
        // A link that leads nowhere: what is created through it may be anywhere.
        if ancestor.is_symlink() {
            return None;
        }
    }
    None
}

fn is_plain(rest: &Path) -> bool {
    rest.components()
        .all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A link or a `..` never smuggles a path into the project.
    #[cfg(unix)]
    #[test]
    fn links_and_parents_are_seen_through() {
        let folder = tempfile::tempdir().unwrap();
        let (inside, outside) = (folder.path().join("in"), folder.path().join("out"));
        std::fs::create_dir_all(inside.join("sub")).unwrap();
        std::fs::create_dir_all(&outside).unwrap();
        std::os::unix::fs::symlink(&outside, inside.join("link")).unwrap();
        std::os::unix::fs::symlink(outside.join("missing"), inside.join("dangling")).unwrap();
        let cases = [
            ("in", true),
            ("in/new.txt", true),
            ("in/new/deep.txt", true),
            ("in/sub/../new.txt", true),
            ("in/link/x", false),
            ("in/dangling", false),
            ("in/../out/x", false),
            ("in/missing/../../out/x", false),
            ("out", false),
            ("inside", false),
        ];
        for (path, expected) in cases {
            assert_eq!(
                is_inside(&folder.path().join(path), &inside),
                expected,
                "{path}"
            );
        }
    }
}
