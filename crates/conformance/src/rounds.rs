//! In which order the recorders of a round finish.
//!
//! The plan says for each event and each recorder, run by run, which round it is and who comes
//! before. It is written once; a recorder finds its place by counting its own runs of the event.

use serde_json::{Map, Value, json};

use crate::case::{ClaudeCase, Order};
use crate::moments::{Group, groups};

/// The plan of a case: `{"runner": pid, EVENT: {NAME: [{"round": n, "order": [NAME…]}…]}}`.
#[must_use]
pub fn plan(case: &ClaudeCase) -> Value {
    let mut orders = case.order.clone();
    let mut plan = Map::new();
    for (round, group) in groups(&case.payload_in).iter().enumerate() {
        let order = take(&mut orders, group).or_else(|| first_decision(case, group));
        let place = json!({"round": round, "order": order.unwrap_or_default()});
        for name in &group.hooks {
            let event = plan.entry(group.event()).or_insert_with(|| json!({}));
            let runs = event.as_object_mut().map(|names| names.entry(name));
            if let Some(Value::Array(runs)) = runs.map(|runs| runs.or_insert_with(|| json!([]))) {
                runs.push(place.clone());
            }
        }
    }
    plan.insert("runner".to_owned(), json!(std::process::id()));
    Value::Object(plan)
}

/// The measured order of a round of several hooks.
fn take(orders: &mut Vec<Order>, group: &Group) -> Option<Vec<String>> {
    let fits = |order: &Order| {
        order.event == group.event()
            && group.hooks.len() > 1
            && order
                .completed
                .iter()
                .all(|name| group.hooks.contains(name))
    };
    let place = orders.iter().position(fits)?;
    Some(orders.remove(place).completed)
}

/// The first decision about a permission ends the other hooks, so who it was is all that is known
/// of the order of a round: those whose outcome shows come first.
fn first_decision(case: &ClaudeCase, group: &Group) -> Option<Vec<String>> {
    if group.event() != "PermissionRequest" || group.hooks.len() < 2 {
        return None;
    }
    let runs = case.expect.runs.iter().flatten();
    let runs = runs.filter(|run| run.event == group.event());
    let first: Vec<String> = runs.filter_map(|run| run.hook.clone()).collect();
    let rest = group.hooks.iter().filter(|name| !first.contains(name));
    (!first.is_empty()).then(|| first.iter().chain(rest).cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(value: Value) -> ClaudeCase {
        serde_json::from_value(value).unwrap()
    }

    fn stop(n: u8) -> Value {
        json!({"hook_event_name": "Stop", "n": n})
    }

    #[test]
    fn each_run_of_a_recorder_finds_its_round() {
        let case = case(json!({
            "payload_in": [
                {"hook": "A", "stdin": stop(1)},
                {"hook": "A", "stdin": stop(2)}, {"hook": "B", "stdin": stop(2)},
            ],
            "order": [{"event": "Stop", "completed": ["B", "A"]}],
        }));
        let plan = plan(&case);
        let expected = json!([{"round": 0, "order": []}, {"round": 1, "order": ["B", "A"]}]);
        assert_eq!(plan["Stop"]["A"], expected);
        assert_eq!(
            plan["Stop"]["B"],
            json!([{"round": 1, "order": ["B", "A"]}])
        );
        assert_eq!(plan["runner"], json!(std::process::id()));
    }

    #[test]
    fn the_hook_that_decided_about_a_permission_is_first() {
        let ask = json!({"hook_event_name": "PermissionRequest"});
        let mut value = json!({
            "payload_in": [{"hook": "A", "stdin": ask}, {"hook": "B", "stdin": ask}],
            "expect": {"runs": [{"hook": "B", "event": "PermissionRequest",
                "status": "completed", "entries": []}]},
        });
        let order = |value: &Value| plan(&case(value.clone()))["PermissionRequest"]["A"].clone();
        assert_eq!(order(&value), json!([{"round": 0, "order": ["B", "A"]}]));
        value["expect"] = json!({});
        assert_eq!(order(&value), json!([{"round": 0, "order": []}]));
    }
}
