//! Which known name someone meant.

/// The known name nearest to a written one, if one is near: the same letters in another case or
/// with other separators, or a few slips of the finger.
#[must_use]
pub fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let bare = letters(written);
    let allowed = (bare.len() / 4).clamp(1, 3);
    known
        .into_iter()
        .map(|name| (strsim::osa_distance(&bare, &letters(name)), name))
        .filter(|(distance, name)| *distance <= allowed && *distance < letters(name).len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// `; did you mean X?`, or nothing.
pub(crate) fn did_you_mean<'a>(
    written: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    nearest(written, known).map(|name| format!("did you mean `{name}`?"))
}

fn letters(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENTS: [&str; 5] = ["PreToolUse", "PostToolUse", "Stop", "SubagentStop", "Setup"];

    #[test]
    fn case_separators_and_slips_are_forgiven_and_strangers_are_not() {
        for (written, meant) in [
            ("preToolUse", Some("PreToolUse")),
            ("pre_tool_use", Some("PreToolUse")),
            ("PreToolsUse", Some("PreToolUse")),
            ("PostTooluse", Some("PostToolUse")),
            ("stop", Some("Stop")),
            ("Sotp", Some("Stop")),
            ("BeforeTool", None),
            ("Zed", None),
            ("", None),
        ] {
            assert_eq!(nearest(written, EVENTS), meant, "{written}");
        }
    }
}
