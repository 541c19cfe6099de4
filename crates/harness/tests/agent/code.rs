//! Programs that call tools, through the whole loop.

use std::time::Duration;

use proptest::prelude::*;
use seamline_harness::agent::Pending;
use seamline_harness::content::Content;
use seamline_harness::json::Json;
use seamline_harness::model::scripted::{Play, ScriptBlock};
use seamline_harness::permission::Mode;
use seamline_harness::session::Event;
use seamline_harness::session::event::{AbortCause, ToolCall, ToolResult, TurnEndReason};
use seamline_harness::tools::code_mode::Limits;
use seamline_harness::tools::{
    CodeMode, PostDecision, PreDecision, ProposeDecision, Registry, RegistryError, Tool,
    ToolContext, ToolError, builtin, code,
};
use seamline_seams::{Denial, When};
use serde_json::{Value, json};
use tokio::sync::Barrier;

use crate::bench::{Bench, aborted, context, halt, soon, speaker, stopped, until};

fn program(source: &str) -> Play {
    let call = ScriptBlock::call("run_code", json!({ "code": source })).with_id("outer");
    Play::blocks([call])
}

fn bench(source: &str) -> Bench {
    Bench::new([program(source), Play::text("done")])
}

async fn run_in(bench: &Bench, mode: CodeMode) -> TurnEndReason {
    let agent = bench.builder().code_mode(mode).build();
    let outcome = soon(agent.send("go")).await;
    soon(agent.close("test")).await.unwrap();
    outcome.end
}

async fn run(bench: &Bench) -> TurnEndReason {
    run_in(bench, CodeMode::Beside).await
}

/// What the model is shown for a program.
async fn shown(source: &str) -> String {
    let bench = bench(source);
    run(&bench).await;
    result(&bench)
}

fn result(bench: &Bench) -> String {
    let asked = bench.asked(1);
    let result = asked
        .iter()
        .find_map(|message| message.strip_prefix("result "));
    result.unwrap().to_owned()
}

fn nested_calls(bench: &Bench) -> Vec<ToolCall> {
    let pick = |event: &Event| match event {
        Event::ToolCall(call) if call.parent.is_some() => Some(call.clone()),
        _ => None,
    };
    let entries = bench.session.entries();
    entries
        .iter()
        .filter_map(|entry| pick(&entry.event))
        .collect()
}

fn nested_results(bench: &Bench) -> Vec<ToolResult> {
    let pick = |event: &Event| match event {
        Event::ToolResult(result) if result.parent.is_some() => Some(result.clone()),
        _ => None,
    };
    let entries = bench.session.entries();
    entries
        .iter()
        .filter_map(|entry| pick(&entry.event))
        .collect()
}

