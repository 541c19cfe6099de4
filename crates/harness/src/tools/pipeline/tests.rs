//! The pipeline, station by station.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use seamline_seams::{Context, Denial, FaultLog, Notice, Reply, Scope, Source as Speaker, When};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::*;
use crate::content::Content;
use crate::permission::{Mode, Update};
use crate::tools::{
    ApprovalAnswer, Effects, PostDecision, PreDecision, ProposeDecision, Success, Tool,
    ToolContext, ToolError, Validity, code,
};

/// A tool that does what its text says.
#[derive(Default)]
struct Echo {
    runs: Arc<AtomicUsize>,
    finals: Arc<AtomicUsize>,
}

#[derive(Serialize, Deserialize)]
struct Said {
    text: String,
}

impl Tool for Echo {
    type Args = Said;
    type Value = Said;

    fn name(&self) -> &str {
        "Echo"
    }
    fn description(&self) -> &str {
        "Echoes."
    }
    fn schema(&self) -> Value {
        json!({"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}})
    }
    fn effects(&self, args: &Said, _: &std::path::Path) -> Effects {
        match args.text.as_str() {
            "read" => Effects::Reads(Vec::new()),
            "write" => Effects::Writes(Vec::new()),
            _ => Effects::Unknown,
        }
    }
    async fn run(&self, args: Said, context: ToolContext) -> Result<Said, ToolError> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        let source = Speaker::new("echo");
        context.add_context(Context {
            source,
            text: "from the body".to_owned(),
        });
        match args.text.as_str() {
            "fail" => Err(ToolError::new("it failed")),
            "fail verbatim" => Err(ToolError::verbatim("just this")),
            "panic" => panic!("oh no"),
            "wait" => {
                context.signal().cancelled().await;
                Ok(args)
            }
            _ => Ok(args),
        }
    }
    fn render(&self, _: &Said, value: &Said) -> Content {
        assert_ne!(value.text, "unshowable", "cannot be shown");
        Content::text(format!("said {}", value.text))
    }
    fn finalize(&self, _: &Call, outcome: &Outcome) -> Option<Content> {
        self.finals.fetch_add(1, Ordering::SeqCst);
        (outcome.content().to_text() == "said secret").then(|| Content::text("[hidden]"))
    }
}

struct Bench {
    pipeline: Pipeline,
    scope: Scope,
    faults: FaultLog,
    runs: Arc<AtomicUsize>,
    finals: Arc<AtomicUsize>,
    seen: Arc<Mutex<Vec<String>>>,
    signal: Signal,
}

impl Bench {
    fn new(mode: Mode) -> Self {
        let faults = FaultLog::new();
        let echo = Echo::default();
        let (runs, finals) = (Arc::clone(&echo.runs), Arc::clone(&echo.finals));
        let registry = Registry::new();
        registry.add(echo).unwrap();
        let seams = ToolSeams::new(&faults);
        let workspace = Workspace::new(std::env::temp_dir());
        let pipeline = Pipeline::new(seams, registry, Permission::new(mode), workspace);
        let bench = Self {
            pipeline,
            scope: Scope::root_with("test", &faults),
            faults,
            runs,
            finals,
            seen: Arc::default(),
            signal: Signal::new(),
        };
        let seen = Arc::clone(&bench.seen);
        bench
            .pipeline
            .seams
            .result
            .on(&bench.scope, "witness", move |result| {
                note(&seen, format!("result {:?}", result.ending));
            });
        bench
    }

    fn allowing() -> Self {
        Self::new(Mode::BypassPermissions)
    }

    async fn call(&self, name: &str, arguments: &str) -> Settled {
        let written = Written {
            call_id: "c1".to_owned(),
            name: name.to_owned(),
            arguments: Json::parse(arguments).unwrap(),
        };
        let facts = Arc::new(Facts::outside(std::env::temp_dir()));
        self.pipeline.run(written, facts, self.signal.clone()).await
    }

