//! The points of a tool call.

use seamline_seams::{BoxError, Next, Reply, Scope};
use serde_json::Value;

use super::lifecycle::text_of;
use super::{AgentHooks, Emitted, Judgement, NAME, source};
use crate::json::Json;
use crate::tools::{
    Ending, Post, PostDecision, PostEvent, Pre, PreDecision, Proposal, Propose, ProposeDecision,
    ToolSeams,
};

impl AgentHooks {
    pub(super) fn install_tools(&self, scope: &Scope, seams: &ToolSeams) {
        let hooks = self.clone();
        let _registered = seams.propose.on(scope, NAME, move |proposal, next| {
            let hooks = hooks.clone();
            async move { hooks.on_propose(proposal, next).await }
        });
        let hooks = self.clone();
        let _registered = seams.pre.on(scope, NAME, move |proposal, next| {
            let hooks = hooks.clone();
            async move { hooks.on_pre(&proposal, next).await }
        });
        let hooks = self.clone();
        let _registered = seams.post.on(scope, NAME, move |event, next| {
            let hooks = hooks.clone();
            async move { hooks.on_post(event, next).await }
        });
        let hooks = self.clone();
        let _registered = seams.result.on(scope, NAME, move |result| {
            hooks.state().calls.remove(&result.call.token());
        });
    }

    /// Asks where arguments may change; `tools.pre` answers from memory.
    async fn on_propose(
        &self,
        proposal: Proposal,
        next: Next<Propose>,
    ) -> Result<Reply<ProposeDecision>, BoxError> {
        if !proposal.is_valid() {
            return Ok(next.run().await?);
        }
        let emitted = self.ask(&proposal).await;
        let changed = emitted.arguments().filter(|_| emitted.transforms());
        let judged = changed.unwrap_or_else(|| proposal.arguments().value());
        let remembered = (judged.clone(), judge(&emitted));
        self.state().calls.insert(proposal.token(), remembered);
        let Some(changed) = changed else {
            return Ok(next.run().await?);
        };
        let arguments = Json::from_value(changed.clone());
        let reply = next.run_with(proposal.with_arguments(&arguments)).await?;
        Ok(reply.map(|decision| decision.after(arguments, source())))
    }

    async fn on_pre(
        &self,
        proposal: &Proposal,
        next: Next<Pre>,
    ) -> Result<Reply<PreDecision>, BoxError> {
        if !proposal.is_valid() {
            return Ok(next.run().await?);
        }
        let by = source();
        Ok(match self.judgement(proposal).await {
            Judgement::Proceed => next.run().await?,
            Judgement::Deny(reason) => Reply::new(PreDecision::Deny { reason, by }),
            Judgement::Ask(reason) => {
                let reason = Some(reason);
                let reply = next.run().await?;
                reply.map(|said| match said {
                    PreDecision::Allow { .. } => PreDecision::Ask { reason, by },
                    said => said,
                })
            }
        })
    }

    /// What was decided of just these arguments. Listeners further in may have changed them since
    /// they were judged; then they are judged again.
    async fn judgement(&self, proposal: &Proposal) -> Judgement {
        let remembered = self.state().calls.get(&proposal.token()).cloned();
        if let Some((judged, judgement)) = remembered
            && judged == *proposal.arguments().value()
        {
            return judgement;
        }
        let emitted = self.ask(proposal).await;
        if emitted.transforms() {
            let reason = "an interceptor would change arguments that others have rewritten";
            return Judgement::Deny(reason.to_owned());
        }
        let judgement = judge(&emitted);
        let remembered = (proposal.arguments().value().clone(), judgement.clone());
        self.state().calls.insert(proposal.token(), remembered);
        judgement
    }

    async fn ask(&self, proposal: &Proposal) -> Emitted {
        let arguments = proposal.arguments().value().clone();
        self.emit(|build| build.pre_tool_call(proposal.call_id(), proposal.name(), arguments))
            .await
    }

    async fn on_post(
        &self,
        event: PostEvent,
        next: Next<Post>,
    ) -> Result<Reply<PostDecision>, BoxError> {
        if event.ending != Ending::Ran {
            return Ok(next.run().await?);
        }
        let call = &event.call;
        let (value, is_error) = match &event.outcome.result {
            Ok(success) => (success.value.value().clone(), false),
            Err(failure) => (Value::String(failure.message.clone()), true),
        };
        let (id, name) = (call.call_id().to_owned(), call.name().to_owned());
        let args = call.arguments().value().clone();
        let emitted = self
            .emit(|build| build.post_tool_call(&id, &name, args, value, is_error))
            .await;
        if let Some(feedback) = emitted.blocked() {
            let keep_output = false;
            return Ok(Reply::new(PostDecision::Block {
                feedback,
                keep_output,
            }));
        }
        let reply = next.run().await?;
        let changed = emitted
            .context
            .get("tool_result")
            .and_then(|result| result.get("value"));
        let changed = changed.filter(|_| emitted.transforms()).cloned();
        Ok(reply.map(|said| match (said, changed) {
            (PostDecision::Accept, Some(value)) if is_error => {
                PostDecision::ReplaceContent(text_of(&value).into())
            }
            (PostDecision::Accept, Some(value)) => {
                PostDecision::ReplaceValue(Json::from_value(value))
            }
            (said, _) => said,
        }))
    }
}

impl Emitted {
    /// The arguments of the call after the fold.
    fn arguments(&self) -> Option<&Value> {
        self.context
            .get("tool_call")
            .and_then(|call| call.get("args"))
    }
}

fn judge(emitted: &Emitted) -> Judgement {
    let consulted = emitted.record.resolved_by.is_some();
    match emitted.blocked() {
        None => Judgement::Proceed,
        Some(reason) if emitted.record.verdict.is_liftable() && !consulted => {
            Judgement::Ask(reason)
        }
        Some(reason) => Judgement::Deny(reason),
    }
}
