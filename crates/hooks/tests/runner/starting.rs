//! What a process is started with, and what is said when it cannot be.

use crate::{run, spec, text};
use seamline_hooks::runner::{Exec, Exit, Spec, Supervisor, shell};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

fn exec(argv: &[&str]) -> Spec {
    Spec {
        argv: argv.iter().map(ToString::to_string).collect(),
        ..spec("")
    }
}

fn script(folder: &Path, name: &str, text: &str, mode: u32) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    path
}

/// The words of a start that failed.
async fn refusal(spec: Spec) -> String {
    match run(spec).await.exit {
        Exit::SpawnFailed(words) => words,
        other => panic!("it started: {other:?}"),
    }
}

#[tokio::test]
async fn the_environment_is_what_was_given_and_nothing_else() {
    let env = vec![
        ("A".into(), "1".into()),
        ("B".into(), "x y".into()),
        ("A".into(), "2".into()),
    ];
    let finished = run(Spec {
        env,
        ..exec(&["/usr/bin/env"])
    })
    .await;
    let text = text(&finished.stdout);
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        ["A=2", "B=x y"],
        "nothing inherited, the later of two counts"
    );
}

#[tokio::test]
async fn it_runs_in_its_folder_and_leads_its_group() {
    let folder = tempfile::tempdir().unwrap();
    let cwd = folder.path().canonicalize().unwrap();
    let finished = run(Spec {
        cwd: cwd.clone(),
        ..spec("pwd; echo $$; ps -o pgid= -p $$")
    })
    .await;
    let text = text(&finished.stdout);
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    assert_eq!(lines[0], cwd.to_str().unwrap());
    assert_eq!(lines[1], lines[2]);
}

#[tokio::test]
async fn programs_are_looked_up_in_the_path_of_the_child() {
    let folder = tempfile::tempdir().unwrap();
    let bin = folder.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::fs::create_dir(folder.path().join("first")).unwrap();
    script(
        &folder.path().join("first"),
        "only-here",
        "#!/bin/sh\necho wrong",
        0o644,
    );
    script(&bin, "only-here", "#!/bin/sh\necho right", 0o755);
    for path in ["first:bin", "/nonexistent:first:bin"] {
        let env = vec![("PATH".into(), path.into())];
        let cwd = folder.path().to_owned();
        let finished = run(Spec {
            env,
            cwd,
            ..exec(&["only-here"])
        })
        .await;
        assert_eq!(
            (finished.exit, text(&finished.stdout)),
            (Exit::Code(0), "right\n".into())
        );
    }
}

#[tokio::test]
async fn without_a_path_the_usual_folders_are_searched() {
    let finished = run(Spec {
        env: Vec::new(),
        ..exec(&["sh", "-c", "exit 3"])
    })
    .await;
    assert_eq!(finished.exit, Exit::Code(3));
}

#[tokio::test]
async fn a_relative_program_is_relative_to_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("hooks")).unwrap();
    script(
        &folder.path().join("hooks"),
        "check",
        "#!/bin/sh\necho \"$@\"",
        0o755,
    );
    let cwd = folder.path().to_owned();
    let finished = run(Spec {
        cwd,
        ..exec(&["./hooks/check", "a  b", "$HOME"])
    })
    .await;
    assert_eq!(text(&finished.stdout), "a  b $HOME\n");
}

#[tokio::test]
async fn a_program_sees_the_name_it_was_called_by() {
    let folder = tempfile::tempdir().unwrap();
    symlink("/bin/sh", folder.path().join("called")).unwrap();
    let env = vec![("PATH".into(), folder.path().into())];
    let finished = run(Spec {
        env,
        ..exec(&["called", "-c", "echo $0"])
    })
    .await;
    assert_eq!(text(&finished.stdout), "called\n");
}

