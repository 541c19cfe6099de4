//! `cargo demo`: the acceptance of the whole, from the alias to the log.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use toml_edit::DocumentMut;

use super::story;
use crate::seamline::{Said, World};

const GUARD: &str = "guard: this project is not wiped from a script. Name the single files, or \
                     move them to attic/.";
const TIDIED: &str = "format.py tidied src/count.py after your edit";
const CHANGES: &str = "CHANGES.md has no entry yet.";

/// What the alias says after `--`.
fn alias() -> Vec<String> {
    let text = fs::read_to_string(crate::root().join(".cargo/config.toml")).unwrap();
    let config: DocumentMut = text.parse().unwrap();
    let words = config["alias"]["demo"].as_array().unwrap();
    let words: Vec<String> = words
        .iter()
        .map(|word| word.as_str().unwrap().to_owned())
        .collect();
    assert_eq!(words[..4], ["run", "--quiet", "--package", "seamline"]);
    words.into_iter().skip(5).collect()
}

fn demo(world: &World, more: &[&str]) -> Said {
    let mut command = world.seamline();
    command.0.current_dir(crate::root());
    command.args(alias()).args(more).run()
}

fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => files(&path),
            false => BTreeMap::from([(path.clone(), fs::read(path).unwrap())]),
        })
        .collect()
}

#[test]
fn the_demo_shows_hooks_at_work_and_changes_nothing() {
    let world = World::new();
    let example = crate::root().join("examples/guarded-project");
    let before = files(&example);
    let said = demo(&world, &[]);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{said:#?}");
    for words in [
        "hooks claude 4, codex 2",
        "context: House rules: four spaces",
        &format!("denied: {GUARD}"),
        &format!("context: {TIDIED}"),
        &format!("goes on: {CHANGES}"),
        "turn completed (6 requests)",
    ] {
        assert!(said.stdout.contains(words), "{words}\n{}", said.stdout);
    }
    assert_eq!(files(&example), before, "the example is left alone");
}

fn place(events: &[Value], fits: impl Fn(&Value) -> bool) -> usize {
    let all: Vec<usize> = (0..events.len()).filter(|at| fits(&events[*at])).collect();
    assert_eq!(all.len(), 1, "exactly one: {all:?}");
    all[0]
}

fn says(event: &Value, kind: &str, words: &str) -> bool {
    event["type"] == kind && event["data"].to_string().contains(words)
}

#[test]
fn the_log_tells_the_whole_story() {
    let world = World::new();
    assert_eq!(demo(&world, &[]).code, 0);
    let (view, events) = story(&world);

    let answers: Vec<usize> = (0..events.len())
        .filter(|at| events[*at]["type"] == "assistant/message")
        .collect();
    assert_eq!(answers.len(), 6);
    for context in ["House rules: four spaces", "Work in src/; note each change"] {
        let at = place(&events, |event| says(event, "context/message", context));
        assert!(at < answers[0], "in the first request: {context}");
    }

    let denied = place(&events, |event| event["data"]["denied"].is_object());
    assert_eq!(events[denied]["type"], "tool/call");
    assert_eq!(events[denied]["data"]["denied"]["reason"], GUARD);
    let told = place(&events, |event| says(event, "tool/result", GUARD));
    assert!(denied < told);

    let tidied = place(&events, |event| says(event, "context/message", TIDIED));
    let read = place(&events, |event| {
        says(event, "tool/result", "with blanks at its end")
    });
    assert!(tidied < read, "the model knows before it reads");
    let shown = events[read]["data"]["content"][0]["text"].as_str().unwrap();
    let line = shown
        .lines()
        .find(|line| line.contains("with blanks"))
        .unwrap();
    assert!(line.ends_with("at its end"), "formatted: {line:?}");

    let steering = place(&events, |event| event["type"] == "steering/message");
    assert!(says(&events[steering], "steering/message", CHANGES));
    assert!(answers[4] < steering && steering < answers[5], "one more");

    for half in ["hook/invoked", "hook/result"] {
        let runs = events.iter().filter(|event| event["type"] == half).count();
        assert_eq!(runs, 9, "{half}: every run leaves a pair");
    }
    let last = events.last().unwrap();
    assert_eq!(last["type"], "session/end");
    assert!(!view.history.is_empty());
}

/// Options after the alias are options of the run.
#[test]
fn more_options_may_follow() {
    let world = World::new();
    let said = demo(&world, &["--ephemeral", "--json"]);
    assert_eq!(said.code, 0, "{said:#?}");
    assert!(super::logs(&world.state()).is_empty(), "no log");
    let last: Value = serde_json::from_str(said.stdout.lines().last().unwrap()).unwrap();
    assert_eq!((&last["type"], &last["log"]), (&"end".into(), &Value::Null));
}
