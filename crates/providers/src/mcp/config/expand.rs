//! `${VAR}` and `${VAR:-default}` in `.mcp.json`, as Claude Code documents them.

/// Replaces every variable. `$VAR` without braces, and braces around what is no name, stay.
///
/// # Errors
/// The name of a variable that is not set and has no default.
pub(super) fn expand(
    text: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<String, String> {
    let (mut expanded, mut rest) = (String::new(), text);
    while let Some((before, inside, after)) = next(rest) {
        expanded.push_str(before);
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        if is_name(name) {
            let value = variable(name).or_else(|| default.map(str::to_owned));
            expanded.push_str(&value.ok_or_else(|| name.to_owned())?);
        } else {
            expanded.push_str("${");
            expanded.push_str(inside);
            expanded.push('}');
        }
        rest = after;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

fn next(text: &str) -> Option<(&str, &str, &str)> {
    let (before, behind) = text.split_once("${")?;
    let (inside, after) = behind.split_once('}')?;
    Some((before, inside, after))
}

fn is_name(name: &str) -> bool {
    let first = |c: char| c.is_ascii_alphabetic() || c == '_';
    let other = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.starts_with(first) && name.chars().all(other)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn variable(name: &str) -> Option<String> {
        match name {
            "A" => Some("1".to_owned()),
            "EMPTY" => Some(String::new()),
            "SAYS" => Some("${A}".to_owned()),
            _ => None,
        }
    }

    /// The two documented forms, and nothing else.
    #[test]
    fn variables_and_defaults() {
        for (text, expanded) in [
            ("${A}/x${A}", "1/x1"),
            ("${NO:-d}", "d"),
            ("${NO:-}", ""),
            ("${A:-d}", "1"),
            ("${EMPTY:-d}", ""),
            ("${SAYS}", "${A}"),
            ("$A ${} ${1} ${a b} ${A", "$A ${} ${1} ${a b} ${A"),
        ] {
            assert_eq!(expand(text, &variable), Ok(expanded.to_owned()), "{text}");
        }
    }

    /// A variable that is needed and not set is named.
    #[test]
    fn what_is_not_set_is_named() {
        assert_eq!(expand("x ${A} ${NO}", &variable), Err("NO".to_owned()));
    }

    proptest! {
        /// A text without `${` is never changed, and a value is never read again.
        #[test]
        fn values_are_not_templates(text in "[a-zA-Z$}: -]{0,20}", value in "[A-Z${}:-]{0,20}") {
            prop_assert_eq!(expand(&text, &variable), Ok(text.clone()));
            let said = expand("<${X}>", &|_| Some(value.clone()));
            prop_assert_eq!(said, Ok(format!("<{value}>")));
        }
    }
}
