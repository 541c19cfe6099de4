//! JSON as the measured hooks printed it.

use serde_json::Value;

/// Writes `value` as Python's `json.dumps` does by default: `, ` and `: ` between parts, and
/// everything beyond ASCII as `\uXXXX`.
#[must_use]
pub fn python_dumps(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => string(text, out),
        Value::Array(items) => {
            list('[', ']', items.iter(), out, write);
        }
        Value::Object(map) => list('{', '}', map.iter(), out, |(key, value), out| {
            string(key, out);
            out.push_str(": ");
            write(value, out);
        }),
        other => out.push_str(&other.to_string()),
    }
}

fn list<T>(
    open: char,
    close: char,
    items: impl Iterator<Item = T>,
    out: &mut String,
    mut each: impl FnMut(T, &mut String),
) {
    out.push(open);
    for (n, item) in items.enumerate() {
        if n > 0 {
            out.push_str(", ");
        }
        each(item, out);
    }
    out.push(close);
}

fn string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(c),
            _ => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_is_written_as_python_writes_it() {
        let value = json!({"a": [1, 2.5, null, true], "é\n": {"😀": "\u{7f}\"\\"}, "o": {}});
        assert_eq!(
            python_dumps(&value),
            r#"{"a": [1, 2.5, null, true], "\u00e9\n": {"\ud83d\ude00": "\u007f\"\\"}, "o": {}}"#
        );
    }
}
