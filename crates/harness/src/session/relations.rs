//! Which event may follow which.
//!
//! The rules are checked when an event is appended and again when a log is loaded, so a log that
//! loads is one our own loop could have written:
//!
//! * one turn is open at a time and turns count up by one; steps count up by one inside a turn;
//! * everything but session events, notices and extensions happens inside a turn;
//! * a call names a call of the open step's message; a result answers a call once; it needs the
//!   `tool/call` line, unless it says the call was never started;
//! * nothing comes between a started call and its result that the model would see;
//! * a nested call names the running call that made it, and has its result before that one has;
//! * a step and a turn end with every call answered. `deferred` leaves exactly one open, and the
//!   next turn may take that one up.

use std::sync::Arc;

use super::event::{
    AssistantMessage, Event, Extension, KINDS, ReceivedBlock, Step, ToolCall, ToolResult, TurnEnd,
    TurnEndReason, is_extension,
};
use crate::tools::code;

/// A call of an assistant message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenCall {
    pub(crate) id: Arc<str>,
    pub(crate) name: Arc<str>,
    /// The model's argument text.
    pub(crate) arguments: Arc<str>,
    /// Whether its `tool/call` is in the log.
    pub(crate) started: bool,
}

#[derive(Debug, Clone)]
struct OpenTurn {
    turn: u32,
    /// The last step that was opened.
    step: u32,
    step_open: bool,
    /// The last step that has its assistant message, 0 for none.
    spoken: u32,
}

/// What the log says so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Relations {
    last_turn: u32,
    open: Option<OpenTurn>,
    /// Calls without a result, in model order; outside a turn, the deferred one.
    calls: Vec<OpenCall>,
    /// Nested calls without a result, in the order they were made.
    nested: Vec<NestedCall>,
}

/// A call that another call's body made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NestedCall {
    pub(crate) id: Arc<str>,
    pub(crate) parent: Arc<str>,
}

type Checked = Result<(), String>;

fn require(condition: bool, message: impl FnOnce() -> String) -> Checked {
    if condition { Ok(()) } else { Err(message()) }
}

impl Relations {
    /// The number of the open turn.
    pub(crate) fn open_turn(&self) -> Option<u32> {
        self.open.as_ref().map(|open| open.turn)
    }

    /// The open step, if a step is open.
    pub(crate) fn open_step(&self) -> Option<Step> {
        let open = self.open.as_ref().filter(|open| open.step_open)?;
        Some(Step {
            turn: open.turn,
            step: open.step,
        })
    }

    /// The last turn that was opened, 0 before the first.
    pub(crate) fn last_turn(&self) -> u32 {
        self.last_turn
    }

    /// Calls without a result.
    pub(crate) fn calls(&self) -> &[OpenCall] {
        &self.calls
    }

    /// Nested calls without a result.
    pub(crate) fn nested(&self) -> &[NestedCall] {
        &self.nested
    }

    /// The call a former turn deferred, while it has not been started again.
    pub(crate) fn waiting_deferred(&self) -> Option<&OpenCall> {
        let spoke = self.open.as_ref().is_some_and(|open| open.spoken > 0);
        self.calls.first().filter(|call| !spoke && !call.started)
    }

    /// Checks an event and takes it in. An error leaves everything as it was.
    pub(crate) fn advance(&mut self, event: &Event) -> Checked {
        match event {
            Event::TurnStart(start) => self.turn_start(start.turn),
            Event::TurnEnd(end) => self.turn_end(end),
            Event::StepStart(start) => self.step_start(start.0),
            Event::StepEnd(end) => self.step_end(end.0),
            Event::AssistantMessage(message) => self.assistant(message),
            Event::ToolCall(call) => match &call.parent {
                None => self.call(call),
                Some(parent) => self.nested_call(call, parent),
            },
            Event::ToolResult(result) => match &result.parent {
                None => self.result(result),
                Some(parent) => self.nested_result(result, parent),
            },
            Event::UserMessage(message) => self.between_calls(message.turn),
            Event::PromptBlocked(blocked) => self.between_calls(blocked.turn),
            Event::ContextMessage(context) => self.between_calls(context.turn),
            Event::SteeringMessage(steering) => self.between_calls(steering.turn),
            Event::RequestHeader(header) => self.in_step(Step {
                turn: header.turn,
                step: header.step,
            }),
            Event::Notice(notice) => self.names_open_turn(notice.turn),
            Event::Extension(extension) => self.extension(extension),
            Event::SessionStart(_) | Event::SessionEnd(_) => {
                require(self.open.is_none(), || "a turn is open".to_owned())
            }
            Event::SessionTitle(_) => Ok(()),
            Event::Ignorable(later) => unknown(&later.kind),
        }
    }

