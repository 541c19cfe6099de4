//! Configurations of the shapes people really have, and what is true of each.

use std::path::Path;
use std::time::Duration;

use seamline_hooks::config::{FileState, Loaded, Roots, load};
use seamline_hooks::handler::{Action, Background};
use seamline_hooks::lint::{Context, lint};
use seamline_hooks::{Diagnostic, DialectId, Severity};

use crate::sandbox::{actions, codes, given};

fn fixture(dialect: DialectId, name: &str) -> Loaded {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/configs");
    let mut roots = Roots::new("/nobody", "/nowhere");
    roots.system = "/nowhere".into();
    roots.explicit = Some(folder.join(name));
    load(dialect, &roots)
}

fn claude(name: &str) -> (Loaded, Vec<Diagnostic>) {
    let loaded = fixture(DialectId::Claude, name);
    let found = lint(&loaded, &Context::default());
    (loaded, found)
}

fn codex(name: &str) -> (Loaded, Vec<Diagnostic>) {
    let loaded = fixture(DialectId::Codex, name);
    let found = lint(&loaded, &Context::default());
    (loaded, found)
}

/// `line code` of each finding, notes marked with `~`.
fn lines(found: &[Diagnostic]) -> Vec<String> {
    let mark = |found: &Diagnostic| {
        if found.severity == Severity::Note {
            "~"
        } else {
            ""
        }
    };
    let line = |found: &Diagnostic| found.position.unwrap().line;
    let mut lines: Vec<_> = found
        .iter()
        .map(|f| (line(f), format!("{} {}{}", line(f), mark(f), f.code)))
        .collect();
    lines.sort();
    lines.into_iter().map(|(_, text)| text).collect()
}

#[test]
fn a_memory_plugin_loads_whole_and_only_its_stop_scripts_cannot_be_seen() {
    let (loaded, found) = claude("01-memory-plugin.json");
    assert_eq!(loaded.diagnostics, []);
    assert_eq!(loaded.handlers.len(), 7);
    let stop: Vec<_> = loaded
        .handlers
        .iter()
        .filter(|h| h.event == "Stop")
        .collect();
    assert!(stop[0].action.summary().ends_with("summarize"));
    assert!(stop[1].action.summary().ends_with("done"));
    assert_eq!(stop[1].timeout, Some(Duration::from_secs(30)));
    assert_eq!(
        lines(&found),
        ["61 ~stop-without-guard", "66 ~stop-without-guard"]
    );
}

#[test]
fn an_orchestrators_setup_matchers_under_session_start_are_dead() {
    let (loaded, found) = claude("02-orchestrator-star.json");
    assert_eq!(loaded.diagnostics, []);
    assert_eq!(loaded.handlers.len(), 22);
    let dead: Vec<_> = found.iter().filter(|f| f.code == "dead-matcher").collect();
    assert_eq!(dead.len(), 2);
    assert_eq!(dead[0].help.as_deref(), Some("`init` is a value of Setup"));
    assert_eq!(
        dead[1].help.as_deref(),
        Some("`maintenance` is a value of Setup")
    );
    // `"$VAR"/path`, with the quote closed before the slash, does not split.
    assert!(
        found
            .iter()
            .all(|f| f.code != "unquoted-path" && f.code != "ignored-matcher")
    );
}

#[test]
fn project_gates_with_permission_rules_for_matchers_never_run() {
    let (loaded, found) = claude("03-project-gates-dead-matchers.json");
    assert_eq!(codes(&loaded, Severity::Broken), ["invalid-matcher"]);
    assert_eq!(loaded.diagnostics[0].position.unwrap().line, 15);
    assert_eq!(loaded.handlers.len(), 8);
    let of = |code: &str| found.iter().filter(|f| f.code == code).count();
    assert_eq!(of("permission-rule-in-matcher"), 3);
    assert_eq!(of("relative-script"), 8);
    assert_eq!(of("duplicate-command"), 1);
    assert_eq!(of("dead-matcher"), 0);
}

#[test]
fn an_empty_matcher_on_every_event_is_no_mistake_and_a_relative_path_is_one() {
    let (loaded, found) = claude("04-all-events-empty-matcher.json");
    assert_eq!(loaded.diagnostics, []);
    assert_eq!(loaded.handlers.len(), 8);
    let relative = found.iter().filter(|f| f.code == "relative-script").count();
    assert_eq!(relative, 8);
    assert_eq!(found.len(), relative + 2, "{:?}", lines(&found));
    assert!(found.iter().any(|f| f.code == "stop-without-guard"));
}

#[test]
fn templates_with_milliseconds_dead_variables_and_unknown_keys_are_told() {
    let (loaded, found) = claude("05-inline-shell-jq.json");
    assert_eq!(loaded.diagnostics, []);
    assert_eq!(
        lines(&found),
        [
            "19 timeout-in-milliseconds",
            "30 unset-variable",
            "31 ~unknown-key"
        ]
    );
    let variable = found.iter().find(|f| f.code == "unset-variable").unwrap();
    assert_eq!(
        variable.help.as_deref(),
        Some("read it: jq -r '.tool_input.file_path'")
    );
}

#[test]
fn a_background_reviewer_keeps_its_conditions_and_its_rewaking() {
    let (loaded, found) = claude("06-security-review-async.json");
    assert_eq!(loaded.diagnostics, []);
    assert_eq!(found, []);
    let matchers: Vec<_> = loaded
        .handlers
        .iter()
        .map(|h| h.matcher.as_deref())
        .collect();
    let edits = Some("Edit|Write|MultiEdit|NotebookEdit");
    assert_eq!(matchers, [None, edits, Some("Bash"), Some("Bash")]);
    assert_eq!(loaded.handlers[2].background, Background::AsyncRewake);
    assert_eq!(
        loaded.handlers[2].condition.as_deref(),
        Some("Bash(git commit:*)")
    );
    // The two differ in `if` only, and that makes them two.
    assert!(found.iter().all(|f| f.code != "duplicate-command"));
}

