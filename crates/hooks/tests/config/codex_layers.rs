//! Codex's layers: their order, who may switch what off, and which of them are in force.

use std::path::Path;

use seamline_hooks::config::{FileState, Loaded, Roots, UnlistedProject, load};
use seamline_hooks::trust::{TrustState, TrustStore, codex_status, hash};
use seamline_hooks::{DialectId, Severity};

use crate::sandbox::{Sandbox, actions, codes, placed};

/// A `hooks.json` with one Stop hook.
fn json(command: &str) -> String {
    format!(
        r#"{{"hooks": {{"Stop": [{{"hooks": [{{"type": "command", "command": "{command}"}}]}}]}}}}"#
    )
}

/// The same as TOML.
fn toml(command: &str) -> String {
    format!("[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"{command}\"\n")
}

/// The same as a session flag.
fn flag(command: &str) -> String {
    format!("hooks.Stop=[{{hooks=[{{type=\"command\",command=\"{command}\"}}]}}]")
}

/// A hook in every layer; the repository's root is the project folder, the session in `sub`.
fn everywhere() -> (Sandbox, Roots) {
    let sandbox = Sandbox::new();
    sandbox.in_project(".git/HEAD", "ref: refs/heads/main\n");
    for (name, command) in [
        ("requirements.toml", "required"),
        ("config.toml", "system-toml"),
        ("managed_config.toml", "managed-config"),
    ] {
        sandbox.in_system(name, &toml(command));
    }
    sandbox.in_system("hooks.json", &json("system-json"));
    for (name, command) in [("root", ".codex"), ("sub", "sub/.codex")] {
        sandbox.in_project(&format!("{command}/hooks.json"), &json(name));
    }
    sandbox.in_project("sub/.codex/config.toml", &toml("sub-toml"));
    sandbox.at_home(".codex/hooks.json", &json("user"));
    sandbox.at_home(".codex/config.toml", &toml("user-toml"));
    let mut roots = sandbox.roots();
    roots.project = sandbox.project().join("sub");
    roots.session.give(&flag("flag")).unwrap();
    (sandbox, roots)
}

const ALL: [&str; 10] = [
    "required",
    "system-json",
    "system-toml",
    "user",
    "user-toml",
    "root",
    "sub",
    "sub-toml",
    "flag",
    "managed-config",
];

fn codex(roots: &Roots) -> Loaded {
    load(DialectId::Codex, roots)
}

/// What would run: what is on, whoever trusts it.
fn on(loaded: &Loaded) -> Vec<String> {
    let on = loaded.handlers.iter().filter(|it| it.disabled.is_none());
    on.map(|it| it.action.summary()).collect()
}

/// The reasons of those that are off, each once.
fn reasons(loaded: &Loaded) -> Vec<String> {
    let mut all: Vec<_> = loaded
        .handlers
        .iter()
        .filter_map(|it| it.disabled.clone())
        .collect();
    all.dedup();
    all
}

/// Every layer adds, none replaces; the order is one over all layers.
#[test]
fn all_layers_run_in_one_order() {
    let (_sandbox, roots) = everywhere();
    let loaded = codex(&roots);
    assert_eq!(on(&loaded), ALL);
    assert_eq!(
        codes(&loaded, Severity::Warning),
        ["two-forms", "two-forms", "two-forms"]
    );
}

/// The organisation's four files are managed whatever the user says about single hooks.
#[test]
fn managed_hooks_are_trusted_and_no_state_of_the_user_turns_them_off() {
    let (sandbox, mut roots) = everywhere();
    let keys: Vec<String> = codex(&roots)
        .handlers
        .iter()
        .map(|it| it.key.0.clone())
        .collect();
    let off: String = keys
        .iter()
        .map(|key| format!("[hooks.state.\"{key}\"]\nenabled = false\n"))
        .collect();
    sandbox.at_home(".codex/config.toml", &(toml("user-toml") + &off));
    let managed = ["required", "system-json", "system-toml", "managed-config"];
    let loaded = codex(&roots);
    assert_eq!(on(&loaded), managed);
    let store = TrustStore::open(sandbox.home().join("trust.json")).unwrap();
    for handler in &loaded.handlers {
        let is_managed = managed.contains(&handler.action.summary().as_str());
        let state = store.status(handler, &loaded).state;
        assert_eq!(state == TrustState::Managed, is_managed, "{handler:?}");
        let theirs = codex_status(handler, &loaded);
        assert_eq!(theirs == TrustState::Managed, is_managed, "{handler:?}");
    }
    // The same said on the command line.
    sandbox.at_home(".codex/config.toml", &toml("user-toml"));
    for key in keys {
        let state = format!("hooks.state.\"{key}\".enabled=false");
        roots.session.give(&state).unwrap();
    }
    assert_eq!(on(&codex(&roots)), managed);
}

