//! The conversation, derived from the log and from nothing else.

use std::sync::Arc;

use super::Entry;
use super::event::{Event, ReceivedBlock, ToolCall, ToolResult};
use crate::json::Json;
use crate::model::{Block, Message};

/// Folds events into messages, one at a time.
///
/// * Nested calls and their results never appear: the outer call's result speaks for them.
/// * User, steering and context messages and results appear in log order; blocked prompts,
///   notices and extensions never do.
/// * A call shows the arguments of its `tool/call`, not the model's own.
/// * A result stands behind the message that called, in call order, also when the call was
///   deferred and answered in a later turn.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    messages: Vec<Arc<Message>>,
    /// Where the last assistant message stands.
    last: usize,
    /// Its calls: block index, id, state.
    calls: Vec<CallSlot>,
}

#[derive(Debug, Clone)]
struct CallSlot {
    block: usize,
    id: String,
    started: bool,
    answered: bool,
}

impl History {
    /// The messages so far.
    pub(crate) fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }

    /// Folds a whole log.
    pub(crate) fn of(entries: &[Arc<Entry>]) -> Self {
        let mut history = Self::default();
        entries.iter().for_each(|entry| history.apply(&entry.event));
        history
    }

    /// Takes in one event that has passed the relations.
    pub(crate) fn apply(&mut self, event: &Event) {
        match event {
            Event::UserMessage(user) => self.push(Message::User {
                content: user.content.clone(),
                source: user.source.clone(),
            }),
            Event::SteeringMessage(steering) => self.push(Message::User {
                content: steering.content.clone(),
                source: steering.source.clone(),
            }),
            Event::ContextMessage(context) => self.push(Message::Context {
                text: context.text.clone(),
                source: context.source.clone(),
            }),
            Event::AssistantMessage(message) => self.assistant(&message.blocks),
            Event::ToolCall(call) if call.parent.is_none() => self.call(call),
            Event::ToolResult(result) if result.parent.is_none() => self.result(result),
            _ => {}
        }
    }

    fn push(&mut self, message: Message) {
        self.messages.push(Arc::new(message));
    }

    fn assistant(&mut self, blocks: &[ReceivedBlock]) {
        self.last = self.messages.len();
        self.calls = Vec::new();
        for (block, received) in blocks.iter().enumerate() {
            if let ReceivedBlock::ToolCall { id, .. } = received {
                let id = id.clone();
                self.calls.push(CallSlot {
                    block,
                    id,
                    started: false,
                    answered: false,
                });
            }
        }
        let blocks = blocks.iter().map(show).collect();
        self.push(Message::Assistant { blocks });
    }

    fn call(&mut self, call: &ToolCall) {
        let waits = |slot: &&mut CallSlot| slot.id == call.call_id && !slot.started;
        let Some(slot) = self.calls.iter_mut().find(waits) else {
            return;
        };
        slot.started = true;
        let Some(message) = self.messages.get_mut(self.last) else {
            return;
        };
        let Message::Assistant { blocks } = Arc::make_mut(message) else {
            return;
        };
        if let Some(Block::ToolCall { arguments, .. }) = blocks.get_mut(slot.block) {
            *arguments = call.arguments.clone();
        }
    }

    fn result(&mut self, result: &ToolResult) {
        let waits = |slot: &CallSlot| slot.id == result.call_id && !slot.answered;
        let Some(position) = self.calls.iter().position(waits) else {
            return;
        };
        let earlier = self
            .calls
            .iter()
            .take(position)
            .filter(|slot| slot.answered)
            .count();
        let at = (self.last + 1 + earlier).min(self.messages.len());
        if let Some(slot) = self.calls.get_mut(position) {
            slot.answered = true;
        }
        let message = Message::ToolResult {
            call_id: result.call_id.clone(),
            content: result.content.clone(),
            is_error: result.is_error,
        };
        self.messages.insert(at, Arc::new(message));
    }
}

fn show(block: &ReceivedBlock) -> Block {
    match block {
        ReceivedBlock::Text { text } => Block::Text { text: text.clone() },
        ReceivedBlock::Reasoning { text } => Block::Reasoning { text: text.clone() },
        ReceivedBlock::Provider { data } => Block::Provider { data: data.clone() },
        ReceivedBlock::ToolCall {
            id,
            name,
            arguments,
        } => Block::ToolCall {
            id: id.clone(),
            name: name.clone(),
            arguments: read_arguments(arguments),
        },
    }
}

/// The model's argument text as JSON: nothing at all means an empty object, and text that is not
/// JSON becomes a JSON string of itself, which no tool's schema accepts.
pub(crate) fn read_arguments(text: &str) -> Json {
    if text.trim().is_empty() {
        return Json::from_value(serde_json::json!({}));
    }
    Json::parse(text).unwrap_or_else(|_| Json::from_value(text.into()))
}
