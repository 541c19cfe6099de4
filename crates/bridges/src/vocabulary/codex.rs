//! Codex's words: one shell, one patch tool, everything else by its own name.

use std::path::Path;

use seamline_harness::json::Json;
use seamline_harness::tools::Outcome;
use seamline_harness::tools::builtin::{Change, FileChange, Patch, PatchHunk};
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

pub(super) fn hear(
    name: &str,
    arguments: &Json,
    rewritten: &RawValue,
    cwd: &Path,
) -> Result<Json, String> {
    let rewritten =
        Json::parse(rewritten.get()).map_err(|error| format!("the rewritten input: {error}"))?;
    let command = || {
        let command = rewritten.value().get("command").and_then(Value::as_str);
        command.ok_or("hook returned updatedInput without string field `command`".to_owned())
    };
    if matches!(name, "Write" | "Edit")
        && rewritten.value() == speak(name, arguments, cwd).input.value()
    {
        return Ok(arguments.clone());
    }
    match name {
        "Bash" => Ok(with(arguments, "command", command()?)),
        "Write" => written(arguments, patch(command()?)?.changes(), cwd),
        "Edit" => edited(arguments, patch(command()?)?.changes(), cwd),
        "apply_patch" => {
            patch(command()?)?;
            Ok(with(arguments, "command", command()?))
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
        (Ok(_), "Write" | "Edit" | "apply_patch") => json!(format!(
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

fn patch(text: &str) -> Result<Patch, String> {
    text.parse()
        .map_err(|error| format!("a hook rewrote the patch into none: {error}"))
}

/// A Write whose patch was rewritten: it still has to write one file as a whole.
fn written(arguments: &Json, changes: &[FileChange], cwd: &Path) -> Result<Json, String> {
    match changes {
        [
            FileChange {
                path,
                change: Change::Add(content),
            },
        ] => {
            let content = same_end(text(arguments.value(), "content"), content);
            Ok(with(&at(arguments, path, cwd), "content", content))
        }
        _ => Err(unlike("Write", "adds one file")),
    }
}

/// An Edit whose patch was rewritten: it still has to replace one text in one file.
fn edited(arguments: &Json, changes: &[FileChange], cwd: &Path) -> Result<Json, String> {
    let unlike = || unlike("Edit", "replaces lines at one place of one file");
    let [
        FileChange {
            path,
            change:
                Change::Update {
                    move_to: None,
                    hunks,
                },
        },
    ] = changes
    else {
        return Err(unlike());
    };
    let [
        PatchHunk {
            places,
            old,
            new,
            at_end: false,
        },
    ] = &hunks[..]
    else {
        return Err(unlike());
    };
    if !places.is_empty() {
        return Err(unlike());
    }
    let lines = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect();
    let (old, new): (String, String) = (lines(old), lines(new));
    let view = arguments.value();
    let (old, new) = match (view.get("old_string"), view.get("new_string")) {
        (Some(Value::String(was)), _) if !was.ends_with('\n') => {
            let cut = |text: &'_ str| text.strip_suffix('\n').unwrap_or(text).to_owned();
            (cut(&old), cut(&new))
        }
        _ => (old, new),
    };
    let moved = at(arguments, path, cwd);
    Ok(with(&with(&moved, "old_string", &old), "new_string", &new))
}

fn unlike(tool: &str, does: &str) -> String {
    format!(
        "a hook rewrote the patch of this {tool} call, and what it says now is no {tool}: only a \
         patch that {does} is"
    )
}

/// The call, with the file that a patch names.
fn at(arguments: &Json, file: &str, cwd: &Path) -> Json {
    match file == path(arguments.value(), cwd) {
        true => arguments.clone(),
        false => with(arguments, "file_path", &cwd.join(file).to_string_lossy()),
    }
}

/// A patch has whole lines only: where the last line had no line break, it gets none.
fn same_end<'a>(was: &str, is: &'a str) -> &'a str {
    match was.is_empty() || was.ends_with('\n') {
        true => is,
        false => is.strip_suffix('\n').unwrap_or(is),
    }
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
        let heard = hear(
            "Bash",
            &call,
            &raw(r#"{"command":"ls","extra":1}"#),
            Path::new("/p"),
        )
        .unwrap();
        assert_eq!(heard.value(), &json!({"command": "ls", "timeout": 5}));
    }

    #[test]
    fn a_rewrite_that_cannot_be_applied_is_refused_and_never_dropped() {
        let call = args(json!({"command": "x"}));
        let refused = |name, rewritten| hear(name, &call, &raw(rewritten), Path::new("/p"));
        assert!(refused("Bash", "\"echo\"").unwrap_err().contains("command"));
        assert!(refused("Bash", r#"{"command":1}"#).is_err());
        for name in ["Write", "Edit", "apply_patch"] {
            let none = refused(name, r#"{"command":"*** Begin Patch"}"#).unwrap_err();
            assert!(none.contains("line 1 of the patch"), "{none}");
        }
        assert!(refused("get_goal", r#"{"x":1}"#).is_ok());
    }

    fn rewritten(name: &str, call: Value, patch: &[&str]) -> Result<Value, String> {
        let patch = format!("*** Begin Patch\n{}\n*** End Patch\n", patch.join("\n"));
        let input = json!({ "command": patch }).to_string();
        let heard = hear(name, &args(call), &raw(&input), Path::new("/p"))?;
        Ok(heard.value().clone())
    }

    /// A Write whose patch still adds one file is that Write, wherever the file is now.
    #[test]
    fn a_rewritten_write() {
        let call = |content: &str| json!({"file_path": "/p/a", "content": content});
        let write = |content: &str, patch: &[&str]| rewritten("Write", call(content), patch);
        assert_eq!(write("x\n", &["*** Add File: a", "+y"]), Ok(call("y\n")));
        assert_eq!(write("x", &["*** Add File: a", "+y"]), Ok(call("y")));
        let moved = json!({"file_path": "/p/b", "content": "y\n"});
        assert_eq!(write("x\n", &["*** Add File: b", "+y"]), Ok(moved));
        for other in [
            &["*** Delete File: a"][..],
            &["*** Update File: a", "@@", "-x", "+y"],
            &["*** Add File: a", "+y", "*** Add File: b", "+y"],
        ] {
            assert!(
                write("x\n", other).unwrap_err().contains("no Write"),
                "{other:?}"
            );
        }
    }

    /// An Edit whose patch still replaces lines at one place is that Edit.
    #[test]
    fn a_rewritten_edit() {
        let call = |old: &str, new: &str| json!({"file_path": "/p/a", "old_string": old, "new_string": new, "replace_all": true});
        let edit = |patch: &[&str]| rewritten("Edit", call("1", "2"), patch);
        let head = "*** Update File: a";
        assert_eq!(edit(&[head, "@@", "-1", "+3"]), Ok(call("1", "3")));
        assert_eq!(
            edit(&[head, "@@", " 0", "-1", "+3"]),
            Ok(call("0\n1", "0\n3"))
        );
        let whole = rewritten("Edit", call("1\n", "2\n"), &[head, "@@", "-1", "+3"]);
        assert_eq!(whole, Ok(call("1\n", "3\n")));
        for other in [
            &["*** Add File: a", "+3"][..],
            &[head, "*** Move to: b", "@@", "-1", "+3"],
            &[head, "@@", "-1", "+3", "@@", "-4", "+5"],
            &[head, "@@ f", "-1", "+3"],
        ] {
            assert!(edit(other).unwrap_err().contains("no Edit"), "{other:?}");
        }
    }

    /// A patch that says the same is the same call: rewriting nothing changes nothing.
    #[test]
    fn a_patch_and_back() {
        let calls = [
            ("Write", json!({"file_path": "/p/a", "content": "x\n\ny\n"})),
            ("Write", json!({"file_path": "/q/a", "content": "x"})),
            (
                "Edit",
                json!({"file_path": "/p/a", "old_string": "1", "new_string": "2\n3"}),
            ),
            (
                "Edit",
                json!({"file_path": "/p/a", "old_string": "1\n", "new_string": "2"}),
            ),
        ];
        for (name, call) in calls {
            let spoken = speak(name, &args(call.clone()), Path::new("/p"));
            let same = raw(spoken.input.text());
            let heard = hear(name, &args(call.clone()), &same, Path::new("/p")).unwrap();
            assert_eq!(heard.value(), &call);
        }
    }
}
