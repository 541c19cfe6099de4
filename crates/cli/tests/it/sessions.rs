//! Sessions that go on, and what can be seen of them.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::run::{hooks, logs};
use crate::seamline::{Said, World};

/// A project with a Claude hook that notes why each session begins.
fn world() -> World {
    let world = World::new();
    let noted = "cat >> starts; echo >> starts";
    let own = hooks(&[("SessionStart", noted)]);
    world.write_home(".claude/settings.json", &own.to_string());
    world.write("script.yaml", "- One.\n- Two.\n- Three.\n- Four.\n");
    world
}

fn run(world: &World, options: &[&str]) -> Said {
    let model = ["run", "--model", "scripted:script.yaml"];
    world.seamline().args(model).args(options).run()
}

fn sessions(world: &World, options: &[&str]) -> Said {
    world.seamline().arg("sessions").args(options).run()
}

fn log(world: &World) -> PathBuf {
    let mut logs = logs(&world.state());
    logs.sort();
    logs.pop().unwrap()
}

fn id(world: &World) -> String {
    let log = log(world);
    let folder = log.parent().unwrap().file_name().unwrap();
    folder.to_str().unwrap().to_owned()
}

fn sources(world: &World) -> Vec<String> {
    let starts = fs::read_to_string(world.project().join("starts")).unwrap();
    let payloads = starts.lines().filter(|line| !line.is_empty());
    payloads
        .map(|payload| {
            let payload: serde_json::Value = serde_json::from_str(payload).unwrap();
            payload["source"].as_str().unwrap().to_owned()
        })
        .collect()
}

/// The conversation goes on, in the same log or in a fork's, and hooks are told which it is.
#[test]
fn a_session_goes_on() {
    let world = world();
    assert_eq!(run(&world, &["first"]).code, 0);
    let id = id(&world);
    let said = run(&world, &["--resume", &id[..13], "second"]);
    assert!(said.code == 0 && said.stdout.contains("Two."), "{said:#?}");
    let said = run(&world, &["--continue", "third"]);
    assert!(said.stdout.contains("Three."), "{said:#?}");
    assert_eq!(logs(&world.state()).len(), 1, "one log");
    let said = run(&world, &["--fork", &format!("{id}@1"), "another second"]);
    assert!(said.stdout.contains("Two."), "{said:#?}");
    let said = run(&world, &["--fork", &id, "fourth"]);
    assert!(said.stdout.contains("Four."), "{said:#?}");
    assert_eq!(logs(&world.state()).len(), 3);
    assert_eq!(
        sources(&world),
        ["startup", "resume", "resume", "fork", "fork"]
    );

    let said = sessions(&world, &["list"]);
    assert_eq!(
        (said.code, said.stdout.lines().count()),
        (0, 3),
        "{said:#?}"
    );
    let oldest = said.stdout.lines().last().unwrap();
    for word in [&id[..], "3 turns", "ended", "first"] {
        assert!(oldest.contains(word), "{word}: {oldest}");
    }
    let listed = sessions(&world, &["list", "--json"]).json();
    assert_eq!(listed["sessions"][0]["forked_from"], json!(id));
    let said = sessions(&world, &["show", &id]);
    for word in [
        "user/message",
        "second",
        "turn 2 · completed",
        "resume · model scripted",
    ] {
        assert!(said.stdout.contains(word), "{word}: {said:#?}");
    }
    let shown = sessions(&world, &["show", "latest", "--json"]).json();
    assert_eq!(shown["forked_from"]["session"], json!(id));
    assert_eq!(shown["events"][0]["type"], "session/start");
}

/// What does not name a session says which there are; nothing is begun.
#[test]
fn what_names_no_session() {
    let world = world();
    let said = run(&world, &["--continue", "go"]);
    assert_eq!(said.code, 64, "{said:#?}");
    assert!(
        said.stderr.contains("no session of this project yet"),
        "{said:#?}"
    );
    run(&world, &["first"]);
    let id = id(&world);
    let meant = format!("did you mean {id}?");
    let slip = format!("{}x", &id[..id.len() - 1]);
    for (options, words) in [
        (vec!["--resume", "nope", "go"], &id[..]),
        (vec!["--resume", &slip, "go"], &meant),
        (vec!["--fork", "lates", "go"], "did you mean latest?"),
        (vec!["--fork", "nope@1", "go"], &id[..]),
        (vec!["--fork", "latest@x", "go"], "no number of a turn"),
        (vec!["--fork", "latest@7", "go"], "its last ended turn is 1"),
        (vec!["--resume", "latest"], "there is no prompt"),
        (vec![], "there is no prompt"),
        (
            vec!["--resume", "latest", "--ephemeral", "go"],
            "cannot be used with",
        ),
        (
            vec!["--resume", "latest", "--continue", "go"],
            "cannot be used with",
        ),
        (
            vec!["--model", "rehearsal", "--continue", "go"],
            "copy of the project",
        ),
    ] {
        let said = match options.contains(&"rehearsal") {
            true => world.seamline().arg("run").args(&options).run(),
            false => run(&world, &options),
        };
        assert_eq!(said.code, 64, "{options:?}: {said:#?}");
        assert!(said.stderr.contains(words), "{options:?}: {said:#?}");
    }
    assert_eq!(logs(&world.state()).len(), 1);
    let other = world.home().join("other");
    fs::create_dir_all(&other).unwrap();
    let said = world
        .seamline()
        .args(["-C", other.to_str().unwrap(), "sessions", "show", &id])
        .run();
    assert_eq!(said.code, 64, "{said:#?}");
    let project = world.project().canonicalize().unwrap();
    assert!(said.stderr.contains(project.to_str().unwrap()), "{said:#?}");
}

