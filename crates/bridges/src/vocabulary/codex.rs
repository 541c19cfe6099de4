//! Codex's words: one shell, one patch tool, everything else by its own name.

use std::path::Path;

use seamline_harness::json::Json;
use seamline_harness::tools::Outcome;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::{Spoken, is_of_a_server};

pub(super) fn speak(name: &str, arguments: &Json, cwd: &Path) -> Spoken {
    let command = |name: &str, command: String| Spoken {
        name: name.to_owned(),
        input: Json::from(json!({ "command": command })),
    };
    let view = arguments.value();
    match name {
        "Bash" => command("Bash", text(view, "command").to_owned()),
        "Write" => command("apply_patch", add_file(view, cwd)),
        "Edit" => command("apply_patch", update_file(view, cwd)),
        _ => Spoken {
            name: spoken_name(name),
            input: arguments.clone(),
        },
    }
}

/// Hyphens in the name of a server's tool become `_`: Codex has no others (measured).
fn spoken_name(name: &str) -> String {
    if is_of_a_server(name) {
        name.replace('-', "_")
    } else {
        name.to_owned()
    }
}

pub(super) fn hear(name: &str, arguments: &Json, rewritten: &RawValue) -> Result<Json, String> {
    let rewritten =
        Json::parse(rewritten.get()).map_err(|error| format!("the rewritten input: {error}"))?;
    let command = || {
        let command = rewritten.value().get("command").and_then(Value::as_str);
        command.ok_or("hook returned updatedInput without string field `command`".to_owned())
    };
    match name {
        "Bash" => Ok(with(arguments, "command", command()?)),
        "Write" | "Edit" => {
            command()?;
            Err(format!(
                "a hook rewrote the patch of this {name} call, which cannot be applied"
            ))
        }
        _ => Ok(rewritten),
    }
}

pub(super) fn response(name: &str, outcome: &Outcome) -> Json {
    let content = || json!(outcome.content().to_text());
    let value = match (&outcome.result, name) {
        (Ok(success), "Bash") => {
            let view = success.value.value();
            json!(format!("{}{}", text(view, "stdout"), text(view, "stderr")))
        }
        (Ok(_), "Write" | "Edit") => json!(format!(
            "Exit code: 0\nOutput:\n{}",
            outcome.content().to_text()
        )),
        (Ok(success), _) => return success.value.clone(),
        (Err(_), _) => content(),
    };
    Json::from(value)
}

fn text<'a>(view: &'a Value, key: &str) -> &'a str {
    view.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn with(arguments: &Json, key: &str, value: &str) -> Json {
    let mut object: Map<String, Value> = arguments.value().as_object().cloned().unwrap_or_default();
    object.insert(key.to_owned(), json!(value));
    Json::from(Value::Object(object))
}

/// The path as a patch names it: relative to the current folder where it lies below.
fn path(view: &Value, cwd: &Path) -> String {
    let path = text(view, "file_path");
    let relative = Path::new(path).strip_prefix(cwd).ok();
    relative.map_or_else(
        || path.to_owned(),
        |path| path.to_string_lossy().into_owned(),
    )
}

fn prefixed(sign: char, text: &str) -> String {
    text.lines().map(|line| format!("{sign}{line}\n")).collect()
}

fn add_file(view: &Value, cwd: &Path) -> String {
    let lines = prefixed('+', text(view, "content"));
    format!(
        "*** Begin Patch\n*** Add File: {}\n{lines}*** End Patch\n",
        path(view, cwd)
    )
}

fn update_file(view: &Value, cwd: &Path) -> String {
    let (old, new) = (text(view, "old_string"), text(view, "new_string"));
    let (path, old, new) = (path(view, cwd), prefixed('-', old), prefixed('+', new));
    format!("*** Begin Patch\n*** Update File: {path}\n@@\n{old}{new}*** End Patch\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    fn args(value: Value) -> Json {
        Json::from(value)
    }

    #[test]
    fn a_shell_call_keeps_only_its_command() {
        let spoken = speak(
            "Bash",
            &args(json!({"command": "ls", "timeout": 5})),
            Path::new("/p"),
        );
        assert_eq!(
            (spoken.name.as_str(), spoken.input.text()),
            ("Bash", r#"{"command":"ls"}"#)
        );
    }

    /// Measured: `my-srv` is `mcp__my_srv__…` in payloads, so no matcher with a hyphen fits it.
    #[test]
    fn a_tool_of_a_server_has_no_hyphens() {
        let name = |name| speak(name, &args(json!({})), Path::new("/")).name;
        assert_eq!(name("mcp__my-srv__get-page"), "mcp__my_srv__get_page");
        assert_eq!(name("my-tool"), "my-tool");
    }

    #[test]
    fn edits_are_patches_with_paths_below_the_current_folder() {
        let write = args(json!({"file_path": "/p/a.txt", "content": "x\ny\n"}));
        let spoken = speak("Write", &write, Path::new("/p"));
        assert_eq!(spoken.name, "apply_patch");
        assert_eq!(
            spoken.input.value()["command"],
            "*** Begin Patch\n*** Add File: a.txt\n+x\n+y\n*** End Patch\n"
        );
        let edit = args(json!({"file_path": "/q/b", "old_string": "1", "new_string": "2"}));
        let patch = speak("Edit", &edit, Path::new("/p")).input.value()["command"].clone();
        assert_eq!(
            patch,
            "*** Begin Patch\n*** Update File: /q/b\n@@\n-1\n+2\n*** End Patch\n"
        );
    }

    #[test]
    fn a_rewritten_command_keeps_the_rest_of_the_call() {
        let call = args(json!({"command": "rm x", "timeout": 5}));
        let heard = hear("Bash", &call, &raw(r#"{"command":"ls","extra":1}"#)).unwrap();
        assert_eq!(heard.value(), &json!({"command": "ls", "timeout": 5}));
    }

    #[test]
    fn a_rewrite_that_cannot_be_applied_is_refused_and_never_dropped() {
        let call = args(json!({"command": "x"}));
        assert!(
            hear("Bash", &call, &raw("\"echo\""))
                .unwrap_err()
                .contains("command")
        );
        assert!(hear("Bash", &call, &raw(r#"{"command":1}"#)).is_err());
        assert!(hear("Write", &call, &raw(r#"{"command":"*** Begin Patch"}"#)).is_err());
        assert!(hear("get_goal", &call, &raw(r#"{"x":1}"#)).is_ok());
    }
}
