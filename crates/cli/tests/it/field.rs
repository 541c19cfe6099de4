//! Configurations of the shapes people write: each is listed, and each of its events is fired.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;

use crate::seamline::{Said, World};

/// File, protocol, handlers in force, broken parts.
const CONFIGS: &[(&str, &str, usize, usize)] = &[
    ("01-memory-plugin.json", "claude", 7, 0),
    ("02-orchestrator-star.json", "claude", 22, 0),
    ("03-project-gates-dead-matchers.json", "claude", 8, 1),
    ("04-all-events-empty-matcher.json", "claude", 8, 0),
    ("05-inline-shell-jq.json", "claude", 4, 0),
    ("06-security-review-async.json", "claude", 4, 0),
    ("07-stop-gates.json", "claude", 3, 0),
    ("08-manifest-inline-unquoted.json", "claude", 2, 0),
    ("09-mixed-handlers.json", "claude", 8, 0),
    ("10-codex-all-events-forwarder.json", "codex", 10, 0),
    ("11-codex-shared-scripts.json", "codex", 5, 0),
    ("11b-codex-float-timeout.json", "codex", 0, 1),
    ("12-codex-inline.toml", "codex", 4, 0),
];

fn folder() -> PathBuf {
    crate::root().join("crates/hooks/tests/fixtures/configs")
}

fn hooks(world: &World, command: &str, file: &str, args: &[&str]) -> Said {
    let path = folder().join(file);
    world
        .seamline()
        .args(["hooks", command, "--json", "--hooks-config"])
        .arg(path)
        .args(args)
        .run()
}

fn list<'a>(object: &'a Value, key: &str) -> &'a [Value] {
    object[key].as_array().unwrap()
}

#[test]
fn no_file_is_forgotten() {
    let files: BTreeSet<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let known: BTreeSet<String> = CONFIGS
        .iter()
        .map(|(file, ..)| (*file).to_owned())
        .collect();
    assert_eq!(files, known);
}

#[test]
fn each_is_listed() {
    let world = World::new();
    for (file, dialect, handlers, broken) in CONFIGS {
        let said = hooks(&world, "list", file, &[]);
        assert_eq!(
            said.code,
            if *broken > 0 { 65 } else { 0 },
            "{file}: {said:#?}"
        );
        let object = said.json();
        assert_eq!(list(&object, "handlers").len(), *handlers, "{file}");
        for handler in list(&object, "handlers") {
            assert_eq!(handler["dialect"], *dialect, "{file}");
            assert_eq!(
                handler["trust"], "own",
                "{file}: a file that was named needs no trust"
            );
        }
        let found = list(&object, "findings")
            .iter()
            .filter(|f| f["severity"] == "broken")
            .count();
        assert_eq!(found, *broken, "{file}");
        let text = world
            .seamline()
            .args(["hooks", "list", "--hooks-config"])
            .arg(folder().join(file));
        let text = text.run().stdout;
        assert!(
            text.contains(&format!("{handlers} handler")),
            "{file}: {text}"
        );
    }
}

/// Whatever the event, every handler either ran or says why not.
#[test]
fn each_event_of_each_accounts_for_every_handler() {
    let world = World::new();
    for (file, dialect, handlers, _) in CONFIGS {
        let object = hooks(&world, "list", file, &[]).json();
        let events: BTreeSet<&str> = list(&object, "handlers")
            .iter()
            .map(|h| h["event"].as_str().unwrap())
            .collect();
        for event in events {
            let said = hooks(&world, "fire", file, &[event, "--ignore-broken-hooks"]);
            assert!((0..=3).contains(&said.code), "{file} {event}: {said:#?}");
            let fired = said.json();
            assert_eq!(
                (&fired["dialect"], &fired["event"]),
                (&(*dialect).into(), &event.into())
            );
            let accounted: usize = ["runs", "background", "skipped"]
                .iter()
                .map(|key| list(&fired, key).len())
                .sum();
            assert_eq!(accounted, *handlers, "{file} {event}");
        }
    }
}

