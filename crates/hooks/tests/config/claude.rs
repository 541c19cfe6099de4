//! Claude Code settings, by the rules measured on 2.1.332.

use std::time::Duration;

use seamline_hooks::config::FileState;
use seamline_hooks::handler::{Action, Background, OnFailure};
use seamline_hooks::{DialectId, Layer, Severity};

use crate::sandbox::{Sandbox, actions, codes, placed};

const OK: &str = r#"{"type": "command", "command": "OK"}"#;
const P: &str = r#"{"type": "command", "command": "P"}"#;

#[test]
fn a_skipped_file_takes_its_environment_and_its_switch_along() {
    let sandbox = Sandbox::new();
    sandbox.in_project(
        ".claude/settings.json",
        r#"{"env": {"A": "1"}, "disableAllHooks": true, "hooks": {"PreToolUse": "x"}}"#,
    );
    sandbox.at_home(
        ".claude/settings.json",
        &format!(r#"{{"hooks": {{"Stop": [{{"hooks": [{OK}]}}]}}}}"#),
    );
    let loaded = sandbox.load(DialectId::Claude);
    assert!(loaded.env.is_empty());
    assert_eq!(loaded.handlers[0].disabled, None);
    let states: Vec<_> = loaded.files.iter().map(|file| file.state).collect();
    assert_eq!(
        states,
        [FileState::Loaded, FileState::Broken, FileState::Absent]
    );
    assert!(loaded.any_file() && loaded.configures_hooks());
}

#[test]
fn a_dropped_handler_leaves_the_environment() {
    let sandbox = Sandbox::new();
    sandbox.in_project(
        ".claude/settings.json",
        r#"{"env": {"A": "1", "N": 5}, "hooks": {"Stop": [{"hooks": [{"type": "zap"}]}]}}"#,
    );
    sandbox.at_home(".claude/settings.json", r#"{"env": {"A": "0", "B": "2"}}"#);
    let env = sandbox.load(DialectId::Claude).env;
    let pairs: Vec<_> = env.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    assert_eq!(pairs, [("A", "1"), ("B", "2"), ("N", "5")]);
}

#[test]
fn all_layers_are_read_from_the_farthest_to_the_nearest() {
    let sandbox = Sandbox::new();
    let one = |name: &str| {
        format!(
            r#"{{"hooks": {{"Stop": [{{"hooks": [{}]}}]}}}}"#,
            OK.replace("OK", name)
        )
    };
    sandbox.at_home(".claude/settings.json", &one("user"));
    sandbox.in_project(".claude/settings.json", &one("project"));
    sandbox.in_project(".claude/settings.local.json", &one("local"));
    let loaded = sandbox.load(DialectId::Claude);
    assert_eq!(actions(&loaded), ["user", "project", "local"]);
    let layers: Vec<_> = loaded.handlers.iter().map(|h| h.layer.clone()).collect();
    assert_eq!(layers, [Layer::User, Layer::Project, Layer::Local]);
    let key = format!(
        "{}:stop:0:0",
        sandbox.project().join(".claude/settings.json").display()
    );
    assert_eq!(loaded.handlers[1].key.0, key);
}

#[test]
fn the_nearest_layer_that_sets_disable_all_hooks_decides() {
    let hooks = format!(r#""hooks": {{"Stop": [{{"hooks": [{OK}]}}]}}"#);
    let table: &[(&str, &str, &str, Option<&str>)] = &[
        ("", "", "", None),
        ("true", "", "", Some("home")),
        ("true", "false", "", None),
        ("false", "true", "", Some("project")),
        ("", "true", "false", None),
        ("", "", "true", Some("settings.local.json")),
    ];
    for (user, project, local, by) in table {
        let sandbox = Sandbox::new();
        let setting = |value: &str| match value {
            "" => format!("{{{hooks}}}"),
            value => format!(r#"{{"disableAllHooks": {value}, {hooks}}}"#),
        };
        sandbox.at_home(".claude/settings.json", &setting(user));
        sandbox.in_project(".claude/settings.json", &setting(project));
        sandbox.in_project(".claude/settings.local.json", &setting(local));
        let loaded = sandbox.load(DialectId::Claude);
        assert_eq!(loaded.handlers.len(), 3);
        for handler in &loaded.handlers {
            let why = handler.disabled.as_deref();
            match by {
                None => assert_eq!(why, None),
                Some(file) => assert!(why.unwrap().contains(file), "{why:?}"),
            }
        }
        let loud = codes(&loaded, Severity::Warning).contains(&"project-disables-user-hooks");
        assert_eq!(loud, matches!(by, Some("project" | "settings.local.json")));
    }
}

#[test]
fn every_field_of_every_handler_type_is_read() {
    let sandbox = Sandbox::new();
    let text = r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
        {"type": "command", "command": "c", "args": ["a", "b"], "shell": "bash", "timeout": 0.5,
         "if": "Bash(git *)", "async": true, "once": true, "statusMessage": "s", "onFailure": "block"},
        {"type": "command", "command": "r", "asyncRewake": true, "onFailure": "continue"},
        {"type": "http", "url": "http://h/x", "headers": {"A": "Bearer $T"}, "allowedEnvVars": ["T"]},
        {"type": "mcp_tool", "server": "s", "tool": "t", "input": {"p": "${a.b}"}},
        {"type": "prompt", "prompt": "q $ARGUMENTS", "model": "m", "continueOnBlock": true},
        {"type": "agent", "prompt": "w", "model": "n", "timeout": 99999999}]}]}}"#;
    let loaded = sandbox.explicit(DialectId::Claude, "x.json", text);
    assert_eq!(loaded.diagnostics, []);
    let [command, rewake, http, mcp, prompt, agent] = loaded.handlers.as_slice() else {
        panic!("{:?}", actions(&loaded));
    };
    assert_eq!(command.matcher.as_deref(), Some("Bash"));
    assert_eq!(command.timeout, Some(Duration::from_millis(500)));
    assert_eq!(command.condition.as_deref(), Some("Bash(git *)"));
    assert_eq!(command.background, Background::Async);
    assert!(command.once);
    assert_eq!(command.status_message.as_deref(), Some("s"));
    assert_eq!(command.on_failure, OnFailure::Block);
    let Action::Command(action) = &command.action else {
        panic!()
    };
    assert_eq!(action.args.as_deref().unwrap(), ["a", "b"]);
    assert_eq!(action.shell.as_deref(), Some("bash"));
    assert_eq!(rewake.background, Background::AsyncRewake);
    assert!(
        matches!(&http.action, Action::Http { url, headers, allowed_env }
        if url == "http://h/x" && headers["A"] == "Bearer $T" && *allowed_env == ["T"])
    );
    assert!(
        matches!(&mcp.action, Action::McpTool { server, tool, input: Some(input) }
        if server == "s" && tool == "t" && input["p"] == "${a.b}")
    );
    assert!(
        matches!(&prompt.action, Action::Prompt { prompt, model, continue_on_block: true }
        if prompt == "q $ARGUMENTS" && model.as_deref() == Some("m"))
    );
    assert!(matches!(&agent.action, Action::Agent { prompt, model }
        if prompt == "w" && model.as_deref() == Some("n")));
    assert_eq!(agent.timeout, Some(Duration::from_secs(99_999_999)));
}

