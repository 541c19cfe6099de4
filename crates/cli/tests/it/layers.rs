//! Codex's layers as the command applies them: what an organisation manages, what the command line
//! sets, which projects are in force, and what is told to Codex itself.

use std::fs;

use serde_json::{Value, json};

use crate::seamline::{Said, World};

/// A `hooks.json` with one Stop hook.
fn hooks(command: &str) -> String {
    json!({ "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": command }] }] } })
        .to_string()
}

/// The same as TOML.
fn toml(command: &str) -> String {
    format!("[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"{command}\"\n")
}

fn fire(world: &World, args: &[&str]) -> Said {
    world
        .seamline()
        .args(["hooks", "fire", "Stop"])
        .args(args)
        .run()
}

/// One turn of a scripted model that says a word.
fn run(world: &World, args: &[&str]) -> Said {
    world.write_home("script.yaml", "- Done.\n");
    let model = format!("scripted:{}", world.home().join("script.yaml").display());
    world
        .seamline()
        .args(["run", "--ephemeral", "--model", &model])
        .args(args)
        .arg("Go.")
        .run()
}

fn trust(world: &World, args: &[&str]) -> Said {
    world.seamline().args(["hooks", "trust"]).args(args).run()
}

fn mark(world: &World, name: &str) -> bool {
    let path = world.project().join(name);
    let there = path.exists();
    let _ = fs::remove_file(path);
    there
}

