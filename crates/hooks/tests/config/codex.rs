//! Codex configurations, by what the real client was seen to discover (0.171.0).

use std::collections::BTreeMap;
use std::time::Duration;

use seamline_hooks::config::{FileState, Loaded};
use seamline_hooks::handler::{Action, Background};
use seamline_hooks::trust::{TrustState, codex_status, hash};
use seamline_hooks::{DialectId, Handler, Severity};
use serde_json::Value;

use crate::sandbox::{Sandbox, actions, codes, given, placed};

const MEASURED: &str = include_str!("../fixtures/codex-discovery.json");

/// Findings the real client does not have; it is silent there.
const OURS: [&str; 5] = [
    "unknown-event",
    "ignored-key",
    "ignored-timeout",
    "deprecated-feature",
    "foreign-state",
];

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// One handler in the words of the client's list.
fn listed(handler: &Handler, loaded: &Loaded) -> Value {
    let row = handler.dialect.table().event(handler.event).unwrap();
    let matched = row.subject != seamline_hooks::dialect::Subject::Ignored;
    let timeout = handler.timeout.unwrap_or(row.timeouts.default);
    serde_json::json!({
        "key": handler.key.0,
        "hash": hash(handler),
        "timeout": timeout.as_secs(),
        "matcher": handler.matcher.as_ref().filter(|_| matched),
        "status_message": handler.status_message,
        "async": handler.background != Background::No,
        "context_limit": handler.context_limit,
        "does": handler.action.summary(),
        "trust": codex_status(handler, loaded).as_str(),
        "enabled": handler.disabled.is_none(),
    })
}

#[test]
fn what_is_discovered_its_order_its_hashes_and_its_trust_are_the_real_clients() {
    let rows: Vec<Value> = serde_json::from_str(MEASURED).unwrap();
    let mut hashes = 0;
    for row in &rows {
        let id = row["id"].as_str().unwrap();
        let sandbox = Sandbox::new();
        let codex_home = sandbox.home().join(".codex").display().to_string();
        let project = sandbox.project().display().to_string();
        let here = |text: &str| {
            text.replace("$CODEX_HOME", &codex_home)
                .replace("$CWD", &project)
        };
        if row["git"] == true {
            sandbox.in_project(".git/HEAD", "ref: refs/heads/main\n");
        }
        let files: BTreeMap<String, String> = serde_json::from_value(row["files"].clone()).unwrap();
        for (path, text) in files {
            let path = here(&path);
            std::fs::create_dir_all(std::path::Path::new(&path).parent().unwrap()).unwrap();
            std::fs::write(path, here(&text)).unwrap();
        }
        let mut roots = sandbox.roots();
        roots.project = here(row["start"].as_str().unwrap()).into();
        let loaded = seamline_hooks::config::load(DialectId::Codex, &roots);
        // A switched-off feature empties the client's list; ours keeps the handlers and says why.
        let off = |handler: &&Handler| {
            !handler
                .disabled
                .as_deref()
                .is_some_and(|why| why.contains("[features]"))
        };
        let got: Vec<_> = loaded
            .handlers
            .iter()
            .filter(off)
            .map(|handler| listed(handler, &loaded))
            .collect();
        let expected: Value = serde_json::from_str(&here(&row["hooks"].to_string())).unwrap();
        assert_eq!(Value::from(got), expected, "{id}");
        hashes += expected.as_array().unwrap().len();
        let said = loaded
            .diagnostics
            .iter()
            .filter(|d| !OURS.contains(&d.code));
        let said: Vec<_> = said
            .filter(|d| d.code != "bad-shape" || !later(d, &loaded))
            .collect();
        let warned = row["warnings"].as_array().unwrap();
        assert_eq!(said.len(), warned.len(), "{id}: {said:#?}\n{warned:#?}");
        for (ours, theirs) in said.iter().zip(warned) {
            same_words(&ours.message, &text(theirs).unwrap(), id);
        }
    }
    assert!(
        rows.len() >= 38 && hashes >= 69,
        "{} rows, {hashes} hashes",
        rows.len()
    );
}

/// The client stops at the first wrong shape of a file; we go on.
fn later(found: &seamline_hooks::Diagnostic, loaded: &Loaded) -> bool {
    let first = loaded
        .diagnostics
        .iter()
        .find(|d| d.code == "bad-shape" && d.file == found.file);
    first != Some(found)
}

/// Where the client quotes serde, so do we. A float is a "map" to the client by an accident of its
/// number type; ours says what it is.
fn same_words(ours: &str, theirs: &str, id: &str) {
    let Some((_, serde)) = theirs.split_once(".json: ") else {
        return;
    };
    let words = serde.split(" at line ").next().unwrap();
    if theirs.starts_with("failed to parse") && id != "E.to_float" {
        assert!(ours.starts_with(words), "{id}: {ours:?} {words:?}");
    }
}