    fn turn(&self, turn: u32) -> Result<&OpenTurn, String> {
        match &self.open {
            Some(open) if open.turn == turn => Ok(open),
            Some(open) => Err(format!("turn {} is open, not turn {turn}", open.turn)),
            None => Err(format!("turn {turn} is not open")),
        }
    }

    fn in_step(&self, at: Step) -> Checked {
        let open = self.turn(at.turn)?;
        require(open.step_open && open.step == at.step, || {
            format!("step {} of turn {} is not open", at.step, at.turn)
        })
    }

    fn between_calls(&self, turn: u32) -> Checked {
        self.turn(turn)?;
        match self.calls.iter().find(|call| call.started) {
            Some(call) => Err(format!("the call {} has no result yet", call.id)),
            None => Ok(()),
        }
    }

    fn names_open_turn(&self, turn: Option<u32>) -> Checked {
        turn.map_or(Ok(()), |turn| self.turn(turn).map(|_| ()))
    }

    fn extension(&self, extension: &Extension) -> Checked {
        require(is_extension(&extension.kind), || {
            "its name needs a namespace of its own, as in \"hook/result\"".to_owned()
        })?;
        self.names_open_turn(extension.turn)
    }

    fn turn_start(&mut self, turn: u32) -> Checked {
        if let Some(open) = &self.open {
            return Err(format!("turn {} is still open", open.turn));
        }
        let next = self.last_turn + 1;
        require(turn == next, || {
            format!("the next turn is {next}, not {turn}")
        })?;
        self.last_turn = turn;
        self.open = Some(OpenTurn {
            turn,
            step: 0,
            step_open: false,
            spoken: 0,
        });
        Ok(())
    }

    fn turn_end(&mut self, end: &TurnEnd) -> Checked {
        let open = self.turn(end.turn)?;
        require(!open.step_open, || {
            format!("step {} is still open", open.step)
        })?;
        match (&end.reason, self.calls.as_slice()) {
            (TurnEndReason::Deferred { call_id, .. }, [call]) if *call.id == **call_id => {}
            (TurnEndReason::Deferred { call_id, .. }, _) => {
                return Err(format!("{call_id} is not the one call left open"));
            }
            (_, []) => {}
            (_, [call, ..]) => return Err(format!("the call {} has no result", call.id)),
        }
        self.open = None;
        Ok(())
    }

    fn step_start(&mut self, at: Step) -> Checked {
        let open = self.turn(at.turn)?;
        require(!open.step_open, || {
            format!("step {} is still open", open.step)
        })?;
        let next = open.step + 1;
        require(at.step == next, || {
            format!("the next step is {next}, not {}", at.step)
        })?;
        if let Some(open) = &mut self.open {
            open.step = at.step;
            open.step_open = true;
        }
        Ok(())
    }

    fn step_end(&mut self, at: Step) -> Checked {
        self.in_step(at)?;
        match self.calls.as_slice() {
            [] | [OpenCall { started: false, .. }] => {}
            calls => {
                let names: Vec<&str> = calls.iter().map(|call| &*call.id).collect();
                return Err(format!("calls without a result: {}", names.join(", ")));
            }
        }
        if let Some(open) = &mut self.open {
            open.step_open = false;
        }
        Ok(())
    }

