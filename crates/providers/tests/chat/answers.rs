//! Sound answers.

use futures_util::StreamExt;
use seamline_harness::agent::Pending;
use seamline_harness::model::{ChunkStream, Model, Request, Signal, Usage};
use seamline_harness::session::event::{AbortCause, ReceivedBlock, TurnEndReason};
use seamline_harness::session::{Event, Loaded, Session};
use seamline_providers::chat::{Chat, Key};
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use crate::server::{Answer, PATIENCE, answer, call, event, finish, text};
use crate::{Bench, known, said};

fn text_block(text: &str) -> ReceivedBlock {
    let text = text.to_owned();
    ReceivedBlock::Text { text }
}

fn body(bench: &Bench, at: usize) -> Value {
    serde_json::from_slice(&bench.server.asked()[at].body).unwrap()
}

/// Text arrives piece by piece and is one block; counts are kept, and so is what nobody knows.
#[tokio::test]
async fn text_usage_and_unknown_fields_are_kept() {
    let usage = r#"{"id":"chatcmpl-1","choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":2},"cost":0.10}}"#;
    let (one, two) = (text("Hel"), text("lo ✓"));
    let odd =
        r#"{"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":".","citations":[1.50]}}]}"#;
    let end = finish("stop");
    let bench = Bench::new([Answer::stream(&[&one, &two, odd, &end, usage])]);
    let (outcome, log) = bench.turn().await;
    assert_eq!(outcome.end, TurnEndReason::Completed);
    assert_eq!(outcome.text.as_deref(), Some("Hello ✓."));
    let usage = Usage {
        input_tokens: 7,
        output_tokens: 3,
        cache_read_input_tokens: 2,
        cache_creation_input_tokens: 0,
    };
    assert_eq!(outcome.usage, usage);
    let message = &said(&log)[0];
    assert_eq!(known(message), [text_block("Hello ✓.")]);
    let Some(ReceivedBlock::Provider { data }) = message.blocks.last() else {
        panic!("{message:?}");
    };
    for kept in [
        r#""citations":[[1.50]]"#,
        r#""cost":0.10"#,
        r#""id":["chatcmpl-1"]"#,
    ] {
        assert!(data.contains(kept), "{kept} in {data}");
    }
    let sent = body(&bench, 0);
    assert_eq!(sent["model"], "small:1b");
    assert_eq!(
        sent["messages"][0],
        json!({"role": "system", "content": "Be brief."})
    );
    assert_eq!(
        sent["messages"][1],
        json!({"role": "user", "content": "Go."})
    );
    assert_eq!(sent["stream_options"], json!({"include_usage": true}));
    assert_eq!(bench.server.asked()[0].header("authorization"), None);
}

