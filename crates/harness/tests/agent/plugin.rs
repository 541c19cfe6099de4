//! One plugin on every seam of the loop and of its calls.

use seamline_harness::agent::{
    AgentEvent, BatchDecision, ContinuationDecision, PromptDecision, RequestErrorDecision, Steer,
};
use seamline_harness::content::Content;
use seamline_harness::json::Json;
use seamline_harness::model::scripted::{Play, ScriptBlock, Scripted, Scripts};
use seamline_harness::session::Session;
use seamline_harness::session::event::TurnEndReason;
use seamline_harness::tools::{
    ApprovalAnswer, Effects, PostDecision, PreDecision, ProposeDecision, Tool, ToolContext,
    ToolError,
};
use seamline_seams::{Denial, Reply, Scope};
use serde_json::{Value, json};

use crate::bench::{Bench, Say, Seen, context, soon, speaker};

/// A tool that walks away.
struct Go;

impl Tool for Go {
    type Args = Say;
    type Value = String;

    fn name(&self) -> &str {
        "Go"
    }
    fn description(&self) -> &str {
        "Goes somewhere."
    }
    fn schema(&self) -> Value {
        json!({"type": "object", "required": ["say"]})
    }
    fn effects(&self, _: &Say, _: &std::path::Path) -> Effects {
        Effects::Unknown
    }
    async fn run(&self, args: Say, context: ToolContext) -> Result<String, ToolError> {
        context.workspace().set_cwd(&args.say);
        Ok(args.say)
    }
    fn render(&self, _: &Say, value: &String) -> Content {
        Content::text(value.clone())
    }
}

fn before_calls(bench: &Bench, scope: &Scope) {
    let (seams, tools) = (&bench.seams, &bench.tool_seams);
    let note = |what: &'static str| {
        let seen: Seen = bench.seen.clone();
        move || seen.note(what)
    };
    let noted = note("prompt");
    seams.prompt.on(scope, "plugin", move |event, next| {
        noted();
        async move {
            if event.content.to_text().contains("rm -rf") {
                let (reason, by) = ("destructive".to_owned(), speaker());
                return Ok(PromptDecision::Block { reason, by }.into());
            }
            Ok(next.run().await?.with_context(context("be careful")))
        }
    });
    let noted = note("request");
    seams.request.on(scope, "plugin", move |_, next| {
        noted();
        async { Ok(next.run().await?) }
    });
    let noted = note("propose");
    tools.propose.on(scope, "plugin", move |proposal, next| {
        noted();
        async move {
            let better = Json::from_value(json!({"say": "better"}));
            Ok(match proposal.name() {
                "Probe" => Reply::new(ProposeDecision::rewrite(better, speaker())),
                _ => next.run().await?,
            })
        }
    });
    let noted = note("pre");
    tools.pre.on(scope, "plugin", move |_, _| {
        noted();
        let (reason, by) = (None, speaker());
        async { Ok(PreDecision::Ask { reason, by }.into()) }
    });
    let noted = note("approval");
    tools.approval.on(scope, "plugin", move |question, _| {
        noted();
        let yes = ApprovalAnswer::AllowOnce {
            arguments: None,
            updates: Vec::new(),
        };
        let allow = question.proposal.name() != "Never";
        async move { allow.then_some(yes) }
    });
    let noted = note("guard");
    tools.guards.add(scope, "plugin", move |call| {
        noted();
        (call.arguments().value()["say"] == "forbidden").then(|| Denial::new("never"))
    });
}

fn after_calls(bench: &Bench, scope: &Scope) {
    let (seams, tools) = (&bench.seams, &bench.tool_seams);
    let note = |what: &'static str| {
        let seen: Seen = bench.seen.clone();
        move || seen.note(what)
    };
    let noted = note("dispatch");
    tools.dispatch.on(scope, "plugin", move |_, signal, inner| {
        noted();
        async { Ok(inner.run(signal).await) }
    });
    let noted = note("post");
    tools.post.on(scope, "plugin", move |event, next| {
        noted();
        async move {
            let reply = next.run().await?;
            Ok(match event.call.name() {
                "Probe" => reply.map(|_| PostDecision::ReplaceContent("shown".into())),
                _ => reply,
            })
        }
    });
    let noted = note("result");
    tools.result.on(scope, "plugin", move |_| noted());
    let noted = note("denied");
    tools.denied.on(scope, "plugin", move |_| {
        noted();
        async { vec![context("why it was denied")] }
    });
    let noted = note("batch");
    seams.batch.on(scope, "plugin", move |_, _| {
        noted();
        async { Ok(Reply::new(BatchDecision::Proceed).with_context(context("after all"))) }
    });
}

