//! Writes `[hooks.state."<key>"] trusted_hash` into Codex's own `config.toml`.
//!
//! The file is somebody's: nothing else in it may change by a byte. So a new entry is a table of
//! its own at the end, and a known one gets one value or line. What that cannot do (entries inside
//! inline tables) is done by the TOML library. Either way the result is read again and must say
//! what the old file said, with that one change, or nothing is written.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use toml_edit::{Document, DocumentMut, Item, Key, TableLike, Value as TomlValue};

use crate::config::toml_as_json;
use crate::diagnostic::Position;

/// How often a file may change under our hands before we give up.
const TRIES: usize = 5;

/// Why `config.toml` was left as it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CodexFileError {
    /// It cannot be read or written.
    #[error("{} cannot be {doing}: {source}; nothing was changed in it", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// `read` or `written`.
        doing: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is not TOML.
    #[error(
        "{}:{}:{}: {message}; correct it first, nothing was changed in it",
        path.display(), at.line, at.column
    )]
    Broken {
        /// The file.
        path: PathBuf,
        /// Where.
        at: Position,
        /// What is wrong there.
        message: String,
    },
    /// The entry cannot be written without changing something else.
    #[error(
        "{}: [hooks.state.{key:?}] cannot be written beside what is there; write `hooks` and \
         `hooks.state` as tables of their own, nothing was changed in it",
        path.display()
    )]
    NoRoom {
        /// The file.
        path: PathBuf,
        /// The handler's key.
        key: String,
    },
    /// Somebody else keeps writing it.
    #[error("{} changes all the time; nothing was changed in it by us", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
}

/// One entry: the key of a handler, and the hash to be trusted; without one, trust is taken back.
pub(super) type Change = (String, Option<String>);

/// Applies all changes to the file at once. Says whether anything had to be changed.
pub(super) fn apply(path: &Path, changes: &[Change]) -> Result<bool, CodexFileError> {
    let io = |doing| {
        move |source| CodexFileError::Io {
            path: path.to_path_buf(),
            doing,
            source,
        }
    };
    for _ in 0..TRIES {
        let target = target(path).map_err(io("read"))?;
        let old = read(&target).map_err(io("read"))?;
        let before = old.clone().unwrap_or_default();
        let mut text = before.clone();
        for (key, hash) in changes {
            text = changed(path, &text, key, hash.as_deref())?;
        }
        if text == before {
            return Ok(false);
        }
        if replace(&target, old.as_deref(), &text).map_err(io("written"))? {
            return Ok(true);
        }
    }
    Err(CodexFileError::Busy {
        path: path.to_path_buf(),
    })
}

/// The file behind a link: it is replaced, not the link.
fn target(path: &Path) -> std::io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => match fs::symlink_metadata(path) {
            Ok(_) => Err(std::io::Error::new(
                ErrorKind::NotFound,
                "it is a link that leads nowhere",
            )),
            Err(_) => Ok(path.to_path_buf()),
        },
        found => found,
    }
}

