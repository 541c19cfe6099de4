//! The points of a session and of its turns.

use agent_hooks::AgentContextBuilder;
use seamline_seams::{BoxError, Next, Reply, Scope};
use serde_json::{Value, json};

use super::{AgentHooks, NAME, source};
use crate::agent::{
    AgentHandle, Display, DisplayEvent, Prompt, PromptDecision, PromptEvent, RequestEvent,
    RequestPolicy, RequestSettings, SessionEndEvent, SessionStartContribution, SessionStartEvent,
};
use crate::model::{Block, Message};
use crate::session::Session;

impl AgentHooks {
    pub(super) fn install_lifecycle(&self, scope: &Scope, agent: &AgentHandle) {
        let seams = agent.seams();
        let (hooks, tools) = (self.clone(), agent.tools().clone());
        let _registered = seams.session_start.on(scope, NAME, move |event| {
            let (hooks, tools) = (hooks.clone(), tools.clone());
            async move {
                let mut names: Vec<String> =
                    tools.specs().into_iter().map(|tool| tool.name).collect();
                names.sort();
                hooks.on_start(event, names).await
            }
        });
        let hooks = self.clone();
        let _registered = seams.prompt.on(scope, NAME, move |event, next| {
            let hooks = hooks.clone();
            async move { hooks.on_prompt(event, next).await }
        });
        let (hooks, session) = (self.clone(), agent.session().clone());
        let _registered = seams.request.on(scope, NAME, move |event, next| {
            let (hooks, session) = (hooks.clone(), session.clone());
            async move { hooks.on_request(event, next, &session).await }
        });
        let hooks = self.clone();
        let _registered = seams.display.on(scope, NAME, move |event, next| {
            let hooks = hooks.clone();
            async move { hooks.on_display(event, next).await }
        });
        let hooks = self.clone();
        let _registered = seams.session_end.on(scope, NAME, move |event| {
            let hooks = hooks.clone();
            async move { hooks.on_end(event).await }
        });
    }

    async fn on_start(
        &self,
        event: SessionStartEvent,
        tools: Vec<String>,
    ) -> SessionStartContribution {
        self.begin(&event.facts.session.to_string()).await;
        let emitted = self.emit(|build| build.agent_startup(tools)).await;
        self.state().refused = emitted.blocked();
        SessionStartContribution::default()
    }

    async fn on_prompt(
        &self,
        event: PromptEvent,
        next: Next<Prompt>,
    ) -> Result<Reply<PromptDecision>, BoxError> {
        let refused = self.state().refused.clone();
        if let Some(reason) = refused {
            return Ok(self.block(reason));
        }
        let content = Value::String(event.content.to_text());
        let emitted = self.emit(|build| build.input(content, "user")).await;
        if let Some(reason) = emitted.blocked() {
            return Ok(self.block(reason));
        }
        let reply = next.run().await?;
        let changed = emitted
            .context
            .get("input")
            .and_then(|input| input.get("content"));
        let changed = changed.filter(|_| emitted.transforms()).map(text_of);
        Ok(reply.map(|said| match (said, changed) {
            (PromptDecision::Enter { content: None }, Some(text)) => PromptDecision::Enter {
                content: Some(text.into()),
            },
            (said, _) => said,
        }))
    }

    fn block(&self, reason: String) -> Reply<PromptDecision> {
        self.state().blocked = true;
        let by = source();
        Reply::new(PromptDecision::Block { reason, by })
    }

    async fn on_request(
        &self,
        event: RequestEvent,
        next: Next<RequestPolicy>,
        session: &Session,
    ) -> Result<Reply<RequestSettings>, BoxError> {
        let model = event.settings.model.clone();
        let messages = session
            .history()
            .iter()
            .map(|message| shown(message))
            .collect();
        let ask = |build: &mut AgentContextBuilder| build.pre_model_call(&model, messages);
        let emitted = self.emit(ask).await;
        let reply = next.run().await?;
        let refused = match emitted.transforms() {
            true => Some(
                "what a model is shown is the session's log: it cannot be changed here".to_owned(),
            ),
            false => emitted.blocked(),
        };
        Ok(match refused {
            Some(reason) => reply.with_halt(self.halt(reason)),
            None => reply,
        })
    }

    /// Only what ends a step without calls is the turn's output; it is judged as a whole.
    async fn on_display(
        &self,
        event: DisplayEvent,
        next: Next<Display>,
    ) -> Result<Reply<String>, BoxError> {
        if self.state().calls_tools {
            return Ok(next.run().await?);
        }
        self.state().held.push(event.text.clone());
        if !event.last {
            return Ok(Reply::new(String::new()));
        }
        let whole = std::mem::take(&mut self.state().held).join("\n");
        let emitted = self
            .emit(|build| build.output(Value::String(whole.clone())))
            .await;
        if let Some(reason) = emitted.blocked() {
            return Ok(Reply::new(String::new()).with_halt(self.halt(reason)));
        }
        let output = emitted
            .context
            .get("output")
            .and_then(|output| output.get("content"));
        let shown = output
            .filter(|_| emitted.transforms())
            .map_or(whole, text_of);
        Ok(Reply::new(shown))
    }

    async fn on_end(&self, _: SessionEndEvent) -> Vec<seamline_seams::Notice> {
        let reason = if self.state().blocked {
            "error"
        } else {
            "completed"
        };
        self.emit(|build| build.agent_shutdown(reason)).await;
        Vec::new()
    }
}

pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// A message as contexts show it.
fn shown(message: &Message) -> Value {
    match message {
        Message::User { content, .. } => json!({"role": "user", "content": content.to_text()}),
        Message::Context { text, .. } => json!({"role": "user", "content": text}),
        Message::ToolResult {
            content, call_id, ..
        } => {
            json!({"role": "tool", "tool_call_id": call_id, "content": content.to_text()})
        }
        Message::Assistant { blocks } => {
            let (mut texts, mut calls) = (Vec::new(), Vec::new());
            for block in blocks {
                match block {
                    Block::Text { text } => texts.push(text.as_str()),
                    Block::ToolCall {
                        id,
                        name,
                        arguments,
                    } => calls.push(json!({"id": id, "name": name, "args": arguments.value()})),
                    Block::Reasoning { .. } | Block::Provider { .. } => {}
                }
            }
            let mut message = json!({"role": "assistant", "content": texts.join("\n")});
            if !calls.is_empty()
                && let Some(message) = message.as_object_mut()
            {
                message.insert("tool_calls".to_owned(), calls.into());
            }
            message
        }
    }
}
