//! What a hook may print: no output of any event panics a codec, and a PreToolUse hook that exits with
//! 2, says why and prints nothing always refuses.
#![no_main]

use std::path::Path;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use seamline_hooks::config::{Loaded, Roots, load};
use seamline_hooks::runner::{Exit, Finished};
use seamline_hooks::spill::SpillFolder;
use seamline_hooks::{Decision, DialectId, codec};

/// A handler at every event of a dialect, read from a real file.
fn handlers(dialect: DialectId) -> &'static Loaded {
    static CLAUDE: OnceLock<Loaded> = OnceLock::new();
    static CODEX: OnceLock<Loaded> = OnceLock::new();
    let (cell, file) = match dialect {
        DialectId::Claude => (&CLAUDE, ".claude/settings.json"),
        DialectId::Codex => (&CODEX, ".codex/hooks.json"),
    };
    cell.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let group = serde_json::json!([{"hooks": [{"type": "command", "command": "true"}]}]);
        let events = dialect.table().events.iter();
        let hooks: serde_json::Map<_, _> = events
            .map(|row| (row.name.to_owned(), group.clone()))
            .collect();
        let path = folder.path().join(file);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        let text = serde_json::json!({ "hooks": hooks }).to_string();
        std::fs::write(&path, text).expect("a file");
        load(
            dialect,
            &Roots::new(folder.path().join("home"), folder.path()),
        )
    })
}

fuzz_target!(|data: (bool, u8, u8, &[u8], &[u8])| {
    let (codex, event, code, stdout, stderr) = data;
    let dialect = if codex {
        DialectId::Codex
    } else {
        DialectId::Claude
    };
    let handlers = &handlers(dialect).handlers;
    let handler = &handlers[usize::from(event) % handlers.len()];
    let row = dialect.table().event(handler.event).expect("its row");
    let code = i32::from(code % 4);
    let mut finished = Finished::new(Exit::Code(code));
    finished.stdout = stdout.to_vec();
    finished.stderr = stderr.to_vec();
    let spill = SpillFolder::new(dialect.table().spill, Path::new("/nonexistent"));
    let reading = codec::read(row, handler, &finished, &spill);
    let words = !String::from_utf8_lossy(stderr).trim().is_empty();
    if code == 2 && words && row.name == "PreToolUse" && stdout.is_empty() {
        let decision = reading.effect.decision;
        assert!(matches!(decision, Decision::Deny | Decision::Block));
    }
});