#[test]
fn every_wrong_field_is_named_with_its_place_and_value() {
    let sandbox = Sandbox::new();
    let text = "{\"hooks\": {\"Stop\": [\n {\"hooks\": [\n  {\"type\": \"command\", \"args\": \"x\",\n   \
                \"timeout\": -1, \"once\": 1}\n ]}\n]}}";
    let loaded = sandbox.explicit(DialectId::Claude, "x.json", text);
    assert_eq!(
        placed(&loaded),
        [
            "3:3 bad-handler",
            "3:31 bad-handler",
            "4:15 bad-handler",
            "4:27 bad-handler"
        ]
    );
    let messages: Vec<_> = loaded
        .diagnostics
        .iter()
        .map(|d| d.message.as_str())
        .collect();
    assert!(messages[0].contains("`command` is missing"));
    assert!(messages[1].contains("expected a list of strings, found string \"x\""));
    assert!(messages[2].contains("expected a number of seconds above 0, found integer `-1`"));
    let (start, end) = loaded.diagnostics[2].span.unwrap();
    assert_eq!(&text[start..end], "-1");
    let key = loaded.diagnostics[0].handler.as_ref().unwrap();
    assert!(key.0.ends_with("x.json:stop:0:0"), "{key}");
}

#[test]
fn handlers_groups_and_events_have_places_even_after_a_bom() {
    let sandbox = Sandbox::new();
    let text = "\u{feff}{\"hooks\": {\n  \"Stop\": [\n    {\"matcher\": \"é\", \"hooks\": [{\"type\": \
                \"command\", \"command\": \"c\", \"x\": 1}]}]}}";
    let loaded = sandbox.explicit(DialectId::Claude, "x.json", text);
    let handler = &loaded.handlers[0];
    assert_eq!((handler.position.line, handler.position.column), (3, 32));
    let places = &loaded.places[&handler.key];
    let at = |span: (usize, usize)| &text[span.0..span.1];
    assert_eq!(at(places.event), "\"Stop\"");
    assert!(at(places.group).starts_with("{\"matcher\""));
    assert_eq!(at(places.matcher.unwrap()), "\"é\"");
    assert_eq!(at(places.fields["command"]), "\"c\"");
    assert_eq!(places.unknown[0].0, "x");
    assert_eq!(at(places.unknown[0].1), "\"x\"");
    let event = loaded.position(&handler.source, places.event.0).unwrap();
    assert_eq!((event.line, event.column), (2, 3));
    assert_eq!(&*loaded.texts[&handler.source], text);
}

