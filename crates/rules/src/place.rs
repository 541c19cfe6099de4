//! Paths as text: absolute, `/` between the parts, no `.` and no `..`.
//!
//! Everything here is lexical. Whether a path is a link is the caller's to find out; see
//! [`Call::resolving_to`](crate::Call::resolving_to).

use std::path::Path;

use crate::call::Places;

/// `path` made absolute: `~` is the home folder, a relative path starts at the current directory.
pub(crate) fn absolute(path: &str, places: &Places<'_>) -> String {
    let slashed = slashes(path);
    if let Some(rest) = in_home(&slashed) {
        return plain(&format!("{}/{rest}", folder(places.home)));
    }
    if slashed.starts_with('/') {
        return plain(&slashed);
    }
    plain(&format!("{}/{slashed}", folder(places.cwd)))
}

/// A folder as text, without a slash at the end (the root is the empty text).
pub(crate) fn folder(path: &Path) -> String {
    let text = plain(&slashes(&path.to_string_lossy()));
    if text == "/" { String::new() } else { text }
}

/// The part of `path` below `root`; both as [`absolute`] and [`folder`] give them.
pub(crate) fn below<'p>(path: &'p str, root: &str) -> Option<&'p str> {
    path.strip_prefix(root)?
        .strip_prefix('/')
        .filter(|rest| !rest.is_empty())
}

fn in_home(path: &str) -> Option<&str> {
    if path == "~" {
        Some("")
    } else {
        path.strip_prefix("~/")
    }
}

/// `C:\a\b` is `/c/a/b` (documented); other paths keep their backslashes.
fn slashes(path: &str) -> String {
    let mut chars = path.chars();
    match (chars.next(), chars.next(), chars.next()) {
        (Some(drive), Some(':'), Some('\\' | '/')) if drive.is_ascii_alphabetic() => {
            let rest = path.get(2..).unwrap_or_default().replace('\\', "/");
            format!("/{}{rest}", drive.to_ascii_lowercase())
        }
        _ => path.to_owned(),
    }
}

/// Without empty parts, `.` and `..`; the parent of the root is the root.
fn plain(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_absolute_and_plain() {
        let places = Places {
            cwd: Path::new("/p/sub"),
            project: Path::new("/p"),
            home: Path::new("/home/u"),
        };
        for (path, expected) in [
            ("a.txt", "/p/sub/a.txt"),
            ("./a//b/", "/p/sub/a/b"),
            ("../a", "/p/a"),
            ("../../../a", "/a"),
            ("/x/./y/../z", "/x/z"),
            ("~", "/home/u"),
            ("~/.ssh/id", "/home/u/.ssh/id"),
            ("~other/x", "/p/sub/~other/x"),
            ("C:\\Users\\a", "/c/Users/a"),
            ("a\\b", "/p/sub/a\\b"),
        ] {
            assert_eq!(absolute(path, &places), expected, "{path}");
        }
        assert_eq!(below("/p/a", "/p"), Some("a"));
        assert_eq!(below("/px/a", "/p"), None);
        assert_eq!(below("/a", ""), Some("a"));
        assert_eq!(below("/p", "/p"), None);
    }
}