const TRUE: &str = r#"{"type": "command", "command": "true"}"#;

fn one(event: &str, handler: &str) -> String {
    format!(r#"{{"hooks": {{"{event}": [{{"hooks": [{handler}]}}]}}}}"#)
}

fn explicit(text: &str) -> Loaded {
    Sandbox::new().explicit(DialectId::Codex, "hooks.json", text)
}

#[test]
fn one_wrong_type_anywhere_drops_the_file_and_every_one_is_named() {
    for (rule, text, places) in [
        ("empty", "".to_owned(), vec!["1:1 bad-json"]),
        ("not an object", "[]".into(), vec!["1:1 bad-shape"]),
        (
            "hooks is null",
            r#"{"hooks": null}"#.into(),
            vec!["1:11 bad-shape"],
        ),
        (
            "description is a number",
            r#"{"description": 1}"#.into(),
            vec!["1:17 bad-shape"],
        ),
        (
            "an event is null",
            r#"{"hooks": {"Stop": null}}"#.into(),
            vec!["1:20 bad-shape"],
        ),
        (
            "a group is text",
            r#"{"hooks": {"Stop": ["x"]}}"#.into(),
            vec!["1:21 bad-shape"],
        ),
        (
            "a matcher is a number",
            r#"{"hooks": {"Stop": [{"matcher": 1}]}}"#.into(),
            vec!["1:33 bad-shape"],
        ),
        (
            "hooks of a group are null",
            r#"{"hooks": {"Stop": [{"hooks": null}]}}"#.into(),
            vec!["1:31 bad-shape"],
        ),
        (
            "a handler is text",
            one("Stop", "\"x\""),
            vec!["1:32 bad-shape"],
        ),
        (
            "async is null",
            one(
                "Stop",
                r#"{"type": "command", "command": "x", "async": null}"#,
            ),
            vec!["1:77 bad-shape"],
        ),
        (
            "input is a list",
            one(
                "Stop",
                r#"{"type": "mcp_tool", "server": "s", "tool": "t", "input": []}"#,
            ),
            vec!["1:90 bad-shape"],
        ),
        (
            "a repeated event",
            format!(r#"{{"hooks": {{"Stop": [], "Stop": [{{"hooks": [{TRUE}]}}]}}}}"#),
            vec!["1:12 bad-shape"],
        ),
        (
            "three at once, in file order",
            r#"{"x": 1, "hooks": {"Stop": [{"matcher": 1}], "PreToolUse": {}}}"#.into(),
            vec!["1:2 bad-shape", "1:41 bad-shape", "1:60 bad-shape"],
        ),
    ] {
        let loaded = explicit(&text);
        assert_eq!(placed(&loaded), places, "{rule}");
        assert!(loaded.handlers.is_empty(), "{rule}");
        assert_eq!(given(&loaded), FileState::Broken, "{rule}");
    }
}

#[test]
fn what_may_be_absent_or_null_costs_nothing() {
    for text in [
        "{}",
        r#"{"description": null, "hooks": {}}"#,
        r#"{"hooks": {"Stop": [{}, {"matcher": null}, {"hooks": []}]}}"#,
    ] {
        let loaded = explicit(text);
        assert_eq!(loaded.diagnostics, []);
        assert_eq!(given(&loaded), FileState::Loaded);
    }
    let loaded = explicit(&one(
        "PreToolUse",
        r#"{"type": "command", "command": "x", "timeout": null, "statusMessage": null,
            "commandWindows": null, "additionalContextLimit": null}"#,
    ));
    assert_eq!(loaded.diagnostics, []);
    assert_eq!(loaded.handlers[0].timeout, None);
}

#[test]
fn names_the_client_drops_in_silence_are_warned_about() {
    let text = r#"{"hooks": {"preToolUse": 5, "Notification": [], "Stop": [{"Matcher": "x", "hooks": [
        {"type": "command", "command": "a", "timeoutSec": 5},
        {"type": "command", "command": "b", "timeout_sec": 5, "timeout": 6},
        {"type": "command", "command": "c", "if": "Bash(x)", "statusmessage": "s", "zz": 1}]}]}}"#;
    let loaded = explicit(text);
    assert_eq!(actions(&loaded), ["a", "b", "c"]);
    let found: Vec<_> = loaded
        .diagnostics
        .iter()
        .map(|d| (d.code, d.severity, d.help.clone().unwrap_or_default()))
        .collect();
    let expected = [
        ("ignored-key", "did you mean `matcher`?"),
        ("ignored-timeout", "write `timeout`, in whole seconds"),
        ("ignored-timeout", "write `timeout`, in whole seconds"),
        (
            "ignored-key",
            "`if` is Claude Code's; the hook runs without it",
        ),
        ("ignored-key", "did you mean `statusMessage`?"),
        ("ignored-key", ""),
        ("unknown-event", "did you mean `PreToolUse`?"),
        ("unknown-event", "it is an event of Claude Code"),
    ];
    let expected: Vec<_> = expected
        .iter()
        .map(|(code, help)| (*code, Severity::Warning, (*help).to_owned()))
        .collect();
    assert_eq!(found, expected);
    let messages: Vec<_> = loaded
        .diagnostics
        .iter()
        .map(|d| d.message.as_str())
        .collect();
    assert_eq!(
        messages[1],
        "Codex ignores `timeoutSec`: the hook may take 600 s"
    );
    assert_eq!(messages[2], "Codex ignores `timeout_sec`; `timeout` counts");
}