/// The client names required hooks after the folder for scripts, if that is absolute.
#[test]
fn required_hooks_are_named_after_the_managed_folder() {
    let sandbox = Sandbox::new();
    let file = sandbox.system().join("codex/requirements.toml");
    let file = file.display();
    for (folder, source) in [
        ("managed_dir = \"/opt/hooks\"", "/opt/hooks".to_owned()),
        ("managed_dir = \"hooks\"", file.to_string()),
        ("windows_managed_dir = \"C:\\\\x\"", file.to_string()),
    ] {
        let text = format!("[hooks]\n{folder}\n{}", toml("x"));
        sandbox.in_system("requirements.toml", &text);
        let loaded = codex(&sandbox.roots());
        let handler = &loaded.handlers[0];
        assert_eq!(handler.key.0, format!("{source}:stop:0:0"));
        assert_eq!(handler.key.source(), source);
        assert_eq!(handler.source.display().to_string(), file.to_string());
        assert_eq!(loaded.diagnostics, []);
    }
    sandbox.in_system("requirements.toml", "[hooks]\nmanaged_dir = 1\n");
    assert_eq!(placed(&codex(&sandbox.roots())), ["2:15 bad-shape"]);
}

/// What is not the organisation's is still listed, with the reason, and never complained about.
#[test]
fn only_managed_hooks_run_when_the_organisation_says_so() {
    let (sandbox, roots) = everywhere();
    let text = "allow_managed_hooks_only = true\n".to_owned() + &toml("required");
    sandbox.in_system("requirements.toml", &text);
    let loaded = codex(&roots);
    assert_eq!(actions(&loaded), ALL);
    let managed = ["required", "system-json", "system-toml", "managed-config"];
    assert_eq!(on(&loaded), managed);
    let [reason] = reasons(&loaded).try_into().unwrap();
    assert!(reason.starts_with("`allow_managed_hooks_only` is true in /"));
    // One warning for the organisation's own two forms, one that says what is off.
    let said = codes(&loaded, Severity::Warning);
    assert_eq!(said, ["two-forms", "managed-hooks-only"]);
    let found = loaded.diagnostics.last().unwrap();
    assert_eq!(found.position.map(|at| (at.line, at.column)), Some((1, 28)));
    assert!(found.message.starts_with("6 hook(s) are off"), "{found}");
    // A user's hooks.json is not read by the client; its config.toml keeps it from starting.
    sandbox.at_home(".codex/hooks.json", "{");
    assert_eq!(codex(&roots).broken().count(), 0);
    sandbox.at_home(".codex/config.toml", "hooks = 1\n");
    assert_eq!(codex(&roots).broken().count(), 1);
    // Elsewhere the key says nothing, and as something else it is refused.
    sandbox.in_system("requirements.toml", "allow_managed_hooks_only = 1\n");
    assert!(placed(&codex(&roots)).contains(&"1:28 bad-shape".to_owned()));
}

