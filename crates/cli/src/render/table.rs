//! Columns that line up.

use owo_colors::{OwoColorize, Style};

/// One cell: text, and how it is coloured.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// A cell with a style.
    pub(crate) fn new(text: impl Into<String>, style: Style) -> Self {
        Self {
            text: text.into(),
            style,
        }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::new(text, Style::new())
    }
}

/// Lays rows out in columns two blanks apart; the last column is not padded. One line per row,
/// without line ends.
pub(crate) fn columns(rows: &[Vec<Cell>]) -> Vec<String> {
    let width = |column: usize| {
        rows.iter()
            .filter(|row| row.len() > column + 1)
            .filter_map(|row| row.get(column))
            .map(|cell| cell.text.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..rows.iter().map(Vec::len).max().unwrap_or(0))
        .map(width)
        .collect();
    rows.iter().map(|row| line(row, &widths)).collect()
}

fn line(row: &[Cell], widths: &[usize]) -> String {
    let mut line = String::new();
    let mut pending = 0;
    for (index, (cell, width)) in row.iter().zip(widths).enumerate() {
        if index > 0 {
            pending += 2;
        }
        if !cell.text.is_empty() {
            line.extend(std::iter::repeat_n(' ', pending));
            pending = 0;
            line.push_str(&cell.text.style(cell.style).to_string());
        }
        pending += width.saturating_sub(cell.text.chars().count());
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_lines_have_no_trailing_blanks() {
        let rows = [
            vec!["a".into(), "bbb".into(), "the last".into()],
            vec!["aaaa".into(), "".into(), "x".into()],
            vec!["a".into(), "b".into(), "".into()],
        ];
        assert_eq!(
            columns(&rows),
            ["a     bbb  the last", "aaaa       x", "a     b"]
        );
    }

    #[test]
    fn colours_do_not_shift_columns() {
        let red = Cell::new("a", Style::new().red());
        let rows = [vec![red, "x".into()], vec!["aa".into(), "x".into()]];
        let plain: Vec<String> = columns(&rows)
            .iter()
            .map(|l| anstream::adapter::strip_str(l).to_string())
            .collect();
        assert_eq!(plain, ["a   x", "aa  x"]);
    }
}