#[tokio::test]
async fn a_folder_that_is_gone_is_not_called_a_missing_program() {
    let folder = tempfile::tempdir().unwrap();
    let gone = folder.path().join("gone");
    let words = refusal(Spec {
        cwd: gone.clone(),
        ..spec("true")
    })
    .await;
    assert_eq!(
        words,
        format!(
            "cannot start `/bin/sh` in `{}`: the folder does not exist",
            gone.display()
        )
    );
    // Not even when the program does not exist either.
    let words = refusal(Spec {
        cwd: gone,
        ..exec(&["no-such-program-x"])
    })
    .await;
    assert!(words.ends_with(": the folder does not exist"), "{words}");

    let file = script(folder.path(), "file", "", 0o644);
    let words = refusal(Spec {
        cwd: file,
        ..spec("true")
    })
    .await;
    assert!(words.ends_with(": that is not a folder"), "{words}");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named_with_where_it_was_sought() {
    let env = vec![("PATH".into(), "/bin:/usr/bin".into())];
    let spec = Spec {
        env,
        cwd: "/".into(),
        ..exec(&["no-such-program-x", "y"])
    };
    assert_eq!(
        refusal(spec).await,
        "cannot start `no-such-program-x` in `/`: no such program in PATH (/bin:/usr/bin)"
    );
    let words = refusal(Spec {
        cwd: "/".into(),
        ..exec(&["./no-such-file"])
    })
    .await;
    assert_eq!(words, "cannot start `./no-such-file` in `/`: no such file");
}

#[tokio::test]
async fn powershell_that_is_not_there_is_a_start_that_failed() {
    let argv = shell::claude_argv("ls", None, Some("powershell"));
    let env = vec![("PATH".into(), "/nonexistent".into())];
    let words = refusal(Spec {
        argv,
        env,
        ..spec("")
    })
    .await;
    assert!(
        words.contains("`pwsh`") && words.contains("no such program in PATH"),
        "{words}"
    );
}

#[tokio::test]
async fn a_file_that_may_not_run_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let plain = script(folder.path(), "plain", "#!/bin/sh\n", 0o644);
    let words = refusal(exec(&[plain.to_str().unwrap()])).await;
    assert!(
        words.contains("may not be executed (try `chmod +x`)"),
        "{words}"
    );

    let env = vec![("PATH".into(), folder.path().into())];
    let words = refusal(Spec {
        env,
        ..exec(&["plain"])
    })
    .await;
    assert!(
        words.contains("may not be executed (try `chmod +x`)"),
        "{words}"
    );

    let words = refusal(exec(&[folder.path().to_str().unwrap()])).await;
    assert!(words.ends_with(": that is a folder"), "{words}");
}

#[tokio::test]
async fn a_script_without_its_interpreter_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let lost = script(folder.path(), "lost", "#!/no/such/interpreter\n", 0o755);
    let words = refusal(exec(&[lost.to_str().unwrap()])).await;
    assert!(
        words.contains("the interpreter it names (in its `#!` line) is not"),
        "{words}"
    );

    let bare = script(folder.path(), "bare", "echo hi\n", 0o755);
    let words = refusal(exec(&[bare.to_str().unwrap()])).await;
    assert!(words.contains("has no `#!` line"), "{words}");
}

#[tokio::test]
async fn an_environment_that_is_too_large_names_the_largest_variable() {
    let env = vec![
        ("SMALL".into(), "x".into()),
        ("HUGE".into(), "x".repeat(3_000_000).into()),
    ];
    let words = refusal(Spec {
        env,
        ..spec("true")
    })
    .await;
    assert!(
        words.contains("the largest variable is HUGE with 3000000 bytes"),
        "{words}"
    );
}

#[tokio::test]
async fn arguments_that_no_system_takes_are_data_too() {
    assert!(refusal(exec(&[])).await.ends_with(": no program is named"));
    assert!(
        refusal(exec(&[""]))
            .await
            .ends_with(": no program is named")
    );
    let words = refusal(exec(&["/bin/sh", "-c", "a\0b"])).await;
    assert!(words.contains("nul byte"), "{words}");
}

#[tokio::test]
async fn durations_come_from_the_clock_and_the_start_is_told_apart() {
    // B110. This clock advances by a second whenever it is looked at.
    let now = Mutex::new(Instant::now());
    let supervisor = Supervisor::with_clock(move || {
        let mut now = now.lock().unwrap();
        *now += Duration::from_secs(1);
        *now
    });
    let finished = supervisor.run(spec("true"), CancellationToken::new()).await;
    assert_eq!(finished.spawned_after, Duration::from_secs(1));
    assert_eq!(finished.duration, Duration::from_secs(2));
}
