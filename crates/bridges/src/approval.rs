//! Approval: PermissionRequest.
//!
//! The hooks are one voice among those who may answer; the first answer wins, a person's too.

use std::sync::Arc;

use seamline_harness::json::Json;
use seamline_harness::tools::{ApprovalAnswer, ApprovalQuestion, ToolSeams};
use seamline_hooks::Outcome;
use seamline_hooks::outcome::Decision;
use seamline_hooks::payload::PermissionRequest;
use seamline_seams::{Scope, Signal};

use crate::bridge::Bridge;
use crate::fallback;
use crate::fire::payload_of;
use crate::vocabulary::{hear, speak};

impl Bridge {
    pub(crate) fn register_approval(self: &Arc<Self>, scope: &Scope, tools: &ToolSeams) {
        let bridge = Arc::clone(self);
        tools
            .approval
            .on(scope, self.name(), move |question, signal| {
                let bridge = Arc::clone(&bridge);
                async move { bridge.on_question(question, signal).await }
            });
    }

    async fn on_question(
        &self,
        question: ApprovalQuestion,
        signal: Signal,
    ) -> Option<ApprovalAnswer> {
        let for_a_person = question.by.is_some() && !self.options.attended;
        if for_a_person || !self.listens("PermissionRequest") {
            return None;
        }
        let proposal = &question.proposal;
        let facts = proposal.facts();
        let build = |dialect| {
            let spoken = speak(dialect, proposal.name(), proposal.arguments(), &facts.cwd);
            let event = PermissionRequest {
                tool_name: &spoken.name,
                tool_input: spoken.input.raw(),
                mcp_server: None,
            };
            payload_of(dialect, facts, &event)
        };
        let fired = self.fire("PermissionRequest", facts, &signal, &build).await;
        self.answer(&question, &fired.outcome)
    }

    fn answer(&self, question: &ApprovalQuestion, outcome: &Outcome) -> Option<ApprovalAnswer> {
        let deny = |message: Option<String>| {
            Some(ApprovalAnswer::Deny {
                message,
                interrupt: outcome.extras.interrupt,
            })
        };
        match outcome.decision {
            Decision::Deny => deny(Some(
                outcome
                    .reason
                    .clone()
                    .unwrap_or_else(|| fallback::TOOL.to_owned()),
            )),
            Decision::Allow => {
                let proposal = &question.proposal;
                let amended: Option<Result<Json, String>> = outcome.input.as_ref().map(|input| {
                    hear(
                        self.dialect(),
                        proposal.name(),
                        proposal.arguments(),
                        &input.value,
                    )
                });
                match amended.transpose() {
                    Ok(arguments) => Some(ApprovalAnswer::AllowOnce {
                        arguments,
                        updates: Vec::new(),
                    }),
                    Err(why) => deny(Some(why)),
                }
            }
            _ => None,
        }
    }
}
