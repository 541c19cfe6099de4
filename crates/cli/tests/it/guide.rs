//! docs/first-gated-agent.md, followed literally in an empty home; and the README's transcript, which is what the
//! guide's run prints.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::example::copy;
use crate::model_server::{Answer, Server, answer, call, text};
use crate::seamline::World;

const RUN: &str = "seamline run --model ollama/qwen3:8b --permission-mode acceptEdits";

/// What the model says in the guide.
fn answers() -> Vec<Answer> {
    let bash =
        |id: &str, command: &str| call(0, id, "Bash", &json!({ "command": command }).to_string());
    let tool =
        |id: &str, name: &str, input: serde_json::Value| call(0, id, name, &input.to_string());
    let edit = json!({
        "file_path": "mean.py", "old_string": "sum(numbers) // len", "new_string": "sum(numbers) / len",
    });
    vec![
        answer(
            &[
                text("I run the test first."),
                bash("c1", "python3 -B test_mean.py"),
            ],
            "tool_calls",
        ),
        answer(
            &[tool("c2", "Read", json!({ "file_path": "mean.py" }))],
            "tool_calls",
        ),
        answer(
            &[
                text("It divides without the rest."),
                tool("c3", "Edit", edit),
            ],
            "tool_calls",
        ),
        answer(&[bash("c4", "python3 -B test_mean.py")], "tool_calls"),
        answer(
            &[text("Now I clean up."), bash("c5", "rm -rf ./*.tmp build")],
            "tool_calls",
        ),
        answer(
            &[text(
                "mean.py rounded down; it divides exactly now, and the test passes. I left the folder as it is.",
            )],
            "stop",
        ),
        answer(&[text("`//` drops the rest.")], "stop"),
        answer(&[text("A project with guards.")], "stop"),
        answer(&[text("There is nothing to note.")], "stop"),
    ]
}

/// The `sh` blocks of the guide, as one script.
fn script() -> String {
    let guide = fs::read_to_string(crate::root().join("docs/first-gated-agent.md")).unwrap();
    let blocks = guide.split("```sh\n").skip(1);
    blocks
        .map(|block| block.split_once("```").unwrap().0)
        .collect()
}

/// Times, and where the log lies, differ from run to run.
fn steady(transcript: &str) -> String {
    let line = |line: &str| match line.split_once(" ms  ") {
        Some((head, tail)) => {
            let head = head.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
            format!("{head}N ms  {tail}\n")
        }
        None => format!("{line}\n"),
    };
    transcript.lines().map(line).collect()
}

/// The guide works as it stands, its gate holds, and the README shows what it prints.
#[test]
fn the_guide_works_literally_and_the_readme_shows_its_run() {
    let server = Server::start(answers());
    let world = World::new();
    let config = format!("[models.ollama]\nbase_url = \"{}\"\n", server.base());
    world.write_home(".config/seamline/config.toml", &config);
    copy(
        &crate::root().join("examples/guarded-project"),
        &world.home().join("your-project"),
    );
    let program = Path::new(env!("CARGO_BIN_EXE_seamline")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let script = script();
    assert_eq!(script.matches(RUN).count(), 1, "{script}");
    let output = Command::new("sh")
        .args(["-e", "-c", &script])
        .current_dir(world.home())
        .env_clear()
        .env("PATH", format!("{}:{path}", program.display()))
        .env("HOME", world.home())
        .env("SEAMLINE_TEST_SYSTEM", world.system())
        .output()
        .unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stdout}\n{stderr}");
    assert!(stdout.contains("exit code 2"), "{stdout}");
    let mended = fs::read_to_string(world.home().join("gated/mean.py")).unwrap();
    assert!(mended.contains("sum(numbers) / len"), "{mended}");
    assert_eq!(server.asked().len(), answers().len(), "{stdout}");

    let home = world.home().display().to_string();
    let stdout = stdout.replace(&home, "~");
    let from = stdout.find("seamline model").unwrap();
    let to = from + stdout[from..].find("\nlog  ").unwrap();
    let command = script.lines().find(|line| line.starts_with(RUN)).unwrap();
    let transcript = format!("$ {command}\n{}\n", &stdout[from..to]);
    for words in [
        "FAIL: the mean",
        "denied: guard: nothing is deleted",
        "| ok",
        "turn completed",
    ] {
        assert!(transcript.contains(words), "{words} in {transcript}");
    }
    let file = crate::root().join("README.md");
    let readme = fs::read_to_string(&file).unwrap();
    let (head, rest) = readme.split_once("<!-- transcript -->\n").unwrap();
    let (shown, tail) = rest.split_once("<!-- end of transcript -->").unwrap();
    let wanted = format!("```text\n{transcript}```\n");
    if steady(shown) != steady(&wanted) {
        assert!(
            std::env::var_os("UPDATE_DOCS").is_some(),
            "UPDATE_DOCS=1 writes:\n{wanted}"
        );
        let marks = ("<!-- transcript -->\n", "<!-- end of transcript -->");
        fs::write(&file, format!("{head}{}{wanted}{}{tail}", marks.0, marks.1)).unwrap();
    }
}
