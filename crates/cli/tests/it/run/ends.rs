//! How a run ends, and what is said when it cannot begin.

use std::fs;
use std::process::Stdio;

use serde_json::Value;

use super::{ONE_COMMAND, did, hooks, logs, play, project, story};
use crate::fire::{signal, wait_for};
use crate::seamline::World;

const TRUST: &[&str] = &["--trust-project-hooks"];

#[test]
fn without_a_model_it_says_how_to_get_one() {
    let world = World::new();
    let said = world.seamline().args(["run", "Go on."]).run();
    assert_eq!((said.code, said.stdout.as_str()), (64, ""));
    for words in ["--model rehearsal", "--model scripted:FILE"] {
        assert!(said.stderr.contains(words), "{words}: {said:#?}");
    }
}

#[test]
fn values_that_do_not_exist_are_refused() {
    let world = World::new();
    for (option, value, words) in [
        ("--model", "gpt", "expected SERVER/MODEL"),
        (
            "--permission-mode",
            "yolo",
            "use default, acceptEdits, plan",
        ),
        ("--hooks", "both", "auto, claude, codex, none"),
    ] {
        let said = world
            .seamline()
            .args(["run", "Go on.", option, value])
            .run();
        assert_eq!((said.code, said.stdout.as_str()), (64, ""), "{said:#?}");
        assert!(said.stderr.contains(words), "{words}: {said:#?}");
    }
    let said = world.seamline().args(["run", "--model", "rehearsal"]).run();
    assert_eq!(said.code, 64, "no prompt: {said:#?}");
}

#[test]
fn a_script_with_a_mistake_is_pointed_at() {
    let world = World::new();
    for (script, place) in [
        ("- one\n- {tool: Bash, inptu: {}}\n", "script.yaml:2:"),
        ("- one\n- [two\n", "script.yaml:3:"),
    ] {
        let said = play(&world, script, &[]);
        assert_eq!((said.code, said.stdout.as_str()), (64, ""), "{said:#?}");
        assert!(said.stderr.contains(place), "{place}: {said:#?}");
    }
    let nowhere = ["run", "--model", "scripted:nowhere.yaml", "Go on."];
    let said = world.seamline().args(nowhere).run();
    assert_eq!(said.code, 74, "{said:#?}");
    assert!(
        said.stderr.contains("cannot read nowhere.yaml"),
        "{said:#?}"
    );
    assert!(logs(&world.state()).is_empty(), "nothing was begun");
}

#[test]
fn a_blocked_prompt_never_reaches_the_model() {
    let world = project(&[("UserPromptSubmit", "echo 'ask me tomorrow' >&2; exit 2")]);
    let said = play(&world, ONE_COMMAND, TRUST);
    assert_eq!((said.code, did(&world)), (2, false), "{said:#?}");
    assert!(
        said.stdout.contains("prompt blocked: ask me tomorrow"),
        "{said:#?}"
    );
    assert!(said.stdout.contains("(0 requests)"), "{said:#?}");
}

#[test]
fn a_hook_that_stops_the_run_is_a_refusal() {
    let stop = r#"echo '{"continue": false, "stopReason": "enough for today"}'"#;
    let world = project(&[("PostToolUse", stop)]);
    let options = [TRUST, &["--permission-mode", "bypassPermissions"]].concat();
    let said = play(&world, ONE_COMMAND, &options);
    assert_eq!((said.code, did(&world)), (2, true), "{said:#?}");
    assert!(said.stdout.contains("enough for today"), "{said:#?}");
}

#[test]
fn a_failing_model_fails_the_run() {
    let world = World::new();
    let script = "- {error: 529, type: overloaded_error, message: Too much to do}\n";
    let said = play(&world, script, &[]);
    assert_eq!(said.code, 1, "{said:#?}");
    assert!(said.stdout.contains("Too much to do"), "{said:#?}");
}

#[test]
fn ctrl_c_and_term_cancel_the_turn_and_end_its_hooks() {
    for which in ["-INT", "-TERM"] {
        let world = project(&[("PreToolUse", "echo $$ > pid; exec sleep 600")]);
        let script = world.write_home("script.yaml", ONE_COMMAND);
        let model = format!("scripted:{}", script.display());
        let options = ["run", "--permission-mode", "bypassPermissions", "Go on."];
        let command = world.seamline().args(options).args(TRUST);
        let mut command = command.args(["--model", &model]).0;
        let command = command.stdin(Stdio::null()).stdout(Stdio::null());
        let mut child = command.spawn().unwrap();
        let hook = pid(&world);
        assert!(signal(hook, "-0"), "the hook runs");
        assert!(signal(child.id(), which));
        assert_eq!(child.wait().unwrap().code(), Some(130), "{which}");
        wait_for(|| (!signal(hook, "-0")).then_some(()));
        assert!(
            !did(&world),
            "{which}: a call whose hook was ended is not run"
        );
        let (_, events) = story(&world);
        let end = events.iter().find(|event| event["type"] == "turn/end");
        assert_eq!(end.unwrap()["data"]["reason"]["kind"], "aborted");
    }
}

fn pid(world: &World) -> u32 {
    wait_for(|| {
        let text = fs::read_to_string(world.project().join("pid")).ok()?;
        text.trim().parse().ok()
    })
}

