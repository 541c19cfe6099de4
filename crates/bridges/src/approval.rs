//! Approval: PermissionRequest.
//!
//! The hooks are one voice among those who may answer; the first answer wins, a person's too. That
//! is Claude Code's way (measured: its hooks race the person). Codex asks its hooks first and the
//! person only when they have no answer: a host waits for [`Bridge::approval_settled`].

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use seamline_harness::json::Json;
use seamline_harness::permission::Update;
use seamline_harness::tools::{ApprovalAnswer, ApprovalQuestion, ToolSeams};
use seamline_hooks::Outcome;
use seamline_hooks::outcome::{By, Decision};
use seamline_hooks::payload::PermissionRequest;
use seamline_seams::{Notice, Scope, Signal, Token};
use tokio::sync::Notify;

use crate::bridge::Bridge;
use crate::fallback;
use crate::updates;
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
        let by_a_hook = question
            .by
            .as_ref()
            .is_some_and(|by| crate::bridge::is_one(&by.plugin));
        let for_a_person = by_a_hook && !self.options.attended;
        if for_a_person || !self.listens("PermissionRequest") {
            return None;
        }
        let proposal = &question.proposal;
        let _asking = self.asking.begin(proposal.token());
        let facts = proposal.facts();
        let build = |dialect| {
            let spoken = speak(dialect, proposal.name(), proposal.arguments(), &facts.cwd);
            let event = PermissionRequest {
                tool_name: &spoken.name,
                tool_input: spoken.input.raw(),
                mcp_server: None,
            };
            self.payload_of(dialect, facts, &event)
        };
        let fired = self.fire("PermissionRequest", facts, &signal, &build).await;
        self.answer(&question, &fired.outcome)
    }

    /// Returns when the PermissionRequest hooks of this call have ended, if any run. A host that
    /// lets hooks answer before a person waits for it first.
    pub async fn approval_settled(&self, call: Token) {
        // All who may answer are asked at once; the hooks are let in before they are looked for.
        tokio::task::yield_now().await;
        self.asking.ended(call).await;
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
                        &proposal.facts().cwd,
                    )
                });
                let updates = self.updates(outcome);
                match (amended.transpose(), updates) {
                    (Ok(arguments), Ok(updates)) => {
                        Some(ApprovalAnswer::AllowOnce { arguments, updates })
                    }
                    (Err(why), _) | (_, Err(why)) => deny(Some(why)),
                }
            }
            _ => None,
        }
    }

    /// What is to change for the rest of the session; an error is why the call must not run.
    fn updates(&self, outcome: &Outcome) -> Result<Vec<Update>, String> {
        let Some(By { value, by }) = &outcome.extras.permission_updates else {
            return Ok(Vec::new());
        };
        let updates = updates::read(value.get());
        for text in updates.left_out {
            let source = self.source(by);
            self.tell(Notice { source, text });
        }
        updates.refused.map_or(Ok(updates.carried_out), Err)
    }
}

/// The calls whose PermissionRequest hooks run at this moment.
#[derive(Debug, Default)]
pub(crate) struct Asking {
    calls: Mutex<HashSet<Token>>,
    changed: Notify,
}

/// Ends the asking when it is dropped, also when the hooks are cut short.
struct Guard<'a>(&'a Asking, Token);

impl Asking {
    fn begin(&self, call: Token) -> Guard<'_> {
        self.with(|calls| calls.insert(call));
        Guard(self, call)
    }

    async fn ended(&self, call: Token) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // From here on no change is missed.
            changed.as_mut().enable();
            if !self.with(|calls| calls.contains(&call)) {
                return;
            }
            changed.await;
        }
    }

    fn with<T>(&self, f: impl FnOnce(&mut HashSet<Token>) -> T) -> T {
        f(&mut self.calls.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.with(|calls| calls.remove(&self.1));
        self.0.changed.notify_waiters();
    }
}
