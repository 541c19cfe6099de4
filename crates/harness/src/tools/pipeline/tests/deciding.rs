//! What a call is, and whether it may run.

use super::*;

/// The stations come in their order, each once.
#[tokio::test]
async fn stations_in_order() {
    let bench = Bench::allowing();
    let seams = &bench.pipeline.seams();
    let log = |what: &'static str| {
        let seen = Arc::clone(&bench.seen);
        move || note(&seen, what.to_owned())
    };
    let tell = log("propose");
    seams.propose.on(&bench.scope, "p", move |_, next| {
        tell();
        async { Ok(next.run().await?) }
    });
    let tell = log("pre");
    seams.pre.on(&bench.scope, "p", move |_, next| {
        tell();
        async { Ok(next.run().await?) }
    });
    let tell = log("guard");
    seams.guards.add(&bench.scope, "g", move |_| {
        tell();
        None
    });
    let (before, after) = (Arc::new(log("dispatch")), Arc::new(log("dispatched")));
    seams
        .dispatch
        .on(&bench.scope, "d", move |_, signal, inner| {
            before();
            let after = Arc::clone(&after);
            async move {
                let outcome = inner.run(signal).await;
                after();
                Ok(outcome)
            }
        });
    bench.post(PostDecision::Accept);
    let settled = bench.echo("hi").await;
    assert_eq!(shown(&settled), "said hi");
    assert_eq!(
        bench.seen(),
        [
            "propose",
            "pre",
            "guard",
            "dispatch",
            "dispatched",
            "post Ran said hi",
            "result Ran",
        ]
    );
    assert_eq!((bench.runs(), bench.finals()), (1, 1));
}

/// A denial: the body does not run, the model sees `Error: ` and the reason, post sees it.
#[tokio::test]
async fn a_denial_is_final_and_seen_by_post() {
    let bench = Bench::allowing();
    bench.pre(deny("not today"));
    bench.post(PostDecision::Accept);
    let settled = bench.echo("hi").await;
    assert_eq!(shown(&settled), "Error: not today");
    assert_eq!(
        bench.seen(),
        ["post Denied Error: not today", "result Denied"]
    );
    assert_eq!((bench.runs(), bench.finals()), (0, 1));
    let denial = settled.denial.unwrap();
    assert_eq!(
        (denial.reason.as_str(), denial.cause),
        ("not today", DenyCause::Policy)
    );
    let by = denial.call.denied().unwrap().by.clone();
    let (plugin, key) = ("test-plugin".to_owned(), Some("h1".to_owned()));
    assert_eq!(by, Source::Plugin { plugin, key });
}

const UNANSWERED: &str =
    "Error: tool \"Echo\" requires approval, but no approval channel is available";

/// A call in a mode, with what pre decides and what a person answers.
async fn asked(
    mode: Mode,
    pre: Option<PreDecision>,
    answer: Option<ApprovalAnswer>,
) -> (Settled, usize) {
    let bench = Bench::new(mode);
    pre.into_iter().for_each(|decision| bench.pre(decision));
    answer.into_iter().for_each(|answer| bench.answer(answer));
    (bench.echo("hi").await, bench.runs())
}

/// With nobody to ask, a question is a denial in the asker's words, and the user is told how to
/// allow the call. No mode keeps a policy from asking.
#[tokio::test]
async fn asking_nobody() {
    let risky = || Some(ask(Some("risky")));
    let cases = [
        (Mode::Default, None, UNANSWERED),
        (Mode::Default, risky(), "Error: risky"),
        (Mode::Default, Some(ask(None)), UNANSWERED),
        (Mode::AcceptEdits, risky(), "Error: risky"),
        (Mode::BypassPermissions, risky(), "Error: risky"),
    ];
    for (mode, pre, expected) in cases {
        let (settled, runs) = asked(mode, pre, None).await;
        assert_eq!((shown(&settled).as_str(), runs), (expected, 0), "{mode}");
        assert_eq!(settled.denial.unwrap().cause, DenyCause::Unanswered);
        assert!(settled.notices[0].text.contains("interactively"), "{mode}");
    }
}

