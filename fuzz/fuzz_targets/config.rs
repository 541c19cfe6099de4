//! Whatever stands in a hook file, reading it ends, and a file that cannot be read never passes for
//! one that has no hooks.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seamline_hooks::DialectId;
use seamline_hooks::config::{Roots, load};

fuzz_target!(|data: (bool, &str)| {
    let (codex, text) = data;
    let (dialect, file) = if codex {
        (DialectId::Codex, ".codex/hooks.json")
    } else {
        (DialectId::Claude, ".claude/settings.json")
    };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(file);
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    std::fs::write(&path, text).expect("a file");
    let loaded = load(
        dialect,
        &Roots::new(folder.path().join("home"), folder.path()),
    );
    let json = serde_json::from_str::<serde_json::Value>(text.trim_start_matches('\u{feff}'));
    if json.is_err() && !text.trim().is_empty() {
        let said = !loaded.diagnostics.is_empty();
        assert!(
            said || !loaded.handlers.is_empty(),
            "passed over in silence"
        );
    }
});
