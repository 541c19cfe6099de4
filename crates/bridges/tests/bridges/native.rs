//! A native plugin further in: hooks and plugins take part in the same decisions.

use seamline_harness::agent::PromptDecision;
use seamline_harness::content::Content;
use seamline_harness::model::scripted::Play;
use seamline_harness::session::event::TurnEndReason;
use seamline_harness::tools::{PostDecision, PreDecision};
use seamline_hooks::DialectId::{self, Claude};
use seamline_seams::{Context, Reply, Source};
use serde_json::json;

use crate::bench::{Bench, answers, ending, soon};

fn native() -> Source {
    Source::new("native")
}

fn context(text: &str) -> Context {
    Context {
        source: native(),
        text: text.to_owned(),
    }
}

#[tokio::test]
async fn a_plugins_denial_is_not_softened_by_a_hooks_allow() {
    let allow = answers("PreToolUse", json!({"permissionDecision": "allow"}));
    let running = Bench::shell("touch ran")
        .on(Claude, "PreToolUse", allow)
        .start();
    let pre = &running.agent.tool_seams().pre;
    pre.on(&running.scope, "native", |_, _| async {
        let reason = "the plugin says no".to_owned();
        Ok(Reply::new(PreDecision::Deny {
            reason,
            by: native(),
        }))
    });
    running.send("go").await;
    assert_eq!(running.shown(), "Error: the plugin says no");
    assert!(!running.exists("ran"));
    running.end().await;
}

#[tokio::test]
async fn a_hooks_context_and_a_plugins_replacement_both_survive_with_both_contexts_in_order() {
    for dialect in DialectId::ALL {
        let hook = answers("PostToolUse", json!({"additionalContext": "from the hook"}));
        let running = Bench::shell("echo hi")
            .on(dialect, "PostToolUse", hook)
            .start();
        let post = &running.agent.tool_seams().post;
        post.on(&running.scope, "native", |_, _| async {
            let decision = PostDecision::ReplaceContent(Content::text("replaced"));
            Ok(Reply::new(decision).with_context(context("from the plugin")))
        });
        running.send("go").await;
        let expected = [
            "result replaced",
            "context from the hook",
            "context from the plugin",
        ];
        assert_eq!(running.asked(1)[2..], expected, "{dialect}");
        running.end().await;
    }
}

#[tokio::test]
async fn a_plugin_rewrites_the_prompt_and_the_hooks_context_stays() {
    for dialect in DialectId::ALL {
        let bench = Bench::new([Play::text("Hi.")]);
        let running = bench
            .on(dialect, "UserPromptSubmit", "echo from the hook")
            .start();
        let prompt = &running.agent.seams().prompt;
        prompt.on(&running.scope, "native", |_, _| async {
            let content = Some(Content::text("rewritten"));
            Ok(Reply::new(PromptDecision::Enter { content }))
        });
        running.send("go").await;
        assert_eq!(
            running.asked(0),
            ["user rewritten", "context from the hook"],
            "{dialect}"
        );
        running.end().await;
    }
}

/// A deferred call stays open; taken up again, it is judged again.
#[tokio::test]
async fn a_deferred_call_is_judged_anew_when_it_is_taken_up() {
    let defer = answers("PreToolUse", json!({"permissionDecision": "defer"}));
    let hook = format!("[ -e later ] || {defer}");
    let running = Bench::shell("touch ran")
        .on(Claude, "PreToolUse", hook)
        .start();
    let outcome = running.send("go").await;
    assert!(matches!(outcome.end, TurnEndReason::Deferred { .. }));
    assert!(!running.exists("ran"));
    std::fs::write(running.path("later"), "").unwrap();
    let outcome = soon(running.agent.resume().unwrap()).await;
    assert_eq!(ending(&outcome), ("completed", None));
    assert!(running.exists("ran"));
    assert_eq!(running.fired.payloads("PreToolUse").len(), 2);
    running.end().await;
}

#[tokio::test]
async fn a_prompt_that_a_plugin_blocks_takes_the_hooks_context_with_it() {
    for dialect in DialectId::ALL {
        let bench = Bench::new([Play::text("Hi.")]);
        let running = bench
            .on(dialect, "UserPromptSubmit", "echo from the hook")
            .start();
        let prompt = &running.agent.seams().prompt;
        prompt.on(&running.scope, "native", |_, _| async {
            let reason = "not that".to_owned();
            Ok(Reply::new(PromptDecision::Block {
                reason,
                by: native(),
            }))
        });
        let outcome = running.send("go").await;
        assert_eq!(
            ending(&outcome),
            ("rejected", Some("not that")),
            "{dialect}"
        );
        assert_eq!((running.requests(), running.contexts()), (0, vec![]));
        running.end().await;
    }
}

#[tokio::test]
async fn a_rewritten_prompt_comes_first_then_the_hooks_context_then_the_plugins() {
    for dialect in DialectId::ALL {
        let bench = Bench::new([Play::text("Hi.")]);
        let running = bench
            .on(dialect, "UserPromptSubmit", "echo from the hook")
            .start();
        let prompt = &running.agent.seams().prompt;
        prompt.on(&running.scope, "native", |_, _| async {
            let content = Some(Content::text("rewritten"));
            let reply = Reply::new(PromptDecision::Enter { content });
            Ok(reply.with_context(context("from the plugin")))
        });
        running.send("go").await;
        let expected = [
            "user rewritten",
            "context from the hook",
            "context from the plugin",
        ];
        assert_eq!(running.asked(0), expected, "{dialect}");
        let sources: Vec<_> = running.contexts().into_iter().map(|(by, _)| by).collect();
        assert!(
            sources[0].starts_with(&format!("hooks-{dialect}")),
            "{sources:?}"
        );
        assert_eq!(sources[1], "native");
        running.end().await;
    }
}

#[tokio::test]
async fn a_plugins_block_of_a_result_wins_and_the_hooks_context_stays() {
    for dialect in DialectId::ALL {
        let hook = answers("PostToolUse", json!({"additionalContext": "from the hook"}));
        let running = Bench::shell("echo hi")
            .on(dialect, "PostToolUse", hook)
            .start();
        let post = &running.agent.tool_seams().post;
        post.on(&running.scope, "native", |_, _| async {
            let feedback = "the plugin objects".to_owned();
            Ok(Reply::new(PostDecision::Block {
                feedback,
                keep_output: false,
            }))
        });
        running.send("go").await;
        let expected = ["result the plugin objects", "context from the hook"];
        assert_eq!(running.asked(1)[2..], expected, "{dialect}");
        running.end().await;
    }
}
