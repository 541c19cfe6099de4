//! Keeps texts that are too long for the model in a file and leaves a preview.
//!
//! Measured: Claude Code moves a context, plain output or message of more than 10,000 UTF-16 code
//! units to a file and keeps 2,000; it cuts the middle out of reasons of more than about 51,000.
//! Codex moves a text of more than 2,500 tokens (a token is four bytes, rounded up) and keeps its
//! head and tail. The notices around the previews are our own words.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::dialect::Spill;

/// Claude keeps a reason of up to this many characters whole (measured between 51,001 and 51,050).
const REASON_LIMIT: usize = 51_025;
/// And this many characters of each end of a longer one.
const REASON_END: usize = 25_000;

/// Where long texts go.
#[derive(Debug, Clone)]
pub struct SpillFolder {
    rule: Spill,
    folder: PathBuf,
}

impl SpillFolder {
    /// Long texts by this rule go to this folder, which is made when it is first needed.
    #[must_use]
    pub fn new(rule: Spill, folder: impl Into<PathBuf>) -> Self {
        Self {
            rule,
            folder: folder.into(),
        }
    }

    /// The text itself, or a notice with a preview when it is too long. `limit` is a handler's own
    /// limit in tokens; 0 lifts it.
    #[must_use]
    pub fn text(&self, text: String, limit: Option<u64>) -> String {
        match self.rule {
            Spill::Utf16 { limit, preview } => {
                let units = text.encode_utf16().count();
                if units <= limit {
                    return text;
                }
                let saved = self.save(&text);
                let head = head_utf16(&text, preview);
                format!("Hook output of {units} characters, {saved}\nIt begins:\n{head}\n...")
            }
            Spill::Tokens { limit: default } => {
                let limit = limit.map_or(default, |n| usize::try_from(n).unwrap_or(usize::MAX));
                let tokens = text.len().div_ceil(4);
                if limit == 0 || tokens <= limit {
                    return text;
                }
                let saved = self.save(&text);
                let half = limit.saturating_mul(2);
                let (head, tail) = (head_bytes(&text, half), tail_bytes(&text, half));
                let cut = tokens.saturating_sub((head.len() + tail.len()).div_ceil(4));
                let lines = text.lines().count();
                format!(
                    "Hook output of {tokens} tokens in {lines} lines, {saved}\n\n\
                     {head}…{cut} tokens left out…{tail}"
                )
            }
        }
    }

    /// A reason: Codex treats it as any text, Claude cuts the middle out of very long ones.
    #[must_use]
    pub fn reason(&self, text: String) -> String {
        if matches!(self.rule, Spill::Tokens { .. }) {
            return self.text(text, None);
        }
        let units = text.encode_utf16().count();
        if units <= REASON_LIMIT {
            return text;
        }
        let saved = self.save(&text);
        let tail: String = tail_chars(&text, REASON_END);
        format!(
            "{}\n... [{} characters left out, {saved}] ...\n{tail}",
            head_utf16(&text, REASON_END),
            units.saturating_sub(2 * REASON_END),
        )
    }

    /// Saves the text under a name made of its content. A folder that cannot be written to costs
    /// the file, never the preview.
    fn save(&self, text: &str) -> String {
        let digest = Sha256::digest(text.as_bytes());
        let name: String = digest
            .iter()
            .take(8)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let path = self.folder.join(format!("hook-{name}.txt"));
        match write_private(&path, text) {
            Ok(()) => format!("kept in {}", path.display()),
            Err(error) => format!("which could not be kept in {}: {error}", path.display()),
        }
    }
}

fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}

fn head_utf16(text: &str, units: usize) -> &str {
    let mut taken = 0;
    let end = text
        .char_indices()
        .find(|(_, c)| {
            taken += c.len_utf16();
            taken > units
        })
        .map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or(text)
}

fn tail_chars(text: &str, count: usize) -> String {
    let skip = text.chars().count().saturating_sub(count);
    text.chars().skip(skip).collect()
}

fn head_bytes(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text)
}

fn tail_bytes(text: &str, bytes: usize) -> &str {
    let start = text.ceil_char_boundary(text.len().saturating_sub(bytes));
    text.get(start..).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLAUDE: Spill = Spill::Utf16 {
        limit: 10_000,
        preview: 2_000,
    };
    const CODEX: Spill = Spill::Tokens { limit: 2_500 };

    #[test]
    fn the_limits_are_the_measured_ones() {
        let folder = tempfile::tempdir().unwrap();
        let claude = SpillFolder::new(CLAUDE, folder.path());
        let codex = SpillFolder::new(CODEX, folder.path());
        let kept = |spill: &SpillFolder, text: String| spill.text(text.clone(), None) == text;
        assert!(kept(&claude, "x".repeat(10_000)));
        assert!(!kept(&claude, "x".repeat(10_001)));
        assert!(kept(&claude, "😀".repeat(5_000)), "counted in UTF-16 units");
        assert!(!kept(&claude, "😀".repeat(5_001)));
        assert!(kept(&codex, "x".repeat(10_000)));
        assert!(!kept(&codex, "x".repeat(10_001)));
        assert!(!kept(&codex, "é".repeat(5_001)), "counted in bytes");
        assert_eq!(
            codex.text("x".repeat(20_000), Some(0)).len(),
            20_000,
            "0 lifts the limit"
        );
        assert!(codex.text("x".repeat(41), Some(10)).contains("11 tokens"));
        assert_eq!(claude.reason("r".repeat(51_001)).len(), 51_001);
        assert!(claude.reason("r".repeat(51_050)).len() < 51_000);
    }

    #[test]
    fn the_whole_text_is_in_the_file_that_the_notice_names() {
        let folder = tempfile::tempdir().unwrap();
        let spill = SpillFolder::new(CODEX, folder.path().join("new"));
        let text = format!("START{}END", "é".repeat(8_000));
        let notice = spill.text(text.clone(), None);
        assert!(notice.contains("START") && notice.ends_with("END"));
        let file = fs::read_dir(folder.path().join("new"))
            .unwrap()
            .next()
            .unwrap()
            .unwrap();
        assert!(notice.contains(&file.path().display().to_string()));
        assert_eq!(fs::read_to_string(file.path()).unwrap(), text);
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named_and_the_preview_stays() {
        let folder = tempfile::NamedTempFile::new().unwrap();
        let spill = SpillFolder::new(CLAUDE, folder.path().join("below-a-file"));
        let notice = spill.text("y".repeat(10_001), None);
        assert!(notice.contains("could not be kept") && notice.contains("yyyy"));
    }
}