#[test]
fn stop_gates_whose_scripts_cannot_be_read_are_told_to_look_at_the_flag() {
    let (loaded, found) = claude("07-stop-gates.json");
    assert_eq!(loaded.diagnostics, []);
    let groups: Vec<_> = loaded
        .handlers
        .iter()
        .map(|h| (h.event, h.group, h.index))
        .collect();
    assert_eq!(
        groups,
        [("Stop", 0, 0), ("Stop", 1, 0), ("SessionEnd", 0, 0)]
    );
    assert_eq!(
        lines(&found),
        ["8 ~stop-without-guard", "17 ~stop-without-guard"]
    );
}

#[test]
fn a_manifest_with_inline_hooks_is_read_and_its_bare_variables_split() {
    let (loaded, found) = claude("08-manifest-inline-unquoted.json");
    assert_eq!(loaded.diagnostics, []);
    assert_eq!(loaded.handlers.len(), 2);
    assert_eq!(lines(&found), ["9 unquoted-path", "21 unquoted-path"]);
}

#[test]
fn all_five_handler_types_of_one_file_are_understood() {
    let (loaded, found) = claude("09-mixed-handlers.json");
    assert_eq!(loaded.diagnostics, []);
    let types: Vec<_> = loaded
        .handlers
        .iter()
        .map(|h| h.action.type_name())
        .collect();
    let expected = [
        "prompt", "http", "command", "mcp_tool", "agent", "command", "command", "command",
    ];
    assert_eq!(types, expected);
    assert!(
        matches!(&loaded.handlers[1].action, Action::Http { allowed_env, .. }
        if *allowed_env == ["DEMO_TOKEN"])
    );
    assert!(matches!(&loaded.handlers[5].action, Action::Command(action)
        if action.args.as_ref().unwrap()[0] == "${CLAUDE_PROJECT_DIR}/.claude/h o/start.mjs"));
    assert_eq!(lines(&found), ["68 once-ignored"]);
}

#[test]
fn a_forwarder_on_ten_codex_events_is_listed_in_codexs_order() {
    let (loaded, found) = codex("10-codex-all-events-forwarder.json");
    assert_eq!(loaded.diagnostics, []);
    assert_eq!(found, []);
    let events: Vec<_> = loaded.handlers.iter().map(|h| h.event).collect();
    let expected = [
        "PreToolUse",
        "PermissionRequest",
        "PostToolUse",
        "PreCompact",
        "PostCompact",
        "SessionStart",
        "UserPromptSubmit",
        "SubagentStart",
        "SubagentStop",
        "Stop",
    ];
    assert_eq!(events, expected);
    assert!(actions(&loaded)[0].ends_with("# demo-managed"));
}

#[test]
fn scripts_shared_with_claude_code_lose_their_gates_in_codex() {
    let (loaded, found) = codex("11-codex-shared-scripts.json");
    assert_eq!(loaded.diagnostics, []);
    assert_eq!(loaded.handlers.len(), 5);
    let expected = [
        "21 ~windows-command-unused",
        "26 claude-tool-in-codex",
        "26 permission-rule-in-matcher",
        "30 relative-script",
        "39 relative-script",
        "50 relative-script",
    ];
    assert_eq!(lines(&found), expected);
}

#[test]
fn one_float_costs_codex_the_whole_file_and_claude_nothing() {
    let name = "11b-codex-float-timeout.json";
    let (loaded, _) = codex(name);
    assert!(loaded.handlers.is_empty());
    assert_eq!(given(&loaded), FileState::Broken);
    let [broken] = loaded.diagnostics.as_slice() else {
        panic!("{:?}", loaded.diagnostics)
    };
    assert!(
        broken
            .message
            .contains("floating point `15.0`, expected u64")
    );
    assert_eq!(broken.position.unwrap().line, 62);
    let (loaded, _) = claude(name);
    assert_eq!(codes(&loaded, Severity::Broken), [""; 0]);
    let last = loaded.handlers.last().unwrap();
    assert_eq!(last.timeout, Some(Duration::from_secs(15)));
}

#[test]
fn inline_toml_hooks_are_read_with_their_order_and_places() {
    let (loaded, found) = codex("12-codex-inline.toml");
    assert_eq!(loaded.diagnostics, []);
    let keys: Vec<_> = loaded
        .handlers
        .iter()
        .map(|h| (h.event, h.group, h.index))
        .collect();
    let expected = [
        ("PreToolUse", 0, 0),
        ("PostToolUse", 0, 0),
        ("PostToolUse", 0, 1),
        ("Stop", 0, 0),
    ];
    assert_eq!(keys, expected);
    let lines_of: Vec<_> = loaded.handlers.iter().map(|h| h.position.line).collect();
    assert_eq!(lines_of, [8, 15, 18, 23]);
    assert_eq!(
        loaded.handlers[0].status_message.as_deref(),
        Some("Checking shell command")
    );
    assert_eq!(lines(&found), ["25 ~stop-without-guard"]);
}

#[test]
fn every_shape_goes_through_the_other_dialect_without_a_panic() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/configs");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        for dialect in DialectId::ALL {
            let loaded = fixture(dialect, &name);
            let _ = lint(&loaded, &Context::default());
            assert_ne!(given(&loaded), FileState::Absent, "{name}");
        }
        files += 1;
    }
    assert_eq!(files, 13);
}
