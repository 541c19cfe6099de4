//! Session ids and the folder names of projects.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A session's id: a version 7 UUID, so that ids sort by the time they were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(Uuid);

impl SessionId {
    /// A new id.
    pub fn new() -> Self {
        Self(Uuid::now_v7())
    }

    /// The UUID.
    pub fn uuid(self) -> Uuid {
        self.0
    }
}

impl Default for SessionId {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for SessionId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Uuid::from_str(text).map(Self)
    }
}

/// Longest folder name we make; file systems allow 255 bytes.
const LONGEST: usize = 200;

/// The folder name that stands for a project directory.
///
/// `/` becomes `-`; letters, digits, `.` and `_` stay; any other byte becomes `%XX`, so that two
/// projects never share a folder. A path too long for a file name is cut and ends in a hash.
pub fn project_folder(project: &Path) -> String {
    let mut name = String::new();
    for &byte in project.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' => name.push('-'),
            b'.' | b'_' => name.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => name.push(char::from(byte)),
            byte => name.push_str(&format!("%{byte:02X}")),
        }
    }
    if name.len() > LONGEST {
        let hash = fnv1a(name.as_bytes());
        name.truncate(LONGEST);
        name.push_str(&format!("%{hash:016x}"));
    }
    name
}

/// FNV-1a, 64 bits. Stable for ever, which the standard library's hasher does not promise.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Different projects get different folders; a folder name is always one valid file name.
    #[test]
    fn project_folders_are_distinct_and_short() {
        let long = format!("/{}", "x".repeat(400));
        let longer = format!("{long}y");
        let paths = [
            "/a/b",
            "/a-b",
            "/a b",
            "/a%20b",
            "/a/b/",
            "/ä",
            long.as_str(),
            &longer,
        ];
        let names: Vec<String> = paths.iter().map(|p| project_folder(Path::new(p))).collect();
        let mut unique = names.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), paths.len());
        assert!(
            names
                .iter()
                .all(|name| name.len() < 255 && !name.contains('/'))
        );
        assert_eq!(names[0], "-a-b");
    }

    /// Ids are version 7 and survive their text form.
    #[test]
    fn ids_are_version_seven() {
        let id = SessionId::new();
        assert_eq!(id.uuid().get_version_num(), 7);
        assert_eq!(id.to_string().parse::<SessionId>().unwrap(), id);
    }
}
