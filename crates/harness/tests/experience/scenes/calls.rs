//! Decisions about one call.

use seamline_harness::agent::AgentHandle;
use seamline_harness::json::Json;
use seamline_harness::permission::Mode;
use seamline_harness::tools::{ApprovalAnswer, PostDecision, PreDecision, ProposeDecision};
use seamline_seams::{Denial, Notice, Scope};
use serde_json::json;

use super::{context, me, scene};
use crate::play::{Scene, Then};

fn rewriting(scope: &Scope, agent: &AgentHandle, arguments: fn() -> Json) {
    let seam = &agent.tool_seams().propose;
    seam.on(scope, "plugin", move |_, _| async move {
        Ok(ProposeDecision::rewrite(arguments(), me()).into())
    });
}

pub(super) fn arguments() -> Vec<Scene> {
    vec![
        scene(
            "tools.propose: rewrite",
            "The model sees the call as it ran. The log also keeps the model's own arguments.",
            |scope, agent| rewriting(scope, agent, || json!({"say": "HELLO"}).into()),
        ),
        scene(
            "tools.propose: a rewrite that does not fit",
            "It is a denial that says so; the call stays as the model wrote it.",
            |scope, agent| rewriting(scope, agent, || json!({"shout": true}).into()),
        ),
        scene(
            "tools.approval: yes, with other arguments",
            "An answer to a question of `tools.pre`. The same as a rewrite.",
            |scope, agent| {
                asking(scope, agent, Some("are you sure?"));
                agent
                    .tool_seams()
                    .approval
                    .on(scope, "terminal", |_, _| async {
                        let arguments = Some(json!({"say": "HELLO"}).into());
                        Some(ApprovalAnswer::AllowOnce {
                            arguments,
                            updates: Vec::new(),
                        })
                    });
            },
        ),
    ]
}

fn asking(scope: &Scope, agent: &AgentHandle, reason: Option<&'static str>) {
    agent
        .tool_seams()
        .pre
        .on(scope, "plugin", move |_, _| async move {
            let (reason, by) = (reason.map(str::to_owned), me());
            Ok(PreDecision::Ask { reason, by }.into())
        });
}

fn answering(scope: &Scope, agent: &AgentHandle, message: Option<&'static str>) {
    agent
        .tool_seams()
        .approval
        .on(scope, "terminal", move |_, _| async move {
            let (message, interrupt) = (message.map(str::to_owned), false);
            Some(ApprovalAnswer::Deny { message, interrupt })
        });
}

pub(super) fn permission() -> Vec<Scene> {
    let unasked = scene(
        "permission mode default, nobody to ask",
        "The user is told how to allow it.",
        |_, _| {},
    );
    let unwanted = scene("permission mode dontAsk", "", |_, _| {});
    let planning = scene("permission mode plan", "", |_, _| {});
    vec![
        scene("tools.pre: deny", "", |scope, agent| {
            agent.tool_seams().pre.on(scope, "plugin", |_, _| async {
                let (reason, by) = ("say please".to_owned(), me());
                Ok(PreDecision::Deny { reason, by }.into())
            });
        }),
        scene("tools.guards: denial", "", |scope, agent| {
            let guards = &agent.tool_seams().guards;
            guards.add(scope, "plugin", |_| Some(Denial::new("never")));
        }),
        scene(
            "tools.denied: a context",
            "Beside a denial of `tools.pre`, by whoever can explain it.",
            |scope, agent| {
                agent
                    .tool_seams()
                    .guards
                    .add(scope, "plugin", |_| Some(Denial::new("never")));
                let denied = &agent.tool_seams().denied;
                denied.on(scope, "plugin", |_| async {
                    vec![context("Write a file instead.")]
                });
            },
        ),
        scene("tools.pre: ask, nobody answers", "", |scope, agent| {
            asking(scope, agent, Some("are you sure?"));
        }),
        scene(
            "tools.pre: ask without a reason, nobody answers",
            "",
            |scope, agent| {
                asking(scope, agent, None);
            },
        ),
        scene("tools.pre: ask, the answer is no", "", |scope, agent| {
            asking(scope, agent, Some("are you sure?"));
            answering(scope, agent, None);
        }),
        scene(
            "tools.pre: ask, the answer is no and why",
            "",
            |scope, agent| {
                asking(scope, agent, Some("are you sure?"));
                answering(scope, agent, Some("not while I look"));
            },
        ),
        Scene {
            mode: Mode::Default,
            ..unasked
        },
        Scene {
            mode: Mode::DontAsk,
            ..unwanted
        },
        Scene {
            mode: Mode::Plan,
            ..planning
        },
        scene(
            "tools.pre: a listener fails",
            "A failure is never an allowance, and the turn goes on.",
            |scope, agent| {
                let pre = &agent.tool_seams().pre;
                pre.on(scope, "plugin", |_, _| async {
                    Err("the rules are gone".into())
                });
            },
        ),
    ]
}