/// Of the files that switch hooks, the last in order decides, and requirements over all of them.
/// Nobody but an organisation switches off what is its own.
#[test]
fn the_feature_switch_by_who_sets_it() {
    const OFF: &str = "[features]\nhooks = false\n";
    const ON: &str = "[features]\nhooks = true\n";
    const OLD: &str = "[features]\ncodex_hooks = false\n";
    // requirements, system, user, project, flag, managed_config; own hooks, managed hooks
    for (case, (own, managed)) in [
        (["", "", "", "", "", ""], (true, true)),
        (["", "", OFF, "", "", ""], (false, true)),
        (["", "", OLD, "", "", ""], (false, true)),
        (["", OFF, "", "", "", ""], (false, false)),
        (["", OFF, ON, "", "", ""], (true, true)),
        (["", "", ON, OFF, "", ""], (true, true)),
        (["", "", OFF, ON, "", ""], (false, true)),
        (["", "", OFF, "", "features.hooks=true", ""], (true, true)),
        (["", "", ON, "", "features.hooks=false", ""], (false, true)),
        (
            ["", "", "", "", "features.codex_hooks=false", ""],
            (false, true),
        ),
        (["", "", ON, "", "features.hooks=true", OFF], (false, false)),
        ([OFF, ON, ON, ON, "features.hooks=true", ON], (false, false)),
        (
            [ON, OFF, OFF, OFF, "features.hooks=false", OFF],
            (true, true),
        ),
    ] {
        let sandbox = Sandbox::new();
        sandbox.in_system("requirements.toml", case[0]);
        sandbox.in_system("config.toml", case[1]);
        sandbox.in_system("hooks.json", &json("managed"));
        sandbox.at_home(".codex/config.toml", case[2]);
        sandbox.at_home(".codex/hooks.json", &json("own"));
        sandbox.in_project(".codex/config.toml", case[3]);
        sandbox.in_system("managed_config.toml", case[5]);
        let mut roots = sandbox.roots();
        if !case[4].is_empty() {
            roots.session.give(case[4]).unwrap();
        }
        let loaded = codex(&roots);
        let on = on(&loaded);
        let found = (on.contains(&"own".into()), on.contains(&"managed".into()));
        assert_eq!(found, (own, managed), "{case:?}");
        let noted = codes(&loaded, Severity::Note) == ["deprecated-feature"];
        assert_eq!(noted, case.join("").contains("codex_hooks"), "{case:?}");
    }
}

/// A file of the organisation that is broken is marked, whichever of the four it is: nothing
/// lifts that. A user's is not.
#[test]
fn what_is_broken_in_a_managed_file_is_marked_so() {
    for (name, text) in [
        ("requirements.toml", "hooks = 1"),
        ("requirements.toml", "x = = 1"),
        ("requirements.toml", "[features]\nhooks = \"no\""),
        ("config.toml", "[hooks]\nStop = {}"),
        ("hooks.json", "{"),
        ("hooks.json", "{\"extra\": 1}"),
        ("managed_config.toml", "[hooks.Stop]\nfoo = 1"),
        (
            "managed_config.toml",
            "[[hooks.PreToolUse]]\nmatcher = \"[\"",
        ),
    ] {
        let sandbox = Sandbox::new();
        sandbox.in_system(name, text);
        let loaded = codex(&sandbox.roots());
        let managed: Vec<_> = loaded.broken().map(|found| found.managed).collect();
        assert_eq!(managed, [true], "{name}: {text}");
        let sandbox = Sandbox::new();
        sandbox.at_home(&format!(".codex/{name}"), text);
        let loaded = codex(&sandbox.roots());
        assert!(loaded.broken().all(|found| !found.managed), "{name}");
    }
    let sandbox = Sandbox::new();
    std::fs::create_dir_all(sandbox.system().join("codex/requirements.toml")).unwrap();
    let loaded = codex(&sandbox.roots());
    assert!(loaded.broken().all(|found| found.managed));
    assert_eq!(codes(&loaded, Severity::Broken), ["unreadable-file"]);
}

/// `[projects."<folder>"] trust_level = "<level>"`.
fn projects(folder: &Path, level: &str) -> String {
    let folder = folder.display();
    format!("[projects.\"{folder}\"]\ntrust_level = \"{level}\"\n")
}

/// A project that its user calls untrusted gives nothing, not even a complaint, and says so once.
#[test]
fn an_untrusted_project_is_shown_and_not_in_force() {
    let (sandbox, roots) = everywhere();
    let listed = projects(&sandbox.project(), "untrusted");
    sandbox.at_home(".codex/config.toml", &listed);
    sandbox.in_project(".codex/config.toml", "[features]\nhooks = false\n");
    sandbox.in_project("sub/.codex/config.toml", "hooks = 1\n");
    let loaded = codex(&roots);
    let without = ["root", "sub", "sub-toml", "user-toml"];
    let expected: Vec<_> = ALL.iter().filter(|it| !without.contains(it)).collect();
    assert_eq!(
        on(&loaded),
        expected.into_iter().copied().collect::<Vec<_>>()
    );
    assert_eq!(loaded.broken().count(), 0);
    let [reason] = reasons(&loaded).try_into().unwrap();
    let project = sandbox.project();
    let project = project.display();
    let words = format!("`trust_level` of {project} is \"untrusted\" in ");
    assert!(reason.starts_with(&words), "{reason}");
    let found = loaded.diagnostics.last().unwrap();
    assert_eq!(found.code, "project-untrusted");
    assert_eq!(found.position.map(|at| (at.line, at.column)), Some((2, 15)));
    assert!(found.message.starts_with("3 hook(s) are off"), "{found}");
    let passed = |file: &&seamline_hooks::config::ConfigFile| file.state == FileState::PassedOver;
    assert_eq!(loaded.files.iter().filter(passed).count(), 4);
}

