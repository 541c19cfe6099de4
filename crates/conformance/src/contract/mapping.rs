//! What the files of the parts say of each row.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

/// What is said of one row.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Tests that fail when the row breaks: `path/from/the/root.rs::name`.
    #[serde(default)]
    pub tests: Vec<String>,
    /// Why the row does not hold here, or not as it stands: one sentence.
    pub why: Option<String>,
}

/// Lines by row id.
pub type Mapping = BTreeMap<String, Line>;

/// Reads every `<PART>.toml` of a folder. Mistakes are returned beside what could be read.
///
/// # Errors
/// When the folder cannot be listed.
pub(super) fn read(folder: &Path) -> std::io::Result<(Mapping, Vec<String>)> {
    let (mut mapping, mut wrong) = (Mapping::new(), Vec::new());
    let mut files: Vec<_> = std::fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    files.retain(|file| file.extension().is_some_and(|end| end == "toml"));
    files.sort();
    for file in files {
        let part = file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let text = std::fs::read_to_string(&file)?;
        match toml_edit::de::from_str::<Mapping>(&text) {
            Ok(lines) => {
                for (id, line) in lines {
                    if !id.starts_with(&part) {
                        wrong.push(format!("{id}: does not belong into {part}.toml"));
                    }
                    mapping.insert(id, line);
                }
            }
            Err(error) => wrong.push(format!("{part}.toml: {error}")),
        }
    }
    Ok((mapping, wrong))
}
