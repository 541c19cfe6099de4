//! Agreeing to project hooks before the first turn.

use std::io::BufRead as _;

use crate::output;

/// Shows the hooks and asks whether to trust them for good.
pub(super) fn agreed(lines: &[String]) -> bool {
    let list: String = lines.iter().map(|line| format!("  {line}\n")).collect();
    output::diagnostic(&format!(
        "This project brings hooks that you have not agreed to. They run on your machine:\n\
         {list}Trust them as they are now? [y/N] "
    ));
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    read.is_ok() && matches!(line.trim(), "y" | "Y" | "yes")
}