/// Who may say what about a project: any layer but the project itself, the last one counts.
#[test]
fn the_level_of_a_project_by_who_sets_it() {
    for (system, user, project, flag, managed, expected) in [
        ("", "", "", "", "", true),
        ("", "untrusted", "", "", "", false),
        ("", "trusted", "untrusted", "", "", true),
        ("", "untrusted", "trusted", "", "", false),
        ("untrusted", "", "", "", "", false),
        ("untrusted", "trusted", "", "", "", true),
        ("", "untrusted", "", "trusted", "", true),
        ("", "trusted", "", "trusted", "untrusted", false),
    ] {
        let sandbox = Sandbox::new();
        let folder = sandbox.project();
        let level = |level: &str| match level {
            "" => String::new(),
            level => projects(&folder, level),
        };
        sandbox.in_system("config.toml", &level(system));
        sandbox.at_home(".codex/config.toml", &level(user));
        sandbox.in_project(".codex/config.toml", &(level(project) + &toml("x")));
        sandbox.in_system("managed_config.toml", &level(managed));
        let mut roots = sandbox.roots();
        if !flag.is_empty() {
            let folder = folder.display();
            let text = format!("projects.\"{folder}\".trust_level=\"{flag}\"");
            roots.session.give(&text).unwrap();
        }
        let case = (system, user, project, flag, managed);
        assert_eq!(!on(&codex(&roots)).is_empty(), expected, "{case:?}");
    }
    for (text, place) in [
        ("projects = 1\n", "1:12 bad-shape"),
        ("[projects]\na = 1\n", "2:5 bad-shape"),
        ("[projects.a]\ntrust_level = 1\n", "2:15 bad-shape"),
        ("[projects.a]\ntrust_level = \"maybe\"\n", "2:15 bad-shape"),
    ] {
        let sandbox = Sandbox::new();
        sandbox.at_home(".codex/config.toml", text);
        assert_eq!(placed(&codex(&sandbox.roots())), [place], "{text}");
    }
}

/// What is not listed is read here, hook by hook to be agreed to; who asks as the client does sees
/// nothing of it.
#[test]
fn a_project_that_is_not_listed_is_read_unless_asked_as_the_client() {
    let (sandbox, mut roots) = everywhere();
    roots.unlisted = UnlistedProject::PassOver;
    let loaded = codex(&roots);
    assert_eq!(on(&loaded).len(), ALL.len() - 3);
    assert!(codes(&loaded, Severity::Warning).contains(&"project-unlisted"));
    sandbox.at_home(
        ".codex/config.toml",
        &projects(&sandbox.project(), "trusted"),
    );
    assert_eq!(on(&codex(&roots)).len(), ALL.len() - 1);
    // A folder of its own decides before the root.
    let sub = projects(&sandbox.project().join("sub"), "untrusted");
    let both = projects(&sandbox.project(), "trusted") + &sub;
    sandbox.at_home(".codex/config.toml", &both);
    let loaded = codex(&roots);
    assert!(on(&loaded).contains(&"root".to_owned()));
    assert!(!on(&loaded).contains(&"sub".to_owned()));
    // Trusted or not listed, its hooks wait for the user.
    let store = TrustStore::open(sandbox.home().join("trust.json")).unwrap();
    let root = loaded
        .handlers
        .iter()
        .find(|it| it.action.summary() == "root");
    assert_eq!(
        store.status(root.unwrap(), &loaded).state,
        TrustState::Untrusted
    );
}

/// Claude Code knows nothing of all this.
#[test]
fn claude_projects_do_not_depend_on_codexs_settings() {
    let sandbox = Sandbox::new();
    sandbox.at_home(
        ".codex/config.toml",
        &projects(&sandbox.project(), "untrusted"),
    );
    sandbox.in_system("requirements.toml", "allow_managed_hooks_only = true\n");
    sandbox.in_project(".claude/settings.json", &json("x"));
    let mut roots = sandbox.roots();
    roots.unlisted = UnlistedProject::PassOver;
    assert_eq!(on(&load(DialectId::Claude, &roots)), ["x"]);
}

