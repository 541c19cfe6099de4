//! Closing what a dead process left open.

use super::event::{ErrorInfo, Event, Step, StepEnd, ToolResult, TurnEnd, TurnEndReason};
use super::relations::{NestedCall, OpenCall, Relations};
use crate::content::Content;
use crate::tools::code;

const NOT_STARTED: &str = "Error: this tool call was not started, because the process ended \
    before it. Call the tool again if it is still needed.";
const OUTCOME_UNKNOWN: &str = "Error: the process ended while this tool call was running, so its \
    outcome is unknown. Call it again only if it just reads or may safely run twice; otherwise \
    look at what it changed first, or ask the user.";

/// The events that close the open turn for `reason`, in order; none when no turn is open.
///
/// Every unanswered call of the open step gets a result that tells the model what is known about
/// it. A call that had been deferred and was not yet taken up stays deferred.
pub(super) fn closing_events(relations: &Relations, mut reason: TurnEndReason) -> Vec<Event> {
    let Some(turn) = relations.open_turn() else {
        return Vec::new();
    };
    let step = relations.open_step();
    let mut events = Vec::new();
    if matches!(reason, TurnEndReason::Deferred { .. }) {
        // The call that was put off is the one that stays open.
    } else if let Some(call) = relations.waiting_deferred().or(left_open(relations)) {
        reason = TurnEndReason::Deferred {
            call_id: call.id.to_string(),
            reason: None,
            by: None,
        };
    } else if let Some(at) = step {
        let nested = relations.nested().iter().rev();
        events.extend(nested.map(|call| lost_nested(call, at)));
        events.extend(relations.calls().iter().map(|call| lost(call, at)));
    }
    events.extend(step.map(|at| Event::from(StepEnd(at))));
    events.push(TurnEnd { turn, reason }.into());
    events
}

/// The call that a closed step left open: a step ends so only when it was put off, and the turn was
/// about to end with it.
fn left_open(relations: &Relations) -> Option<&OpenCall> {
    match (relations.open_step(), relations.calls()) {
        (None, [call]) => Some(call),
        _ => None,
    }
}

/// Those made last first: a nested call may have made calls of its own.
fn lost_nested(call: &NestedCall, at: Step) -> Event {
    answer(
        &call.id,
        Some(&call.parent),
        at,
        (code::TOOL_OUTCOME_UNKNOWN, OUTCOME_UNKNOWN),
    )
}

fn lost(call: &OpenCall, at: Step) -> Event {
    let said = match call.started {
        true => (code::TOOL_OUTCOME_UNKNOWN, OUTCOME_UNKNOWN),
        false => (code::TOOL_NOT_STARTED, NOT_STARTED),
    };
    answer(&call.id, None, at, said)
}

fn answer(id: &str, parent: Option<&str>, at: Step, (code, text): (&str, &str)) -> Event {
    let error: ErrorInfo = code::info(code);
    Event::ToolResult(ToolResult {
        turn: at.turn,
        step: at.step,
        call_id: id.to_owned(),
        parent: parent.map(ToOwned::to_owned),
        content: Content::text(text),
        is_error: true,
        error: Some(error),
    })
}
