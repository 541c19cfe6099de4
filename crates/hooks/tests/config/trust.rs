//! Who has agreed to what.

use std::fs;
use std::path::PathBuf;

use seamline_hooks::config::Loaded;
use seamline_hooks::trust::{Standing, TrustError, TrustState, TrustStore, hash, scripts};
use seamline_hooks::{DialectId, Handler};

use crate::sandbox::Sandbox;

const GATE: &str = r#"{"type": "command", "command": "sh .claude/gate.sh"}"#;
const NOTE: &str = r#"{"type": "command", "command": "echo noted"}"#;

fn settings(handlers: &[&str]) -> String {
    let groups: Vec<_> = handlers
        .iter()
        .map(|handler| format!(r#"{{"hooks": [{handler}]}}"#))
        .collect();
    format!(r#"{{"hooks": {{"PreToolUse": [{}]}}}}"#, groups.join(", "))
}

/// A project with a gate script and these handlers.
fn project(handlers: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.in_project(".claude/gate.sh", "exit 2\n");
    sandbox.in_project(".claude/settings.json", &settings(handlers));
    sandbox
}

fn place(sandbox: &Sandbox) -> PathBuf {
    TrustStore::place(&sandbox.home().join("state"))
}

fn open(sandbox: &Sandbox) -> TrustStore {
    TrustStore::open(place(sandbox)).unwrap()
}

fn standings(sandbox: &Sandbox) -> Vec<Standing> {
    let loaded = sandbox.load(DialectId::Claude);
    let store = open(sandbox);
    loaded
        .handlers
        .iter()
        .map(|handler| store.status(handler, &loaded))
        .collect()
}

fn states(sandbox: &Sandbox) -> Vec<TrustState> {
    standings(sandbox)
        .into_iter()
        .map(|standing| standing.state)
        .collect()
}

fn trust_all(sandbox: &Sandbox) {
    let loaded = sandbox.load(DialectId::Claude);
    open(sandbox).trust(&loaded.handlers, &loaded).unwrap();
}

use TrustState::{Modified, Own, Trusted, Untrusted};

#[test]
fn a_projects_handlers_are_untrusted_until_trusted_and_the_users_own_need_nothing() {
    let sandbox = project(&[GATE, NOTE]);
    sandbox.at_home(".claude/settings.json", &settings(&[NOTE]));
    sandbox.in_project(".claude/settings.local.json", &settings(&[NOTE]));
    assert_eq!(states(&sandbox), [Own, Untrusted, Untrusted, Untrusted]);
    let loaded = sandbox.load(DialectId::Claude);
    let count = open(&sandbox).trust(&loaded.handlers, &loaded).unwrap();
    assert_eq!(count, 3);
    assert_eq!(states(&sandbox), [Own, Trusted, Trusted, Trusted]);
    assert_eq!(open(&sandbox).states(&loaded).len(), 4);
    assert!(Own.runs() && Trusted.runs() && !Untrusted.runs() && !Modified.runs());
}

#[test]
fn an_explicit_file_is_ones_own() {
    let sandbox = Sandbox::new();
    let loaded = sandbox.explicit(DialectId::Claude, "x.json", &settings(&[NOTE]));
    assert_eq!(
        open(&sandbox).status(&loaded.handlers[0], &loaded).state,
        Own
    );
}

#[test]
fn a_changed_handler_is_modified_and_its_neighbour_stays_trusted() {
    let sandbox = project(&[GATE, NOTE]);
    trust_all(&sandbox);
    let changed = NOTE.replace("noted", "NOTED");
    sandbox.in_project(".claude/settings.json", &settings(&[GATE, &changed]));
    assert_eq!(states(&sandbox), [Trusted, Modified]);
    let why = standings(&sandbox)[1].why.clone().unwrap();
    assert!(why.contains("`echo noted`"), "{why}");
    trust_all(&sandbox);
    assert_eq!(states(&sandbox), [Trusted, Trusted]);
}

#[test]
fn a_handler_that_only_moved_within_its_file_keeps_its_trust() {
    let sandbox = project(&[GATE, NOTE]);
    trust_all(&sandbox);
    let new = r#"{"type": "command", "command": "new"}"#;
    sandbox.in_project(".claude/settings.json", &settings(&[new, NOTE, GATE]));
    // The newcomer stands at a key that was trusted for something else.
    assert_eq!(states(&sandbox), [Modified, Trusted, Trusted]);
    // The same content in another file is not what was read and agreed to.
    sandbox.in_project(".claude/settings.local.json", &settings(&[NOTE]));
    assert_eq!(states(&sandbox)[3], Untrusted);
}

#[test]
fn a_changed_new_or_missing_script_makes_its_handler_modified() {
    let sandbox = project(&[GATE, NOTE]);
    trust_all(&sandbox);
    for (text, word) in [(Some("exit 0\n"), "has changed"), (None, "is gone")] {
        let path = sandbox.project().join(".claude/gate.sh");
        match text {
            Some(text) => fs::write(&path, text).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        assert_eq!(states(&sandbox), [Modified, Trusted]);
        let why = standings(&sandbox)[0].why.clone().unwrap();
        assert!(why.contains("gate.sh") && why.contains(word), "{why}");
    }
    trust_all(&sandbox);
    assert_eq!(states(&sandbox), [Trusted, Trusted]);
    sandbox.in_project(".claude/gate.sh", "exit 2\n");
    let why = standings(&sandbox)[0].why.clone().unwrap();
    assert!(why.contains("was not there before"), "{why}");
    trust_all(&sandbox);
    assert_eq!(states(&sandbox), [Trusted, Trusted]);
}

#[test]
fn revoking_takes_the_handler_and_its_copies_back() {
    let sandbox = project(&[GATE, NOTE, NOTE]);
    trust_all(&sandbox);
    let loaded = sandbox.load(DialectId::Claude);
    let mut store = open(&sandbox);
    assert!(store.revoke(&loaded.handlers[1].key).unwrap());
    assert!(!store.revoke(&loaded.handlers[1].key).unwrap());
    assert_eq!(states(&sandbox), [Trusted, Untrusted, Untrusted]);
    assert_eq!(open(&sandbox).list().count(), 1);
}

#[test]
fn the_store_remembers_what_and_where() {
    let sandbox = project(&[GATE]);
    trust_all(&sandbox);
    let store = open(&sandbox);
    let (key, grant) = store.list().next().unwrap();
    assert!(key.0.ends_with(".claude/settings.json:pre_tool_use:0:0"));
    assert_eq!(grant.project, sandbox.project());
    assert_eq!(grant.does, "sh .claude/gate.sh");
    assert_eq!(grant.dialect, "claude");
    assert!(grant.trusted_at > 1_700_000_000);
    let scripts: Vec<_> = grant.scripts.keys().collect();
    assert_eq!(scripts, [&sandbox.project().join(".claude/gate.sh")]);
}

#[test]
fn a_store_that_is_broken_or_of_another_version_is_an_error_and_never_empty() {
    let sandbox = project(&[GATE]);
    let path = place(&sandbox);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    for text in [
        "",
        "{\n\"version\": 1,\n\"handlers\": 5}",
        "{\n\"version\": 1,",
        "[]",
        "{\"version\": 1, \"x\": 1}",
    ] {
        fs::write(&path, text).unwrap();
        let error = TrustStore::open(&path).unwrap_err();
        assert!(
            matches!(error, TrustError::Broken { .. }),
            "{text}: {error}"
        );
        assert!(error.to_string().contains("trust.json:"), "{error}");
    }
    fs::write(&path, "{\n\"version\": 1,\n\"handlers\": 5}").unwrap();
    let error = TrustStore::open(&path).unwrap_err().to_string();
    assert!(error.contains("trust.json:3:"), "{error}");
    fs::write(&path, "{\"version\": 2, \"grants\": []}").unwrap();
    let error = TrustStore::open(&path).unwrap_err();
    assert!(
        matches!(error, TrustError::Version { found: 2, .. }),
        "{error}"
    );
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(matches!(
        TrustStore::open(&path),
        Err(TrustError::Io { doing: "read", .. })
    ));
}

#[test]
fn a_store_broken_behind_our_back_is_not_written_over() {
    let sandbox = project(&[GATE]);
    let loaded = sandbox.load(DialectId::Claude);
    let mut store = open(&sandbox);
    let path = place(&sandbox);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "half a file").unwrap();
    assert!(store.trust(&loaded.handlers, &loaded).is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "half a file");
}

#[cfg(unix)]
#[test]
fn the_file_is_for_its_owner_alone_and_nothing_else_is_left_beside_it() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = project(&[GATE]);
    trust_all(&sandbox);
    let path = place(&sandbox);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    let mut names: Vec<_> = fs::read_dir(path.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["trust.json", "trust.lock"]);
}

#[test]
fn two_writers_at_once_lose_nothing() {
    let sandbox = project(&[GATE]);
    let loaded = sandbox.load(DialectId::Claude);
    let writers = 8;
    std::thread::scope(|scope| {
        for writer in 0..writers {
            let (sandbox, loaded) = (&sandbox, &loaded);
            scope.spawn(move || {
                let mut store = open(sandbox);
                for round in 0..5 {
                    let mut handler = loaded.handlers[0].clone();
                    handler.key.0 = format!("/p{writer}/x.json:stop:{round}:0");
                    store.trust([&handler], loaded).unwrap();
                }
            });
        }
    });
    assert_eq!(open(&sandbox).list().count(), writers * 5);
}

fn codex_project() -> (Sandbox, Loaded) {
    let sandbox = Sandbox::new();
    let hooks = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a"}]}]}}"#;
    sandbox.in_project(".codex/hooks.json", hooks);
    let loaded = sandbox.load(DialectId::Codex);
    (sandbox, loaded)
}

#[test]
fn codexs_own_state_counts_for_codexs_handlers() {
    let (sandbox, loaded) = codex_project();
    let key = loaded.handlers[0].key.0.clone();
    for (known, state) in [
        (hash(&loaded.handlers[0]), Trusted),
        ("sha256:00".into(), Modified),
    ] {
        let text = format!("[hooks.state.\"{key}\"]\ntrusted_hash = \"{known}\"\n");
        sandbox.at_home(".codex/config.toml", &text);
        let loaded = sandbox.load(DialectId::Codex);
        assert_eq!(
            open(&sandbox).status(&loaded.handlers[0], &loaded).state,
            state
        );
    }
    // Our own agreement to the handler as it is now needs none of Codex's.
    let loaded = sandbox.load(DialectId::Codex);
    open(&sandbox).trust(&loaded.handlers, &loaded).unwrap();
    assert_eq!(
        open(&sandbox).status(&loaded.handlers[0], &loaded).state,
        Trusted
    );
}

/// `onFailure` is ours: Codex's hash knows nothing of it, our store does. A gate that is to hold is not
/// softened by an edit that nobody was asked about.
#[test]
fn taking_back_that_a_codex_failure_blocks_has_to_be_agreed_to() {
    let sandbox = Sandbox::new();
    let file = |more: &str| {
        let handler = format!(r#"{{"type": "command", "command": "a"{more}}}"#);
        format!(r#"{{"hooks": {{"PreToolUse": [{{"hooks": [{handler}]}}]}}}}"#)
    };
    let (soft, firm) = (file(""), file(r#", "onFailure": "block""#));
    sandbox.in_project(".codex/hooks.json", &soft);
    let before = sandbox.load(DialectId::Codex);
    sandbox.in_project(".codex/hooks.json", &firm);
    let loaded = sandbox.load(DialectId::Codex);
    assert_eq!(
        hash(&loaded.handlers[0]),
        hash(&before.handlers[0]),
        "Codex's own"
    );
    open(&sandbox).trust(&loaded.handlers, &loaded).unwrap();
    let state = |loaded: &Loaded| open(&sandbox).status(&loaded.handlers[0], loaded).state;
    assert_eq!(state(&loaded), Trusted);
    sandbox.in_project(".codex/hooks.json", &soft);
    assert_eq!(state(&sandbox.load(DialectId::Codex)), Modified);
}

/// Every field that changes what a handler does changes its hash, and no two are mistaken.
#[test]
fn each_field_that_matters_changes_the_hash() {
    let sandbox = Sandbox::new();
    let one = |matcher: &str, event: &str, handler: &str| -> Handler {
        let text = format!(
            r#"{{"hooks": {{"{event}": [{{"matcher": "{matcher}", "hooks": [{handler}]}}]}}}}"#
        );
        let loaded = sandbox.explicit(DialectId::Claude, "x.json", &text);
        assert_eq!(loaded.diagnostics, [], "{text}");
        loaded.handlers[0].clone()
    };
    let command = |more: &str| format!(r#"{{"type": "command", "command": "c"{more}}}"#);
    let http = |more: &str| format!(r#"{{"type": "http", "url": "http://h"{more}}}"#);
    let prompt = |more: &str| format!(r#"{{"type": "prompt", "prompt": "p"{more}}}"#);
    let mcp = |more: &str| format!(r#"{{"type": "mcp_tool", "server": "s", "tool": "t"{more}}}"#);
    let base = one("Bash", "PreToolUse", &command(""));
    let all = [
        base.clone(),
        one("Edit", "PreToolUse", &command("")),
        one("Bash", "PostToolUse", &command("")),
        one("Bash", "PreToolUse", &command(r#", "args": []"#)),
        one("Bash", "PreToolUse", &command(r#", "args": ["a"]"#)),
        one("Bash", "PreToolUse", &command(r#", "shell": "powershell""#)),
        one("Bash", "PreToolUse", &command(r#", "if": "Bash(x)""#)),
        one("Bash", "PreToolUse", &command(r#", "timeout": 5"#)),
        one("Bash", "PreToolUse", &command(r#", "async": true"#)),
        one("Bash", "PreToolUse", &command(r#", "asyncRewake": true"#)),
        one("Bash", "PreToolUse", &command(r#", "onFailure": "block""#)),
        one("Bash", "PreToolUse", &command(r#", "once": true"#)),
        one("Bash", "PreToolUse", &http("")),
        one("Bash", "PreToolUse", &http(r#", "headers": {"A": "b"}"#)),
        one("Bash", "PreToolUse", &http(r#", "allowedEnvVars": ["A"]"#)),
        one("Bash", "PreToolUse", &prompt("")),
        one("Bash", "PreToolUse", &prompt(r#", "model": "m""#)),
        one(
            "Bash",
            "PreToolUse",
            &prompt(r#", "continueOnBlock": true"#),
        ),
        one("Bash", "PreToolUse", &mcp("")),
        one("Bash", "PreToolUse", &mcp(r#", "input": {"a": 1}"#)),
    ];
    let mut hashes: Vec<_> = all.iter().map(hash).collect();
    hashes.sort();
    hashes.dedup();
    assert_eq!(hashes.len(), all.len());
    let shown = one(
        "Bash",
        "PreToolUse",
        &command(r#", "statusMessage": "s", "zz": 1"#),
    );
    assert_eq!(hash(&shown), hash(&base));
    let ordered = one(
        "",
        "Stop",
        &mcp(r#", "input": {"a": 1, "b": {"c": 1, "d": 2}}"#),
    );
    let otherwise = one(
        "x",
        "Stop",
        &mcp(r#", "input": {"b": {"d": 2, "c": 1}, "a": 1}"#),
    );
    assert_eq!(
        hash(&ordered),
        hash(&otherwise),
        "order of keys, and a matcher nobody reads"
    );
}

#[test]
fn scripts_are_the_project_files_that_a_command_runs() {
    let sandbox = Sandbox::new();
    for name in [
        "h/x.sh",
        "h/y.py",
        "data.json",
        "Makefile",
        "h o/z.js",
        "noend",
    ] {
        sandbox.in_project(name, "x");
    }
    sandbox.in_project("with-shebang", "#!/bin/sh\n");
    sandbox.at_home("own.sh", "x");
    let project = sandbox.project();
    let outside = sandbox.home().join("own.sh");
    let table: &[(&str, &[&str])] = &[
        ("sh h/x.sh", &["h/x.sh"]),
        ("./h/x.sh --flag; python3 -u h/y.py", &["h/x.sh", "h/y.py"]),
        ("\"$CLAUDE_PROJECT_DIR\"/h/x.sh", &["h/x.sh"]),
        ("bash \"${CLAUDE_PROJECT_DIR}/h o/z.js\"", &["h o/z.js"]),
        (
            "bash \"$(git rev-parse --show-toplevel)/h/x.sh\"",
            &["h/x.sh"],
        ),
        ("S=h/x.sh; sh \"$S\"", &["h/x.sh"]),
        ("out=$(sh h/x.sh)", &["h/x.sh"]),
        ("sh noend data.json", &["noend"]),
        ("jq . data.json", &[]),
        ("make -f Makefile", &[]),
        ("cat with-shebang", &["with-shebang"]),
        ("sh < h/x.sh", &["h/x.sh"]),
        ("echo hi > h/x.sh", &[]),
        ("sh ~/own.sh", &[]),
        ("sh h/gone.sh", &[]),
        ("sh \"$UNKNOWN/h/x.sh\"", &[]),
        ("node --require=h/x.sh", &["h/x.sh"]),
        ("sh h/../h/./x.sh", &["h/x.sh"]),
    ];
    for (command, expected) in table {
        let text = serde_json::json!({"type": "command", "command": command}).to_string();
        let loaded = {
            sandbox.in_project(".claude/settings.json", &settings(&[&text]));
            sandbox.load(DialectId::Claude)
        };
        let expected: Vec<_> = expected.iter().map(|name| project.join(name)).collect();
        assert_eq!(
            scripts(&loaded.handlers[0], &loaded.roots),
            expected,
            "{command}"
        );
    }
    let exec =
        r#"{"type": "command", "command": "node", "args": ["${CLAUDE_PROJECT_DIR}/h o/z.js"]}"#;
    sandbox.in_project(".claude/settings.json", &settings(&[exec]));
    let loaded = sandbox.load(DialectId::Claude);
    assert_eq!(
        scripts(&loaded.handlers[0], &loaded.roots),
        [project.join("h o/z.js")]
    );
    assert!(outside.exists());
}

#[cfg(unix)]
#[test]
fn a_link_in_the_project_that_leads_out_of_it_is_the_projects() {
    let sandbox = Sandbox::new();
    sandbox.at_home("own.sh", "exit 2\n");
    sandbox.in_project(".claude/settings.json", &settings(&[GATE]));
    let link = sandbox.project().join(".claude/gate.sh");
    std::os::unix::fs::symlink(sandbox.home().join("own.sh"), &link).unwrap();
    trust_all(&sandbox);
    assert_eq!(states(&sandbox), [Trusted]);
    sandbox.at_home("other.sh", "exit 0\n");
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(sandbox.home().join("other.sh"), &link).unwrap();
    assert_eq!(states(&sandbox), [Modified]);
}

#[test]
fn variables_that_the_project_changes_after_it_was_trusted_make_its_handlers_modified() {
    let sandbox = project(&[NOTE]);
    trust_all(&sandbox);
    assert_eq!(states(&sandbox), [TrustState::Trusted]);
    let with_path = settings(&[NOTE]).replacen('{', r#"{"env": {"PATH": "/evil"}, "#, 1);
    sandbox.in_project(".claude/settings.json", &with_path);
    let standing = standings(&sandbox).remove(0);
    assert_eq!(standing.state, TrustState::Modified);
    assert!(standing.why.unwrap().contains("`env`"));
    trust_all(&sandbox);
    assert_eq!(states(&sandbox), [TrustState::Trusted]);
}
