//! Facts of requests to the model.

use serde::Serialize;

use super::{Event, Facts};
use crate::dialect::DialectId;

/// A request is about to be made.
#[derive(Debug, Clone)]
pub struct PreModelRequest<'a> {
    /// What is asked.
    pub request: ModelRequest<'a>,
}

/// A request was answered or failed.
#[derive(Debug, Clone)]
pub struct PostModelRequest<'a> {
    /// What was asked.
    pub request: ModelRequest<'a>,
    /// What it cost, where the provider said; or what went wrong.
    pub outcome: Result<Option<TokenUsage>, &'a str>,
}

/// A request to the model.
#[derive(Debug, Clone)]
pub struct ModelRequest<'a> {
    /// Its own id, the same each time it is made again.
    pub id: &'a str,
    /// How many times it was made, this one included.
    pub attempt: u32,
    /// The model it goes to.
    pub model: &'a str,
}

/// What a request cost, in tokens. The keys and their order are measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct TokenUsage {
    /// Of the request, cached ones included.
    pub input_tokens: u64,
    /// Of these, read from the provider's cache.
    pub cached_input_tokens: u64,
    /// Of these, written to it.
    pub cache_write_input_tokens: u64,
    /// Of the answer.
    pub output_tokens: u64,
    /// Of these, for reasoning.
    pub reasoning_output_tokens: u64,
    /// All together.
    pub total_tokens: u64,
}

impl ModelRequest<'_> {
    /// We compact nothing, so that every request asks for the next step.
    fn facts(&self, facts: &mut Facts) {
        facts.set("kind", "sampling");
        facts.set("request_id", self.id);
        facts.set("attempt_number", self.attempt);
        facts.set("model", self.model);
    }
}

impl Event for PreModelRequest<'_> {
    const NAME: &'static str = "PreModelRequest";

    fn facts(&self, _: DialectId, facts: &mut Facts) {
        self.request.facts(facts);
    }
}

impl Event for PostModelRequest<'_> {
    const NAME: &'static str = "PostModelRequest";

    fn facts(&self, _: DialectId, facts: &mut Facts) {
        self.request.facts(facts);
        match &self.outcome {
            Ok(usage) => {
                facts.set("status", "completed");
                facts.set_some("token_usage", *usage);
            }
            Err(error) => {
                facts.set("status", "failed");
                facts.set("error", error);
            }
        }
    }
}
