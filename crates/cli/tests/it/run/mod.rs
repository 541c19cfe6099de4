//! `seamline run` as its user runs it: the real binary, real hooks, a scripted model.

mod demo;
mod edited;
mod ends;
mod guards;
mod json;
mod own;
mod profile;
mod programs;
mod served;
mod servers;
mod terminal;

use std::fs;
use std::path::{Path, PathBuf};

use seamline_harness::session::{Session, View};
use serde_json::{Value, json};

use crate::seamline::{Said, World};

/// The model runs one command, which leaves the file `did`, and says that it is done.
const ONE_COMMAND: &str = "- {tool: Bash, input: {command: touch did}}\n- All done.\n";

/// Groups of one hook each, without matchers.
pub(crate) fn hooks(events: &[(&str, &str)]) -> Value {
    let groups = events.iter().map(|(event, command)| {
        let group = json!([{ "hooks": [{ "type": "command", "command": command }] }]);
        ((*event).to_owned(), group)
    });
    json!({ "hooks": groups.collect::<serde_json::Map<_, _>>() })
}

/// A project with Claude Code hooks.
fn project(events: &[(&str, &str)]) -> World {
    let world = World::new();
    world.write(".claude/settings.json", &hooks(events).to_string());
    world
}

/// Runs a script for the model with these options.
pub(crate) fn play(world: &World, script: &str, options: &[&str]) -> Said {
    let file = world.write_home("script.yaml", script);
    world
        .seamline()
        .args(["run", "--model", &format!("scripted:{}", file.display())])
        .args(options)
        .arg("Go on.")
        .run()
}

/// Whether the model's command was run.
fn did(world: &World) -> bool {
    world.project().join("did").exists()
}

/// The only session's log.
fn log(world: &World) -> PathBuf {
    let logs = logs(&world.state());
    let [log] = logs.as_slice() else {
        panic!("one log: {logs:?}");
    };
    log.clone()
}

pub(crate) fn logs(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => logs(&path),
            false if path.ends_with("log.jsonl") => vec![path],
            false => vec![],
        })
        .collect()
}

/// The log's events as JSON, read the way a resumed session reads them.
fn story(world: &World) -> (View, Vec<Value>) {
    let log = log(world);
    let view = Session::read(&log).unwrap();
    let text = fs::read_to_string(&log).unwrap();
    let events: Vec<Value> = text
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!((view.entries.len(), view.torn_bytes), (events.len(), 0));
    (view, events)
}
