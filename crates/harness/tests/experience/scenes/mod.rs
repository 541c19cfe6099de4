//! Every decision once.

mod calls;
mod nested;

use std::time::Duration;

use seamline_harness::agent::{
    AgentHandle, BatchDecision, ContinuationDecision, FirstMessage, Pending, PromptDecision,
    SessionStartContribution, Steer,
};
use seamline_harness::permission::Mode;
use seamline_harness::plugins::{PermissionRules, ReadOnly, RepeatedCall, Timeout};
use seamline_rules::{Policy, Rule, Tier};
use seamline_seams::{Context, Halt, Scope, Source, When};

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
        sessions(),
        prompts(),
        requests(),
        calls::arguments(),
        calls::permission(),
        calls::deferrals(),
        calls::results(),
        nested::calls(),
        turns(),
        plugins(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn sessions() -> Vec<Scene> {
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
            "The model answers it first; the prompt joins after that step.",
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
    ]
}

fn prompts() -> Vec<Scene> {
    vec![
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
    ]
}

fn requests() -> Vec<Scene> {
    vec![
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

/// A rule of this kind for every call of `Echo`.
fn ruling(scope: &Scope, agent: &AgentHandle, tier: Tier) {
    let source = seamline_rules::Source {
        name: "settings.json".to_owned(),
        position: Some((3, 7)),
    };
    let mut policy = Policy::new();
    policy.add(tier, Rule::parse("Echo").unwrap(), source);
    PermissionRules::new(policy, "/").install(scope, agent);
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
        scene(
            "the plugin PermissionRules: a deny rule",
            "In every permission mode.",
            |scope, agent| ruling(scope, agent, Tier::Deny),
        ),
        scene(
            "the plugin PermissionRules: an ask rule, nobody answers",
            "",
            |scope, agent| ruling(scope, agent, Tier::Ask),
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
