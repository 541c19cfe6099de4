//! What comes of a call.

use super::*;

/// Whatever a body does is an outcome, and post and finalize see it.
#[tokio::test]
async fn bodies_that_fail() {
    let cases = [
        ("fail", "Error: it failed", None),
        ("fail verbatim", "just this", None),
        ("panic", "Error: tool \"Echo\" panicked: oh no", None),
        (
            "unshowable",
            "Error: tool \"Echo\" returned invalid output: ",
            Some("render failed"),
        ),
    ];
    for (text, expected, part) in cases {
        let bench = Bench::allowing();
        bench.post(PostDecision::Accept);
        let settled = bench.echo(text).await;
        let shown = shown(&settled);
        assert!(
            shown.starts_with(expected) && shown.contains(part.unwrap_or("")),
            "{shown}"
        );
        assert!(settled.result.outcome.is_error());
        assert_eq!(
            settled.result.outcome.has_code(code::INVALID_TOOL_OUTPUT),
            part.is_some()
        );
        assert_eq!(
            texts(&settled),
            ["from the body"],
            "contexts outlive the failure"
        );
        assert!(
            bench.seen()[0].starts_with("post Ran"),
            "{:?}",
            bench.seen()
        );
        assert_eq!((bench.runs(), bench.finals()), (1, 1));
        assert!(
            bench.faults.take().is_empty(),
            "a tool's failure is no fault of ours"
        );
    }
}

/// A call whose result post decides about.
async fn posted(text: &str, decision: PostDecision) -> Settled {
    let bench = Bench::allowing();
    bench.post(decision);
    bench.echo(text).await
}

fn block(feedback: &str, keep_output: bool) -> PostDecision {
    let feedback = feedback.to_owned();
    PostDecision::Block {
        feedback,
        keep_output,
    }
}

/// What post makes of a success, and of the value behind it.
#[tokio::test]
async fn post_decides_about_a_success() {
    let gone = PostDecision::ReplaceContent(Content::text("[gone]"));
    let value = |text: &str| PostDecision::ReplaceValue(json!({ "text": text }).into());
    let cases = [
        (PostDecision::Accept, "said hi", "hi"),
        (gone, "[gone]", "hi"),
        (value("better"), "said better", "better"),
        (block("hm", true), "said hi\nhm", "hi"),
    ];
    for (decision, expected, value) in cases {
        let settled = posted("hi", decision).await;
        assert_eq!(shown(&settled), expected);
        let success = settled.result.outcome.result.as_ref().unwrap();
        assert_eq!(
            success.value.value(),
            &json!({ "text": value }),
            "{expected}"
        );
        assert_eq!(texts(&settled), ["from the body"], "{expected}");
    }
}

/// What post makes of a failure, and how it makes one of a success.
#[tokio::test]
async fn post_decides_about_a_failure() {
    let gone = PostDecision::ReplaceContent(Content::text("[gone]"));
    let value = |value: Value| PostDecision::ReplaceValue(value.into());
    let blocked = "tool result blocked by post-execute policy";
    let cases = [
        ("hi", value(json!(5)), "returned invalid output: value: ", 1),
        ("hi", block("hm", false), "hm", 0),
        ("hi", block("", false), blocked, 0),
        ("fail", gone, "[gone]", 1),
        (
            "fail",
            value(json!({"text": "x"})),
            "cannot replace the value",
            1,
        ),
        ("fail", block("hm", true), "Error: it failed\nhm", 1),
        ("fail", block("hm", false), "hm", 0),
    ];
    for (text, decision, expected, contexts) in cases {
        let settled = posted(text, decision).await;
        assert!(
            shown(&settled).contains(expected),
            "{expected}: {settled:?}"
        );
        assert!(settled.result.outcome.is_error(), "{expected}");
        assert_eq!(
            texts(&settled).len(),
            contexts,
            "a replaced result loses its own: {expected}"
        );
    }
}

