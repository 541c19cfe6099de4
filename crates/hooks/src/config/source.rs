//! Reads one file's text, or says why not.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::Path;

/// No hook configuration is longer; a link to an endless device must not fill the memory.
const LIMIT: u64 = 1 << 20;

/// What reading a file came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// It is not there.
    Absent,
    /// Its text.
    Text(String),
    /// It is there and cannot be read, for this reason.
    Unreadable(String),
}

/// Reads a regular file of UTF-8 text.
pub(crate) fn read(path: &Path) -> Source {
    match try_read(path) {
        Ok(text) => Source::Text(text),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Source::Absent
        }
        Err(error) => Source::Unreadable(error.to_string()),
    }
}

fn try_read(path: &Path) -> std::io::Result<String> {
    let wrong = |why: String| std::io::Error::new(ErrorKind::InvalidData, why);
    // Looked at before it is opened: opening a named pipe would wait for its writer.
    if !fs::metadata(path)?.is_file() {
        return Err(wrong("it is not a regular file".into()));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(LIMIT + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LIMIT {
        return Err(wrong(format!("it is longer than {LIMIT} bytes")));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        wrong(format!("it is not UTF-8 text (byte {at})"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_short_regular_utf8_file_is_unreadable_and_says_why() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        assert_eq!(read(&path), Source::Absent);
        assert_eq!(read(&path.join("below")), Source::Absent);
        fs::write(&path, "text").unwrap();
        assert_eq!(read(&path), Source::Text("text".into()));
        assert_eq!(read(&path.join("below a file")), Source::Absent);
        fs::write(&path, [b'a', 0xff]).unwrap();
        assert!(matches!(read(&path), Source::Unreadable(why) if why.contains("byte 1")));
        fs::write(&path, vec![b' '; LIMIT as usize + 1]).unwrap();
        assert!(matches!(read(&path), Source::Unreadable(why) if why.contains("longer")));
        assert!(matches!(read(dir.path()), Source::Unreadable(why) if why.contains("regular")));
    }
}
