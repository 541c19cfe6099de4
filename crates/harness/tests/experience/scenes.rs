//! Every decision once.

use std::time::Duration;

use seamline_harness::agent::{
    AgentHandle, BatchDecision, ContinuationDecision, FirstMessage, Pending, PromptDecision,
    SessionStartContribution, Steer,
};
use seamline_harness::json::Json;
use seamline_harness::permission::Mode;
use seamline_harness::plugins::{ReadOnly, RepeatedCall, Timeout};
use seamline_harness::tools::{ApprovalAnswer, PostDecision, PreDecision, ProposeDecision};
use seamline_seams::{Context, Denial, Halt, Notice, Scope, Source, When};
use serde_json::json;

use crate::play::{Scene, Then};

fn me() -> Source {
    Source::new("plugin")
}

fn context(text: &str) -> Context {
    let (source, text) = (me(), text.to_owned());
    Context { source, text }
}

fn halt(when: When) -> Halt {
    let (reason, by) = (Some("enough".to_owned()), me());
    Halt { when, reason, by }
}

fn scene(name: &'static str, note: &'static str, install: fn(&Scope, &AgentHandle)) -> Scene {
    let (mode, then) = (Mode::BypassPermissions, Then::Prompt);
    Scene {
        name,
        note,
        install,
        mode,
        then,
    }
}