/// A person's yes lets the call run, a no is a denial in the person's words or in ours.
#[tokio::test]
async fn asking_somebody() {
    let deny = |message: Option<&str>, interrupt| ApprovalAnswer::Deny {
        message: message.map(ToOwned::to_owned),
        interrupt,
    };
    let yes = || allow_once(None);
    let rejected = "Error: the user rejected tool \"Echo\"";
    let cases = [
        (Mode::Default, None, yes(), "said hi", false),
        (
            Mode::BypassPermissions,
            Some(ask(None)),
            yes(),
            "said hi",
            false,
        ),
        (Mode::Default, None, deny(None, false), rejected, false),
        (
            Mode::Default,
            None,
            deny(Some("no!"), true),
            "Error: no!",
            true,
        ),
    ];
    for (mode, pre, answer, expected, halts) in cases {
        let (settled, runs) = asked(mode, pre, Some(answer)).await;
        assert_eq!(shown(&settled), expected);
        assert_eq!(runs == 1, expected == "said hi");
        let halt = settled.halt.map(|halt| halt.when);
        assert_eq!(halt, halts.then_some(When::AfterBatch), "{expected}");
    }
}

/// In `dontAsk` nobody is asked, not even for a policy, and the user is told why.
#[tokio::test]
async fn asking_is_off() {
    let by_mode = "Error: tool \"Echo\" needs approval, and the permission mode is dontAsk";
    for (pre, expected) in [(None, by_mode), (Some(ask(Some("risky"))), "Error: risky")] {
        let (settled, runs) = asked(Mode::DontAsk, pre, Some(allow_once(None))).await;
        assert_eq!((shown(&settled).as_str(), runs), (expected, 0));
        assert!(settled.notices[0].text.contains("Choose another one"));
    }
}

/// An approval may amend the arguments: checked, shown to pre once more, and recorded.
#[tokio::test]
async fn an_amended_call() {
    let amended = |value| {
        let bench = Bench::new(Mode::Default);
        bench.answer(allow_once(Some(value)));
        bench
            .pipeline
            .seams()
            .pre
            .on(&bench.scope, "pre", |proposal, _| async move {
                let forbidden = proposal.arguments().value()["text"] == "forbidden";
                let decision = if forbidden {
                    deny("not even so")
                } else {
                    ask(None)
                };
                Ok(Reply::new(decision).with_context(context("heard")))
            });
        bench
    };
    let bench = amended(json!({"text": "better"}));
    let settled = bench.echo("hi").await;
    assert_eq!(shown(&settled), "said better");
    assert_eq!(
        texts(&settled),
        ["heard", "from the body"],
        "the second time is not heard"
    );
    let call = &settled.result.call;
    assert_eq!(
        call.rewritten_by(),
        [Source::Approval {
            by: "person".to_owned()
        }]
    );
    assert_eq!(call.written().value(), &json!({"text": "hi"}));

    let bench = amended(json!({"text": "forbidden"}));
    assert_eq!(shown(&bench.echo("hi").await), "Error: not even so");
    let bench = amended(json!({"text": 5}));
    let settled = bench.echo("hi").await;
    assert!(shown(&settled).contains("as rewritten by the approval of person do not fit it"));
    assert_eq!(settled.denial.unwrap().cause, DenyCause::Rewrite);
    assert_eq!(bench.runs(), 0);
}

/// An approval may change the permissions of the rest of the session.
#[tokio::test]
async fn an_approval_for_the_session() {
    for update in [
        Update::AllowTool("Echo".to_owned()),
        Update::SetMode(Mode::BypassPermissions),
    ] {
        let bench = Bench::new(Mode::Default);
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        bench
            .pipeline
            .seams()
            .approval
            .on(&bench.scope, "person", move |_, _| {
                count.fetch_add(1, Ordering::SeqCst);
                let updates = vec![update.clone()];
                async {
                    Some(ApprovalAnswer::AllowOnce {
                        arguments: None,
                        updates,
                    })
                }
            });
        drop(bench.echo("one").await);
        drop(bench.echo("two").await);
        assert_eq!((bench.runs(), asked.load(Ordering::SeqCst)), (2, 1));
    }
}