/// File, event with its options, runs, the reasons of those of the event that did not run.
type Firing = (
    &'static str,
    &'static [&'static str],
    usize,
    &'static [&'static str],
);

const FIRINGS: &[Firing] = &[
    ("01-memory-plugin.json", &["SessionStart"], 2, &[]),
    (
        "01-memory-plugin.json",
        &["SessionStart", "--set", "source=resume"],
        0,
        &["matcher", "matcher"],
    ),
    // `init` and `maintenance` belong to Setup; under SessionStart they are dead.
    (
        "02-orchestrator-star.json",
        &["SessionStart"],
        1,
        &["matcher", "matcher"],
    ),
    // A permission rule as a matcher fits nothing, and one of them is no pattern at all.
    (
        "03-project-gates-dead-matchers.json",
        &["PreToolUse", "--tool", "Bash", "--ignore-broken-hooks"],
        0,
        &[
            "matcher",
            "invalid-matcher",
            "matcher",
            "matcher",
            "matcher",
        ],
    ),
    // The same command under `Agent` and its alias `Task` runs once.
    (
        "03-project-gates-dead-matchers.json",
        &["PreToolUse", "--tool", "Agent", "--ignore-broken-hooks"],
        1,
        &["matcher", "invalid-matcher", "matcher", "duplicate"],
    ),
    (
        "04-all-events-empty-matcher.json",
        &["UserPromptSubmit"],
        1,
        &[],
    ),
    (
        "05-inline-shell-jq.json",
        &["PreToolUse", "--tool", "MultiEdit"],
        1,
        &["matcher"],
    ),
    (
        "06-security-review-async.json",
        &["PostToolUse", "--tool", "NotebookEdit"],
        1,
        &["matcher", "matcher"],
    ),
    // `if` tells the two hooks of one matcher apart.
    (
        "06-security-review-async.json",
        &[
            "PostToolUse",
            "--tool",
            "Bash",
            "--input",
            r#"{"command":"git push"}"#,
        ],
        1,
        &["matcher", "condition"],
    ),
    ("07-stop-gates.json", &["Stop"], 2, &[]),
    (
        "08-manifest-inline-unquoted.json",
        &["UserPromptSubmit"],
        1,
        &[],
    ),
    (
        "09-mixed-handlers.json",
        &["PreToolUse", "--tool", "Write"],
        0,
        &["type", "type"],
    ),
    (
        "10-codex-all-events-forwarder.json",
        &["PreCompact"],
        1,
        &[],
    ),
    // Codex matches `Write` for apply_patch.
    (
        "11-codex-shared-scripts.json",
        &["PreToolUse", "--tool", "apply_patch"],
        2,
        &["matcher", "matcher"],
    ),
    (
        "12-codex-inline.toml",
        &["PostToolUse", "--tool", "apply_patch"],
        2,
        &[],
    ),
];

#[test]
fn what_fits_runs_and_what_does_not_says_why() {
    let world = World::new();
    for (file, args, runs, reasons) in FIRINGS {
        let said = hooks(&world, "fire", file, args);
        let fired = said.json();
        assert_eq!(
            list(&fired, "runs").len(),
            *runs,
            "{file} {args:?}: {said:#?}"
        );
        let found: Vec<&str> = list(&fired, "skipped")
            .iter()
            .map(|skip| skip["reason"].as_str().unwrap())
            .filter(|reason| *reason != "event")
            .collect();
        assert_eq!(found, *reasons, "{file} {args:?}");
    }
}

#[test]
fn a_dropped_file_stops_a_firing() {
    let said = hooks(
        &World::new(),
        "fire",
        "11b-codex-float-timeout.json",
        &["PreToolUse"],
    );
    assert_eq!((said.code, said.stdout.as_str()), (65, ""), "{said:#?}");
    assert!(
        said.stderr.contains("11b-codex-float-timeout.json:62:24"),
        "{}",
        said.stderr
    );
}
