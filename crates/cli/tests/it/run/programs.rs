//! `run --code-mode`: hooks and rules gate what a program does as if the model had done it.

use serde_json::json;

use super::{hooks, play, story};
use crate::seamline::World;

const SCRIPT: &str = r#"
- tool: run_code
  input:
    code: |
      const said = [];
      for (const command of ["touch good", "touch bad", "touch ruled"]) {
        try { await tools.Bash({ command }); said.push("ran"); }
        catch (error) { said.push(error.message); }
      }
      return said;
- Done.
"#;

#[test]
fn hooks_and_rules_reach_into_programs() {
    let hook = r#"grep -q '"touch bad"' && { echo 'not on my watch' >&2; exit 2; }; exit 0"#;
    let mut own = hooks(&[
        ("PreToolUse", hook),
        ("PostToolUse", "cat >> posts; echo >> posts"),
    ]);
    own["permissions"] = json!({"deny": ["Bash(touch ruled)"]});
    for mode in ["only", "beside"] {
        let world = World::new();
        world.write_home(".claude/settings.json", &own.to_string());
        let bypass = [
            "--permission-mode",
            "bypassPermissions",
            "--code-mode",
            mode,
        ];
        let said = play(&world, SCRIPT, &bypass);
        assert_eq!(said.code, 0, "{said:#?}");
        let there = |name: &str| world.project().join(name).exists();
        assert_eq!(
            (there("good"), there("bad"), there("ruled")),
            (true, false, false),
            "{said:#?}"
        );
        let expected = r#"["ran","not on my watch","denied by the rule `Bash(touch ruled)`"#;
        assert!(said.stdout.contains(expected), "{said:#?}");
        let posts = std::fs::read_to_string(world.project().join("posts")).unwrap();
        let names: Vec<String> = posts
            .lines()
            .filter(|line| !line.is_empty())
            .map(|line| {
                let payload: serde_json::Value = serde_json::from_str(line).unwrap();
                payload["tool_name"].as_str().unwrap().to_owned()
            })
            .collect();
        assert_eq!(names, ["Bash", "run_code"]);
        let (_, events) = story(&world);
        let parents = events
            .iter()
            .filter(|event| !event["data"]["parent"].is_null())
            .count();
        assert_eq!(parents, 6, "three calls and three results");
    }
}

#[test]
fn without_the_option_there_are_no_programs() {
    let world = World::new();
    let said = play(&world, SCRIPT, &["--permission-mode", "bypassPermissions"]);
    assert!(
        said.stdout.contains("unknown tool \"run_code\""),
        "{said:#?}"
    );
    assert!(!world.project().join("good").exists());
}
