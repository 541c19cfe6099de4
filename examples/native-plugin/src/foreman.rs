//! The plugin: a foreman who listens on every seam and uses each power once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use seamline_harness::agent::{
    AgentEvent, AgentHandle, BatchDecision, ContinuationDecision, FirstMessage, PromptDecision,
    RequestErrorDecision, SessionName, SessionStartContribution, Steer, TurnOutcome,
};
use seamline_harness::tools::{
    ApprovalAnswer, Outcome, PostDecision, PreDecision, Proposal, ToolResult,
};
use seamline_seams::{Context, Denial, Halt, Notice, Reply, Scope, Source, When};
use serde_json::json;
use tokio::sync::oneshot;

const NAME: &str = "foreman";

pub(crate) struct Foreman {
    agent: AgentHandle,
    /// Whether the review that a merge waits for has been done.
    reviewed: Arc<AtomicBool>,
    /// Turns that the foreman began by itself, when work in the background was done.
    errands: Arc<Mutex<Vec<oneshot::Receiver<TurnOutcome>>>>,
}

fn me() -> Source {
    Source::new(NAME)
}

fn context(text: &str) -> Context {
    let (source, text) = (me(), text.to_owned());
    Context { source, text }
}

fn notice(text: &str) -> Notice {
    let (source, text) = (me(), text.to_owned());
    Notice { source, text }
}

/// What the desk is asked to do.
fn order(call: &Proposal) -> &str {
    let arguments = call.arguments().value();
    arguments
        .get("do")
        .and_then(|it| it.as_str())
        .unwrap_or_default()
}

/// Work of the plugin's own, which ends with its scope. When it is done it wakes the agent, in the
/// plugin's name.
async fn run_the_tests(agent: AgentHandle, done: oneshot::Sender<TurnOutcome>) {
    tokio::task::yield_now().await;
    let news = "@@built The tests have passed.".into();
    let turn = agent.send_as(news, me().into()).await;
    // Whoever waited may have gone.
    let _ = done.send(turn);
}

impl Foreman {
    pub(crate) fn new(agent: AgentHandle) -> Self {
        Self {
            agent,
            reviewed: Arc::default(),
            errands: Arc::default(),
        }
    }

    pub(crate) fn install(&self, scope: &Scope) {
        self.on_session(scope);
        self.on_prompts_and_requests(scope);
        self.on_turns(scope);
        self.before_calls(scope);
        self.around_calls(scope);
        self.after_calls(scope);
    }

    /// Waits for the turns that the foreman began by himself.
    pub(crate) async fn finish_errands(&self) {
        loop {
            let errand = self
                .errands
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .pop();
            match errand {
                Some(errand) => drop(errand.await),
                None => return,
            }
        }
    }

    /// Contributors: they add, under a deadline, and hold nothing up.
    fn on_session(&self, scope: &Scope) {
        let seams = self.agent.seams();
        seams.session_start.on(scope, NAME, |_| async {
            let (title, text) = ("A day at the desk".to_owned(), "Good morning.".to_owned());
            SessionStartContribution {
                contexts: vec![context("House rule: be brief.")],
                notices: vec![notice("The foreman is in.")],
                first_message: Some(FirstMessage { text, source: me() }),
                title: Some(SessionName {
                    title,
                    source: me(),
                }),
                environment: [("DESK".to_owned(), "1".to_owned())].into(),
            }
        });
        seams.changed.on(scope, NAME, |_| async {
            vec![context("You are elsewhere now.")]
        });
        seams.session_end.on(scope, NAME, |_| async {
            vec![notice("The foreman goes home.")]
        });
    }

    /// Policies: a prompt is rewritten or kept out, a request is made otherwise or again.
    fn on_prompts_and_requests(&self, scope: &Scope) {
        let seams = self.agent.seams();
        seams.prompt.on(scope, NAME, |event, next| async move {
            let text = event.content.to_text();
            if text.contains("password") {
                let (reason, by) = ("no passwords here".to_owned(), me());
                return Ok(PromptDecision::Block { reason, by }.into());
            }
            let reply = next.run().await?;
            Ok(match text.contains("plase") {
                true => reply.map(|_| PromptDecision::Enter {
                    content: Some(text.replace("plase", "please").into()),
                }),
                false => reply,
            })
        });
        seams.request.on(scope, NAME, |_, next| async {
            Ok(next.run().await?.map(|mut settings| {
                settings.model = "apprentice".to_owned();
                settings
            }))
        });
        seams
            .request_error
            .on(scope, NAME, |event, next| async move {
                match event.attempt {
                    1 => Ok(RequestErrorDecision::Retry.into()),
                    _ => Ok(next.run().await?),
                }
            });
        seams.display.on(scope, NAME, |event, _| async move {
            Ok(event.text.replace("hunter2", "*******").into())
        });
    }