/// Guards come after everything that could allow, and no mode or approval overrules them.
#[tokio::test]
async fn guards_have_the_last_word() {
    let bench = Bench::allowing();
    bench.pre(PreDecision::Allow { pre_approved: true });
    bench.post(PostDecision::Accept);
    bench
        .pipeline
        .seams()
        .guards
        .add(&bench.scope, "g", |call| {
            (call.arguments().value()["text"] == "hi").then(|| Denial::new("never"))
        });
    let settled = bench.echo("hi").await;
    assert_eq!(shown(&settled), "Error: never");
    assert_eq!(settled.denial.unwrap().cause, DenyCause::Guard);
    assert_eq!(bench.seen(), ["post Denied Error: never", "result Denied"]);
    assert_eq!(shown(&bench.echo("ho").await), "said ho");
    assert_eq!(bench.runs(), 1);
}

/// Rewriters see each other's result, outermost first; the last one's arguments are in force
/// everywhere after.
#[tokio::test]
async fn rewrites_run_in_order() {
    let bench = Bench::allowing();
    let propose = &bench.pipeline.seams().propose;
    propose.on(&bench.scope, "outer", |proposal, next| async move {
        let arguments = Json::from(json!({"text": "outer"}));
        let reply = next.run_with(proposal.with_arguments(&arguments)).await?;
        Ok(reply.map(|decision| decision.after(arguments, speaker())))
    });
    assert_eq!(
        shown(&bench.echo("hi").await),
        "said outer",
        "the inner one keeps it"
    );
    propose.on(&bench.scope, "inner", |proposal, _| async move {
        let text = format!(
            "{} inner",
            proposal.arguments().value()["text"].as_str().unwrap()
        );
        let arguments = Json::from(json!({ "text": text }));
        Ok(Reply::new(ProposeDecision::rewrite(arguments, speaker())))
    });
    let seen = Arc::clone(&bench.seen);
    bench
        .pipeline
        .seams()
        .pre
        .on(&bench.scope, "pre", move |proposal, next| {
            note(&seen, format!("pre {}", proposal.arguments()));
            async { Ok(next.run().await?) }
        });
    let settled = bench.echo("hi").await;
    assert_eq!(shown(&settled), "said outer inner");
    assert_eq!(bench.seen()[1], "pre {\"text\":\"outer inner\"}");
    let call = &settled.result.call;
    assert_eq!(call.arguments().text(), "{\"text\":\"outer inner\"}");
    assert_eq!(call.written().text(), "{\"text\":\"hi\"}");
    assert_eq!(call.rewritten_by().len(), 2, "both, first to last");
}

/// A rewrite that does not fit is a denial that says so, and pre is not asked about it.
#[tokio::test]
async fn an_invalid_rewrite_is_a_denial() {
    let bench = Bench::allowing();
    bench.rewrite(json!({"txt": "hi"}));
    bench.pre(deny("pre was asked"));
    let settled = bench.echo("hi").await;
    let text = shown(&settled);
    assert!(
        text.starts_with("Error: the arguments of tool \"Echo\" as rewritten by"),
        "{text}"
    );
    assert!(
        text.contains("test-plugin (h1)") && text.contains("\"text\""),
        "{text}"
    );
    assert_eq!(settled.denial.unwrap().cause, DenyCause::Rewrite);
    assert_eq!(settled.result.call.arguments().text(), "{\"text\":\"hi\"}");
    assert_eq!(bench.runs(), 0);
}

