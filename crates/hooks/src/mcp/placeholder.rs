//! `${path.to.field}` in the input of a handler.
//!
//! Every text inside the input may hold placeholders; keys may not. A path goes through objects of
//! the payload, part by part. A text that is one placeholder and nothing else becomes the value
//! itself; inside a longer text a value is written out. `${}` and `$x` are no placeholders
//! (measured). That lists are not looked into is our choice: what the clients do is not known.

use serde_json::Value;

use crate::dialect::Placeholders;

/// Fills every placeholder of `template` from `payload`.
///
/// # Errors
/// Where a placeholder names nothing and the dialect does not pass over that: the words name it.
pub(crate) fn fill(
    template: &Value,
    payload: &Value,
    style: Placeholders,
) -> Result<Value, String> {
    match template {
        Value::String(text) => fill_text(text, payload, style),
        Value::Array(items) => items
            .iter()
            .map(|item| fill(item, payload, style))
            .collect::<Result<_, _>>()
            .map(Value::Array),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| Ok((key.clone(), fill(value, payload, style)?)))
            .collect::<Result<_, String>>()
            .map(Value::Object),
        other => Ok(other.clone()),
    }
}

fn fill_text(text: &str, payload: &Value, style: Placeholders) -> Result<Value, String> {
    let (mut filled, mut rest) = (String::new(), text);
    while let Some((before, path, after)) = next(rest) {
        let found = find(payload, path);
        if found.is_none() && style == Placeholders::Strict {
            return Err(format!(
                "hook input placeholder `${{{path}}}` was not found"
            ));
        }
        let alone = filled.is_empty() && before.is_empty() && after.is_empty();
        if let (true, Some(value)) = (alone, found) {
            return Ok(whole(value, style));
        }
        filled.push_str(before);
        filled.push_str(&found.map(written).unwrap_or_default());
        rest = after;
    }
    filled.push_str(rest);
    Ok(Value::String(filled))
}

/// The text before the first placeholder, its path, and the text behind it.
fn next(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    loop {
        let start = from + text.get(from..)?.find("${")?;
        let inside = text.get(start + 2..)?;
        let end = inside.find('}')?;
        let (path, after) = (inside.get(..end)?, inside.get(end + 1..)?);
        if !path.is_empty() {
            return Some((text.get(..start)?, path, after));
        }
        from = start + 3;
    }
}

fn find<'v>(payload: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.')
        .try_fold(payload, |value, part| value.as_object()?.get(part))
}

/// A value in place of a text.
fn whole(value: &Value, style: Placeholders) -> Value {
    match (value, style) {
        (Value::Object(_) | Value::Array(_), Placeholders::Lenient) => {
            Value::String(value.to_string())
        }
        _ => value.clone(),
    }
}

/// A value inside a text: a text as it is, anything else as JSON.
fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const BOTH: [Placeholders; 2] = [Placeholders::Strict, Placeholders::Lenient];

    fn payload() -> Value {
        json!({
            "tool_name": "Bash", "tool_input": {"command": "echo hi", "n": 5, "deep": {"x": null}},
            "list": [1], "": 9, "yes": true,
        })
    }

    /// What both clients were seen to do: values keep their type when they stand alone, become text
    /// inside a text, and what only looks like a placeholder stays.
    #[test]
    fn values_stand_alone_or_become_text() {
        for (template, filled) in [
            (json!("${tool_input.command}"), json!("echo hi")),
            (json!("x ${tool_name} y"), json!("x Bash y")),
            (json!("${tool_input.n}"), json!(5)),
            (json!("${tool_input.n}!"), json!("5!")),
            (json!("${yes}${yes}"), json!("truetrue")),
            (json!("${tool_input.deep.x}"), json!(null)),
            (json!("<${tool_input.deep}>"), json!("<{\"x\":null}>")),
            (json!("${}"), json!("${}")),
            (json!("${}${tool_name}"), json!("${}Bash")),
            (json!("$x $tool_name"), json!("$x $tool_name")),
            (json!("${tool_name"), json!("${tool_name")),
            (json!("$${tool_name}}"), json!("$Bash}")),
            (json!(7), json!(7)),
            (
                json!({"a": ["${tool_input.n}", {"b": "${yes}"}], "${yes}": 1}),
                json!({"a": [5, {"b": true}], "${yes}": 1}),
            ),
        ] {
            for style in BOTH {
                assert_eq!(
                    fill(&template, &payload(), style),
                    Ok(filled.clone()),
                    "{template}"
                );
            }
        }
    }

    /// Codex keeps an object that stands alone; Claude Code writes it out (both measured).
    #[test]
    fn an_object_alone_is_kept_or_written_out() {
        let template = json!("${tool_input.deep}");
        let kept = fill(&template, &payload(), Placeholders::Strict);
        assert_eq!(kept, Ok(json!({"x": null})));
        let written = fill(&template, &payload(), Placeholders::Lenient);
        assert_eq!(written, Ok(json!("{\"x\":null}")));
    }

    /// A placeholder that names nothing makes a Codex run fail, with the client's words, and is
    /// empty under Claude Code (both measured).
    #[test]
    fn what_is_not_there_fails_or_is_empty() {
        for path in [
            "nope",
            "tool_input.nope",
            "tool_name.x",
            "list.0",
            "a..b",
            ".",
        ] {
            let template = json!(format!("<${{{path}}}>"));
            let words = format!("hook input placeholder `${{{path}}}` was not found");
            assert_eq!(
                fill(&template, &payload(), Placeholders::Strict),
                Err(words)
            );
            let empty = fill(&template, &payload(), Placeholders::Lenient);
            assert_eq!(empty, Ok(json!("<>")));
        }
        let alone = fill(&json!("${nope}"), &payload(), Placeholders::Lenient);
        assert_eq!(alone, Ok(json!("")));
    }

    proptest! {
        /// No text makes filling go wrong: without `${` it comes back as it was, and what a payload
        /// says is never read as a placeholder again.
        #[test]
        fn a_payload_is_never_a_template(text in "[a-z${}. ]{0,24}", said in "[a-z${}. ]{0,24}") {
            let payload = json!({ "f": said.clone() });
            for style in BOTH {
                let filled = fill(&json!(text.clone()), &payload, style);
                if !text.contains("${") {
                    prop_assert_eq!(filled, Ok(json!(text.clone())));
                }
                let outer = fill(&json!("<${f}>"), &payload, style);
                prop_assert_eq!(outer, Ok(json!(format!("<{said}>"))));
            }
        }
    }
}
