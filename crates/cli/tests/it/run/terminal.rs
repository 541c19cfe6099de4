//! With somebody at the terminal: they are asked, and their answer counts.

use std::process::Command;

use super::{ONE_COMMAND, did, project};
use crate::seamline::{Said, World};

/// Runs a command at a terminal of its own and types each answer once its question is there.
const AT_A_TERMINAL: &str = r#"
import os, pty, sys
answers = sys.argv[1].split("|")
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
seen = b""
while True:
    try:
        more = os.read(terminal, 4096)
    except OSError:
        break
    if not more:
        break
    seen += more
    if answers and seen.count(b"[y/N]") > len(sys.argv[1].split("|")) - len(answers):
        os.write(terminal, answers.pop(0).encode() + b"\n")
sys.stdout.buffer.write(seen)
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"#;

fn answering(world: &World, answers: &str) -> Said {
    let script = world.write_home("script.yaml", ONE_COMMAND);
    let output = Command::new("python3")
        .args(["-c", AT_A_TERMINAL, answers, env!("CARGO_BIN_EXE_seamline")])
        .args(["run", "--model", &format!("scripted:{}", script.display())])
        .arg("Go on.")
        .current_dir(world.project())
        .env("HOME", world.home())
        .env("XDG_STATE_HOME", world.state())
        .output()
        .unwrap();
    Said {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn yes_trusts_for_good_and_yes_runs_the_command() {
    let world = project(&[("PreToolUse", "touch hook-ran")]);
    let said = answering(&world, "y|y");
    assert_eq!((said.code, did(&world)), (0, true), "{said:#?}");
    for words in ["PreToolUse  untrusted  touch hook-ran", "? Bash"] {
        assert!(said.stdout.contains(words), "{words}: {said:#?}");
    }
    assert!(world.project().join("hook-ran").exists());
    let list = world.seamline().args(["hooks", "trust"]).run();
    assert_eq!(list.code, 0, "all is trusted now: {list:#?}");
}

#[test]
fn anything_else_is_no() {
    let world = project(&[("PreToolUse", "touch hook-ran")]);
    let said = answering(&world, "yeah");
    assert_eq!(said.code, 77, "{said:#?}");
    assert!(!world.project().join("hook-ran").exists());

    let said = answering(&world, "y|");
    assert_eq!((said.code, did(&world)), (0, false), "{said:#?}");
    assert!(said.stdout.contains("denied:"), "{said:#?}");
}