/// Thoughts are kept apart from the text, under either name; they go back where they are wanted, with
/// the calls they led to, and nowhere else.
#[tokio::test]
async fn reasoning_is_kept_and_goes_back_only_where_it_is_wanted() {
    for (echo, name) in [(true, "reasoning_content"), (false, "reasoning")] {
        let thought = event(&json!({ name: "Let me see." }));
        let ls = call(0, "c1", "Bash", r#"{"command":"echo hi"}"#);
        let mut bench = Bench::new([
            answer(&[thought.clone(), ls], "tool_calls"),
            answer(&[thought, text("Hi.")], "stop"),
            answer(&[text("Bye.")], "stop"),
        ]);
        bench.options.echo_reasoning = echo;
        let session = bench.session();
        let agent = bench.agent(session.clone());
        let log = session.path().unwrap().to_path_buf();
        assert_eq!(agent.send("Go.").await.text.as_deref(), Some("Hi."));
        assert_eq!(agent.send("More.").await.text.as_deref(), Some("Bye."));
        agent.close("test").await.unwrap();
        bench.check(&log);
        let thought = ReceivedBlock::Reasoning {
            text: "Let me see.".to_owned(),
        };
        assert_eq!(known(&said(&log)[1]), [thought, text_block("Hi.")]);
        let sent = body(&bench, 2);
        let echoed = echo.then(|| json!("Let me see."));
        assert_eq!(
            sent["messages"][2].get("reasoning_content"),
            echoed.as_ref()
        );
        assert_eq!(sent["messages"][4].get("reasoning_content"), None);
    }
}

/// A call whose arguments come in pieces runs once they are whole, and its result goes back.
#[tokio::test]
async fn a_call_split_over_frames_runs_once_it_is_whole() {
    let first = call(0, "c1", "Bash", r#"{"comm"#);
    let more = event(
        &json!({"tool_calls": [{"index": 0, "function": {"arguments": "and\":\"echo a\""}}]}),
    );
    let last = event(&json!({"tool_calls": [{"index": 0, "function": {"arguments": "}"}}]}));
    let bench = Bench::new([
        answer(&[text("I look."), first, more, last], "tool_calls"),
        answer(&[text("Done.")], "stop"),
    ]);
    let (outcome, log) = bench.turn().await;
    assert_eq!(outcome.text.as_deref(), Some("Done."));
    let calls = ReceivedBlock::ToolCall {
        id: "c1".to_owned(),
        name: "Bash".to_owned(),
        arguments: r#"{"command":"echo a"}"#.to_owned(),
    };
    assert_eq!(known(&said(&log)[0]), [text_block("I look."), calls]);
    let sent = body(&bench, 1);
    let function = json!({"name": "Bash", "arguments": r#"{"command":"echo a"}"#});
    let calls = json!([{"id": "c1", "type": "function", "function": function}]);
    let messages = &sent["messages"];
    assert_eq!(
        messages[2],
        json!({"role": "assistant", "content": "I look.", "tool_calls": calls})
    );
    assert_eq!(messages[3]["tool_call_id"], "c1");
    assert!(messages[3]["content"].as_str().unwrap().contains('a'));
}

/// Parallel calls are told apart, run, and answered in the order of the model, also where a server
/// ends with `stop` instead of `tool_calls`.
#[tokio::test]
async fn parallel_calls_are_answered_in_order() {
    let pieces = [
        call(0, "a", "Bash", ""),
        call(1, "b", "Bash", ""),
        event(&json!({"tool_calls": [
            {"index": 1, "function": {"arguments": "{\"command\":\"echo two\"}"}},
            {"index": 0, "function": {"arguments": "{\"command\":\"echo one\"}"}}]})),
    ];
    let bench = Bench::new([answer(&pieces, "stop"), answer(&[text("Both.")], "stop")]);
    let (outcome, _) = bench.turn().await;
    assert_eq!(outcome.text.as_deref(), Some("Both."));
    let sent = body(&bench, 1);
    let results: Vec<(&str, bool, bool)> = sent["messages"].as_array().unwrap()[3..]
        .iter()
        .map(|it| {
            let content = it["content"].as_str().unwrap();
            let id = it["tool_call_id"].as_str().unwrap();
            (id, content.contains("one"), content.contains("two"))
        })
        .collect();
    assert_eq!(results, [("a", true, false), ("b", false, true)]);
}

/// An answer that was cut off for its length keeps its text and runs no call.
#[tokio::test]
async fn length_ends_the_turn_without_running_half_a_call() {
    let half = call(0, "c1", "Bash", r#"{"command":"touch did"#);
    let bench = Bench::new([answer(&[text("As I was"), half], "length")]);
    let (outcome, log) = bench.turn().await;
    assert_eq!(outcome.end, TurnEndReason::MaxTokens);
    assert_eq!(known(&said(&log)[0]), [text_block("As I was")]);
    assert!(!bench.project().join("did").exists());
}

/// A refusal is what the user reads, whichever way the server says it.
#[tokio::test]
async fn a_refusal_is_shown() {
    let refusal = event(&json!({"refusal": "I will not."}));
    for (events, reason) in [
        (vec![refusal], "stop"),
        (vec![text("I will not.")], "content_filter"),
    ] {
        let bench = Bench::new([answer(&events, reason)]);
        let (outcome, log) = bench.turn().await;
        assert_eq!(outcome.text.as_deref(), Some("I will not."));
        assert_eq!(known(&said(&log)[0]), [text_block("I will not.")]);
    }
}

/// Cancelling closes the stream; the text so far stands, and the session goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelling_closes_the_stream_and_keeps_the_text() {
    let bench = Bench::new([
        Answer::stall(&[&text("Half a"), &call(0, "c", "Bash", "{}")]),
        answer(&[text("Whole.")], "stop"),
    ]);
    let session = bench.session();
    let (told, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let chat = Chat::new(bench.options.clone()).unwrap();
    let agent = bench.agent_of(Telling(chat, told), session.clone());
    let log = session.path().unwrap().to_path_buf();
    let sent = agent.send("Go.");
    tokio::time::timeout(PATIENCE, heard.recv()).await.unwrap();
    agent.cancel(Pending::Drop);
    let outcome = tokio::time::timeout(PATIENCE, sent).await.unwrap();
    let cause = AbortCause::User;
    assert_eq!(outcome.end, TurnEndReason::Aborted { cause });
    bench.server.wait_closed();
    assert_eq!(agent.send("Go on.").await.text.as_deref(), Some("Whole."));
    agent.close("test").await.unwrap();
    bench.check(&log);
    let message = &said(&log)[0];
    assert!(message.interrupted);
    assert_eq!(known(message), [text_block("Half a")]);
}

/// A server that cannot take a request now is asked again with the same bytes, and the answer is as if
/// nothing had been.
#[tokio::test]
async fn a_busy_server_is_asked_again() {
    for status in ["429 Too Many Requests", "503 Service Unavailable"] {
        let busy = Answer::status(status, r#"{"error":{"message":"busy"}}"#);
        let bench = Bench::new([
            busy.clone().header("retry-after: 0"),
            busy,
            answer(&[text("Now.")], "stop"),
        ]);
        let (outcome, log) = bench.turn().await;
        assert_eq!(outcome.text.as_deref(), Some("Now."));
        assert_eq!((bench.server.asked().len(), said(&log).len()), (3, 1));
    }
}

/// A saved session goes on with exactly the bytes it had: the old requests are prefixes of the new.
#[tokio::test]
async fn a_saved_session_is_replayed_byte_for_byte() {
    let ls = call(
        0,
        "c1",
        "Bash",
        r#"{"command": "echo hi",  "timeout": 1000}"#,
    );
    let bench = Bench::new([
        answer(&[text("See."), ls], "tool_calls"),
        answer(&[text("One.")], "stop"),
        answer(&[text("Two.")], "stop"),
    ]);
    let (_, log) = bench.turn().await;
    let Loaded { session, .. } = Session::load(&log).unwrap();
    let (outcome, _) = bench.turn_of(session).await;
    assert_eq!(outcome.text.as_deref(), Some("Two."));
    let messages = |at: usize| {
        let text = String::from_utf8(bench.server.asked()[at].body.clone()).unwrap();
        let (head, _) = text.split_once(r#","tools":"#).unwrap();
        head.trim_end_matches(']').to_owned()
    };
    for at in 1..3 {
        let (before, after) = (messages(at - 1), messages(at));
        assert!(after.starts_with(&before), "{before}\n{after}");
    }
}

/// The key travels in its header, and is nowhere in the log.
#[tokio::test]
async fn a_key_is_sent_and_never_logged() {
    let key = "sk-very-secret";
    let mut bench = Bench::new([Answer::status(
        "401 Unauthorized",
        &format!(r#"{{"error":{{"message":"bad key {key}"}}}}"#),
    )]);
    bench.options.key = Some(Key::new("TEST_KEY", format!("{key}\n")));
    assert!(!format!("{:?}", bench.options).contains(key));
    let (outcome, log) = bench.turn().await;
    let sent = bench.server.asked()[0].clone();
    assert_eq!(sent.header("authorization"), Some("Bearer sk-very-secret"));
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(!text.contains(key) && !format!("{outcome:?}").contains(key));
    let view = Session::read(&log).unwrap();
    assert!(matches!(
        view.entries.last().unwrap().event,
        Event::SessionEnd(_)
    ));
    let TurnEndReason::Error { message } = outcome.end else {
        panic!("{outcome:?}");
    };
    assert!(
        message.contains("TEST_KEY") && message.contains("[key]"),
        "{message}"
    );
}

/// A model that tells of each chunk as it is handed on.
struct Telling(Chat, UnboundedSender<()>);

impl Model for Telling {
    fn stream(&self, request: Request, signal: Signal) -> ChunkStream {
        let told = self.1.clone();
        let tell = move |_: &_| {
            let _ = told.send(());
        };
        self.0.stream(request, signal).inspect(tell).boxed()
    }
}