/// Every station sees whether a call could run; nothing invalid runs; a denial still counts.
#[tokio::test]
async fn invalid_calls() {
    for (name, arguments, code, text) in [
        (
            "Nope",
            "{}",
            code::UNKNOWN_TOOL,
            "Error: unknown tool \"Nope\"",
        ),
        (
            "Echo",
            "{}",
            code::INVALID_ARGS,
            "Error: invalid arguments: ",
        ),
        (
            "Echo",
            "\"{oops\"",
            code::INVALID_ARGS,
            "Error: invalid arguments: ",
        ),
    ] {
        let bench = Bench::new(Mode::Default);
        bench.post(PostDecision::Accept);
        let seen = Arc::clone(&bench.seen);
        bench
            .pipeline
            .seams()
            .pre
            .on(&bench.scope, "pre", move |proposal, next| {
                let unknown = *proposal.validity() == Validity::UnknownTool;
                note(
                    &seen,
                    format!("valid {} unknown {unknown}", proposal.is_valid()),
                );
                async { Ok(next.run().await?) }
            });
        let settled = bench.call(name, arguments).await;
        assert!(settled.result.outcome.has_code(code), "{settled:?}");
        assert!(shown(&settled).starts_with(text), "{settled:?}");
        assert!(
            settled.denial.is_none() && settled.notices.is_empty(),
            "nobody was asked"
        );
        let seen = bench.seen();
        assert_eq!(seen[0], format!("valid false unknown {}", name == "Nope"));
        assert!(seen[1].starts_with("post Invalid"), "{seen:?}");
        assert_eq!(bench.runs(), 0);

        let bench = Bench::allowing();
        bench.pre(deny("no"));
        assert_eq!(shown(&bench.call(name, arguments).await), "Error: no");
    }
    let bench = Bench::allowing();
    bench.rewrite(json!({"text": "mended"}));
    assert_eq!(
        shown(&bench.call("Echo", "{}").await),
        "said mended",
        "a rewrite may mend it"
    );
}

/// Text for the model in its order: deciders first, then the body, then post, then those who
/// What each mode lets pass without a yes, for each kind of effect.
#[tokio::test]
async fn modes() {
    let table = [
        (Mode::Default, "read", true),
        (Mode::Default, "write", false),
        (Mode::Default, "other", false),
        (Mode::AcceptEdits, "write", true),
        (Mode::AcceptEdits, "other", false),
        (Mode::Plan, "read", true),
        (Mode::Plan, "write", false),
        (Mode::DontAsk, "read", true),
        (Mode::DontAsk, "write", false),
        (Mode::BypassPermissions, "other", true),
    ];
    for (mode, text, runs) in table {
        let bench = Bench::new(mode);
        drop(bench.echo(text).await);
        assert_eq!(bench.runs() == 1, runs, "{mode} {text}");

        let bench = Bench::new(mode);
        bench.pre(PreDecision::Allow { pre_approved: true });
        drop(bench.echo(text).await);
        let expected = runs || mode != Mode::Plan;
        assert_eq!(bench.runs() == 1, expected, "pre-approved: {mode} {text}");

        let bench = Bench::new(mode);
        bench.pre(deny("no"));
        drop(bench.echo(text).await);
        assert_eq!(
            bench.runs(),
            0,
            "a denial wins in every mode: {mode} {text}"
        );
    }
}

/// Outside an agent's turn there is nothing to come back to, so a deferral is a denial.
#[tokio::test]
async fn a_lone_call_cannot_be_deferred() {
    let bench = Bench::allowing();
    bench.pre(PreDecision::Defer {
        reason: None,
        by: speaker(),
    });
    assert!(shown(&bench.echo("hi").await).contains("cannot be deferred"));
    assert_eq!(bench.runs(), 0);
}

/// Equal calls with equal ids are different calls.
#[tokio::test]
async fn tokens_are_unique() {
    let bench = Bench::allowing();
    let (one, other) = (bench.echo("hi").await, bench.echo("hi").await);
    assert_eq!(one.result.call.call_id(), other.result.call.call_id());
    assert_ne!(one.result.call.token(), other.result.call.token());
}
