//! What one mistake in Claude Code settings costs: measured on 2.1.332.

use seamline_hooks::{DialectId, Severity};

use crate::sandbox::{Sandbox, actions, codes};

/// Name of the rule; the project's settings; commands in force; codes of what is broken.
type Row = (
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

/// What the short names in the settings below stand for.
const SHORT: [(&str, &str); 4] = [
    ("@PRE", r#""PreToolUse": [{"hooks": [@OK]}]"#),
    ("@OK", r#"{"type": "command", "command": "OK"}"#),
    ("@ZAP", r#"{"type": "zap", "command": "x"}"#),
    ("@P", r#"{"type": "command", "command": "P"}"#),
];

const DROPS: &[Row] = &[
    (
        "bad JSON skips the file",
        r#"{"hooks": {"PreToolUse": ["#,
        &[],
        &["bad-json"],
    ),
    (
        "a comment skips the file",
        "{\n// c\n\"hooks\": {@PRE}}",
        &[],
        &["bad-json"],
    ),
    (
        "a trailing comma skips the file",
        r#"{"hooks": {@PRE},}"#,
        &[],
        &["bad-json"],
    ),
    ("an empty file is skipped", "", &[], &["bad-json"]),
    (
        "a BOM is accepted",
        "\u{feff}{\"hooks\": {@PRE}}",
        &["OK"],
        &[],
    ),
    (
        "settings that are no object are skipped",
        "[]",
        &[],
        &["not-an-object"],
    ),
    ("hooks: null is ignored", r#"{"hooks": null}"#, &[], &[]),
    (
        "hooks as a list are ignored",
        r#"{"hooks": []}"#,
        &[],
        &["hooks-not-an-object"],
    ),
    (
        "hooks as a string are ignored",
        r#"{"hooks": "x"}"#,
        &[],
        &["hooks-not-an-object"],
    ),
    (
        "an unknown event costs that key",
        r#"{"hooks": {"Zed": [{"hooks": [@ZAP]}], "PostToolUse": [{"hooks": [@P]}]}}"#,
        &["P"],
        &[],
    ),
    (
        "an unknown event is not looked into",
        r#"{"hooks": {"Zed": "junk", @PRE}}"#,
        &["OK"],
        &[],
    ),
    (
        "an event in another case is unknown",
        r#"{"hooks": {"pretooluse": [{"hooks": [@ZAP]}], "Stop": [{"hooks": [@OK]}]}}"#,
        &["OK"],
        &[],
    ),
    (
        "an unknown handler type costs the handler",
        r#"{"hooks": {@PRE, "PostToolUse": [{"hooks": [@ZAP, @P]}]}}"#,
        &["OK", "P"],
        &["bad-handler"],
    ),
    (
        "a missing command costs the handler",
        r#"{"hooks": {"PostToolUse": [{"hooks": [{"type": "command"}, @P]}]}}"#,
        &["P"],
        &["bad-handler"],
    ),
    (
        "a missing type costs the handler",
        r#"{"hooks": {"PostToolUse": [{"hooks": [{"command": "x"}, @P]}]}}"#,
        &["P"],
        &["bad-handler"],
    ),
    (
        "timeout 0 costs the handler",
        r#"{"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": "X", "timeout": 0}, @P]}]}}"#,
        &["P"],
        &["bad-handler"],
    ),
    (
        "a timeout as text costs the handler",
        r#"{"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": "X", "timeout": "5"}, @P]}]}}"#,
        &["P"],
        &["bad-handler"],
    ),
    (
        "a bad onFailure costs the handler",
        r#"{"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": "X", "onFailure": "zap"}, @P]}]}}"#,
        &["P"],
        &["bad-handler"],
    ),
    (
        "an unknown shell costs the handler",
        r#"{"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": "X", "shell": "zsh"}, @P]}]}}"#,
        &["P"],
        &["bad-handler"],
    ),
    (
        "a bad URL costs the handler",
        r#"{"hooks": {"PostToolUse": [{"hooks": [{"type": "http", "url": "nope"}, @P]}]}}"#,
        &["P"],
        &["bad-handler"],
    ),
    (
        "a prompt without a prompt costs the handler",
        r#"{"hooks": {"PostToolUse": [{"hooks": [{"type": "prompt"}, @P]}]}}"#,
        &["P"],
        &["bad-handler"],
    ),
    (
        "a handler that is no object is dropped",
        r#"{"hooks": {"Stop": [{"hooks": ["x", @P]}]}}"#,
        &["P"],
        &["bad-handler"],
    ),
    (
        "a matcher that is no string costs the group",
        r#"{"hooks": {"PostToolUse": [{"matcher": 5, "hooks": [@OK]}, {"hooks": [@P]}]}}"#,
        &["P"],
        &["bad-group"],
    ),
    (
        "a null matcher costs the group",
        r#"{"hooks": {"PostToolUse": [{"matcher": null, "hooks": [@OK]}, {"hooks": [@P]}]}}"#,
        &["P"],
        &["bad-group"],
    ),
    (
        "a group without hooks is dropped",
        r#"{"hooks": {"PostToolUse": [@OK, {"hooks": [@P]}]}}"#,
        &["P"],
        &["bad-group"],
    ),
    (
        "a group that is no object is dropped",
        r#"{"hooks": {"Stop": ["x", {"hooks": [@P]}]}}"#,
        &["P"],
        &["bad-group"],
    ),
    (
        "an event that is no list is dropped",
        r#"{"hooks": {@PRE, "PostToolUse": {"hooks": [@P]}}}"#,
        &["OK"],
        &["event-not-a-list"],
    ),
    (
        "null for an event is harmless",
        r#"{"hooks": {@PRE, "PostToolUse": null}}"#,
        &["OK"],
        &[],
    ),
    (
        "null for a guarding event is harmless",
        r#"{"hooks": {"PreToolUse": null, "PostToolUse": [{"hooks": [@P]}]}}"#,
        &["P"],
        &[],
    ),
    (
        "no groups for a guarding event is harmless",
        r#"{"hooks": {"PreToolUse": [], "PostToolUse": [{"hooks": [@P]}]}}"#,
        &["P"],
        &[],
    ),
    (
        "a bad handler under PreToolUse skips the file",
        r#"{"hooks": {"PreToolUse": [{"hooks": [@ZAP, @OK]}], "PostToolUse": [{"hooks": [@P]}]}}"#,
        &[],
        &["bad-handler", "file-skipped"],
    ),
    (
        "text for PreToolUse skips the file",
        r#"{"hooks": {"PreToolUse": "x", "PostToolUse": [{"hooks": [@P]}]}}"#,
        &[],
        &["event-not-a-list", "file-skipped"],
    ),
    (
        "a bad matcher under PreToolUse skips the file",
        r#"{"hooks": {"PreToolUse": [{"matcher": 5, "hooks": []}], "Stop": [{"hooks": [@P]}]}}"#,
        &[],
        &["bad-group", "file-skipped"],
    ),
    (
        "a bad handler under PermissionRequest skips the file",
        r#"{"hooks": {"PermissionRequest": [{"hooks": [@ZAP]}], "PostToolUse": [{"hooks": [@P]}]}}"#,
        &[],
        &["bad-handler", "file-skipped"],
    ),
    (
        "a bad handler under PreSkillShellCommand skips the file",
        r#"{"hooks": {"PreSkillShellCommand": [{"hooks": [@ZAP]}], "PostToolUse": [{"hooks": [@P]}]}}"#,
        &[],
        &["bad-handler", "file-skipped"],
    ),
    (
        "permissions that are no object skip the file",
        r#"{"permissions": "oops", "hooks": {@PRE}}"#,
        &[],
        &["bad-setting"],
    ),
    (
        "a bad rule costs that rule, a gate that is lost is broken",
        r#"{"permissions": {"allow": ["bad(("], "deny": [5]}, "hooks": {@PRE}}"#,
        &["OK"],
        &["bad-rule"],
    ),
    (
        "unknown keys are tolerated",
        r#"{"x": 1, "hooks": {"PreToolUse": [{"matcher": "Bash", "foo": 1, "hooks": [{"type": "command", "command": "OK", "bar": 2}]}]}}"#,
        &["OK"],
        &[],
    ),
    (
        "an empty command is accepted",
        r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": ""}]}]}}"#,
        &[""],
        &[],
    ),
    (
        "of a repeated event the last counts",
        r#"{"hooks": {"PreToolUse": [{"hooks": [@P]}], @PRE}}"#,
        &["OK"],
        &[],
    ),
    (
        "an invalid regex stays and is announced",
        r#"{"hooks": {"PreToolUse": [{"matcher": "Bash(*gh*)", "hooks": [@OK]}]}}"#,
        &["OK"],
        &["invalid-matcher"],
    ),
    (
        "an invalid regex where matchers are ignored is nothing",
        r#"{"hooks": {"Stop": [{"matcher": "[", "hooks": [@OK]}]}}"#,
        &["OK"],
        &[],
    ),
];

fn written_out(settings: &str) -> String {
    let expand = |text: String, (short, long): &(&str, &str)| text.replace(short, long);
    SHORT.iter().fold(settings.to_owned(), expand)
}

#[test]
fn a_mistake_costs_what_it_costs_in_the_real_client() {
    for (rule, settings, in_force, broken) in DROPS {
        let sandbox = Sandbox::new();
        let user =
            r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "U"}]}]}}"#;
        sandbox.at_home(".claude/settings.json", user);
        let settings = written_out(settings);
        sandbox.in_project(".claude/settings.json", &settings);
        let loaded = sandbox.load(DialectId::Claude);
        let expected: Vec<_> = ["U"].iter().chain(*in_force).collect();
        assert_eq!(
            actions(&loaded).iter().collect::<Vec<_>>(),
            expected,
            "{rule}\n{settings}"
        );
        assert_eq!(
            codes(&loaded, Severity::Broken),
            *broken,
            "{rule}\n{settings}"
        );
    }
}