fn read(target: &Path) -> std::io::Result<Option<String>> {
    match fs::read_to_string(target) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Puts the new text in the place of the old; not when the old is no longer there.
fn replace(target: &Path, old: Option<&str>, text: &str) -> std::io::Result<bool> {
    let folder = target.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    if old.is_some() {
        let permissions = fs::metadata(target)?.permissions();
        file.as_file().set_permissions(permissions)?;
    }
    file.as_file().sync_all()?;
    if read(target)?.as_deref() != old {
        return Ok(false);
    }
    file.persist(target)?;
    Ok(true)
}

/// The text with one change.
fn changed(
    path: &Path,
    text: &str,
    key: &str,
    hash: Option<&str>,
) -> Result<String, CodexFileError> {
    let before = toml_as_json(text).map_err(|(at, message)| CodexFileError::Broken {
        path: path.to_path_buf(),
        at,
        message,
    })?;
    let wanted = with_change(before.clone(), key, hash);
    if wanted == Some(before) {
        return Ok(text.to_owned());
    }
    let says_it = |text: &String| wanted.is_some() && toml_as_json(text).ok() == wanted;
    let by_hand = by_hand(text, key, hash).filter(says_it);
    by_hand
        .or_else(|| by_library(text, key, hash).filter(says_it))
        .ok_or_else(|| CodexFileError::NoRoom {
            path: path.to_path_buf(),
            key: key.to_owned(),
        })
}

/// What the file must say afterwards; nothing when something else is where the entry belongs.
fn with_change(mut file: Value, key: &str, hash: Option<&str>) -> Option<Value> {
    let Some(hash) = hash else {
        let state = file
            .pointer_mut("/hooks/state")
            .and_then(Value::as_object_mut);
        if let Some(Value::Object(entry)) = state.and_then(|state| state.get_mut(key)) {
            entry.remove("trusted_hash");
        }
        return Some(file);
    };
    let mut table = &mut file;
    for name in ["hooks", "state", key] {
        let inner = table.as_object_mut()?.entry(name.to_owned());
        table = inner.or_insert_with(|| Value::Object(Map::new()));
    }
    let entry = table.as_object_mut()?;
    entry.insert("trusted_hash".to_owned(), hash.into());
    Some(file)
}

/// Changes no byte but those of the entry.
fn by_hand(text: &str, key: &str, hash: Option<&str>) -> Option<String> {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let document = Document::parse(text).ok()?;
    let state = document.get("hooks").and_then(|hooks| hooks.get("state"));
    let entry = state.and_then(|state| state.get(key));
    let line = |hash: &str| format!("trusted_hash = {}{newline}", TomlValue::from(hash));
    match (entry, hash) {
        (Some(Item::Table(entry)), hash) => {
            let value = entry.get("trusted_hash").map(Item::span);
            match (value, hash) {
                (Some(span), Some(hash)) => {
                    Some(spliced(text, span?, &TomlValue::from(hash).to_string()))
                }
                (Some(span), None) => Some(spliced(text, line_around(text, span?.start), "")),
                (None, Some(hash)) => {
                    let header = line_around(text, entry.span()?.start);
                    let after = header.end..header.end;
                    let open = !text.get(header)?.ends_with('\n');
                    let start = if open { newline } else { "" };
                    Some(spliced(text, after, &format!("{start}{}", line(hash))))
                }
                (None, None) => None,
            }
        }
        (None, Some(hash)) => {
            let mut end = String::new();
            if !text.is_empty() {
                let open = !text.ends_with('\n');
                end.push_str(if open { newline } else { "" });
                end.push_str(newline);
            }
            let header = format!("[hooks.state.{}]{newline}", Key::new(key));
            Some(format!("{text}{end}{header}{}", line(hash)))
        }
        _ => None,
    }
}

fn spliced(text: &str, range: std::ops::Range<usize>, put: &str) -> String {
    let before = text.get(..range.start).unwrap_or_default();
    let after = text.get(range.end..).unwrap_or_default();
    format!("{before}{put}{after}")
}

/// The line that a byte stands in, its end included.
fn line_around(text: &str, at: usize) -> std::ops::Range<usize> {
    let before = text.get(..at).unwrap_or_default();
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let rest = text.get(at..).unwrap_or_default();
    let end = rest
        .find('\n')
        .map_or(text.len(), |newline| at + newline + 1);
    start..end
}

/// Lets the library find the place, which may cost the spelling of what stands around it.
fn by_library(text: &str, key: &str, hash: Option<&str>) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for name in ["hooks", "state", key] {
        if !table.contains_key(name) {
            table.insert(
                name,
                Item::Value(TomlValue::InlineTable(Default::default())),
            );
        }
        table = table.get_mut(name)?.as_table_like_mut()?;
    }
    match hash {
        Some(hash) => table.insert("trusted_hash", Item::Value(TomlValue::from(hash))),
        None => table.remove("trusted_hash"),
    };
    let written = document.to_string();
    Some(if text.contains("\r\n") {
        written.replace("\r\n", "\n").replace('\n', "\r\n")
    } else {
        written
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "/p/.codex/hooks.json:stop:0:0";

    fn set(text: &str, hash: Option<&str>) -> Result<String, CodexFileError> {
        changed(Path::new("config.toml"), text, KEY, hash)
    }

    /// Text before, text after; everything else stays as it is, byte for byte.
    #[test]
    fn an_entry_is_written_and_nothing_else_changes() {
        let entry = format!("[hooks.state.\"{KEY}\"]\n");
        for (before, after) in [
            (String::new(), format!("{entry}trusted_hash = \"h\"\n")),
            (
                "# mine\nmodel='x' # here\n".into(),
                format!("# mine\nmodel='x' # here\n\n{entry}trusted_hash = \"h\"\n"),
            ),
            (
                "a = 1".into(),
                format!("a = 1\n\n{entry}trusted_hash = \"h\"\n"),
            ),
            (
                "a = 1\r\n[b]\r\n".into(),
                format!("a = 1\r\n[b]\r\n\r\n{entry}trusted_hash = \"h\"\n")
                    .replace("]\ntr", "]\r\ntr")
                    .replace("\"h\"\n", "\"h\"\r\n"),
            ),
            (
                format!("{entry}trusted_hash = 'old' # seen\n[z]\n"),
                format!("{entry}trusted_hash = \"h\" # seen\n[z]\n"),
            ),
            (
                format!("{entry}enabled = false\n[z]\n"),
                format!("{entry}trusted_hash = \"h\"\nenabled = false\n[z]\n"),
            ),
            // Adjacent entries, with the line ends of another system.
            (
                format!("{entry}trusted_hash = \"old\"\n[hooks.state.\"b\"]\ntrusted_hash = \"b\"")
                    .replace('\n', "\r\n"),
                format!("{entry}trusted_hash = \"h\"\n[hooks.state.\"b\"]\ntrusted_hash = \"b\"")
                    .replace('\n', "\r\n"),
            ),
            (
                entry.trim_end().to_owned(),
                format!("{entry}trusted_hash = \"h\"\n"),
            ),
            (
                "[[hooks.Stop]]\n[hooks.state.\"other\"]\nenabled = true\n".into(),
                format!(
                    "[[hooks.Stop]]\n[hooks.state.\"other\"]\nenabled = true\n\n{entry}trusted_hash = \"h\"\n"
                ),
            ),
            (
                format!("hooks.state = {{ \"{KEY}\" = {{ enabled = true }} }}\n"),
                format!(
                    "hooks.state = {{ \"{KEY}\" = {{ enabled = true , trusted_hash = \"h\" }} }}\n"
                ),
            ),
        ] {
            let written = set(&before, Some("h")).unwrap();
            assert_eq!(written, after, "{before}");
            assert_eq!(set(&written, Some("h")).unwrap(), written, "twice is once");
        }
    }

    #[test]
    fn trust_is_taken_back_and_the_switch_stays() {
        let entry = format!("[hooks.state.\"{KEY}\"]\n");
        let before = format!("a = 1\n{entry}trusted_hash = \"h\"\nenabled = false\n[z]\n");
        let after = format!("a = 1\n{entry}enabled = false\n[z]\n");
        assert_eq!(set(&before, None).unwrap(), after);
        assert_eq!(set(&after, None).unwrap(), after);
        assert_eq!(set("a = 1\n", None).unwrap(), "a = 1\n");
        let inline =
            format!("hooks = {{ state = {{ \"{KEY}\" = {{ trusted_hash = \"h\" }} }} }}\n");
        assert!(!set(&inline, None).unwrap().contains("trusted_hash"));
    }

    #[test]
    fn what_is_broken_or_has_no_room_is_left_alone() {
        let broken = set("a = = 1\n", Some("h")).unwrap_err().to_string();
        assert!(broken.starts_with("config.toml:1:5: "), "{broken}");
        for text in ["hooks = 1\n", "[hooks]\nstate = []\n"] {
            let error = set(text, Some("h")).unwrap_err();
            assert!(matches!(error, CodexFileError::NoRoom { .. }), "{text}");
        }
    }

    proptest::proptest! {
        /// Keys and files of any spelling: the entry is there, the rest says what it said.
        #[test]
        fn any_key_can_be_written_into_any_file_that_has_room(
            key in "\\PC{1,20}",
            lines in proptest::collection::vec("(a|b|\"c d\")[0-9]? = ([0-9]|\"x\"|\\[ \\]|\\{ y = 1 \\})( # z)?|\\[t[0-9]\\]|\\[\\[hooks\\.Stop\\]\\]|# .{0,5}|", 0..6),
            ending in "\n|\r\n",
        ) {
            let text = lines.join(&ending);
            proptest::prop_assume!(toml_as_json(&text).is_ok());
            let written = changed(Path::new("f"), &text, &key, Some("h")).unwrap();
            proptest::prop_assert!(written.starts_with(&text), "{text:?} {written:?}");
            let read = toml_as_json(&written).unwrap();
            proptest::prop_assert_eq!(&read["hooks"]["state"][&key]["trusted_hash"], "h");
        }
    }
}
