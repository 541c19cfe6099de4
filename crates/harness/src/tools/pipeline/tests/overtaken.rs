//! Calls that are cancelled at any station, and what of them is kept.

use super::*;

/// A listener that fails after the call was cancelled: its failure is the story, not the abort.
#[tokio::test]
async fn listeners_that_fail_then() {
    async fn fail<D>(signal: Signal) -> Result<Reply<D>, seamline_seams::BoxError> {
        signal.cancel();
        Err("bug".into())
    }
    for seam in ["propose", "pre", "post"] {
        let bench = Bench::allowing();
        let (seams, signal) = (&bench.pipeline.seams(), bench.signal.clone());
        match seam {
            "propose" => drop(
                seams
                    .propose
                    .on(&bench.scope, "bad", move |_, _| fail(signal.clone())),
            ),
            "pre" => drop(
                seams
                    .pre
                    .on(&bench.scope, "bad", move |_, _| fail(signal.clone())),
            ),
            _ => drop(
                seams
                    .post
                    .on(&bench.scope, "bad", move |_, _| fail(signal.clone())),
            ),
        }
        let text = format!("Error: tools.{seam}: `bad` failed: bug");
        assert_eq!(shown(&bench.echo("hi").await), text);
        assert_eq!(bench.runs(), usize::from(seam == "post"));
    }
}

/// A wrapper that cancels before the tool is called keeps it from starting, whether it goes on or
/// answers by itself; what it fails with is kept.
#[tokio::test]
async fn wrappers_that_cancel_first() {
    let before = "Error: tool call aborted before dispatch";
    let cases = [
        ("goes on", before),
        ("answers", before),
        ("fails", "Error: its own story"),
    ];
    for (does, expected) in cases {
        let bench = Bench::allowing();
        let signal = bench.signal.clone();
        let dispatch = &bench.pipeline.seams().dispatch;
        dispatch.on(&bench.scope, "d", move |_, own, inner| {
            let signal = signal.clone();
            async move {
                signal.cancel();
                match does {
                    "goes on" => Ok(inner.run(own).await),
                    "answers" => Ok(Outcome::from(Success {
                        value: json!({"text": "cached"}).into(),
                        content: Content::text("cached"),
                        concludes: false,
                    })),
                    _ => Ok(Outcome::failed("its own story", None)),
                }
            }
        });
        let settled = bench.echo("hi").await;
        assert_eq!(shown(&settled), expected, "{does}");
        let early = settled
            .result
            .outcome
            .has_code(code::ABORTED_BEFORE_DISPATCH);
        assert_eq!(early, expected == before, "{does}");
        assert_eq!((bench.runs(), bench.finals()), (0, 1), "{does}");
    }
}

/// Cancelled while a wrapper or post has the result: the success is none, its contexts are kept.
#[tokio::test]
async fn contexts_are_kept() {
    for station in ["dispatch", "post"] {
        let bench = Bench::allowing();
        let (seams, signal) = (&bench.pipeline.seams(), bench.signal.clone());
        match station {
            "dispatch" => drop(seams.dispatch.on(&bench.scope, "d", move |_, own, inner| {
                let signal = signal.clone();
                async move {
                    let mut outcome = inner.run(own).await;
                    outcome.contexts.push(context("wrapper"));
                    signal.cancel();
                    Ok(outcome)
                }
            })),
            _ => drop(seams.post.on(&bench.scope, "p", move |_, next| {
                let signal = signal.clone();
                async move {
                    let reply = next.run().await?.with_context(context("post"));
                    signal.cancel();
                    Ok(reply)
                }
            })),
        }
        let settled = bench.echo("hi").await;
        assert!(
            settled.result.outcome.has_code(code::ABORTED),
            "{settled:?}"
        );
        let added = if station == "post" { "post" } else { "wrapper" };
        assert_eq!(texts(&settled), ["from the body", added]);
        assert_eq!(bench.runs(), 1);
    }
}

/// Whoever is asked for approval has the call's own cancellation.
#[tokio::test]
async fn whoever_is_asked_learns_of_it() {
    let bench = Bench::new(Mode::Default);
    let cancel = bench.signal.clone();
    let approval = &bench.pipeline.seams().approval;
    approval.on(&bench.scope, "person", move |question, signal| {
        let cancel = cancel.clone();
        async move {
            assert_eq!(question.proposal.name(), "Echo");
            cancel.cancel();
            signal.cancelled().await;
            Some(allow_once(None))
        }
    });
    let settled = bench.echo("hi").await;
    assert!(settled.result.outcome.is_error(), "{settled:?}");
    assert_eq!(bench.runs(), 0);
}
