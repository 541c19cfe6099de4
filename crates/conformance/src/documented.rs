//! Deliberate deviations: the cases that are not counted, by name.
//!
//! They stand in a table of `docs/conformance.md`, one row each, the dialect in the first cell and
//! the id in the second: ``| codex | `exec.bg_holds_pipe` | why |``.

use std::collections::BTreeSet;
use std::path::Path;

use seamline_hooks::DialectId;

/// More than this for one dialect is no longer a list of deviations.
const MOST: usize = 10;

/// The ids of one dialect. A file that is not there documents nothing.
///
/// # Errors
/// When the file cannot be read, or names more than ten cases.
pub fn read(dialect: DialectId, path: &Path) -> Result<BTreeSet<String>, String> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(format!("{}: {error}", path.display())),
    };
    let ids = ids(dialect, &text);
    if ids.len() > MOST {
        let n = ids.len();
        return Err(format!(
            "{}: {n} deviations for {dialect}, {MOST} are allowed",
            path.display()
        ));
    }
    Ok(ids)
}

fn ids(dialect: DialectId, text: &str) -> BTreeSet<String> {
    text.lines().filter_map(|line| id(dialect, line)).collect()
}

fn id(dialect: DialectId, line: &str) -> Option<String> {
    let mut cells = line.trim().strip_prefix('|')?.split('|').map(str::trim);
    let of_dialect = cells.next()? == dialect.as_str();
    let id = cells.next()?.strip_prefix('`')?.strip_suffix('`')?;
    of_dialect.then(|| id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rows_of_the_dialect_count() {
        let text = "# x\n| dialect | case | why |\n|---|---|---|\n| codex | `a.b` | w |\n\
            | claude | `c-d` | w |\n  | codex | `e` | w |\ncodex `f`\n| codex | g | w |\n";
        let codex: Vec<_> = ids(DialectId::Codex, text).into_iter().collect();
        assert_eq!(codex, ["a.b", "e"]);
        assert_eq!(ids(DialectId::Claude, text).len(), 1);
    }

    #[test]
    fn a_long_list_is_refused_and_a_missing_file_is_an_empty_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("conformance.md");
        assert_eq!(read(DialectId::Codex, &file), Ok(BTreeSet::new()));
        let rows: String = (0..11)
            .map(|n| format!("| codex | `c{n}` | w |\n"))
            .collect();
        std::fs::write(&file, rows).unwrap();
        assert!(read(DialectId::Codex, &file).unwrap_err().contains("11"));
        assert!(read(DialectId::Claude, &file).is_ok());
    }
}
