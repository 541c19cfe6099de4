//! `hooks list`: every handler with what is known about it.

use serde_json::{Value, json};

use crate::seamline::World;

fn list(world: &World, args: &[&str]) -> crate::seamline::Said {
    world.seamline().args(["hooks", "list"]).args(args).run()
}

fn guarded() -> World {
    let world = World::new();
    world.write(
        ".claude/settings.json",
        r#"{
  "hooks": {
    "PreToolUse": [
      { "matcher": "Bash|Edit", "hooks": [
        { "type": "command", "command": "check.sh", "timeout": 5, "if": "Bash(git *)" }
      ] },
      { "matcher": "^mcp__", "hooks": [{ "type": "command", "command": "audit.sh", "async": true }] }
    ],
    "Stop": [{ "hooks": [{ "type": "command", "command": "true" }] }]
  }
}
"#,
    );
    world.write_home(
        ".codex/hooks.json",
        r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}"#,
    );
    world
}

#[test]
fn every_handler_is_listed_with_what_is_known_about_it() {
    let world = guarded();
    let said = list(&world, &[]);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
    insta::assert_snapshot!(world.plain(&said.stdout));
}

#[test]
fn the_json_object_says_the_same() {
    let world = guarded();
    let said = list(&world, &["--json"]);
    let object = said.json();
    assert_eq!((said.code, &object["version"]), (0, &json!(1)));
    let handler = |index: usize| &object["handlers"][index];
    let facts = [
        "dialect",
        "layer",
        "line",
        "event",
        "matcher",
        "reading",
        "timeout_s",
        "trust",
    ];
    let of = |index: usize| facts.map(|key| handler(index)[key].clone());
    let row = |values: [Value; 8]| values;
    assert_eq!(
        of(0),
        row([
            json!("claude"),
            json!("project"),
            json!(5),
            json!("PreToolUse"),
            json!("Bash|Edit"),
            json!("list"),
            json!(5.0),
            json!("untrusted")
        ])
    );
    assert_eq!(handler(0)["names"], json!(["Bash", "Edit"]));
    assert_eq!(handler(0)["condition"], "Bash(git *)");
    assert_eq!(handler(1)["reading"], "regex");
    assert_eq!(handler(1)["background"], "async");
    assert_eq!(handler(2)["reading"], "ignored");
    assert_eq!(handler(2)["timeout_is_default"], true);
    assert_eq!(handler(3)["dialect"], "codex");
    assert_eq!(handler(3)["trust"], "own");
    let states: Vec<&str> = object["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["state"].as_str().unwrap())
        .collect();
    assert_eq!(
        states.iter().filter(|state| **state == "loaded").count(),
        2,
        "{states:?}"
    );
    assert!(states.contains(&"absent"), "{states:?}");
}

#[test]
fn without_any_file_it_says_where_it_looked() {
    let world = World::new();
    let said = list(&world, &[]);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
    for file in [
        "~/.claude/settings.json",
        ".claude/settings.local.json",
        ".codex/hooks.json",
    ] {
        assert!(
            said.stdout.contains(file),
            "{file} is not in\n{}",
            said.stdout
        );
    }
    assert!(
        said.stdout.starts_with("no hooks are configured"),
        "{}",
        said.stdout
    );
}

#[test]
fn a_file_that_is_not_json_gets_a_caret() {
    let world = World::new();
    world.write(".claude/settings.json", "{\n  \"hooks\": {,}\n}\n");
    let said = list(&world, &[]);
    assert_eq!(said.code, 65, "{said:#?}");
    assert!(
        said.stdout.contains(".claude/settings.json"),
        "{}",
        said.stdout
    );
    assert!(said.stdout.contains("broken"), "{}", said.stdout);
    assert!(
        said.stderr.contains(".claude/settings.json:2:13"),
        "{}",
        said.stderr
    );
    assert!(said.stderr.contains("\"hooks\": {,}"), "{}", said.stderr);
    let object = list(&world, &["--json"]).json();
    let finding = &object["findings"][0];
    assert_eq!(
        (&finding["severity"], &finding["line"]),
        (&json!("broken"), &json!(2))
    );
}

#[test]
fn an_unknown_event_names_the_nearest_and_its_place() {
    let world = World::new();
    let hooks = json!({ "hooks": { "preToolUse": [{ "hooks": [{ "type": "command", "command": "x" }] }] } });
    world.write(".codex/hooks.json", &hooks.to_string());
    let object = list(&world, &["--json"]).json();
    let findings = object["findings"].to_string();
    assert!(
        findings.contains("preToolUse") && findings.contains("PreToolUse"),
        "{findings}"
    );
}

#[test]
fn a_tool_name_that_is_nearly_right_is_remarked_on() {
    let world = World::new();
    let hooks = json!({ "hooks": { "PreToolUse": [
        { "matcher": "bash", "hooks": [{ "type": "command", "command": "x" }] }
    ] } });
    world.write(".claude/settings.json", &hooks.to_string());
    let said = list(&world, &[]);
    assert_eq!(
        said.code, 0,
        "a warning does not change the code: {said:#?}"
    );
    assert!(
        said.stdout.contains("`Bash`") || said.stdout.contains("\"Bash\""),
        "{}",
        said.stdout
    );
}

#[test]
fn one_dialect_can_be_asked_for() {
    let world = guarded();
    for (dialect, handlers) in [("claude", 3), ("codex", 1)] {
        let object = list(&world, &["--json", "--dialect", dialect]).json();
        assert_eq!(
            object["handlers"].as_array().unwrap().len(),
            handlers,
            "{dialect}"
        );
    }
}

#[test]
fn another_project_can_be_named() {
    let world = guarded();
    let command = world
        .seamline()
        .args(["-C", "../project", "hooks", "list", "--json"]);
    assert_eq!(
        command.run().json()["handlers"].as_array().unwrap().len(),
        4
    );
    let command = world
        .seamline()
        .args(["-C", "../home", "hooks", "list", "--json"]);
    assert_eq!(
        command.run().json()["handlers"].as_array().unwrap().len(),
        1
    );
}

#[test]
fn codex_home_is_respected() {
    let world = guarded();
    let command = world
        .seamline()
        .env("CODEX_HOME", world.state())
        .args(["hooks", "list", "--json"]);
    assert_eq!(
        command.run().json()["handlers"].as_array().unwrap().len(),
        3
    );
}