    fn assistant(&mut self, message: &AssistantMessage) -> Checked {
        self.in_step(Step {
            turn: message.turn,
            step: message.step,
        })?;
        let spoken = self
            .open
            .as_ref()
            .is_some_and(|open| open.spoken == open.step);
        require(!spoken, || "the step already has its message".to_owned())?;
        require(self.calls.is_empty(), || {
            "a deferred call is still open".to_owned()
        })?;
        self.calls = received_calls(&message.blocks);
        if let Some(open) = &mut self.open {
            open.spoken = message.step;
        }
        Ok(())
    }

    fn call(&mut self, call: &ToolCall) -> Checked {
        self.in_step(Step {
            turn: call.turn,
            step: call.step,
        })?;
        let open = self
            .calls
            .iter_mut()
            .find(|open| *open.id == *call.call_id && !open.started)
            .ok_or_else(|| format!("no call {} waits to be started", call.call_id))?;
        require(*open.name == *call.name, || {
            format!("the model called {}", open.name)
        })?;
        open.started = true;
        Ok(())
    }

    fn result(&mut self, result: &ToolResult) -> Checked {
        self.in_step(Step {
            turn: result.turn,
            step: result.step,
        })?;
        let never = result
            .error
            .as_ref()
            .is_some_and(|e| e.code == code::TOOL_NOT_STARTED);
        let position = self
            .calls
            .iter()
            .position(|open| *open.id == *result.call_id && open.started != never)
            .ok_or_else(|| format!("no call {} waits for this result", result.call_id))?;
        self.no_nested_of(&result.call_id)?;
        self.calls.remove(position);
        Ok(())
    }

    fn nested_call(&mut self, call: &ToolCall, parent: &str) -> Checked {
        self.in_step(Step {
            turn: call.turn,
            step: call.step,
        })?;
        let outer = |open: &OpenCall| open.started && *open.id == *parent;
        let runs =
            self.calls.iter().any(outer) || self.nested.iter().any(|open| *open.id == *parent);
        require(runs, || {
            format!("no call {parent} runs that could have made it")
        })?;
        let known = self.nested.iter().any(|open| *open.id == *call.call_id);
        require(!known, || {
            format!("the nested call {} has no result yet", call.call_id)
        })?;
        self.nested.push(NestedCall {
            id: call.call_id.as_str().into(),
            parent: parent.into(),
        });
        Ok(())
    }

    fn nested_result(&mut self, result: &ToolResult, parent: &str) -> Checked {
        self.in_step(Step {
            turn: result.turn,
            step: result.step,
        })?;
        let waits = |open: &NestedCall| *open.id == *result.call_id && *open.parent == *parent;
        let position = self.nested.iter().position(waits).ok_or_else(|| {
            format!(
                "no nested call {} of {parent} waits for this result",
                result.call_id
            )
        })?;
        self.no_nested_of(&result.call_id)?;
        self.nested.remove(position);
        Ok(())
    }

    fn no_nested_of(&self, outer: &str) -> Checked {
        match self.nested.iter().find(|open| *open.parent == *outer) {
            Some(open) => Err(format!("its nested call {} has no result yet", open.id)),
            None => Ok(()),
        }
    }
}

/// An event of ours that we know is never one to be passed over.
fn unknown(kind: &str) -> Checked {
    require(!KINDS.contains(&kind) && !is_extension(kind), || {
        "only an unknown event in a namespace of ours can be passed over".to_owned()
    })
}

/// The calls of a message, in order.
pub(crate) fn received_calls(blocks: &[ReceivedBlock]) -> Vec<OpenCall> {
    let call = |block: &ReceivedBlock| match block {
        ReceivedBlock::Text { .. }
        | ReceivedBlock::Reasoning { .. }
        | ReceivedBlock::Provider { .. } => None,
        ReceivedBlock::ToolCall {
            id,
            name,
            arguments,
        } => Some(OpenCall {
            id: id.as_str().into(),
            name: name.as_str().into(),
            arguments: arguments.as_str().into(),
            started: false,
        }),
    };
    blocks.iter().filter_map(call).collect()
}