/// Key and trust of each listed handler, and why it is off.
fn listed(world: &World, args: &[&str]) -> Vec<(String, String, Value)> {
    let said = world
        .seamline()
        .args(["hooks", "list", "--json", "--dialect", "codex"])
        .args(args)
        .run();
    let object = said.json();
    let handlers = object["handlers"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    handlers
        .map(|it| {
            (
                world.plain(&text(&it["key"])),
                text(&it["trust"]),
                it["disabled"].clone(),
            )
        })
        .collect()
}

/// No flag lifts a broken file of an organisation, in any of its four files; nothing runs.
#[test]
fn a_broken_managed_file_refuses_the_start_whatever_the_flags() {
    for (file, text) in [
        ("requirements.toml", "hooks = 1\n"),
        ("config.toml", "[hooks]\nStop = {}\n"),
        ("hooks.json", "{"),
        ("managed_config.toml", "x = = 1\n"),
    ] {
        let world = World::new();
        world.write_system(file, text);
        world.write_home(".codex/hooks.json", &hooks("touch ran"));
        let refused = |said: Said, how: &str| {
            assert_eq!(said.code, 65, "{file} {how}: {said:#?}");
            assert!(said.stderr.contains(file), "{file} {how}: {}", said.stderr);
            assert!(
                said.stderr.contains("which no option lifts"),
                "{file} {how}: {}",
                said.stderr
            );
            assert!(!mark(&world, "ran"), "{file} {how}");
        };
        for flags in [
            &[][..],
            &["--ignore-broken-hooks"],
            &["--trust-project-hooks"],
        ] {
            refused(fire(&world, flags), &format!("fire {flags:?}"));
        }
        let other = world.write_home("own.codex.json", &hooks("touch ran"));
        let other = other.display().to_string();
        for flags in [
            &[][..],
            &["--ignore-broken-hooks"],
            &["--trust-project-hooks", "--ignore-broken-hooks"],
            &["--hooks", "none", "--ignore-broken-hooks"],
            &["--hooks", "claude", "--ignore-broken-hooks"],
            &["--hooks-config", &other, "--ignore-broken-hooks"],
            &[
                "--permission-mode",
                "bypassPermissions",
                "--ignore-broken-hooks",
            ],
        ] {
            refused(run(&world, flags), &format!("run {flags:?}"));
        }
        let said = world.seamline().args(["hooks", "list"]).run();
        assert_eq!(said.code, 65, "{file}: {said:#?}");
    }
}

/// Managed hooks run under every option; what is the user's goes when it is taken away.
#[test]
fn no_option_takes_managed_hooks_away() {
    let world = World::new();
    world.write_system("requirements.toml", &toml("touch managed"));
    world.write_home(".codex/hooks.json", &hooks("touch own"));
    world.write_home(".codex/config.toml", "[features]\nhooks = false\n");
    let named = world.write_home("named.codex.json", &hooks("touch named"));
    let named = named.display().to_string();
    for (flags, own, from_file) in [
        (&[][..], false, false),
        (&["-c", "features.hooks=true"], true, false),
        (&["--hooks", "none"], false, false),
        (&["--hooks", "claude"], false, false),
        (&["--hooks-config", &named], false, true),
        (&["--model", "rehearsal"], false, false),
    ] {
        let rehearsed = flags.contains(&"rehearsal");
        let said = if rehearsed {
            let all = ["run", "--ephemeral"].iter().chain(flags).chain(&["Go."]);
            world.seamline().args(all).run()
        } else {
            run(&world, flags)
        };
        assert_eq!(said.code, 0, "{flags:?}: {said:#?}");
        assert!(
            said.stdout.contains("hook  Stop  pass"),
            "{flags:?}: {said:#?}"
        );
        if !rehearsed {
            let found = ["managed", "own", "named"].map(|name| mark(&world, name));
            assert_eq!(found, [true, own, from_file], "{flags:?}: {said:#?}");
        }
    }
}

/// What `allow_managed_hooks_only` takes away is listed with the reason, told, and not run.
#[test]
fn only_managed_hooks_are_left_when_the_organisation_says_so() {
    let world = World::new();
    world.write_system("requirements.toml", "allow_managed_hooks_only = true\n");
    world.write_system("hooks.json", &hooks("touch managed"));
    world.write_home(".codex/hooks.json", &hooks("touch own"));
    world.write(".codex/hooks.json", &hooks("touch project"));
    let fired = |args: &[&str]| fire(&world, args);
    let ran = |args: &[&str]| run(&world, args);
    for how in [&fired as &dyn Fn(&[&str]) -> Said, &ran] {
        let said = how(&["--trust-project-hooks", "-c", &flag("touch flag")]);
        assert_eq!(said.code, 0, "{said:#?}");
        let found = ["managed", "own", "project", "flag"].map(|name| mark(&world, name));
        assert_eq!(found, [true, false, false, false], "{said:#?}");
        assert!(
            said.stdout
                .contains("`allow_managed_hooks_only` is true in"),
            "{said:#?}"
        );
    }
    let off: Vec<_> = listed(&world, &[]).into_iter().map(|it| it.2).collect();
    assert_eq!(off[0], Value::Null);
    for reason in &off[1..] {
        let reason = reason.as_str().unwrap();
        assert!(
            reason.starts_with("`allow_managed_hooks_only` is true"),
            "{reason}"
        );
    }
}

/// `-c` with one Stop hook.
fn flag(command: &str) -> String {
    format!("hooks.Stop=[{{hooks=[{{type=\"command\",command=\"{command}\"}}]}}]")
}

/// Settings of the command line are a layer: they add hooks, which their author need not agree to,
/// and switch others.
#[test]
fn settings_of_the_command_line_are_a_layer() {
    let world = World::new();
    world.write_home(".codex/hooks.json", &hooks("touch own"));
    let adds = flag("touch flag");
    let fired = |args: &[&str]| fire(&world, args);
    let ran = |args: &[&str]| run(&world, args);
    for how in [&fired as &dyn Fn(&[&str]) -> Said, &ran] {
        for option in ["-c", "--codex-config"] {
            let said = how(&[option, &adds]);
            assert_eq!(said.code, 0, "{said:#?}");
            assert!(mark(&world, "own") && mark(&world, "flag"), "{said:#?}");
        }
    }
    let rows = listed(&world, &["-c", &adds]);
    assert_eq!(rows[1].0, "/<session-flags>/config.toml:stop:0:0");
    assert_eq!(rows[1].1, "own");
    let said = fire(&world, &["-c", "features.hooks=false"]);
    assert_eq!((said.code, mark(&world, "own")), (0, false), "{said:#?}");
    let said = run(&world, &["-c", "features.hooks=false"]);
    let words = "1 hook of codex is off: `hooks` is false under [features] in /<session-flags>";
    assert!(said.stdout.contains(words), "{said:#?}");
    let said = fire(&world, &["-c", "hooks.Stop=5"]);
    assert_eq!(said.code, 65, "{said:#?}");
    assert!(
        said.stderr.contains("/<session-flags>/config.toml:1:14"),
        "{}",
        said.stderr
    );
    assert!(said.stderr.contains("hooks.Stop = 5"), "{}", said.stderr);
    for (args, words) in [
        (&["-c", "hooks"][..], "expected KEY=VALUE"),
        (&["-c", "model=x"], "`model` says nothing about hooks"),
        (&["-c", &adds, "--dialect", "claude"], "setting of Codex"),
    ] {
        let said = fire(&world, args);
        assert_eq!(said.code, 64, "{args:?}: {said:#?}");
        assert!(said.stderr.contains(words), "{args:?}: {}", said.stderr);
    }
    for which in ["none", "claude"] {
        let said = run(&world, &["--hooks", which, "-c", &adds]);
        assert_eq!(said.code, 64, "{said:#?}");
        assert!(
            said.stderr.contains("contradict each other"),
            "{}",
            said.stderr
        );
    }
}

/// A project that its user calls untrusted is off and says so; it does not stop a run.
#[test]
fn an_untrusted_project_is_off_and_said_so() {
    let world = World::new();
    world.write(".codex/hooks.json", &hooks("touch project"));
    assert_eq!(
        run(&world, &[]).code,
        77,
        "not listed: it waits for the user"
    );
    let project = world.project();
    let project = project.display();
    let text = format!("[projects.\"{project}\"]\ntrust_level = \"untrusted\"\n");
    world.write_home(".codex/config.toml", &text);
    let rehearsal = ["run", "--ephemeral", "--model", "rehearsal", "Go."];
    for said in [
        run(&world, &[]),
        run(&world, &["--trust-project-hooks"]),
        world.seamline().args(rehearsal).run(),
    ] {
        assert_eq!(said.code, 0, "{said:#?}");
        assert!(!mark(&world, "project"), "{said:#?}");
        assert!(!said.stdout.contains("hook  Stop"), "{said:#?}");
        let words =
            format!("codex: 1 hook(s) are off: `trust_level` of {project} is \"untrusted\"");
        assert!(said.stdout.contains(&words), "{said:#?}");
    }
    let said = world.seamline().args(["hooks", "list"]).run();
    assert_eq!(said.code, 0, "{said:#?}");
    for words in [
        "passed over, nothing of it is in force",
        "untrusted",
        "disabled: `trust_level`",
    ] {
        assert!(said.stdout.contains(words), "{words}: {said:#?}");
    }
    // Trusted by the client is not yet agreed to here.
    world.write_home(".codex/config.toml", &text.replace("untrusted", "trusted"));
    assert_eq!(run(&world, &[]).code, 77);
}

/// Hooks of plugins are not read, and a run says so.
#[test]
fn a_configured_plugin_is_said_to_be_unread() {
    let world = World::new();
    world.write_home(".codex/config.toml", "[plugins.\"p@m\"]\nenabled = true\n");
    let said = run(&world, &[]);
    assert_eq!(said.code, 0, "{said:#?}");
    assert!(
        said.stdout
            .contains("hooks of the Codex plugin `p@m` are not read"),
        "{said:#?}"
    );
}

/// What is written into Codex's file is its own form, and read back as its trust; our store and
/// everything else in the file stay as they are.
#[test]
fn codex_is_told_in_its_own_form() {
    let world = World::new();
    world.write(".codex/hooks.json", &hooks("true"));
    let before = "# mine\nmodel = 'x'   # mine too\n";
    let file = world.write_home(".codex/config.toml", before);
    let said = trust(&world, &["--all", "--codex"]);
    assert_eq!(said.code, 0, "{said:#?}");
    assert!(
        said.stdout.contains("written to ~/.codex/config.toml"),
        "{said:#?}"
    );
    assert!(
        said.stderr.contains("only when its [projects] trusts"),
        "{said:#?}"
    );
    let text = fs::read_to_string(&file).unwrap();
    let key = format!("{}/.codex/hooks.json:stop:0:0", world.project().display());
    let entry = format!("\n[hooks.state.\"{key}\"]\ntrusted_hash = \"sha256:");
    assert!(text.starts_with(before) && text.contains(&entry), "{text}");
    // Without our own store, Codex's word is enough.
    fs::remove_dir_all(world.state()).unwrap();
    assert_eq!(listed(&world, &[])[0].1, "trusted");
    assert_eq!(fire(&world, &[]).code, 0);
    // Told twice is told once.
    let said = trust(&world, &["--all", "--codex"]);
    assert!(said.stdout.contains("says so already"), "{said:#?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    // Off beats trusted.
    let off = text.replace("trusted_hash", "enabled = false\ntrusted_hash");
    fs::write(&file, &off).unwrap();
    let (_, state, why) = listed(&world, &[]).remove(0);
    assert_eq!(state, "trusted");
    assert!(
        why.as_str()
            .unwrap()
            .contains("`enabled = false` in [hooks.state]")
    );
    fs::write(&file, &text).unwrap();
    // Off is off, also where the project's hooks are trusted for once.
    fs::write(&file, &off).unwrap();
    world.write(".codex/hooks.json", &hooks("touch ran"));
    let said = run(&world, &["--trust-project-hooks"]);
    assert_eq!((said.code, mark(&world, "ran")), (0, false), "{said:#?}");
    let words = "1 hook of codex is off: `enabled = false` in [hooks.state]";
    assert!(said.stdout.contains(words), "{said:#?}");
    fs::write(&file, &text).unwrap();
    // Another command is another hash: refused before the first turn, by name and with the reason.
    assert_eq!(listed(&world, &[])[0].1, "modified");
    let said = run(&world, &[]);
    assert_eq!((said.code, mark(&world, "ran")), (77, false), "{said:#?}");
    for words in [".codex/hooks.json:1", "Stop", "modified", "touch ran"] {
        assert!(said.stderr.contains(words), "{words}: {}", said.stderr);
    }
    assert_eq!(trust(&world, &["--all", "--codex"]).code, 0);
    assert_eq!((run(&world, &[]).code, mark(&world, "ran")), (0, true));
    // Taken back in our store alone, Codex's word still counts, which is said.
    let said = trust(&world, &["--revoke", "stop:0:0"]);
    assert!(said.stdout.contains("still trusted"), "{said:#?}");
    assert!(said.stderr.contains("--codex"), "{said:#?}");
    let said = trust(&world, &["--revoke", "stop:0:0", "--codex"]);
    assert!(said.stdout.contains("no longer trusted"), "{said:#?}");
    assert_eq!(listed(&world, &[])[0].1, "untrusted");
    assert!(!fs::read_to_string(&file).unwrap().contains("trusted_hash"));
}

/// A file that cannot take the entry is named and left alone; a link is followed, not replaced.
#[cfg(unix)]
#[test]
fn codexs_file_is_changed_whole_or_not_at_all() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let world = World::new();
    world.write(".codex/hooks.json", &hooks("true"));
    let real = world.write_home("dotfiles/codex.toml", "a = 1\n");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    fs::create_dir(world.home().join(".codex")).unwrap();
    let link = world.home().join(".codex/config.toml");
    symlink(&real, &link).unwrap();
    assert_eq!(trust(&world, &["--all", "--codex"]).code, 0);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    let text = fs::read_to_string(&real).unwrap();
    assert!(text.contains("trusted_hash"), "{text}");
    let mode = fs::metadata(&real).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    fs::write(&real, "a = = 1\n").unwrap();
    let said = trust(&world, &["--all", "--codex"]);
    assert_eq!(said.code, 65, "{said:#?}");
    assert!(said.stderr.contains("config.toml:1:5"), "{}", said.stderr);
    assert_eq!(fs::read_to_string(&real).unwrap(), "a = = 1\n");
    fs::remove_file(&real).unwrap();
    let said = trust(&world, &["--all", "--codex"]);
    assert_eq!(said.code, 74, "{said:#?}");
    assert!(
        said.stderr.contains("a link that leads nowhere"),
        "{}",
        said.stderr
    );
    let said = trust(&world, &["--codex"]);
    assert_eq!(said.code, 64, "{said:#?}");
    assert!(said.stderr.contains("which hooks?"), "{}", said.stderr);
}
