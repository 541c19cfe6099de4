//! The README of the command: what it shows works, and ends as it says.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::example::example;

/// The commands of the first `sh` block, with the exit code behind each.
fn commands(readme: &str) -> Vec<(String, i32)> {
    let (_, block) = readme.split_once("```sh\n").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    let command = |line: &str| {
        let (command, remark) = line.split_once(" #").unwrap();
        let (_, code) = remark.rsplit_once(": ").unwrap();
        (command.trim().to_owned(), code.parse().unwrap())
    };
    block.lines().map(command).collect()
}

#[test]
fn the_commands_of_the_readme_end_as_it_says() {
    let readme = fs::read_to_string(crate::root().join("crates/cli/README.md")).unwrap();
    let world = example();
    let program = Path::new(env!("CARGO_BIN_EXE_seamline")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = [program.to_path_buf()];
    let path = std::env::join_paths(folders.into_iter().chain(std::env::split_paths(&path)));
    let commands = commands(&readme);
    assert!(commands.len() >= 6, "{commands:?}");
    for (command, code) in commands {
        let output = Command::new("sh")
            .args(["-c", &command])
            .current_dir(world.project())
            .env_clear()
            .env("PATH", path.as_ref().unwrap())
            .env("HOME", world.home())
            .env("XDG_STATE_HOME", world.state())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(code), "{command}: {output:#?}");
    }
}
