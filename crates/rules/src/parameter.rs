//! `Tool(parameter:value)`: one top-level field of the call's input.

use serde_json::Value;

use crate::answer::Verdict;
use crate::call::Call;
use crate::wildcard::Wildcard;

/// A field and the value it must have.
///
/// The value is compared with the field as it was sent: text as it is, numbers and booleans as
/// JSON spells them. `*` is any run of characters. A field that is absent, an object or a list
/// never matches, not even `*`. Documented for deny and ask rules; in an `if` nothing is
/// documented, and it is compared in the same way (our choice).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterPattern {
    name: String,
    value: String,
    pattern: Wildcard,
}

impl ParameterPattern {
    pub(crate) fn new(name: &str, value: &str) -> Self {
        let pattern = Wildcard::new(value);
        Self {
            name: name.to_owned(),
            value: value.to_owned(),
            pattern,
        }
    }

    /// The field's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The value as written, wildcards included.
    #[must_use]
    pub fn value(&self) -> &str {
        &self.value
    }

    pub(crate) fn verdict(&self, call: &Call<'_>) -> Verdict {
        let Self { name, value, .. } = self;
        let found = match call.input().get(name) {
            None => return Verdict::no(format!("the call has no `{name}`")),
            Some(Value::Array(_) | Value::Object(_)) => {
                return Verdict::no(format!("`{name}` is not a single value"));
            }
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        let fits = |found: &str| self.pattern.matches(found);
        // Documented: `Skill(skill:name)` matches any of a skill's names; those of a plugin's
        // skill are `plugin:name` and `name`.
        let short = found.rsplit_once(':').map(|(_, short)| short);
        let any_name = name == "skill" && short.is_some_and(fits);
        if fits(&found) || any_name {
            Verdict::yes(format!("`{name}` is `{found}`, which fits `{value}`"))
        } else {
            Verdict::no(format!("`{name}` is `{found}`"))
        }
    }
}