/// Flags are a layer without a file: named by a place of their own, trusted by who wrote them,
/// pointed at like any text.
#[test]
fn session_flags_are_a_layer_of_their_own() {
    let sandbox = Sandbox::new();
    let mut roots = sandbox.roots();
    roots.session.give(&flag("x")).unwrap();
    let loaded = codex(&roots);
    let handler = &loaded.handlers[0];
    assert_eq!(handler.key.0, "/<session-flags>/config.toml:stop:0:0");
    let store = TrustStore::open(sandbox.home().join("trust.json")).unwrap();
    assert_eq!(store.status(handler, &loaded).state, TrustState::Own);
    assert_eq!(codex_status(handler, &loaded), TrustState::Untrusted);
    // The client has to be told, there or in the user's file.
    let (key, hash) = (handler.key.0.clone(), hash(handler));
    let state = format!("hooks.state.\"{key}\".trusted_hash=\"{hash}\"");
    roots.session.give(&state).unwrap();
    let loaded = codex(&roots);
    assert_eq!(
        codex_status(&loaded.handlers[0], &loaded),
        TrustState::Trusted
    );
    // The file's word for the hash and the flag's for the switch go together.
    sandbox.at_home(
        ".codex/config.toml",
        &format!("[hooks.state.\"{key}\"]\ntrusted_hash = \"{hash}\"\n"),
    );
    let mut roots = sandbox.roots();
    roots.session.give(&flag("x")).unwrap();
    roots
        .session
        .give(&format!("hooks.state.\"{key}\".enabled=false"))
        .unwrap();
    let loaded = codex(&roots);
    assert_eq!(
        codex_status(&loaded.handlers[0], &loaded),
        TrustState::Trusted
    );
    assert_eq!(on(&loaded), [""; 0], "off beats trusted");
    let mut roots = sandbox.roots();
    roots.session.give("hooks.Stop=5").unwrap();
    let loaded = codex(&roots);
    assert_eq!(placed(&loaded), ["1:14 bad-shape"]);
    let file = loaded.diagnostics[0].file.clone();
    assert_eq!(&*loaded.texts[&file], "hooks.Stop = 5\n");
}

/// A project cannot agree to itself or switch its neighbours off.
#[test]
fn state_of_a_project_or_an_organisation_is_not_read() {
    let sandbox = Sandbox::new();
    sandbox.at_home(".codex/hooks.json", &json("own"));
    let key = sandbox.home().join(".codex/hooks.json");
    let text = format!(
        "[hooks.state.\"{}:stop:0:0\"]\nenabled = false\n",
        key.display()
    );
    sandbox.in_project(".codex/config.toml", &text);
    sandbox.in_system("config.toml", &text);
    let loaded = codex(&sandbox.roots());
    assert_eq!(on(&loaded), ["own"]);
    assert_eq!(
        codes(&loaded, Severity::Warning),
        ["foreign-state", "foreign-state"]
    );
}

/// Files of other places and protocols are no layers.
#[test]
fn neither_a_bare_hooks_json_nor_claudes_settings_are_read() {
    let sandbox = Sandbox::new();
    sandbox.in_project("hooks.json", &json("bare"));
    sandbox.in_project(".claude/settings.json", &json("claude"));
    let loaded = codex(&sandbox.roots());
    assert_eq!(actions(&loaded), [""; 0]);
    assert!(!loaded.any_file());
}

/// Hooks of plugins are not read, which is said for each that is on.
#[test]
fn configured_plugins_are_said_to_be_unread() {
    let sandbox = Sandbox::new();
    let text = "[plugins.\"a@m\"]\nenabled = true\n[plugins.\"b@m\"]\nenabled = false\n\
                [plugins.\"c@m\"]\n";
    sandbox.at_home(".codex/config.toml", text);
    let loaded = codex(&sandbox.roots());
    assert_eq!(
        placed(&loaded),
        ["1:10 plugin-not-read", "5:10 plugin-not-read"]
    );
    assert!(loaded.diagnostics[0].message.contains("`a@m`"));
}