fn around_turns(bench: &Bench, scope: &Scope) {
    let seams = &bench.seams;
    let note = |what: &'static str| {
        let seen: Seen = bench.seen.clone();
        move || seen.note(what)
    };
    let noted = note("start");
    seams.session_start.on(scope, "plugin", move |_| {
        noted();
        async { Default::default() }
    });
    let noted = note("end");
    seams.session_end.on(scope, "plugin", move |_| {
        noted();
        async { Vec::new() }
    });
    let noted = note("display");
    seams.display.on(scope, "plugin", move |_, next| {
        noted();
        async { Ok(next.run().await?) }
    });
    let noted = note("changed");
    seams.changed.on(scope, "plugin", move |_| {
        noted();
        async { Vec::new() }
    });
    let noted = note("request error");
    seams.request_error.on(scope, "plugin", move |_, _| {
        noted();
        async { Ok(RequestErrorDecision::Fail.into()) }
    });
    let noted = note("continuation");
    seams.continuation.on(scope, "plugin", move |event, next| {
        noted();
        async move {
            let (text, source) = ("once more".to_owned(), speaker());
            let reasons = vec![Steer { text, source }];
            Ok(match event.forced {
                true => next.run().await?,
                false => ContinuationDecision::Continue { reasons }.into(),
            })
        }
    });
    let noted = note("turn stop");
    seams.turn_stop.add(scope, "plugin", move |_| {
        noted();
        None
    });
    let noted = note("events");
    seams.events.on(scope, "plugin", move |event| {
        if matches!(event, AgentEvent::TurnEnded(_)) {
            noted();
        }
    });
}

const SEAMS: [&str; 19] = [
    "start",
    "prompt",
    "request",
    "request error",
    "display",
    "propose",
    "pre",
    "approval",
    "guard",
    "dispatch",
    "post",
    "result",
    "denied",
    "changed",
    "batch",
    "continuation",
    "turn stop",
    "events",
    "end",
];

/// In one turn a plugin hears every seam and what it decides is what happens; it refuses a
/// destructive prompt; once it is disposed of, nothing of it is left and nothing of it is called.
#[tokio::test]
async fn one_plugin_on_every_seam() {
    let calls = [
        ScriptBlock::Text("hm".to_owned()),
        ScriptBlock::call("Probe", json!({"say": "worse"})),
        ScriptBlock::call("Go", json!({"say": "/somewhere"})),
        ScriptBlock::call("Go", json!({"say": "forbidden"})),
    ];
    let turn = [
        Play::blocks(calls),
        Play::text("one"),
        Play::Fail(seamline_harness::model::ModelError {
            status: Some(400),
            kind: "invalid_request".to_owned(),
            message: "no".to_owned(),
        }),
    ];
    let mut bench = Bench::with_model(Scripted::new(Scripts::main(turn)));
    bench.registry.add(Go).unwrap();
    let scope = bench.scope.child("plugin");
    before_calls(&bench, &scope);
    after_calls(&bench, &scope);
    around_turns(&bench, &scope);
    let agent = bench.agent();
    let outcome = soon(agent.send("go")).await;
    let message = "no".to_owned();
    assert_eq!(outcome.end, TurnEndReason::Error { message });
    assert_eq!(
        bench.asked(1)[1..],
        [
            "context be careful",
            r#"assistant hm {"say":"better"} {"say":"/somewhere"} {"say":"forbidden"}"#,
            "result shown",
            "result /somewhere",
            "result Error: never",
            "context why it was denied",
            "context after all",
        ]
    );
    assert_eq!(bench.asked(2).last().unwrap(), "user once more");

    let requests = bench.model.requests().len();
    let refused = soon(agent.send("please rm -rf it")).await;
    let reason = "destructive".to_owned();
    assert_eq!(refused.end, TurnEndReason::Rejected { reason });
    assert_eq!(bench.model.requests().len(), requests);
    soon(agent.close("other")).await.unwrap();
    let seen = bench.seen.all();
    for seam in SEAMS {
        assert!(seen.contains(&seam.to_owned()), "{seam}: {seen:?}");
    }

    soon(scope.dispose()).await;
    assert!(bench.seams.describe().is_empty());
    assert!(bench.tool_seams.describe().is_empty());
    bench.session = Session::ephemeral(bench.project());
    let next = bench.run("please rm -rf it").await;
    assert!(next.requests > 0, "the prompt enters: {:?}", next.end);
    assert!(bench.seen.all().contains(&"end worse".to_owned()));
    let after = bench.seen.all();
    let ours = |seen: &[String]| {
        seen.iter()
            .filter(|it| SEAMS.contains(&it.as_str()))
            .count()
    };
    assert_eq!(ours(&after), ours(&seen));
}