fn deferring(scope: &Scope, agent: &AgentHandle) {
    let asked = std::sync::atomic::AtomicBool::new(false);
    agent.tool_seams().pre.on(scope, "plugin", move |_, next| {
        let again = asked.swap(true, std::sync::atomic::Ordering::SeqCst);
        async move {
            if again {
                return Ok(next.run().await?);
            }
            let (reason, by) = (Some("a review is under way".to_owned()), me());
            Ok(PreDecision::Defer { reason, by }.into())
        }
    });
}

pub(super) fn deferrals() -> Vec<Scene> {
    let resumed = scene(
        "tools.pre: defer, taken up again",
        "The call ran in a turn of its own; the model does not notice.",
        deferring,
    );
    vec![
        Scene {
            then: Then::Resume,
            ..resumed
        },
        scene(
            "tools.pre: defer, and a new prompt comes instead",
            "",
            deferring,
        ),
    ]
}

fn answered(scope: &Scope, agent: &AgentHandle, decision: fn() -> PostDecision) {
    let post = &agent.tool_seams().post;
    post.on(scope, "plugin", move |_, next| async move {
        Ok(next.run().await?.map(|_| decision()))
    });
}

fn blocking(keep_output: bool) -> PostDecision {
    let feedback = "mind your tone".to_owned();
    PostDecision::Block {
        feedback,
        keep_output,
    }
}

pub(super) fn results() -> Vec<Scene> {
    vec![
        scene("tools.post: replace the content", "", |scope, agent| {
            answered(scope, agent, || {
                PostDecision::ReplaceContent("[redacted]".into())
            });
        }),
        scene(
            "tools.post: replace the value",
            "It is shown by the tool.",
            |scope, agent| {
                answered(scope, agent, || {
                    PostDecision::ReplaceValue(json!("goodbye").into())
                });
            },
        ),
        scene(
            "tools.post: block",
            "The call counts as failed.",
            |scope, agent| {
                answered(scope, agent, || blocking(false));
            },
        ),
        scene(
            "tools.post: block, the output kept",
            "A success stays a success.",
            |scope, agent| answered(scope, agent, || blocking(true)),
        ),
        scene(
            "tools.post: a context",
            "After all results of the message.",
            |scope, agent| {
                agent
                    .tool_seams()
                    .post
                    .on(scope, "plugin", |_, next| async {
                        Ok(next.run().await?.with_context(context("Well said.")))
                    });
            },
        ),
        scene(
            "any seam: a notice",
            "It is for the user.",
            |scope, agent| {
                agent
                    .tool_seams()
                    .post
                    .on(scope, "plugin", |_, next| async {
                        let (source, text) = (me(), "It spoke.".to_owned());
                        Ok(next.run().await?.with_notice(Notice { source, text }))
                    });
            },
        ),
    ]
}