    /// A turn is kept going, ended, or woken again by work that was done meanwhile.
    fn on_turns(&self, scope: &Scope) {
        let seams = self.agent.seams();
        seams.batch.on(scope, NAME, |event, next| async move {
            let refused = |result: &ToolResult| result.outcome.content().to_text() == "did stop";
            if event.results.iter().any(refused) {
                let (reason, by) = (Some("stopped at the desk".to_owned()), me());
                return Ok(BatchDecision::EndTurn { reason, by }.into());
            }
            Ok(next.run().await?)
        });
        seams
            .continuation
            .on(scope, NAME, |event, next| async move {
                match event.last_text.as_deref() {
                    Some("Done." | "Really.") => {
                        let (text, source) = ("Are you sure?".to_owned(), me());
                        let reasons = vec![Steer { text, source }];
                        Ok(ContinuationDecision::Continue { reasons }.into())
                    }
                    _ => Ok(next.run().await?),
                }
            });
        seams.turn_stop.add(scope, NAME, |event| {
            (event.consecutive > 1).then(|| Denial::new("asked often enough"))
        });
        seams.events.on(scope, NAME, |event| {
            if let AgentEvent::Notice { text, .. } = event {
                println!("  (to the user) {text}");
            }
        });
        let errands = Arc::clone(&self.errands);
        let (agent, work) = (self.agent.clone(), scope.clone());
        let tools = self.agent.tool_seams();
        tools.result.on(scope, NAME, move |result| {
            if result.outcome.content().to_text() == "did build" {
                let (done, errand) = oneshot::channel();
                errands
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(errand);
                work.spawn(run_the_tests(agent.clone(), done));
            }
        });
    }

    /// What a call is, whether it may run, who is asked, and what never may.
    fn before_calls(&self, scope: &Scope) {
        let seams = self.agent.tool_seams();
        seams.propose.on(scope, NAME, |call, next| async move {
            if order(&call) != "say helo" {
                return Ok(next.run().await?);
            }
            let spelt = json!({"do": "say hello"}).into();
            let reply = next.run_with(call.with_arguments(&spelt)).await?;
            Ok(reply.map(|inner| inner.after(spelt, me())))
        });
        let reviewed = Arc::clone(&self.reviewed);
        seams.pre.on(scope, NAME, move |call, next| {
            let seen = order(&call) != "merge" || reviewed.swap(true, Ordering::SeqCst);
            async move {
                let by = me();
                Ok(match order(&call) {
                    "deploy" => {
                        let reason = Some("a deployment needs a yes".to_owned());
                        PreDecision::Ask { reason, by }.into()
                    }
                    "merge" if !seen => {
                        let reason = Some("a review is under way".to_owned());
                        PreDecision::Defer { reason, by }.into()
                    }
                    "open the vault" => {
                        let reason = "the vault stays shut".to_owned();
                        PreDecision::Deny { reason, by }.into()
                    }
                    _ => next
                        .run()
                        .await?
                        .map(|_| PreDecision::Allow { pre_approved: true }),
                })
            }
        });
        seams.approval.on(scope, NAME, |question, _| async move {
            (order(&question.proposal) == "deploy").then(|| ApprovalAnswer::AllowOnce {
                arguments: Some(json!({"do": "deploy --dry-run"}).into()),
                updates: Vec::new(),
            })
        });
        seams.guards.add(scope, NAME, |call| {
            let drops = call.arguments().text().contains("drop table");
            drops.then(|| Denial::new("tables are not dropped here"))
        });
    }

    /// A wrapper around the work.
    fn around_calls(&self, scope: &Scope) {
        let seams = self.agent.tool_seams();
        seams
            .dispatch
            .on(scope, NAME, |call, signal, inner| async move {
                let mut outcome: Outcome = inner.run(signal).await;
                if call.arguments().text().contains("dry-run") {
                    outcome.contexts.push(context("It was only a rehearsal."));
                }
                Ok(outcome)
            });
    }

    /// What the model is shown, what is said beside it, and whether the run goes on.
    fn after_calls(&self, scope: &Scope) {
        let seams = self.agent.tool_seams();
        seams.post.on(scope, NAME, |event, next| async move {
            let reply: Reply<PostDecision> = next.run().await?;
            Ok(match event.outcome.content().to_text().as_str() {
                "hunter2" => reply.map(|_| PostDecision::ReplaceContent("[redacted]".into())),
                "did say hello" => reply
                    .with_context(context("Well said."))
                    .with_notice(notice("A greeting went out.")),
                "did merge" => {
                    let (feedback, keep_output) = ("Now close the ticket.".to_owned(), true);
                    reply.map(|_| PostDecision::Block {
                        feedback,
                        keep_output,
                    })
                }
                "did build" => {
                    let (when, reason) = (When::AfterBatch, Some("lunch".to_owned()));
                    reply.with_halt(Halt {
                        when,
                        reason,
                        by: me(),
                    })
                }
                _ => reply,
            })
        });
        seams.denied.on(scope, NAME, |denied| async move {
            vec![context(&format!(
                "Not possible: {}. Ask for a view instead.",
                denied.reason
            ))]
        });
    }
}