/// What a program returns and prints is what the model is shown.
#[tokio::test]
async fn what_a_program_comes_to() {
    for (source, expected) in [
        ("return 1 + 1", "2"),
        ("return 'text'", "text"),
        (
            "return {a: [1.5, true, null], '__proto__x': 'é'}",
            r#"{"a":[1.5,true,null],"__proto__x":"é"}"#,
        ),
        ("", "(the program returned nothing)"),
        (
            "console.log('a', 1, {b: 2}); console.error('c'); return 3",
            "a 1 {\"b\":2}\nc\n3",
        ),
        ("console.log('only this')", "only this"),
        (
            "return typeof require + typeof fetch + typeof process + typeof setTimeout",
            "undefinedundefinedundefinedundefined",
        ),
        ("return await tools.Probe({say: 'hello'})", "hello"),
        (
            "const r = await Promise.all(['a', 'b'].map(say => tools.Probe({say, safe: true}))); return r",
            r#"["a","b"]"#,
        ),
        (
            "try { await tools.Probe({say: 'fail it'}) } catch (e) { return e.message }",
            "fail it",
        ),
        (
            "try { await tools.Probe({said: 1}) } catch (e) { return e.message }",
            "invalid arguments: \"say\" is a required property",
        ),
        ("return Object.keys(tools)", r#"["Probe"]"#),
    ] {
        assert_eq!(shown(source).await, expected, "{source}");
    }
}

/// A program that fails says how; nothing goes past its limits.
#[tokio::test]
async fn how_a_program_fails() {
    for (source, kind, words) in [
        ("return (", "syntax", "SyntaxError"),
        ("throw new TypeError('oh')", "exception", "TypeError: oh"),
        ("throw 'bare'", "exception", "bare"),
        ("throw {toString() { throw 1 }}", "exception", "{}"),
        ("nope()", "exception", "ReferenceError"),
        (
            "return undefined + 1",
            "exception",
            "NaN, which is not JSON",
        ),
        ("return -0", "exception", "-0, which is not JSON"),
        ("return [1,,2]", "exception", "without gaps"),
        ("return new Date(0)", "exception", "no plain object"),
        (
            "const a = {}; a.a = a; return a",
            "exception",
            "nested too deeply",
        ),
        ("return () => 1", "exception", "of type function"),
        ("return 10n", "exception", "of type bigint"),
        ("const f = () => f() + 1; return f()", "depth", ""),
        (
            "const a = []; for (;;) a.push(new Array(100000).fill(7))",
            "memory",
            "out of memory",
        ),
        ("await new Promise(() => {})", "stalled", "never happens"),
        (
            "return tools.run_code({code: '1'})",
            "exception",
            "TypeError",
        ),
        ("tools.Probe = 1", "exception", "TypeError"),
    ] {
        let bench = bench(source);
        assert_eq!(run(&bench).await, TurnEndReason::Completed, "{source}");
        let result = result(&bench);
        let start = format!("Error: the program failed ({kind}): ");
        assert!(
            result.starts_with(&start) && result.contains(words),
            "{source}: {result}"
        );
        let log = bench.session.entries();
        let codes = log.iter().filter_map(|entry| match &entry.event {
            Event::ToolResult(result) => result.error.clone(),
            _ => None,
        });
        let codes: Vec<String> = codes.map(|error| error.code).collect();
        assert_eq!(codes, [code::CODE_RUN_FAILED], "{source}");
    }
}

/// One that computes for ever ends, with the calls it made in the log and what it printed told.
#[tokio::test]
async fn a_program_that_loops_for_ever_ends() {
    let bench = bench("console.log('before'); await tools.Probe({say: 'one'}); for (;;) {}");
    let limits = Limits {
        time: Duration::from_millis(500),
        ..Limits::default()
    };
    let builder = bench.builder().code_limits(limits);
    let agent = builder.code_mode(CodeMode::Beside).build();
    soon(agent.send("go")).await;
    let result = result(&bench);
    assert!(
        result.starts_with("Error: the program failed (timeout): "),
        "{result}"
    );
    assert!(result.ends_with("It had printed:\nbefore"), "{result}");
    assert_eq!(nested_calls(&bench).len(), 1);
    assert_eq!(nested_results(&bench).len(), 1);
}

/// Notes each station that a call passes.
fn note_everything(bench: &Bench) {
    let (seams, scope) = (&bench.tool_seams, &bench.scope);
    let seen = bench.seen.clone();
    seams.propose.on(scope, "propose", move |proposal, next| {
        seen.note(format!(
            "propose {} {}",
            proposal.call_id(),
            proposal.parent().is_some()
        ));
        async { Ok(next.run().await?) }
    });
    let seen = bench.seen.clone();
    seams.pre.on(scope, "pre", move |proposal, next| {
        seen.note(format!("pre {}", proposal.call_id()));
        async { Ok(next.run().await?) }
    });
    let seen = bench.seen.clone();
    seams.guards.add(scope, "guard", move |call| {
        seen.note(format!("guard {}", call.call_id()));
        None
    });
    let seen = bench.seen.clone();
    seams
        .dispatch
        .on(scope, "around", move |call, signal, inner| {
            seen.note(format!("around {}", call.call_id()));
            async move { Ok(inner.run(signal).await) }
        });
    let seen = bench.seen.clone();
    seams.post.on(scope, "post", move |event, next| {
        seen.note(format!("post {}", event.call.call_id()));
        async { Ok(next.run().await?) }
    });
    let seen = bench.seen.clone();
    seams.result.on(scope, "result", move |result| {
        seen.note(format!("result {}", result.call.call_id()));
    });
}

/// Each call goes through everything, in order, under its own id and its parent's identity.
#[tokio::test]
async fn a_nested_call_goes_through_everything() {
    let bench = bench("return await tools.Probe({say: 'a'}) + await tools.Probe({say: 'b'})");
    note_everything(&bench);
    run(&bench).await;
    let nested = |id: &str, say: &str| {
        [
            format!("propose outer:code:{id} true"),
            format!("pre outer:code:{id}"),
            format!("guard outer:code:{id}"),
            format!("around outer:code:{id}"),
            format!("start {say}"),
            format!("end {say}"),
            format!("post outer:code:{id}"),
            format!("result outer:code:{id}"),
        ]
    };
    let expected = [
        &[
            "propose outer false",
            "pre outer",
            "guard outer",
            "around outer",
        ]
        .map(str::to_owned)[..],
        &nested("1", "a"),
        &nested("2", "b"),
        &["post outer", "result outer"].map(str::to_owned),
    ]
    .concat();
    assert_eq!(bench.seen.all(), expected);
    let log: Vec<String> = bench
        .log()
        .into_iter()
        .filter(|line| line.starts_with("tool/"))
        .collect();
    let code =
        json!({"code": "return await tools.Probe({say: 'a'}) + await tools.Probe({say: 'b'})"});
    let expected = [
        format!("tool/call {code}"),
        r#"tool/call {"say":"a"}"#.to_owned(),
        "tool/result a".to_owned(),
        r#"tool/call {"say":"b"}"#.to_owned(),
        "tool/result b".to_owned(),
        "tool/result ab".to_owned(),
    ];
    assert_eq!(log, expected);
    let parents: Vec<_> = nested_calls(&bench)
        .into_iter()
        .map(|call| call.parent.unwrap())
        .collect();
    assert_eq!(parents, ["outer", "outer"]);
    let shown = bench.asked(1);
    assert_eq!(
        shown
            .iter()
            .filter(|line| line.starts_with("result"))
            .count(),
        1,
        "{shown:?}"
    );
}

/// What denies denies inside a program too, and the program hears why; a rewrite is what runs.
#[tokio::test]
async fn policies_reach_into_programs() {
    let source = "const said = []; for (const say of ['denied', 'guarded', 'rewritten', 'blocked', \
                  'redacted']) { try { said.push(await tools.Probe({say})) } catch (e) \
                  { said.push('! ' + e.message) } } return said";
    let bench = bench(source);
    let (seams, scope) = (&bench.tool_seams, &bench.scope);
    let says = |arguments: &Json, word: &str| arguments.value()["say"] == word;
    seams
        .pre
        .on(scope, "pre", move |proposal, next| async move {
            let reply = next.run().await?;
            let (reason, by) = ("no".to_owned(), speaker());
            Ok(match says(proposal.arguments(), "denied") {
                true => reply.map(|_| PreDecision::Deny { reason, by }),
                false => reply,
            })
        });
    seams.guards.add(scope, "guard", move |call| {
        says(call.arguments(), "guarded").then(|| Denial::new("never"))
    });
    seams
        .propose
        .on(scope, "propose", move |proposal, next| async move {
            let reply = next.run().await?;
            let other = Json::from_value(json!({"say": "other"}));
            Ok(match says(proposal.arguments(), "rewritten") {
                true => reply.map(|_| ProposeDecision::rewrite(other, speaker())),
                false => reply,
            })
        });
    seams.post.on(scope, "post", move |event, next| async move {
        let reply = next.run().await?;
        let arguments = event.call.arguments();
        let (feedback, keep_output) = ("look again".to_owned(), false);
        Ok(if says(arguments, "blocked") {
            reply.map(|_| PostDecision::Block {
                feedback,
                keep_output,
            })
        } else if says(arguments, "redacted") {
            reply.map(|_| PostDecision::ReplaceContent("[hidden]".into()))
        } else {
            reply
        })
    });
    run(&bench).await;
    let expected = json!(["! no", "! never", "other", "! look again", "[hidden]"]);
    assert_eq!(result(&bench), expected.to_string());
    let calls = nested_calls(&bench);
    assert_eq!(calls[0].denied.as_ref().unwrap().reason, "no");
    assert_eq!(
        calls[2].original.as_ref().unwrap().text(),
        r#"{"say":"rewritten"}"#
    );
}

/// The permission mode is asked about each call, not about the program.
#[tokio::test]
async fn the_mode_judges_each_call() {
    let source = "try { await tools.Bash({command: 'touch x'}) } catch (e) { return e.message } \
                  return 'ran'";
    for (mode, expected) in [
        (Mode::Default, "requires approval"),
        (Mode::Plan, "side effects"),
        (Mode::DontAsk, "needs approval"),
        (Mode::BypassPermissions, "ran"),
    ] {
        let mut bench = bench(source);
        bench.registry = builtin::registry().unwrap();
        let agent = bench.builder().code_mode(CodeMode::Only).mode(mode).build();
        soon(agent.send("go")).await;
        assert!(
            result(&bench).contains(expected),
            "{mode}: {}",
            result(&bench)
        );
        assert_eq!(
            bench.project().join("x").exists(),
            mode == Mode::BypassPermissions
        );
    }
}

/// Text for the model waits for the outer result, in order, also when the program fails; it goes
/// when that is blocked. Feedback that stands beside a nested result is not lost.
#[tokio::test]
async fn contexts_wait_for_the_outer_result() {
    let install = |bench: &Bench| {
        bench
            .tool_seams
            .pre
            .on(&bench.scope, "pre", |proposal, next| async move {
                let nested = proposal.parent().is_some();
                let reply = next.run().await?;
                Ok(match nested {
                    true => reply.with_context(context(&format!("of {}", proposal.call_id()))),
                    false => reply,
                })
            });
    };
    for end in ["return 1", "throw 1"] {
        let source =
            format!("await tools.Probe({{say: 'a'}}); await tools.Probe({{say: 'b'}}); {end}");
        let bench = bench(&source);
        install(&bench);
        run(&bench).await;
        let asked = bench.asked(1);
        assert!(asked[2].starts_with("result "), "{asked:?}");
        assert_eq!(
            asked[3..],
            ["context of outer:code:1", "context of outer:code:2"],
            "{end}"
        );
    }
    let bench = bench("return await tools.Probe({say: 'a'})");
    install(&bench);
    bench
        .tool_seams
        .post
        .on(&bench.scope, "post", |event, next| async move {
            let reply = next.run().await?;
            let (feedback, keep_output) = ("mind this".to_owned(), event.call.parent().is_some());
            Ok(reply.map(|_| PostDecision::Block {
                feedback,
                keep_output,
            }))
        });
    run(&bench).await;
    assert_eq!(
        bench.asked(1)[2..],
        ["result mind this"],
        "an outer block drops them"
    );

    let bench = self::bench("return await tools.Probe({say: 'a'})");
    bench
        .tool_seams
        .post
        .on(&bench.scope, "post", |event, next| async move {
            let reply = next.run().await?;
            let (feedback, keep_output) = ("mind this".to_owned(), true);
            Ok(match event.call.parent() {
                Some(_) => reply.map(|_| PostDecision::Block {
                    feedback,
                    keep_output,
                }),
                None => reply,
            })
        });
    run(&bench).await;
    assert_eq!(bench.asked(1)[2..], ["result a", "context mind this"]);
}

/// A safe tool whose calls end only when two of them run at once.
struct Meet(Barrier);

impl Tool for Meet {
    type Args = Value;
    type Value = Value;

    fn name(&self) -> &str {
        "Meet"
    }
    fn description(&self) -> &str {
        "Meets another one."
    }
    fn schema(&self) -> Value {
        json!({"type": "object"})
    }
    fn concurrency_safe(&self, _: &Value) -> bool {
        true
    }
    async fn run(&self, args: Value, _: ToolContext) -> Result<Value, ToolError> {
        self.0.wait().await;
        Ok(args)
    }
    fn render(&self, _: &Value, value: &Value) -> Content {
        Content::text(value.to_string())
    }
}

/// Safe calls overlap, others are barriers; decisions and results keep the order of the program.
#[tokio::test]
async fn calls_overlap_only_where_that_is_safe() {
    let source = "return await Promise.all([tools.Meet({}), tools.Meet({}), \
                  tools.Probe({say: 'c'}), tools.Probe({say: 'd', safe: true})])";
    let bench = bench(source);
    bench.registry.add(Meet(Barrier::new(2))).unwrap();
    let seen = bench.seen.clone();
    let seam = &bench.tool_seams.post;
    seam.on(&bench.scope, "post", move |event, next| {
        seen.note(format!("post {}", event.call.call_id()));
        async { Ok(next.run().await?) }
    });
    run(&bench).await;
    let seen = bench.seen.all();
    let at = |note: &str| seen.iter().position(|seen| seen == note).unwrap();
    assert!(at("post outer:code:2") < at("start c"), "{seen:?}");
    assert!(at("post outer:code:3") < at("start d"), "{seen:?}");
    let ids = nested_results(&bench)
        .into_iter()
        .map(|result| result.call_id);
    assert_eq!(
        ids.collect::<Vec<_>>(),
        [
            "outer:code:1",
            "outer:code:2",
            "outer:code:3",
            "outer:code:4"
        ]
    );
    assert_eq!(result(&bench), r#"[{},{},"c","d"]"#);
}

/// Calls that nobody waits for are carried out before the outer result stands.
#[tokio::test]
async fn calls_that_are_not_awaited_are_carried_out() {
    let bench = bench("tools.Probe({say: 'a'}); tools.Probe({say: 'b'}); return 'early'");
    run(&bench).await;
    assert_eq!(nested_results(&bench).len(), 2);
    assert_eq!(result(&bench), "early");
    let bench = self::bench("tools.Probe({say: 'a'}); tools.Probe({say: () => 1}); return 'early'");
    run(&bench).await;
    assert_eq!(
        nested_calls(&bench).len(),
        1,
        "what is not JSON is dispatched nowhere"
    );
}

/// When the outer call is cancelled, what runs is awaited, what waits is given up without a trace,
/// and a program that computes stops.
#[tokio::test]
async fn a_cancelled_program_ends() {
    for (source, made) in [
        ("await tools.Probe({say: 'hang'}); return 1", 1),
        (
            "tools.Probe({say: 'hang'}); await tools.Probe({say: 'never'})",
            1,
        ),
        (
            "try { await tools.Probe({say: 'hang'}) } catch {} for (;;) {}",
            1,
        ),
    ] {
        let bench = bench(source);
        let agent = bench.builder().code_mode(CodeMode::Beside).build();
        let sent = agent.send("go");
        until(|| bench.seen.all().contains(&"start hang".to_owned())).await;
        agent.cancel(Pending::Keep);
        let outcome = soon(sent).await;
        assert_eq!(outcome.end, aborted(AbortCause::User), "{source}");
        assert_eq!(nested_calls(&bench).len(), made, "{source}");
        let codes: Vec<_> = nested_results(&bench)
            .into_iter()
            .map(|r| r.error.unwrap().code)
            .collect();
        assert_eq!(codes, [code::ABORTED], "{source}");
        soon(agent.close("test")).await.unwrap();
    }
}

/// A halt of a nested call halts the turn; a program makes no further calls after one at once.
#[tokio::test]
async fn a_nested_halt_halts_the_turn() {
    for (when, ran) in [(When::Now, 0), (When::AfterBatch, 2)] {
        let bench = bench("await tools.Probe({say: 'a'}); await tools.Probe({say: 'b'}); return 1");
        bench
            .tool_seams
            .pre
            .on(&bench.scope, "pre", move |proposal, next| async move {
                let first = proposal.call_id().ends_with(":1");
                let reply = next.run().await?;
                Ok(if first {
                    reply.with_halt(halt(when))
                } else {
                    reply
                })
            });
        assert_eq!(run(&bench).await, stopped());
        let starts = bench
            .seen
            .all()
            .iter()
            .filter(|note| note.starts_with("start"))
            .count();
        assert_eq!(starts, ran, "{when:?}");
    }
}

/// In the mode `only` the model knows one tool; another one is refused before any policy.
#[tokio::test]
async fn only_programs_reach_the_tools() {
    let (name, input) = crate::bench::probe("direct");
    let calls = [
        ScriptBlock::call(name, input),
        ScriptBlock::call(
            "run_code",
            json!({"code": "return await tools.Probe({say: 'in'})"}),
        ),
    ];
    let bench = Bench::new([Play::blocks(calls), Play::text("done")]);
    let seen = bench.seen.clone();
    bench
        .tool_seams
        .pre
        .on(&bench.scope, "pre", move |proposal, next| {
            seen.note(format!("pre {}", proposal.name()));
            async { Ok(next.run().await?) }
        });
    run_in(&bench, CodeMode::Only).await;
    let results: Vec<String> = bench
        .asked(1)
        .into_iter()
        .filter(|m| m.starts_with("result"))
        .collect();
    assert_eq!(
        results,
        [
            "result Error: unknown tool \"Probe\": only `run_code` is callable directly — call \
             `Probe` from inside a `run_code` program instead",
            "result in",
        ]
    );
    assert_eq!(
        bench.seen.all(),
        ["pre run_code", "pre Probe", "start in", "end in"]
    );
    let tools = &bench.model.requests()[0].tools;
    assert_eq!(tools.len(), 1);
    for word in ["tools[\"Probe\"]", "Reports.", "\"required\":[\"say\"]"] {
        assert!(tools[0].description.contains(word), "{word}");
    }
    let names = |mode| {
        let bench = self::bench("");
        async move {
            run_in(&bench, mode).await;
            let tools = bench.model.requests()[0].tools.clone();
            tools
                .iter()
                .map(|tool| tool.name.clone())
                .collect::<Vec<_>>()
        }
    };
    assert_eq!(names(CodeMode::Off).await, ["Probe"]);
    assert_eq!(names(CodeMode::Beside).await, ["Probe", "run_code"]);
    assert_eq!(names(CodeMode::Only).await, ["run_code"]);
}

/// The name is nobody else's.
#[test]
fn the_name_is_reserved() {
    struct Fake;
    impl Tool for Fake {
        type Args = Value;
        type Value = Value;
        fn name(&self) -> &str {
            "run_code"
        }
        fn description(&self) -> &str {
            ""
        }
        fn schema(&self) -> Value {
            json!({})
        }
        async fn run(&self, args: Value, _: ToolContext) -> Result<Value, ToolError> {
            Ok(args)
        }
        fn render(&self, _: &Value, _: &Value) -> Content {
            "".into()
        }
    }
    let reserved = RegistryError::Reserved("run_code".to_owned());
    assert_eq!(Registry::new().add(Fake), Err(reserved));
}

/// A nested call cannot be put off; the outer one can, before it runs.
#[tokio::test]
async fn a_nested_call_is_not_put_off() {
    let bench = bench("try { await tools.Probe({say: 'a'}) } catch (e) { return e.message }");
    bench
        .tool_seams
        .pre
        .on(&bench.scope, "pre", |proposal, next| async move {
            let nested = proposal.parent().is_some();
            let reply = next.run().await?;
            let (reason, by) = (None, speaker());
            Ok(if nested {
                reply.map(|_| PreDecision::Defer { reason, by })
            } else {
                reply
            })
        });
    assert_eq!(run(&bench).await, TurnEndReason::Completed);
    assert_eq!(result(&bench), "a call made by a tool cannot be put off");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Whatever calls a program makes, each has one call and one result in the log, in the order they
    /// were made, and the outer result comes last.
    #[test]
    fn every_nested_call_settles(kinds in proptest::collection::vec(0..4_usize, 0..8), awaits in any::<bool>()) {
        let calls: Vec<String> = kinds
            .iter()
            .map(|kind| match kind {
                0 => "probe({say: 'a', safe: true})",
                1 => "probe({say: 'b'})",
                2 => "probe({say: 'fail'})",
                _ => "probe({nothing: 1})",
            })
            .map(|call| if awaits { format!("await {call};") } else { format!("{call};") })
            .collect();
        let source = format!(
            "const probe = (args) => tools.Probe(args).catch(() => 0); {} return 'end'",
            calls.join(" ")
        );
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let bench = bench(&source);
        runtime.block_on(run(&bench));
        let expected: Vec<String> = (1..=kinds.len()).map(|n| format!("outer:code:{n}")).collect();
        let called: Vec<String> = nested_calls(&bench).into_iter().map(|c| c.call_id).collect();
        let answered: Vec<String> = nested_results(&bench).into_iter().map(|r| r.call_id).collect();
        prop_assert_eq!(&called, &expected);
        prop_assert_eq!(&answered, &expected);
        let log = bench.log();
        let last = log.iter().rfind(|line| line.starts_with("tool/result")).unwrap();
        prop_assert_eq!(last, "tool/result end");
    }
}
