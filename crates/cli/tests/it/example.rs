//! The example project: its scripts do what its README says, alone and through the command.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::seamline::{Said, World};

/// A copy of the example in a world of its own.
pub(crate) fn example() -> World {
    let world = World::new();
    copy(
        &crate::root().join("examples/guarded-project"),
        &world.project(),
    );
    world
}

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// Runs one script as a client would.
fn script(world: &World, argv: &[&str], payload: &Value) -> Said {
    let mut child = Command::new(argv[0])
        .args(&argv[1..])
        .current_dir(world.project())
        .env("CLAUDE_PROJECT_DIR", world.project())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A script may end without reading.
    let _ = writeln!(child.stdin.take().unwrap(), "{payload}");
    let output = child.wait_with_output().unwrap();
    Said {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn bash(command: &str) -> Value {
    json!({ "cwd": "/tmp/rm -rf /", "tool_name": "Bash", "tool_input": { "command": command } })
}

const DANGEROUS: [&str; 4] = [
    "rm -rf build",
    "cd /tmp && rm -fr x",
    "git push --force origin main",
    "git reset --hard HEAD~3",
];
const HARMLESS: [&str; 4] = [
    "ls -la",
    "rm notes.txt",
    "git push origin main",
    "git reset notes.txt",
];

#[test]
fn scripts_are_executable_and_shell_scripts_parse() {
    let root = crate::root().join("examples/guarded-project");
    let mut seen = 0;
    for folder in [".claude/hooks", ".codex/hooks"] {
        for entry in fs::read_dir(root.join(folder)).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            let mode = fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o111, 0o111, "{} is not executable", path.display());
            if path.extension().is_some_and(|end| end == "sh") {
                let status = Command::new("sh").arg("-n").arg(&path).status().unwrap();
                assert!(status.success(), "{} does not parse", path.display());
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 5);
}

#[test]
fn the_guard_refuses_in_its_own_words() {
    let world = example();
    for command in DANGEROUS {
        let said = script(&world, &[".claude/hooks/guard.sh"], &bash(command));
        assert_eq!((said.code, said.stdout.as_str()), (2, ""), "{command}");
        assert!(
            said.stderr.starts_with("guard: "),
            "{command}: {}",
            said.stderr
        );
    }
    for command in HARMLESS {
        let said = script(&world, &[".claude/hooks/guard.sh"], &bash(command));
        assert_eq!(
            (said.code, said.stdout.as_str(), said.stderr.as_str()),
            (0, "", ""),
            "{command}"
        );
    }
}

#[test]
fn the_codex_guard_says_the_same_as_json() {
    let world = example();
    for command in DANGEROUS {
        let said = script(&world, &["sh", ".codex/hooks/guard.sh"], &bash(command));
        let output = &said.json()["hookSpecificOutput"];
        assert_eq!(
            (said.code, &output["permissionDecision"]),
            (0, &json!("deny")),
            "{command}"
        );
        let alone = script(&world, &[".claude/hooks/guard.sh"], &bash(command));
        assert_eq!(
            output["permissionDecisionReason"],
            alone.stderr.trim_end(),
            "{command}"
        );
    }
    for command in HARMLESS {
        let said = script(&world, &["sh", ".codex/hooks/guard.sh"], &bash(command));
        assert_eq!((said.code, said.stdout.as_str()), (0, ""), "{command}");
    }
}

#[test]
fn the_formatter_tidies_and_says_so_once() {
    let world = example();
    let argv = ["python3", "-I", "-S", ".claude/hooks/format.py"];
    let file = world.write("src/new.py", "def f():  \n\treturn 1\t\n\n\n");
    let payload = json!({ "cwd": world.project(), "tool_input": { "file_path": file } });
    let said = script(&world, &argv, &payload);
    assert_eq!(said.code, 0, "{said:#?}");
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        "def f():\n    return 1\n"
    );
    let context = &said.json()["hookSpecificOutput"]["additionalContext"];
    assert!(
        context.as_str().unwrap().contains("src/new.py"),
        "{context}"
    );
    let again = script(&world, &argv, &payload);
    assert_eq!(
        (again.code, again.stdout.as_str()),
        (0, ""),
        "a tidy file is left alone"
    );
}

#[test]
fn the_formatter_leaves_other_files_alone() {
    let world = example();
    let argv = ["python3", "-I", "-S", ".claude/hooks/format.py"];
    let outside = world.write_home("outside.py", "x = 1  \n");
    let other = world.write("notes.md", "two blanks  \n");
    let latin = world.project().join("latin.py");
    fs::write(&latin, b"# caf\xe9  \n").unwrap();
    for file in [&outside, &other, &latin, &world.project().join("gone.py")] {
        let before = fs::read(file).ok();
        let payload = json!({ "cwd": world.project(), "tool_input": { "file_path": file } });
        let said = script(&world, &argv, &payload);
        assert_eq!(
            (said.code, said.stdout.as_str()),
            (0, ""),
            "{}",
            file.display()
        );
        assert_eq!(fs::read(file).ok(), before, "{}", file.display());
    }
}

#[test]
fn the_stop_check_asks_once_until_changes_are_noted() {
    let world = example();
    let stop = |active: bool| {
        script(
            &world,
            &[".claude/hooks/changes-noted.sh"],
            &json!({ "stop_hook_active": active }),
        )
    };
    assert_eq!(stop(false).json()["decision"], "block");
    assert_eq!(stop(true).stdout, "", "it does not ask twice in one turn");
    world.write("CHANGES.md", "# Changes\n\n- greets nobody by name\n");
    assert_eq!(stop(false).stdout, "");
}

#[test]
fn the_house_rules_are_context() {
    let world = example();
    let said = script(&world, &[".claude/hooks/house-rules.sh"], &json!({}));
    let output = said.json();
    let context = output["hookSpecificOutput"]["additionalContext"]
        .as_str()
        .unwrap();
    assert!(context.contains("2 open items"), "{context}");
}

fn fire(world: &World, args: &[&str]) -> Said {
    let command = world
        .seamline()
        .args(["hooks", "fire", "--trust-project-hooks"])
        .args(args);
    command.run()
}

#[test]
fn nothing_else_is_wrong_with_its_configuration() {
    let said = example().seamline().args(["hooks", "list", "--json"]).run();
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
    let object = said.json();
    assert_eq!(object["handlers"].as_array().unwrap().len(), 6);
    // Codex has no variable for the project folder; the README says what follows.
    let relative = |finding: &Value| {
        let file = finding["file"].as_str().unwrap();
        finding["code"] == "relative-script" && file.ends_with(".codex/hooks.json")
    };
    let findings = object["findings"].as_array().unwrap();
    let others: Vec<&Value> = findings
        .iter()
        .filter(|finding| !relative(finding))
        .collect();
    assert!(others.is_empty(), "{others:#?}");
}

#[test]
fn both_guards_refuse_through_the_command() {
    let world = example();
    let input = "{\"command\":\"rm -rf build\"}";
    let said = fire(
        &world,
        &["PreToolUse", "--tool", "Bash", "--input", input, "--json"],
    );
    assert_eq!(said.code, 2, "{said:#?}");
    for firing in said.json().as_array().unwrap() {
        assert_eq!(firing["outcome"]["decision"], "deny");
        let reason = firing["outcome"]["reason"].as_str().unwrap();
        assert!(
            reason.contains("guard: this project is not wiped"),
            "{reason}"
        );
    }
    assert_eq!(fire(&world, &["PreToolUse", "--tool", "Bash"]).code, 0);
}

#[test]
fn an_edit_is_tidied_through_the_command() {
    let world = example();
    let file = world.write("src/new.py", "x = 1  \n");
    let input = json!({ "file_path": file, "content": "x = 1  \n" }).to_string();
    let args = [
        "PostToolUse",
        "--tool",
        "Write",
        "--input",
        &input,
        "--dialect",
        "claude",
        "--json",
    ];
    let said = fire(&world, &args);
    assert_eq!(said.code, 0, "{said:#?}");
    let context = said.json()["outcome"]["contexts"][0]["text"].to_string();
    assert!(context.contains("tidied src/new.py"), "{context}");
    assert_eq!(fs::read_to_string(file).unwrap(), "x = 1\n");
}

#[test]
fn a_firing_reads_well() {
    let world = example();
    let said = fire(&world, &["Stop", "--dialect", "claude"]);
    assert_eq!((said.code, said.stderr.as_str()), (2, ""));
    insta::assert_snapshot!(world.plain(&without_times(&said.stdout)));
}

/// `5.3 ms` becomes `N ms`.
fn without_times(text: &str) -> String {
    let digits = |c: char| c.is_ascii_digit() || c == '.';
    let parts: Vec<&str> = text.split(" ms").collect();
    let (last, rest) = parts.split_last().unwrap();
    let rest: String = rest
        .iter()
        .map(|part| format!("{}N ms", part.trim_end_matches(digits)))
        .collect();
    rest + last
}

#[test]
fn a_pasted_key_is_kept_out_under_codex() {
    let world = example();
    let secret = "prompt=-----BEGIN PRIVATE KEY-----";
    let said = fire(
        &world,
        &["UserPromptSubmit", "--dialect", "codex", "--set", secret],
    );
    assert_eq!(said.code, 2, "{said:#?}");
    assert!(
        said.stdout.contains("no-secrets: the prompt holds"),
        "{}",
        said.stdout
    );
    let said = fire(
        &world,
        &["UserPromptSubmit", "--dialect", "codex", "--json"],
    );
    let context = &said.json()["outcome"]["contexts"][0]["text"];
    assert_eq!(context, "Work in src/; note each change in CHANGES.md.");
}