#[test]
fn names_that_are_near_are_suggested() {
    let sandbox = Sandbox::new();
    let text = r#"{"PreToolUse": [], "hooks": {"preToolUse": [], "Interrupt": [], "Stop": [{"hooks": [
        {"type": "Command", "command": "x"}]}]}}"#;
    let loaded = sandbox.explicit(DialectId::Claude, "x.json", text);
    let help: Vec<_> = loaded
        .diagnostics
        .iter()
        .map(|d| (d.code, d.help.clone().unwrap_or_default()))
        .collect();
    assert_eq!(
        help[0],
        ("unknown-event", "did you mean `PreToolUse`?".into())
    );
    assert_eq!(help[1], ("unknown-event", "it is an event of Codex".into()));
    assert_eq!(help[2], ("bad-handler", "did you mean `command`?".into()));
    assert_eq!(help[3].0, "event-outside-hooks");
}

#[test]
fn repeated_keys_are_announced_where_they_are_lost() {
    let sandbox = Sandbox::new();
    let text =
        format!(r#"{{"hooks": {{"Stop": [], "Stop": [{{"hooks": [{OK}], "hooks": [{P}]}}]}}}}"#);
    let loaded = sandbox.explicit(DialectId::Claude, "x.json", &text);
    assert_eq!(placed(&loaded), ["1:12 repeated-key", "1:34 repeated-key"]);
    assert_eq!(actions(&loaded), ["P"]);
}

#[test]
fn an_explicit_file_that_is_missing_or_toml_is_broken() {
    let sandbox = Sandbox::new();
    let mut roots = sandbox.roots();
    roots.explicit = Some(sandbox.project().join("nowhere.json"));
    let loaded = seamline_hooks::config::load(DialectId::Claude, &roots);
    assert_eq!(codes(&loaded, Severity::Broken), ["unreadable-file"]);
    let loaded = sandbox.explicit(DialectId::Claude, "x.toml", "");
    assert_eq!(codes(&loaded, Severity::Broken), ["not-json"]);
}
