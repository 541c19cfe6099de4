//! Permission rules of settings, which a run does not apply yet: it says so, file by file.

use seamline_hooks::DialectId;
use serde_json::Value;

use crate::places::Places;
use crate::render::count;
use crate::setup::Setup;

/// One sentence for each settings file whose `deny` or `ask` rules would have held a call back.
/// Rules that allow are not named: without them a run only asks more often.
pub(super) fn rules<'a>(
    setup: &'a Setup,
    places: &'a Places,
) -> impl Iterator<Item = String> + use<'a> {
    let claude = setup.loaded.dialect == DialectId::Claude;
    let texts = setup.loaded.texts.iter().filter(move |_| claude);
    texts.filter_map(|(path, text)| Some(sentence(&places.show(path), &held_back(text)?)))
}

/// How many rules deny and ask. A file that is not JSON is reported elsewhere.
fn held_back(text: &str) -> Option<[usize; 2]> {
    let settings: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()?;
    let permissions = settings.get("permissions")?;
    let rules = ["deny", "ask"].map(|list| {
        let list = permissions.get(list).and_then(Value::as_array);
        list.map_or(0, Vec::len)
    });
    (rules != [0, 0]).then_some(rules)
}

fn sentence(file: &str, [deny, ask]: &[usize; 2]) -> String {
    let rules = count(*deny + *ask, "rule", "");
    format!(
        "{rules} of `permissions` in {file} ({deny} deny, {ask} ask): not applied yet, use a hook"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rules_that_hold_back_are_counted() {
        for (text, rules) in [
            ("{}", None),
            (r#"{"permissions":{"allow":["Bash"]}}"#, None),
            (r#"{"permissions":{"deny":[]}}"#, None),
            (r#"{"permissions":{"deny":["Bash","Read"]}}"#, Some([2, 0])),
            (
                "\u{feff}{\"permissions\":{\"ask\":[\"Bash\"]}}",
                Some([0, 1]),
            ),
            (r#"{"permissions":3}"#, None),
            ("{", None),
        ] {
            assert_eq!(held_back(text), rules, "{text}");
        }
    }
}