    async fn echo(&self, text: &str) -> Settled {
        self.call("Echo", &json!({ "text": text }).to_string())
            .await
    }

    fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }

    fn finals(&self) -> usize {
        self.finals.load(Ordering::SeqCst)
    }

    fn seen(&self) -> Vec<String> {
        self.seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn pre(&self, decision: PreDecision) {
        self.pipeline.seams.pre.on(&self.scope, "pre", move |_, _| {
            let decision = decision.clone();
            async { Ok(Reply::new(decision)) }
        });
    }

    fn rewrite(&self, arguments: Value) {
        let decision = ProposeDecision::Rewrite {
            arguments: arguments.into(),
            by: speaker(),
        };
        self.pipeline
            .seams
            .propose
            .on(&self.scope, "rewriter", move |_, _| {
                let decision = decision.clone();
                async { Ok(Reply::new(decision)) }
            });
    }

    fn answer(&self, answer: ApprovalAnswer) {
        self.pipeline
            .seams
            .approval
            .on(&self.scope, "person", move |_, _| {
                let answer = answer.clone();
                async { Some(answer) }
            });
    }

    fn post(&self, decision: PostDecision) {
        let seen = Arc::clone(&self.seen);
        self.pipeline
            .seams
            .post
            .on(&self.scope, "post", move |event, _| {
                note(
                    &seen,
                    format!(
                        "post {:?} {}",
                        event.ending,
                        event.outcome.content().to_text()
                    ),
                );
                let decision = decision.clone();
                async { Ok(Reply::new(decision)) }
            });
    }
}

fn note(seen: &Mutex<Vec<String>>, what: String) {
    seen.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(what);
}

fn speaker() -> Speaker {
    Speaker::new("test-plugin").with_key("h1")
}

fn context(text: &str) -> Context {
    Context {
        source: speaker(),
        text: text.to_owned(),
    }
}

fn shown(settled: &Settled) -> String {
    settled.result.outcome.content().to_text()
}

fn texts(settled: &Settled) -> Vec<&str> {
    settled
        .contexts
        .iter()
        .map(|context| context.text.as_str())
        .collect()
}

fn deny(reason: &str) -> PreDecision {
    PreDecision::Deny {
        reason: reason.to_owned(),
        by: speaker(),
    }
}

fn ask(reason: Option<&str>) -> PreDecision {
    PreDecision::Ask {
        reason: reason.map(ToOwned::to_owned),
        by: speaker(),
    }
}

fn allow_once(arguments: Option<Value>) -> ApprovalAnswer {
    ApprovalAnswer::AllowOnce {
        arguments: arguments.map(Json::from),
        updates: Vec::new(),
    }
}

/// The stations come in their order, each once.
#[tokio::test]
async fn stations_in_order() {
    let bench = Bench::allowing();
    let seams = &bench.pipeline.seams;
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

/// What each way of asking comes to, and in whose words.
#[tokio::test]
async fn asking() {
    let rejected = ApprovalAnswer::Deny {
        message: None,
        interrupt: false,
    };
    let told = ApprovalAnswer::Deny {
        message: Some("better not".to_owned()),
        interrupt: true,
    };
    let reason = Some("risky");
    let unanswered = "Error: tool \"Echo\" requires approval, but no approval channel is available";
    let cases = [
        (Mode::Default, None, None, unanswered, 0),
        (Mode::Default, Some(ask(reason)), None, "Error: risky", 0),
        (Mode::Default, Some(ask(None)), None, unanswered, 0),
        (
            Mode::BypassPermissions,
            Some(ask(reason)),
            None,
            "Error: risky",
            0,
        ),
        (Mode::Default, None, Some(allow_once(None)), "said hi", 1),
        (
            Mode::BypassPermissions,
            Some(ask(reason)),
            Some(allow_once(None)),
            "said hi",
            1,
        ),
        (
            Mode::Default,
            None,
            Some(rejected),
            "Error: the user rejected tool \"Echo\"",
            0,
        ),
        (Mode::Default, None, Some(told), "Error: better not", 0),
        (
            Mode::DontAsk,
            Some(ask(reason)),
            Some(allow_once(None)),
            "Error: risky",
            0,
        ),
        (
            Mode::DontAsk,
            None,
            Some(allow_once(None)),
            "Error: tool \"Echo\" needs approval, and the permission mode is dontAsk",
            0,
        ),
    ];
    for (mode, pre, answer, expected, runs) in cases {
        let case = format!("{mode} {pre:?} {answer:?}");
        let bench = Bench::new(mode);
        pre.into_iter().for_each(|decision| bench.pre(decision));
        let interrupts = matches!(
            &answer,
            Some(ApprovalAnswer::Deny {
                interrupt: true,
                ..
            })
        );
        let nobody = answer.is_none();
        answer.into_iter().for_each(|answer| bench.answer(answer));
        let settled = bench.echo("hi").await;
        assert_eq!(
            (shown(&settled).as_str(), bench.runs()),
            (expected, runs),
            "{case}"
        );
        let halted = settled
            .halt
            .is_some_and(|halt| halt.when == When::AfterBatch);
        assert_eq!(halted, interrupts, "{case}");
        let remedy = settled
            .notices
            .iter()
            .any(|notice| notice.text.contains("interactively"));
        assert_eq!(remedy, nobody, "the user is told how to allow it: {case}");
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
            .seams
            .pre
            .on(&bench.scope, "pre", |proposal, _| async move {
                let forbidden = proposal.arguments().value()["text"] == "forbidden";
                let decision = if forbidden {
                    deny("not even so")
                } else {
                    ask(None)
                };
                Ok(Reply::new(decision))
            });
        bench
    };
    let bench = amended(json!({"text": "better"}));
    let settled = bench.echo("hi").await;
    assert_eq!(shown(&settled), "said better");
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
            .seams
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
    bench.pipeline.seams.guards.add(&bench.scope, "g", |call| {
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
    let propose = &bench.pipeline.seams.propose;
    propose.on(&bench.scope, "outer", |proposal, next| async move {
        let arguments = Json::from(json!({"text": "outer"}));
        let reply = next.run_with(proposal.with_arguments(&arguments)).await?;
        Ok(reply.map(|decision| match decision {
            ProposeDecision::Keep => ProposeDecision::Rewrite {
                arguments,
                by: speaker(),
            },
            inner => inner,
        }))
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
        Ok(Reply::new(ProposeDecision::Rewrite {
            arguments,
            by: speaker(),
        }))
    });
    let seen = Arc::clone(&bench.seen);
    bench
        .pipeline
        .seams
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
    assert_eq!(call.rewritten_by().len(), 1);
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
            .seams
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

/// What each post decision makes of a success and of a failure.
#[tokio::test]
async fn post_decisions() {
    let block = |keep_output| PostDecision::Block {
        feedback: "hm".to_owned(),
        keep_output,
    };
    let value = |value: Value| PostDecision::ReplaceValue(value.into());
    let better = json!({"text": "better"});
    let content = PostDecision::ReplaceContent(Content::text("[gone]"));
    let cases: [(&str, PostDecision, &str, bool, Option<&Value>, usize); 10] = [
        (
            "hi",
            PostDecision::Accept,
            "said hi",
            false,
            Some(&json!({"text": "hi"})),
            1,
        ),
        (
            "hi",
            content.clone(),
            "[gone]",
            false,
            Some(&json!({"text": "hi"})),
            1,
        ),
        (
            "hi",
            value(better.clone()),
            "said better",
            false,
            Some(&better),
            1,
        ),
        (
            "hi",
            value(json!(5)),
            "returned invalid output: value: ",
            true,
            None,
            1,
        ),
        (
            "hi",
            block(true),
            "said hi\nhm",
            false,
            Some(&json!({"text": "hi"})),
            1,
        ),
        ("hi", block(false), "hm", true, None, 0),
        ("fail", content, "[gone]", true, None, 1),
        (
            "fail",
            value(better.clone()),
            "cannot replace the value",
            true,
            None,
            1,
        ),
        ("fail", block(true), "Error: it failed\nhm", true, None, 1),
        ("fail", block(false), "hm", true, None, 0),
    ];
    for (text, decision, expected, is_error, value, contexts) in cases {
        let case = format!("{text} {decision:?}");
        let bench = Bench::allowing();
        bench.post(decision);
        let settled = bench.echo(text).await;
        let shown = shown(&settled);
        assert!(shown.contains(expected), "{case}: {shown}");
        assert_eq!(settled.result.outcome.is_error(), is_error, "{case}");
        let kept = settled.result.outcome.result.as_ref().ok();
        assert_eq!(kept.map(|success| success.value.value()), value, "{case}");
        assert_eq!(
            settled.contexts.len(),
            contexts,
            "{case}: own contexts of a replaced result"
        );
    }
    let bench = Bench::allowing();
    bench.post(PostDecision::Block {
        feedback: String::new(),
        keep_output: false,
    });
    assert_eq!(
        shown(&bench.echo("hi").await),
        "tool result blocked by post-execute policy"
    );
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
            .seams
            .dispatch
            .on(&bench.scope, "cache", move |_, _, _| {
                let content = Content::text("authored");
                let success = Success {
                    value: value.clone().into(),
                    content,
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
    bench.post(PostDecision::Accept);
    bench
        .pipeline
        .seams
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
        let seams = &bench.pipeline.seams;
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

/// Text for the model in its order: deciders first, then the body, then post, then those who
/// were told of a denial.
#[tokio::test]
async fn contexts_in_order() {
    let bench = Bench::allowing();
    let seams = &bench.pipeline.seams;
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
    assert_eq!(texts(&settled), ["propose", "pre", "from the body", "post"]);
    assert_eq!(settled.notices.len(), 1);
    assert_eq!(
        texts(&bench.echo("deny").await),
        ["propose", "pre", "post", "told of Policy"]
    );
}

/// A cancelled call: before it is decided, while it is decided, while it runs, while post runs.
#[tokio::test]
async fn cancellation() {
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

    for (decision, expected) in [
        (
            PreDecision::Allow {
                pre_approved: false,
            },
            "Error: tool call aborted before dispatch",
        ),
        (deny("no"), "Error: no"),
    ] {
        let bench = Bench::allowing();
        bench.post(PostDecision::Accept);
        let signal = bench.signal.clone();
        bench
            .pipeline
            .seams
            .pre
            .on(&bench.scope, "pre", move |_, _| {
                signal.cancel();
                let decision = decision.clone();
                async { Ok(Reply::new(decision)) }
            });
        assert_eq!(
            shown(&bench.echo("hi").await),
            expected,
            "a denial stays a denial"
        );
        assert_eq!(bench.runs(), 0);
    }

    let bench = Bench::allowing();
    let signal = bench.signal.clone();
    bench
        .pipeline
        .seams
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

    let bench = Bench::allowing();
    let signal = bench.signal.clone();
    bench
        .pipeline
        .seams
        .post
        .on(&bench.scope, "post", move |_, next| {
            signal.cancel();
            async { Ok(next.run().await?) }
        });
    assert!(
        bench
            .echo("hi")
            .await
            .result
            .outcome
            .has_code(code::ABORTED)
    );
    let bench = Bench::allowing();
    let signal = bench.signal.clone();
    bench
        .pipeline
        .seams
        .post
        .on(&bench.scope, "post", move |_, next| {
            signal.cancel();
            async { Ok(next.run().await?) }
        });
    assert_eq!(
        shown(&bench.echo("fail").await),
        "Error: it failed",
        "failures keep their story"
    );
}

/// A halt now keeps the call from starting; a halt after the batch does not.
#[tokio::test]
async fn halts() {
    for (when, runs) in [(When::Now, 0), (When::AfterBatch, 1)] {
        let bench = Bench::allowing();
        bench
            .pipeline
            .seams
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
