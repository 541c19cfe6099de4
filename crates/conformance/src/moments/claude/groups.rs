//! The payloads of a case, firing by firing.

use serde_json::{Map, Value};

use crate::case::Received;

/// One firing, as the payloads show it.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The recorders that read it, in start order.
    pub hooks: Vec<String>,
    /// What they read, placeholders not filled in.
    pub payload: Map<String, Value>,
}

impl Group {
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.payload.get(key)?.as_str()
    }

    pub(super) fn event(&self) -> &str {
        self.text("hook_event_name").unwrap_or("")
    }
}

/// Puts the payloads of one firing together.
///
/// Hooks of one firing read the same text. The same text may be read again by a later firing of
/// the same event, except where it names a tool call: then it is one firing, even when another
/// call's payload came between.
#[must_use]
pub fn groups(received: &[Received]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for one in received {
        let id = one.stdin.get("tool_use_id").and_then(Value::as_str);
        let names_call = id.is_some_and(|id| !id.starts_with('$'));
        let back = if names_call {
            since_turn_start(&groups)
        } else {
            1
        };
        let same = groups.iter_mut().rev().take(back).find(|group| {
            group.payload == one.stdin && (names_call || !group.hooks.contains(&one.hook))
        });
        match same {
            Some(group) => group.hooks.push(one.hook.clone()),
            None => groups.push(Group {
                hooks: vec![one.hook.clone()],
                payload: one.stdin.clone(),
            }),
        }
    }
    groups
}

/// How many groups there are since a session or a turn began or ended.
fn since_turn_start(groups: &[Group]) -> usize {
    const EDGES: [&str; 4] = ["SessionStart", "SessionEnd", "UserPromptSubmit", "Stop"];
    groups
        .iter()
        .rev()
        .take_while(|group| !EDGES.contains(&group.event()))
        .count()
}