#[test]
fn an_invalid_matcher_costs_its_group_where_matchers_count() {
    let text = format!(
        r#"{{"hooks": {{"PreToolUse": [{{"matcher": "[", "hooks": [{TRUE}]}}, {{"hooks": [{TRUE}]}}],
            "Stop": [{{"matcher": "[", "hooks": [{TRUE}]}}]}}}}"#
    );
    let loaded = explicit(&text);
    let keys: Vec<_> = loaded.handlers.iter().map(|h| (h.event, h.group)).collect();
    assert_eq!(keys, [("PreToolUse", 1), ("Stop", 0)]);
    assert_eq!(codes(&loaded, Severity::Broken), ["invalid-matcher"]);
    assert!(
        loaded.diagnostics[0]
            .message
            .contains("unclosed character class")
    );
    assert_eq!(given(&loaded), FileState::Loaded);
}

/// Ours, the client drops it: a value that is none is broken, and fails closed when it is ignored.
#[test]
fn on_failure_is_read_where_something_can_be_refused() {
    use seamline_hooks::handler::OnFailure::{Block, Continue};
    let bad = (Severity::Broken, "bad-on-failure");
    let idle = (Severity::Warning, "on-failure-ignored");
    for (event, value, expected, finding) in [
        ("PreToolUse", r#""block""#, Block, None),
        ("PermissionRequest", r#""block""#, Block, None),
        ("PreToolUse", r#""continue""#, Continue, None),
        ("PreToolUse", r#""zap""#, Block, Some(bad)),
        ("PreToolUse", "true", Block, Some(bad)),
        ("SessionEnd", r#""block""#, Continue, Some(idle)),
    ] {
        let handler = format!(r#"{{"type": "command", "command": "x", "onFailure": {value}}}"#);
        let loaded = explicit(&one(event, &handler));
        assert_eq!(loaded.handlers[0].on_failure, expected, "{event} {value}");
        let found = loaded.diagnostics.iter().map(|it| (it.severity, it.code));
        assert!(
            found.eq(finding),
            "{event} {value}: {:?}",
            loaded.diagnostics
        );
    }
}

#[test]
fn a_session_end_is_never_in_background_and_never_long() {
    let handler = r#"{"type": "command", "command": "x", "async": true, "timeout": 30}"#;
    let loaded = explicit(&one("SessionEnd", handler));
    assert_eq!(
        codes(&loaded, Severity::Warning),
        ["timeout-clamped", "async-ignored"]
    );
    assert_eq!(loaded.handlers[0].background, Background::No);
    assert_eq!(loaded.handlers[0].timeout, Some(Duration::from_secs(3)));
    let loaded = explicit(&one("Interrupt", handler));
    assert_eq!(codes(&loaded, Severity::Warning), ["timeout-clamped"]);
    assert_eq!(loaded.handlers[0].background, Background::Async);
}

#[test]
fn the_windows_command_is_kept_under_both_of_its_names() {
    for name in ["commandWindows", "command_windows"] {
        let handler = format!(r#"{{"type": "command", "command": "x", "{name}": "w"}}"#);
        let loaded = explicit(&one("Stop", &handler));
        assert_eq!(loaded.diagnostics, []);
        assert!(matches!(&loaded.handlers[0].action, Action::Command(action)
            if action.command_windows.as_deref() == Some("w")));
    }
}

#[test]
fn without_a_repository_only_the_start_folder_is_a_project_layer() {
    let sandbox = Sandbox::new();
    sandbox.in_project(".codex/hooks.json", &one("Stop", TRUE));
    sandbox.in_project(
        "sub/.codex/hooks.json",
        &one("Stop", &TRUE.replace("true", "sub")),
    );
    let mut roots = sandbox.roots();
    roots.project = sandbox.project().join("sub");
    let loaded = seamline_hooks::config::load(DialectId::Codex, &roots);
    assert_eq!(actions(&loaded), ["sub"]);
    sandbox.in_project(".git", "gitdir: x");
    let loaded = seamline_hooks::config::load(DialectId::Codex, &roots);
    assert_eq!(actions(&loaded), ["true", "sub"]);
}

#[test]
fn toml_has_the_same_rules_with_places_and_its_loss_is_the_session() {
    let sandbox = Sandbox::new();
    for (text, place) in [
        ("hooks = 1\n", "1:9 bad-shape"),
        ("[hooks.PreToolUse]\nfoo = 1\n", "1:1 bad-shape"),
        (
            "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\n",
            "2:1 bad-shape",
        ),
        (
            "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"x\"\ntimeout = 1.5\n",
            "5:11 bad-shape",
        ),
        ("[features]\nhooks = \"no\"\n", "2:9 bad-shape"),
        ("features = 1\n", "1:12 bad-shape"),
        ("[hooks.state]\na = 1\n", "2:5 bad-shape"),
        ("[hooks.state.a]\nenabled = 1\n", "2:11 bad-shape"),
        ("a = = 1\n", "1:5 bad-toml"),
    ] {
        let loaded = sandbox.explicit(DialectId::Codex, "config.toml", text);
        assert_eq!(placed(&loaded), [place], "{text}");
        assert!(
            loaded.diagnostics[0]
                .message
                .ends_with("Codex does not start with this file")
        );
    }
    let text = "[other]\nx = 1\n[[hooks.Stop]]\nmatcher = 'é'\n[[hooks.Stop.hooks]]\ntype = 'command'\ncommand = 'x'\n";
    let loaded = sandbox.explicit(DialectId::Codex, "config.toml", text);
    let handler = &loaded.handlers[0];
    assert_eq!((handler.position.line, handler.position.column), (5, 1));
    let places = &loaded.places[&handler.key];
    let matcher = places.matcher.unwrap();
    assert_eq!(&text[matcher.0..matcher.1], "'é'");
}

#[test]
fn the_nearest_feature_switch_decides_and_the_old_name_still_counts() {
    let sandbox = Sandbox::new();
    sandbox.at_home(".codex/hooks.json", &one("Stop", TRUE));
    let listed = format!(
        "[projects.\"{}\"]\ntrust_level = \"trusted\"\n",
        sandbox.project().display()
    );
    let user = "[features]\ncodex_hooks = false\n".to_owned() + &listed;
    sandbox.at_home(".codex/config.toml", &user);
    let loaded = sandbox.load(DialectId::Codex);
    assert!(
        loaded.handlers[0]
            .disabled
            .as_deref()
            .unwrap()
            .contains("`codex_hooks` is false")
    );
    assert_eq!(codes(&loaded, Severity::Note), ["deprecated-feature"]);
    sandbox.in_project(".codex/config.toml", "[features]\nhooks = true\n");
    assert_eq!(sandbox.load(DialectId::Codex).handlers[0].disabled, None);
    sandbox.in_project(".codex/config.toml", "[features]\nhooks = false\n");
    let loaded = sandbox.load(DialectId::Codex);
    assert!(loaded.handlers[0].disabled.is_some());
    assert_eq!(
        codes(&loaded, Severity::Warning),
        ["project-disables-user-hooks"]
    );
}

#[test]
fn only_the_users_own_state_turns_a_handler_off() {
    let sandbox = Sandbox::new();
    sandbox.in_project(
        ".codex/hooks.json",
        &one("Stop", &format!("{TRUE}, {TRUE}")),
    );
    let file = sandbox.project().join(".codex/hooks.json");
    let state = format!(
        "[hooks.state.\"{}:stop:0:1\"]\nenabled = false\n",
        file.display()
    );
    sandbox.in_project(".codex/config.toml", &state);
    let loaded = sandbox.load(DialectId::Codex);
    assert!(loaded.handlers.iter().all(|h| h.disabled.is_none()));
    assert_eq!(codes(&loaded, Severity::Warning), ["foreign-state"]);
    sandbox.at_home(".codex/config.toml", &state);
    let loaded = sandbox.load(DialectId::Codex);
    let off: Vec<_> = loaded
        .handlers
        .iter()
        .map(|h| h.disabled.is_some())
        .collect();
    assert_eq!(off, [false, true]);
}

#[test]
fn codex_judges_the_users_own_hooks_by_its_state_too() {
    let sandbox = Sandbox::new();
    sandbox.at_home(".codex/hooks.json", &one("Stop", TRUE));
    let loaded = sandbox.load(DialectId::Codex);
    assert_eq!(
        codex_status(&loaded.handlers[0], &loaded),
        TrustState::Untrusted
    );
}