pub(crate) fn all() -> Vec<Scene> {
    let nothing = scene("nothing", "", |_, _| {});
    [
        vec![nothing],
        sessions_and_prompts(),
        arguments(),
        permission(),
        deferrals(),
        results(),
        turns(),
        plugins(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn sessions_and_prompts() -> Vec<Scene> {
    vec![
        scene(
            "agent.session_start: a context",
            "Before the first prompt.",
            |scope, agent| {
                agent.seams().session_start.on(scope, "plugin", |_| async {
                    let contexts = vec![context("House rules.")];
                    SessionStartContribution {
                        contexts,
                        ..Default::default()
                    }
                });
            },
        ),
        scene(
            "agent.session_start: a first message",
            "The first turn opens with it.",
            |scope, agent| {
                agent.seams().session_start.on(scope, "plugin", |_| async {
                    let (text, source) = ("Good morning.".to_owned(), me());
                    let first_message = Some(FirstMessage { text, source });
                    SessionStartContribution {
                        first_message,
                        ..Default::default()
                    }
                });
            },
        ),
        scene(
            "agent.prompt: other words",
            "The log has only these words, and so has the model.",
            |scope, agent| {
                agent
                    .seams()
                    .prompt
                    .on(scope, "plugin", |event, next| async move {
                        let reply = next.run().await?;
                        let first = event.content.to_text() == "Say hello.";
                        let content = first.then(|| "Please say hello.".into());
                        Ok(reply.map(|_| PromptDecision::Enter { content }))
                    });
            },
        ),
        scene(
            "agent.prompt: a context",
            "After the prompt it came with.",
            |scope, agent| {
                agent
                    .seams()
                    .prompt
                    .on(scope, "plugin", |event, next| async move {
                        let reply = next.run().await?;
                        Ok(match event.content.to_text().as_str() {
                            "Say hello." => reply.with_context(context("It is Monday.")),
                            _ => reply,
                        })
                    });
            },
        ),
        scene(
            "agent.prompt: blocked",
            "The turn makes no request. The reason is for the user.",
            |scope, agent| {
                agent
                    .seams()
                    .prompt
                    .on(scope, "plugin", |event, next| async move {
                        if event.content.to_text() == "Say hello." {
                            let (reason, by) = ("not today".to_owned(), me());
                            return Ok(PromptDecision::Block { reason, by }.into());
                        }
                        Ok(next.run().await?)
                    });
            },
        ),
        scene(
            "agent.request: another system prompt",
            "From the second request on. This is the one decision that costs the whole cache.",
            |scope, agent| {
                agent
                    .seams()
                    .request
                    .on(scope, "plugin", |event, next| async move {
                        let first = event
                            .facts
                            .turn
                            .is_some_and(|turn| turn.number == 1 && turn.step == 1);
                        Ok(next.run().await?.map(|mut settings| {
                            settings
                                .system
                                .push_str(if first { "" } else { " Be kind." });
                            settings
                        }))
                    });
            },
        ),
        scene(
            "agent.display: another text for the user",
            "The log and the model keep the model's own.",
            |scope, agent| {
                agent.seams().display.on(scope, "plugin", |_, _| async {
                    Ok("Finished!".to_owned().into())
                });
            },
        ),
        scene(
            "inject",
            "Text from outside a decision, while no turn is open.",
            |_, agent| {
                agent.inject(context("The build is green."));
            },
        ),
    ]
}

fn rewriting(scope: &Scope, agent: &AgentHandle, arguments: fn() -> Json) {
    let seam = &agent.tool_seams().propose;
    seam.on(scope, "plugin", move |_, _| async move {
        Ok(ProposeDecision::rewrite(arguments(), me()).into())
    });
}

fn arguments() -> Vec<Scene> {
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

fn permission() -> Vec<Scene> {
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

fn deferrals() -> Vec<Scene> {
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

fn results() -> Vec<Scene> {
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

fn turns() -> Vec<Scene> {
    vec![
        scene(
            "any seam: halt now",
            "Here beside a decision of `tools.pre`. The reason is for the user.",
            |scope, agent| {
                agent.tool_seams().pre.on(scope, "plugin", |_, next| async {
                    Ok(next.run().await?.with_halt(halt(When::Now)))
                });
            },
        ),
        scene(
            "any seam: halt after the batch",
            "The call ran; the turn makes no further request.",
            |scope, agent| {
                agent.tool_seams().pre.on(scope, "plugin", |_, next| async {
                    Ok(next.run().await?.with_halt(halt(When::AfterBatch)))
                });
            },
        ),
        scene("agent.batch: end the turn", "", |scope, agent| {
            agent.seams().batch.on(scope, "plugin", |_, _| async {
                let (reason, by) = (Some("enough".to_owned()), me());
                Ok(BatchDecision::EndTurn { reason, by }.into())
            });
        }),
        scene(
            "agent.continuation: continue",
            "Once; the reason is steering, and the model answers it.",
            |scope, agent| {
                agent
                    .seams()
                    .continuation
                    .on(scope, "plugin", |event, next| async move {
                        let once = event
                            .facts
                            .turn
                            .is_some_and(|turn| turn.number == 1 && turn.step == 2);
                        if !once {
                            return Ok(next.run().await?);
                        }
                        let (text, source) = ("Are you sure?".to_owned(), me());
                        let reasons = vec![Steer { text, source }];
                        Ok(ContinuationDecision::Continue { reasons }.into())
                    });
            },
        ),
        scene(
            "steering",
            "By the user, while the call runs.",
            |scope, agent| {
                meanwhile(scope, agent, |handle| handle.steer("Louder, please."));
            },
        ),
        scene(
            "agent.changed: a context",
            "The call moved to another directory.",
            |scope, agent| {
                meanwhile(scope, agent, |handle| handle.workspace().set_cwd("/usr"));
                let changed = &agent.seams().changed;
                changed.on(scope, "plugin", |_| async {
                    vec![context("You are in /usr.")]
                });
            },
        ),
        scene(
            "the turn is cancelled while a call is decided",
            "The call has a result all the same.",
            |scope, agent| {
                let handle = agent.clone();
                agent.tool_seams().pre.on(scope, "plugin", move |_, next| {
                    handle.cancel(Pending::Keep);
                    async { Ok(next.run().await?) }
                });
            },
        ),
    ]
}

/// Something that happens while the call runs.
fn meanwhile(scope: &Scope, agent: &AgentHandle, what: fn(&AgentHandle)) {
    let handle = agent.clone();
    let dispatch = &agent.tool_seams().dispatch;
    dispatch.on(scope, "meanwhile", move |_, signal, inner| {
        what(&handle);
        async { Ok(inner.run(signal).await) }
    });
}

fn plugins() -> Vec<Scene> {
    vec![
        scene(
            "the plugin Timeout",
            "Of 5 ms, by a tool that hangs.",
            |scope, agent| {
                let timeout = Timeout::after(Duration::from_millis(5)).unwrap();
                timeout.install(scope, agent);
                let dispatch = &agent.tool_seams().dispatch;
                dispatch.on(scope, "hangs", |_, signal, inner| async {
                    signal.cancelled().await;
                    Ok(inner.run(signal).await)
                });
            },
        ),
        scene("the plugin ReadOnly", "", |scope, agent| {
            ReadOnly.install(scope, agent)
        }),
        scene(
            "the plugin RepeatedCall",
            "Here set to remark on the first call already.",
            |scope, agent| RepeatedCall::at([1]).install(scope, agent),
        ),
    ]
}
