//! Puts a payload together from what the command line says.
//!
//! It starts from a file or from sample values, then `--set` overrides single keys. A payload from
//! a file that nothing is set in goes to the hooks byte for byte.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::{fs, io};

use seamline_hooks::config::nearest;
use seamline_hooks::payload::{Payload, Sample, sample};
use seamline_hooks::{Diagnostic, DialectId, EventRow, Position, Severity};
use serde_json::{Map, Value};

use crate::error::CliError;
use crate::render::caret::Pointer;

/// Where a payload comes from.
#[derive(Debug, Default)]
pub(crate) struct Ingredients {
    /// `--tool`.
    pub tool: Option<String>,
    /// `--input`, checked.
    pub input: Option<Value>,
    /// The text of `--payload`.
    pub text: Option<String>,
    /// `--set key=value`, in order.
    pub set: Vec<Assignment>,
    /// What payloads call the model, where it is configured.
    pub model: BTreeMap<DialectId, String>,
}

/// One `--set`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Assignment {
    key: String,
    value: Value,
}

impl std::str::FromStr for Assignment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
        if key.is_empty() || key.split('.').any(str::is_empty) {
            return Err("the key before `=` is empty".into());
        }
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
        Ok(Self {
            key: key.to_owned(),
            value,
        })
    }
}

/// Reads the text of `--payload`; `-` is standard input.
pub(crate) fn read(path: &Path) -> Result<String, CliError> {
    let read = if path.as_os_str() == "-" {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        fs::read_to_string(path)
    };
    read.map_err(|source| CliError::Unreadable {
        path: path.to_owned(),
        source,
    })
}

/// Parses JSON, and points at the place where it stops being JSON.
pub(crate) fn parse(origin: &str, text: &str) -> Result<Value, CliError> {
    serde_json::from_str(text).map_err(|error| not_json(origin, text, &error))
}

fn not_json(origin: &str, text: &str, error: &serde_json::Error) -> CliError {
    let before: usize = text
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1))
        .map(str::len)
        .sum();
    // A column counts bytes, and a caret must not stand inside a character.
    let byte = (before + error.column().saturating_sub(1)).min(text.len());
    let offset = (0..=byte)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0);
    let at = Position::of(text, offset);
    let finding = Diagnostic {
        severity: Severity::Broken,
        code: "not-json",
        file: PathBuf::from(origin),
        position: Some(at),
        span: Some((offset, offset)),
        handler: None,
        message: format!("{origin} is not JSON: {error}"),
        help: None,
        managed: false,
    };
    CliError::BadJson(Box::new(Pointer::new(&finding, origin, Some(text))))
}

impl Ingredients {
    /// The payload of `row` for a project.
    pub(crate) fn payload(
        &self,
        dialect: DialectId,
        row: &EventRow,
        project: &Path,
    ) -> Result<Payload, CliError> {
        let object = match &self.text {
            Some(text) if self.set.is_empty() => return exact(text, row),
            Some(text) => {
                let mut object = object(text, row)?;
                self.set
                    .iter()
                    .try_for_each(|assignment| assignment.apply(&mut object))?;
                object
            }
            None => self.sample(dialect, row, project)?,
        };
        Ok(Payload::from_object(object))
    }

    fn sample(
        &self,
        dialect: DialectId,
        row: &EventRow,
        project: &Path,
    ) -> Result<Map<String, Value>, CliError> {
        if let (Some(tool), false) = (&self.tool, row.keys.contains(&"tool_name")) {
            return Err(CliError::usage(format!(
                "--tool {tool}: {} is not about a tool",
                row.name
            )));
        }
        let about = Sample {
            cwd: project.display().to_string(),
            tool: self.tool.clone(),
            input: self.input.clone(),
            model: self.model.get(&dialect).cloned(),
        };
        // Whole keys find their place in the event's order; the rest changes what is there then.
        let (whole, inner): (Vec<_>, Vec<_>) = self.set.iter().partition(|a| !a.key.contains('.'));
        let whole: Vec<(String, Value)> = whole
            .iter()
            .map(|a| (a.key.clone(), a.value.clone()))
            .collect();
        let mut object = sample(dialect, row, &about, &whole);
        inner
            .iter()
            .try_for_each(|assignment| assignment.apply(&mut object))?;
        Ok(object)
    }
}

fn exact(text: &str, row: &EventRow) -> Result<Payload, CliError> {
    object(text, row)?;
    let text = text.trim_end();
    Payload::from_text(text).map_err(|error| not_json("--payload", text, &error))
}

