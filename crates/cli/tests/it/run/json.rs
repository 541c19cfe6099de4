//! `run --json`, held against its page.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Value;

use super::{play, project};

/// Documented types that no run of these tests prints, since nothing shipped makes them happen.
const NOT_SEEN: [&str; 1] = ["request_retried"];

/// The rows of the page: a type and its keys.
fn documented() -> BTreeMap<String, BTreeSet<String>> {
    let page = fs::read_to_string(crate::root().join("docs/run-json.md")).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').collect();
        let words = |cell: &str| {
            let words = cell.split('`').skip(1).step_by(2);
            words.map(str::to_owned).collect::<Vec<_>>()
        };
        let name = words(cells[1]).remove(0);
        (name, words(cells[2]).into_iter().collect())
    })
    .collect()
}

/// Runs that print every type between them.
fn printed() -> Vec<Value> {
    let say = |json: &str| format!("echo '{json}'");
    let prompt = say(
        r#"{"systemMessage":"hello","hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"a context"}}"#,
    );
    let title =
        say(r#"{"hookSpecificOutput":{"hookEventName":"SessionStart","sessionTitle":"A title"}}"#);
    let goes_on = "if grep -q 'active\":false'; then echo 'one more' >&2; exit 2; fi";
    let defer = say(
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"defer"}}"#,
    );
    let script = "- [On it., {tool: Bash, input: {command: echo hi}}]\n\
                  - {tool: Write, input: {file_path: a.txt, content: x}}\n- Done.\n";
    let all = project(&[
        ("SessionStart", &title),
        ("UserPromptSubmit", &prompt),
        ("Stop", goes_on),
        (
            "PreToolUse",
            "if grep -q Write; then echo no >&2; exit 2; fi",
        ),
    ]);
    let background =
        r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"true","async":true}]}]}}"#;
    all.write_home(".claude/settings.json", background);
    let blocked = project(&[("UserPromptSubmit", "echo no >&2; exit 2")]);
    let deferred = project(&[("PreToolUse", &defer)]);
    [all, blocked, deferred]
        .iter()
        .flat_map(|world| {
            let said = play(world, script, &["--json", "--trust-project-hooks"]);
            assert_eq!(said.stderr, "", "{said:#?}");
            let lines = said.stdout.lines();
            lines
                .map(|line| serde_json::from_str(line).unwrap())
                .collect::<Vec<Value>>()
        })
        .collect()
}

#[test]
fn the_page_names_every_type_and_every_key() {
    let documented = documented();
    let mut seen = BTreeSet::new();
    for object in printed() {
        let name = object["type"].as_str().unwrap().to_owned();
        let keys: BTreeSet<String> = object.as_object().unwrap().keys().cloned().collect();
        let mut wanted = documented.get(&name).cloned().unwrap_or_default();
        wanted.insert("type".into());
        assert_eq!(keys, wanted, "docs/run-json.md about {name}: {object:#}");
        seen.insert(name);
    }
    let unseen: Vec<&String> = documented
        .keys()
        .filter(|name| !seen.contains(*name))
        .collect();
    assert_eq!(unseen, NOT_SEEN, "documented and never printed");
}

#[test]
fn it_begins_and_ends_with_what_it_says() {
    let world = project(&[("Stop", "true")]);
    let said = play(&world, "- Done.", &["--json", "--trust-project-hooks"]);
    let lines: Vec<Value> = said
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (first, last) = (lines.first().unwrap(), lines.last().unwrap());
    assert_eq!(
        (&first["type"], &last["type"]),
        (&"begin".into(), &"end".into())
    );
    assert_eq!(first["hooks"][0]["handlers"], 1);
    assert_eq!(
        (&last["turn"], &last["text"]),
        (&"completed".into(), &"Done.".into())
    );
    let log = last["log"].as_str().unwrap();
    assert!(fs::metadata(log).unwrap().is_file());
}
