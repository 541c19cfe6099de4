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

/// Where a path (absolute) leads when symbolic links are followed, also those whose target does not
/// exist yet; `None` when it is its own name. What cannot be resolved after as many links as a
/// system follows stays what the last of them says.
pub fn leads_to(path: &Path) -> Option<PathBuf> {
    const LINKS: usize = 40;
    let mut end = path.to_path_buf();
    for _ in 0..LINKS {
        if let Some(resolved) = resolve(&end) {
            end = resolved;
            break;
        }
        let Some((link, target)) = first_dangling(&end) else {
            break;
        };
        let rest = end.strip_prefix(&link).ok()?;
        let target = link.parent().unwrap_or(&link).join(target);
        end = match rest.as_os_str().is_empty() {
            true => target,
            false => target.join(rest),
        };
    }
    (end != path).then_some(end)
}

/// The nearest ancestor that is a link leading nowhere, and what it says.
fn first_dangling(path: &Path) -> Option<(PathBuf, PathBuf)> {
    let dangling = |path: &&Path| path.is_symlink() && !path.exists();
    let link = path.ancestors().find(dangling)?;
    Some((link.to_path_buf(), link.read_link().ok()?))
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

    /// Rules look at where a path leads, even to what is not there yet.
    #[cfg(unix)]
    #[test]
    fn links_lead_where_they_say() {
        use std::os::unix::fs::symlink;

        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("out")).unwrap();
        std::fs::write(root.join("plain"), "").unwrap();
        symlink(root.join("out"), root.join("link")).unwrap();
        symlink("out/missing", root.join("dangling")).unwrap();
        symlink("dangling", root.join("twice")).unwrap();
        symlink("round", root.join("round")).unwrap();
        let cases = [
            ("plain", None),
            ("new/deep.txt", None),
            ("link/x", Some("out/x")),
            ("dangling", Some("out/missing")),
            ("dangling/x", Some("out/missing/x")),
            ("twice", Some("out/missing")),
            ("round", None),
        ];
        for (path, target) in cases {
            let target = target.map(|target| root.join(target));
            assert_eq!(leads_to(&root.join(path)), target, "{path}");
        }
    }
}