/// A payload file as an object of the right event.
fn object(text: &str, row: &EventRow) -> Result<Map<String, Value>, CliError> {
    let Value::Object(object) = parse("--payload", text)? else {
        return Err(CliError::usage("--payload: expected one JSON object"));
    };
    match object.get("hook_event_name") {
        Some(Value::String(name)) if name != row.name => Err(CliError::usage(format!(
            "--payload is of the event {name}, but {} is to be fired",
            row.name
        ))),
        _ => Ok(object),
    }
}

impl Assignment {
    /// Sets the key; a dot leads into an object.
    fn apply(&self, object: &mut Map<String, Value>) -> Result<(), CliError> {
        let mut target = object;
        let mut path = self.key.split('.').peekable();
        while let Some(part) = path.next() {
            if path.peek().is_none() {
                target.insert(part.to_owned(), self.value.clone());
                break;
            }
            let inner = target
                .entry(part.to_owned())
                .or_insert_with(|| Value::Object(Map::new()));
            target = inner.as_object_mut().ok_or_else(|| {
                CliError::usage(format!("--set {}: `{part}` is not an object", self.key))
            })?;
        }
        Ok(())
    }
}

/// What is odd about a tool's name, if anything: a protocol that has no tool of that name.
pub(crate) fn odd_tool(dialect: DialectId, payload: &Payload) -> Option<String> {
    let table = dialect.table();
    let name = payload.str_field("tool_name")?;
    if name.starts_with("mcp__") || table.tools.contains(&name) {
        return None;
    }
    let alias = table
        .aliases
        .iter()
        .find(|(_, names)| names.contains(&name))
        .map(|(name, _)| *name);
    let meant = alias.or_else(|| nearest(name, table.tools.iter().copied()));
    let meant = meant
        .map(|meant| format!("; did you mean {meant}?"))
        .unwrap_or_default();
    Some(format!("{dialect} knows no tool {name}{meant}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn set(text: &str) -> Assignment {
        text.parse().unwrap()
    }

    #[test]
    fn values_are_json_where_they_can_be() {
        for (text, value) in [
            ("a=1", json!(1)),
            ("a=true", json!(true)),
            ("a={\"b\":[]}", json!({ "b": [] })),
            ("a=\"1\"", json!("1")),
            ("a=two words", json!("two words")),
            ("a=", json!("")),
            ("a=x=y", json!("x=y")),
        ] {
            assert_eq!(set(text).value, value, "{text}");
        }
        for text in ["", "a", "=1", "a..b=1"] {
            assert!(text.parse::<Assignment>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_dot_leads_into_an_object() {
        let mut object = Map::new();
        for text in ["a.b.c=1", "a.b.d=2", "e=3"] {
            set(text).apply(&mut object).unwrap();
        }
        assert_eq!(
            Value::Object(object.clone()),
            json!({ "a": { "b": { "c": 1, "d": 2 } }, "e": 3 })
        );
        let error = set("e.f=1").apply(&mut object).unwrap_err();
        assert!(
            error.to_string().contains("`e` is not an object"),
            "{error}"
        );
    }

    #[test]
    fn setting_a_key_keeps_its_place() {
        let row = DialectId::Codex.table().event("Stop").unwrap();
        let with = Ingredients {
            set: vec![set("stop_hook_active=true")],
            ..Ingredients::default()
        };
        let project = Path::new("/p");
        let plain = Ingredients::default()
            .payload(DialectId::Codex, row, project)
            .unwrap();
        let changed = with.payload(DialectId::Codex, row, project).unwrap();
        assert_eq!(
            changed.text(),
            plain
                .text()
                .replace("\"stop_hook_active\":false", "\"stop_hook_active\":true")
        );
    }

    #[test]
    fn a_payload_file_goes_through_byte_for_byte() {
        let row = DialectId::Claude.table().event("Stop").unwrap();
        let text = "{\"n\": 1.50, \"n2\":1e3,\n \"hook_event_name\":\"Stop\"}";
        let from = Ingredients {
            text: Some(format!("{text}\n")),
            ..Ingredients::default()
        };
        let payload = from
            .payload(DialectId::Claude, row, Path::new("/p"))
            .unwrap();
        assert_eq!(payload.text(), text);
    }

    #[test]
    fn a_payload_of_another_event_is_refused() {
        let row = DialectId::Claude.table().event("Stop").unwrap();
        let text = Some("{\"hook_event_name\":\"PreToolUse\"}".to_owned());
        let from = Ingredients {
            text,
            ..Ingredients::default()
        };
        let error = from
            .payload(DialectId::Claude, row, Path::new("/p"))
            .unwrap_err();
        assert_eq!(error.exit_code(), crate::exit::USAGE);
        assert!(error.to_string().contains("PreToolUse"), "{error}");
    }
}