/// The tool has the last word on what is shown, even over post.
#[tokio::test]
async fn finalize_comes_last() {
    let bench = Bench::allowing();
    bench.post(PostDecision::ReplaceValue(json!({"text": "secret"}).into()));
    assert_eq!(shown(&bench.echo("hi").await), "[hidden]");
    assert_eq!(bench.finals(), 1);
}

/// A wrapper that answers by itself is checked and shown anew; a failing one is a failed call.
#[tokio::test]
async fn wrappers() {
    let answer = |value: Value| {
        let bench = Bench::allowing();
        bench
            .pipeline
            .seams()
            .dispatch
            .on(&bench.scope, "cache", move |_, _, _| {
                let content = Content::text("authored");
                let success = Success {
                    value: value.clone().into(),
                    content,
                    concludes: false,
                };
                async { Ok(success.into()) }
            });
        bench
    };
    let bench = answer(json!({"text": "cached"}));
    assert_eq!(shown(&bench.echo("hi").await), "said cached");
    assert_eq!(bench.runs(), 0);
    let bench = answer(json!("other"));
    assert!(
        bench
            .echo("hi")
            .await
            .result
            .outcome
            .has_code(code::INVALID_TOOL_OUTPUT)
    );

    let bench = Bench::allowing();
    let dispatch = &bench.pipeline.seams().dispatch;
    dispatch.on(&bench.scope, "d", |_, own, inner| async {
        let mut outcome = inner.run(own).await;
        outcome.contexts.push(context("wrapper"));
        let contexts = outcome.contexts;
        Ok(Outcome {
            contexts,
            ..Outcome::failed("no room", Some("FULL"))
        })
    });
    let settled = bench.echo("hi").await;
    assert_eq!(shown(&settled), "Error: no room");
    assert!(settled.result.outcome.has_code("FULL"));
    assert_eq!(texts(&settled), ["from the body", "wrapper"]);

    let bench = Bench::allowing();
    bench.post(PostDecision::Accept);
    bench
        .pipeline
        .seams()
        .dispatch
        .on(&bench.scope, "broken", |_, _, _| async {
            Err("no disk".into())
        });
    let settled = bench.echo("hi").await;
    assert!(
        shown(&settled).contains("`broken` failed: no disk"),
        "{settled:?}"
    );
    assert!(
        bench.seen()[0].starts_with("post Ran"),
        "an ordinary failed outcome"
    );
}

/// A listener that fails ends the call; no body, no post, but finalize and the observers.
#[tokio::test]
async fn listeners_that_fail() {
    async fn fail<D>() -> Result<Reply<D>, seamline_seams::BoxError> {
        Err("bug".into())
    }
    for seam in ["propose", "pre", "post"] {
        let bench = Bench::allowing();
        let seams = &bench.pipeline.seams();
        match seam {
            "propose" => drop(seams.propose.on(&bench.scope, "bad", |_, _| fail())),
            "pre" => drop(seams.pre.on(&bench.scope, "bad", |_, _| fail())),
            _ => drop(seams.post.on(&bench.scope, "bad", |_, _| fail())),
        }
        let settled = bench.echo("hi").await;
        let text = format!("Error: tools.{seam}: `bad` failed: bug");
        assert_eq!(shown(&settled), text);
        assert_eq!(bench.seen(), ["result Faulted"]);
        assert_eq!(
            (bench.runs(), bench.finals()),
            (usize::from(seam == "post"), 1)
        );
    }
}