/// Events come in the client's order whatever their order in the file.
#[test]
fn events_of_a_file_come_in_the_fixed_order() {
    let sandbox = Sandbox::new();
    let order = [
        "PreModelRequest",
        "PostModelRequest",
        "PreToolUse",
        "PermissionRequest",
        "PostToolUse",
        "PreCompact",
        "PostCompact",
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
        "SubagentStart",
        "SubagentStop",
        "Stop",
        "Interrupt",
    ];
    let groups: Vec<_> = order
        .iter()
        .rev()
        .map(|event| {
            format!(r#""{event}": [{{"hooks": [{{"type": "command", "command": "x"}}]}}]"#)
        })
        .collect();
    let text = format!(r#"{{"hooks": {{{}}}}}"#, groups.join(","));
    sandbox.at_home(".codex/hooks.json", &text);
    let loaded = codex(&sandbox.roots());
    let events: Vec<_> = loaded.handlers.iter().map(|it| it.event).collect();
    assert_eq!(events, order);
}

/// Both forms side by side: a `hooks.json` and a `config.toml` that only sets the feature.
#[test]
fn a_hooks_json_beside_a_feature_switch_is_read() {
    let sandbox = Sandbox::new();
    sandbox.at_home(".codex/hooks.json", &json("x"));
    sandbox.at_home(".codex/config.toml", "[features]\nhooks = true\n");
    let loaded = codex(&sandbox.roots());
    assert_eq!(on(&loaded), ["x"]);
    assert_eq!(loaded.diagnostics, []);
}

/// The client does not start with a TOML file it cannot read; a `hooks.json` it only drops.
#[test]
fn a_broken_toml_file_keeps_the_client_from_starting() {
    for (name, text, expected) in [
        (".codex/config.toml", "hooks = 1\n", true),
        (".codex/config.toml", "x = = 1\n", true),
        (".codex/hooks.json", "{", false),
        (".codex/hooks.json", "{}", false),
    ] {
        let sandbox = Sandbox::new();
        sandbox.at_home(name, text);
        assert_eq!(
            codex(&sandbox.roots()).refuses_start(),
            expected,
            "{name}: {text}"
        );
    }
    let sandbox = Sandbox::new();
    let mut roots = sandbox.roots();
    roots.session.give("hooks=1").unwrap();
    assert!(codex(&roots).refuses_start());
}

/// Trust is per hook: changing one leaves its neighbour trusted, and the changed one says so.
#[test]
fn codex_trust_is_per_hook_and_a_changed_one_is_modified() {
    let sandbox = Sandbox::new();
    let two = |second: &str| {
        let command = |text: &str| format!(r#"{{"type": "command", "command": "{text}"}}"#);
        let both = [command("first"), command(second)].join(", ");
        format!(r#"{{"hooks": {{"Stop": [{{"hooks": [{both}]}}]}}}}"#)
    };
    sandbox.in_project(".codex/hooks.json", &two("second"));
    let loaded = codex(&sandbox.roots());
    let mut store = TrustStore::open(sandbox.home().join("trust.json")).unwrap();
    store.trust(&loaded.handlers, &loaded).unwrap();
    store.trust_in_codex(&loaded.handlers, &loaded).unwrap();
    sandbox.in_project(".codex/hooks.json", &two("changed"));
    let loaded = codex(&sandbox.roots());
    let ours = loaded
        .handlers
        .iter()
        .map(|it| store.status(it, &loaded).state);
    let theirs = loaded.handlers.iter().map(|it| codex_status(it, &loaded));
    let expected = [TrustState::Trusted, TrustState::Modified];
    assert_eq!(ours.collect::<Vec<_>>(), expected);
    assert_eq!(theirs.collect::<Vec<_>>(), expected);
    // Agreed to anew, both are trusted, and the entry of the first is as it was.
    let file = sandbox.home().join(".codex/config.toml");
    let before = std::fs::read_to_string(&file).unwrap();
    store.trust_in_codex(&loaded.handlers, &loaded).unwrap();
    let after = std::fs::read_to_string(&file).unwrap();
    let first = |text: &str| text.lines().take(3).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(first(&before), first(&after));
    let loaded = codex(&sandbox.roots());
    let theirs = loaded.handlers.iter().map(|it| codex_status(it, &loaded));
    assert!(theirs.into_iter().all(|state| state == TrustState::Trusted));
}

/// What we write is what the client reads: for every kind of hook, event and matcher.
#[test]
fn entries_that_are_written_are_read_as_trust() {
    let sandbox = Sandbox::new();
    let text = r#"{"hooks": {
        "PreToolUse": [{"matcher": "^Bash$", "hooks": [
            {"type": "command", "command": "x", "timeout": 5, "statusMessage": "s"},
            {"type": "mcp_tool", "server": "s", "tool": "t", "input": {"a": "${b}"}}]}],
        "SessionEnd": [{"hooks": [{"type": "command", "command": "y", "timeout": 30}]}],
        "Stop": [{"matcher": "ignored", "hooks": [{"type": "command", "command": "z", "async": true}]}]}}"#;
    sandbox.in_project(".codex/hooks.json", text);
    sandbox.at_home(".codex/hooks.json", &json("own"));
    sandbox.in_system("hooks.json", &json("managed"));
    let loaded = codex(&sandbox.roots());
    let store = TrustStore::open(sandbox.home().join("trust.json")).unwrap();
    store.trust_in_codex(&loaded.handlers, &loaded).unwrap();
    let loaded = codex(&sandbox.roots());
    let states = loaded.handlers.iter().map(|it| codex_status(it, &loaded));
    let states: Vec<_> = states.map(TrustState::as_str).collect();
    let mut expected = vec!["trusted"; 6];
    expected[0] = "managed";
    assert_eq!(states, expected);
    assert_eq!(
        loaded.codex_state.len(),
        5,
        "nothing is written for managed hooks"
    );
    let taken = store.revoke_in_codex(&loaded.handlers, &loaded).unwrap();
    assert!(taken.is_some());
    let loaded = codex(&sandbox.roots());
    let trusted = |it: &&seamline_hooks::Handler| codex_status(it, &loaded) == TrustState::Trusted;
    assert_eq!(loaded.handlers.iter().filter(trusted).count(), 0);
}

/// Two that write at once lose nothing.
#[test]
fn writers_of_codexs_file_wait_for_each_other() {
    let sandbox = Sandbox::new();
    let commands: Vec<_> = (0..8).map(|n| format!("c{n}")).collect();
    let groups: Vec<_> = commands
        .iter()
        .map(|text| format!(r#"{{"hooks": [{{"type": "command", "command": "{text}"}}]}}"#))
        .collect();
    let text = format!(r#"{{"hooks": {{"Stop": [{}]}}}}"#, groups.join(","));
    sandbox.in_project(".codex/hooks.json", &text);
    let loaded = codex(&sandbox.roots());
    std::thread::scope(|scope| {
        for handler in &loaded.handlers {
            let (sandbox, loaded) = (&sandbox, &loaded);
            scope.spawn(move || {
                let store = TrustStore::open(sandbox.home().join("trust.json")).unwrap();
                store.trust_in_codex([handler], loaded).unwrap();
            });
        }
    });
    let loaded = codex(&sandbox.roots());
    assert_eq!(loaded.codex_state.len(), 8);
}

/// A project that is not listed switches nothing but its own hooks; one that is trusted decides
/// for the user's too, which is said.
#[test]
fn what_a_project_switches_depends_on_its_standing() {
    const OFF: &str = "[features]\nhooks = false\n";
    const ON: &str = "[features]\nhooks = true\n";
    for (level, user, project, expected) in [
        ("", "", OFF, &["own"][..]),
        ("", OFF, ON, &[]),
        ("trusted", "", OFF, &[]),
        ("trusted", OFF, ON, &["own", "project"]),
        ("untrusted", "", OFF, &["own"]),
        ("untrusted", OFF, ON, &[]),
    ] {
        let sandbox = Sandbox::new();
        let listed = match level {
            "" => String::new(),
            level => projects(&sandbox.project(), level),
        };
        sandbox.at_home(".codex/config.toml", &(user.to_owned() + &listed));
        sandbox.at_home(".codex/hooks.json", &json("own"));
        sandbox.in_project(".codex/config.toml", project);
        sandbox.in_project(".codex/hooks.json", &json("project"));
        let loaded = codex(&sandbox.roots());
        assert_eq!(on(&loaded), expected, "{level} {user:?} {project:?}");
        let mut roots = sandbox.roots();
        roots.unlisted = UnlistedProject::Trust;
        let trusted = level == "trusted" || level.is_empty();
        let decides = if project == ON {
            vec!["own", "project"]
        } else {
            vec![]
        };
        if trusted {
            assert_eq!(on(&codex(&roots)), decides, "{level} {user:?} {project:?}");
        }
        let warned = codes(&loaded, Severity::Warning).contains(&"project-disables-user-hooks");
        assert_eq!(warned, level == "trusted" && project == OFF);
    }
}
