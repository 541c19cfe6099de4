//! Receiving one answer of the model.

use futures_util::StreamExt;

use super::event::AgentEvent;
use super::seams::AgentSeams;
use crate::model::{Chunk, ChunkStream, ModelError, Signal, StopReason, Usage};
use crate::session::event::ReceivedBlock;

/// What came in.
#[derive(Debug, Default)]
pub(super) struct Received {
    pub(super) blocks: Vec<ReceivedBlock>,
    pub(super) usage: Option<Usage>,
    /// Why the model stopped; `None` when we stopped listening.
    pub(super) stop: Option<StopReason>,
}

/// Listens until the answer ends, fails, or `signal` is cancelled.
pub(super) async fn receive(
    mut stream: ChunkStream,
    signal: &Signal,
    seams: &AgentSeams,
) -> Result<Received, ModelError> {
    let mut received = Received::default();
    loop {
        let chunk = match signal.run_until_cancelled(stream.next()).await {
            None => return Ok(received),
            // A model may end at once when it sees the signal; what came before it stands.
            Some(None | Some(Err(_))) if signal.is_cancelled() => return Ok(received),
            Some(None) => return Err(cut_short()),
            Some(Some(chunk)) => chunk?,
        };
        if let Chunk::Text(text) = &chunk
            && seams.display.is_empty()
        {
            seams
                .events
                .notify(&AgentEvent::TextDelta { text: text.clone() });
        }
        if received.take(chunk) {
            return Ok(received);
        }
    }
}

fn cut_short() -> ModelError {
    ModelError {
        status: None,
        kind: "stream_error".to_owned(),
        message: "the model's answer ended before it was complete".to_owned(),
    }
}

impl Received {
    /// Takes in a chunk; says whether it was the last one.
    fn take(&mut self, chunk: Chunk) -> bool {
        match chunk {
            Chunk::Text(more) => self.text(more),
            Chunk::Reasoning(more) => self.reasoning(more),
            Chunk::Provider(data) => self.blocks.push(ReceivedBlock::Provider { data }),
            Chunk::ToolCall {
                id,
                name,
                arguments,
            } => {
                self.blocks.push(ReceivedBlock::ToolCall {
                    id,
                    name,
                    arguments,
                });
            }
            Chunk::Usage(usage) => self.usage = Some(usage),
            Chunk::End(stop) => {
                self.stop = Some(stop);
                self.finish();
                return true;
            }
        }
        false
    }

    fn text(&mut self, more: String) {
        match self.blocks.last_mut() {
            Some(ReceivedBlock::Text { text }) => text.push_str(&more),
            _ => self.blocks.push(ReceivedBlock::Text { text: more }),
        }
    }

    fn reasoning(&mut self, more: String) {
        match self.blocks.last_mut() {
            Some(ReceivedBlock::Reasoning { text }) => text.push_str(&more),
            _ => self.blocks.push(ReceivedBlock::Reasoning { text: more }),
        }
    }

    fn finish(&mut self) {
        self.blocks.retain(|block| match block {
            ReceivedBlock::Text { text } | ReceivedBlock::Reasoning { text } => !text.is_empty(),
            _ => true,
        });
        if self.stop == Some(StopReason::MaxTokens) {
            self.drop_calls();
        }
    }

    /// Leaves all but the calls.
    pub(super) fn drop_calls(&mut self) {
        self.blocks
            .retain(|block| !matches!(block, ReceivedBlock::ToolCall { .. }));
    }

    /// The texts, in order.
    pub(super) fn texts(&self) -> Vec<&str> {
        self.blocks.iter().filter_map(text_of).collect()
    }
}

fn text_of(block: &ReceivedBlock) -> Option<&str> {
    match block {
        ReceivedBlock::Text { text } => Some(text),
        _ => None,
    }
}