/// A damaged log is refused with its line and changed by nothing; it can be looked at.
#[test]
fn a_damaged_log_is_refused_and_shown() {
    let world = world();
    run(&world, &["first"]);
    let (log, id) = (log(&world), id(&world));
    let damaged = fs::read_to_string(&log)
        .unwrap()
        .replace("\"turn/start\"", "\"turn/begin\"");
    fs::write(&log, &damaged).unwrap();
    let line = 1 + damaged
        .lines()
        .position(|line| line.contains("turn/begin"))
        .unwrap();
    let place = format!("log.jsonl:{line}:");
    for option in ["--resume", "--fork"] {
        let said = run(&world, &[option, &id, "go"]);
        assert_eq!(said.code, 65, "{said:#?}");
        assert!(said.stderr.contains(&place), "{said:#?}");
    }
    assert_eq!(fs::read_to_string(&log).unwrap(), damaged);
    let said = sessions(&world, &["show", &id]);
    assert_eq!(said.code, 65, "{said:#?}");
    assert!(
        said.stdout.contains("user/message") && said.stderr.contains(&place),
        "{said:#?}"
    );
    let said = sessions(&world, &["list"]);
    assert!(
        said.stdout.contains(&format!("damaged at line {line}")),
        "{said:#?}"
    );

    let text: String = damaged.replace("turn/begin", "turn/start");
    let lines: Vec<&str> = text.lines().collect();
    let cut = lines
        .iter()
        .position(|line| line.contains("user/message"))
        .unwrap()
        + 1;
    fs::write(&log, format!("{}\n{{\"seq\":", lines[..cut].join("\n"))).unwrap();
    assert!(sessions(&world, &["list"]).stdout.contains("turn open"));
    let said = run(&world, &["--resume", &id, "go"]);
    assert_eq!(said.code, 0, "{said:#?}");
    for words in ["last line of the log was cut off", "turn 1 was not ended"] {
        assert!(said.stdout.contains(words), "{words}: {said:#?}");
    }
}

/// One that is in use is not opened twice.
#[test]
fn a_session_in_use_is_not_opened_twice() {
    let world = world();
    run(&world, &["first"]);
    let held = seamline_harness::session::Session::load(&log(&world)).unwrap();
    let said = run(&world, &["--continue", "go"]);
    assert_eq!(said.code, 74, "{said:#?}");
    assert!(
        said.stderr
            .contains(&format!("in use by process {}", std::process::id())),
        "{said:#?}"
    );
    assert_eq!(sessions(&world, &["show"]).code, 0, "looking needs no lock");
    drop(held);
    assert_eq!(run(&world, &["--continue", "go"]).code, 0);
}

/// What goes on is the session that was used last, not the one that was begun last.
#[test]
fn the_session_that_was_used_last() {
    let world = world();
    run(&world, &["first"]);
    let older = id(&world);
    run(&world, &["other"]);
    assert_ne!(id(&world), older);
    run(&world, &["--resume", &older, "second"]);
    let said = run(&world, &["--continue", "third"]);
    assert!(said.stdout.contains("Three."), "{said:#?}");
    let said = sessions(&world, &[]);
    assert!(
        said.code == 0 && said.stdout.starts_with(&older),
        "{said:#?}"
    );
    let json = sessions(&world, &["--json"]).json();
    assert_eq!(json["sessions"][0]["session"], json!(older));
}

/// A call that a hook put off is taken up without a prompt.
#[test]
fn a_call_that_was_put_off_is_taken_up() {
    let world = World::new();
    let hook = r#"test -e later || { touch later; echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "defer"}}'; }"#;
    let own = hooks(&[("PreToolUse", hook)]);
    world.write_home(".claude/settings.json", &own.to_string());
    world.write(
        "script.yaml",
        "- {tool: Bash, input: {command: touch done-it}}\n- Done.\n",
    );
    let mode = ["--permission-mode", "bypassPermissions"];
    let said = run(&world, &[&mode[..], &["go"]].concat());
    assert_eq!(said.code, 2, "{said:#?}");
    assert!(!world.project().join("done-it").exists());
    let said = run(&world, &[&mode[..], &["--continue"]].concat());
    assert_eq!(said.code, 0, "{said:#?}");
    assert!(world.project().join("done-it").exists(), "{said:#?}");
}