/// Contexts come in the order of the stations: propose, pre, the body, wrappers, post, and those who
/// were told of a denial.
#[tokio::test]
async fn contexts_in_order() {
    let bench = Bench::allowing();
    let seams = &bench.pipeline.seams();
    seams.propose.on(&bench.scope, "p", |_, next| async {
        Ok(next.run().await?.with_context(context("propose")))
    });
    seams
        .pre
        .on(&bench.scope, "p", |proposal, next| async move {
            let reply = next.run().await?.with_context(context("pre"));
            let denied = proposal.arguments().value()["text"] == "deny";
            Ok(reply.map(|decision| if denied { deny("no") } else { decision }))
        });
    seams.dispatch.on(&bench.scope, "p", |_, own, inner| async {
        let mut outcome = inner.run(own).await;
        outcome.contexts.push(context("wrapper"));
        Ok(outcome)
    });
    seams.post.on(&bench.scope, "p", |_, next| async {
        let notice = Notice {
            source: speaker(),
            text: "n".to_owned(),
        };
        Ok(next
            .run()
            .await?
            .with_context(context("post"))
            .with_notice(notice))
    });
    seams.denied.on(&bench.scope, "told", |denied| async move {
        vec![context(&format!("told of {:?}", denied.cause))]
    });
    let settled = bench.echo("hi").await;
    assert_eq!(
        texts(&settled),
        ["propose", "pre", "from the body", "wrapper", "post"]
    );
    assert_eq!(settled.notices.len(), 1);
    assert_eq!(
        texts(&bench.echo("deny").await),
        ["propose", "pre", "post", "told of Policy"]
    );
}

/// Cancelled before it is decided: nobody is asked, but the tool has its last word.
#[tokio::test]
async fn cancelled_before() {
    let bench = Bench::allowing();
    bench.signal.cancel();
    bench.pre(deny("asked"));
    let settled = bench.echo("hi").await;
    assert!(
        settled
            .result
            .outcome
            .has_code(code::ABORTED_BEFORE_DISPATCH),
        "{settled:?}"
    );
    assert_eq!((bench.runs(), bench.finals()), (0, 1));
}

/// Cancelled while it is decided: an allowed call does not start, a denial stays a denial.
#[tokio::test]
async fn cancelled_while_it_is_decided() {
    let allow = PreDecision::Allow {
        pre_approved: false,
    };
    let before = "Error: tool call aborted before dispatch";
    for (decision, expected) in [(allow, before), (deny("no"), "Error: no")] {
        let bench = Bench::allowing();
        let signal = bench.signal.clone();
        bench
            .pipeline
            .seams()
            .pre
            .on(&bench.scope, "pre", move |_, _| {
                signal.cancel();
                let decision = decision.clone();
                async { Ok(Reply::new(decision)) }
            });
        assert_eq!(shown(&bench.echo("hi").await), expected);
        assert_eq!(bench.runs(), 0);
    }
}

/// Cancelled while it runs: it is awaited, and its success is none; its contexts are kept.
#[tokio::test]
async fn cancelled_while_it_runs() {
    let bench = Bench::allowing();
    let signal = bench.signal.clone();
    bench
        .pipeline
        .seams()
        .dispatch
        .on(&bench.scope, "d", move |_, own, inner| {
            let signal = signal.clone();
            async move { Ok(tokio::join!(inner.run(own), async { signal.cancel() }).0) }
        });
    let settled = bench.echo("wait").await;
    assert!(
        settled.result.outcome.has_code(code::ABORTED),
        "{settled:?}"
    );
    assert_eq!(texts(&settled), ["from the body"]);
}

/// Cancelled while post decides: a success is none, a failure keeps its own story.
#[tokio::test]
async fn cancelled_while_post_decides() {
    let aborted = "Error: tool call aborted";
    for (text, expected) in [("hi", aborted), ("fail", "Error: it failed")] {
        let bench = Bench::allowing();
        let signal = bench.signal.clone();
        bench
            .pipeline
            .seams()
            .post
            .on(&bench.scope, "post", move |_, next| {
                signal.cancel();
                async { Ok(next.run().await?) }
            });
        assert_eq!(shown(&bench.echo(text).await), expected);
    }
}

/// A halt now keeps the call from starting; a halt after the batch does not.
#[tokio::test]
async fn halts() {
    for (when, runs) in [(When::Now, 0), (When::AfterBatch, 1)] {
        let bench = Bench::allowing();
        bench
            .pipeline
            .seams()
            .propose
            .on(&bench.scope, "p", move |_, next| async move {
                let halt = Halt {
                    when,
                    reason: None,
                    by: speaker(),
                };
                Ok(next.run().await?.with_halt(halt))
            });
        let settled = bench.echo("hi").await;
        assert_eq!(bench.runs(), runs, "{when:?}");
        assert_eq!(settled.halt.unwrap().when, when);
    }
}