#[test]
fn what_a_hook_left_behind_is_ended_and_said() {
    let behind = "sleep 600 </dev/null >/dev/null 2>&1 & echo $! > pid";
    let world = project(&[("Stop", behind)]);
    let said = play(&world, "- Done.", TRUST);
    assert_eq!(said.code, 0, "{said:#?}");
    assert!(
        said.stdout.contains("that hooks had left behind"),
        "{said:#?}"
    );
    let left = pid(&world);
    wait_for(|| (!signal(left, "-0")).then_some(()));
}

/// What `--debug-hooks` keeps is what `hooks fire --payload` takes.
#[test]
fn a_kept_payload_can_be_fired_again() {
    let world = project(&[("PreToolUse", "cat > last; echo no >&2; exit 2")]);
    let codex = hooks(&[("PreToolUse", "cat > last-codex")]);
    world.write(".codex/hooks.json", &codex.to_string());
    let options = [TRUST, &["--debug-hooks", "kept"]].concat();
    assert_eq!(play(&world, ONE_COMMAND, &options).code, 0);
    let read = |name: &str| fs::read_to_string(world.project().join(name)).unwrap();
    for (run, dialect, last) in [
        ("kept/001-PreToolUse-claude", "claude", "last"),
        ("kept/002-PreToolUse-codex", "codex", "last-codex"),
    ] {
        let payload = read(&format!("{run}/stdin.json"));
        assert_eq!(payload, read(last), "byte for byte what the hook read");
        let about: Value = serde_json::from_str(&read(&format!("{run}/run.json"))).unwrap();
        assert_eq!(about["dialect"], dialect);
        fs::remove_file(world.project().join(last)).unwrap();
        let file = format!("{run}/stdin.json");
        let said = world
            .seamline()
            .args(["hooks", "fire", "PreToolUse", "--dialect", dialect])
            .args(["--trust-project-hooks", "--payload", &file])
            .run();
        assert!([0, 2].contains(&said.code), "{said:#?}");
        assert_eq!(read(last), payload, "{dialect}");
    }
    assert_eq!(read("kept/001-PreToolUse-claude/stderr"), "no\n");
}

#[test]
fn a_debug_folder_that_cannot_be_made_is_named() {
    let world = World::new();
    world.write("file", "");
    let said = play(&world, "- Done.", &["--debug-hooks", "file/below"]);
    assert_eq!((said.code, said.stdout.as_str()), (74, ""), "{said:#?}");
    assert!(said.stderr.contains("file/below"), "{said:#?}");
    assert!(logs(&world.state()).is_empty(), "nothing was begun");
}

/// The first request finds the turn over and changes nothing, so there is no telling when it has
/// been heard: requests are sent until the run ends.
#[test]
fn asking_again_ends_a_session_end_hook_that_goes_on_and_the_copy_of_the_project() {
    let world = World::new();
    let own = hooks(&[(
        "SessionEnd",
        "trap '' TERM; echo $$ > ../pid; while :; do sleep 1; done",
    )]);
    world.write_home(".claude/settings.json", &own.to_string());
    world.write("below/a.py", "x = 1\n");
    let folder = world.project();
    let mut command = world
        .seamline()
        .args(["run", "--model", "rehearsal", "Go on."])
        .env("TMPDIR", &folder)
        .0;
    command.current_dir(folder.join("below"));
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let find = |name: &str| {
        let copies = fs::read_dir(&folder).unwrap().flatten();
        copies
            .filter_map(|copy| fs::read_to_string(copy.path().join(name)).ok())
            .find(|text| !text.is_empty())
    };
    let hook: u32 = wait_for(|| find("pid")?.trim().parse().ok());
    let code = wait_for(|| {
        signal(child.id(), "-TERM");
        child.try_wait().unwrap()
    });
    assert_eq!(code.code(), Some(130));
    wait_for(|| (!signal(hook, "-0")).then_some(()));
    assert!(find("pid").is_none(), "the copy is gone");
}

/// What SessionStart hooks write to `CLAUDE_ENV_FILE` is there for the commands that tools run later, and
/// what the shell does not understand of it is said.
#[test]
fn variables_that_hooks_leave_reach_later_commands() {
    let writes = r#"printf 'export GREETING="hi $USER_NAME"\nPLAIN=yes\nexport PATH="/extra:$PATH"\n' >> "$CLAUDE_ENV_FILE""#;
    let script = r#"- {tool: Bash, input: {command: 'printf "%s|%s|%s" "$GREETING" "$PLAIN" "${PATH%%:*}" > did'}}
- Done.
"#;
    let world = project(&[("SessionStart", writes)]);
    let options = [
        "--trust-project-hooks",
        "--permission-mode",
        "bypassPermissions",
    ];
    let said = play(&world, script, &options);
    let text = fs::read_to_string(world.project().join("did")).unwrap_or_default();
    assert_eq!(text, "hi |yes|/extra", "{said:#?}");

    let world = project(&[("SessionStart", "echo 'if then' > \"$CLAUDE_ENV_FILE\"")]);
    let said = play(&world, ONE_COMMAND, &options);
    assert!(did(&world), "{said:#?}");
    for words in ["CLAUDE_ENV_FILE of the SessionStart hooks", "syntax error"] {
        assert!(said.stdout.contains(words), "{words}: {said:#?}");
    }
}
