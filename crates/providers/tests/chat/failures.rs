//! What goes wrong ends with words that say what to check, and the session can go on.

use std::net::TcpListener;
use std::time::Duration;

use crate::Bench;
use crate::server::{Answer, text};

/// Nobody listens: the address, the command that starts the server and the one that checks.
#[tokio::test]
async fn a_refused_connection_names_the_address_and_what_to_type() {
    let mut bench = Bench::new([]);
    let gone = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", gone.local_addr().unwrap());
    drop(gone);
    bench.options.base_url.clone_from(&base);
    bench.options.start = Some("ollama serve".to_owned());
    let session = bench.session();
    let log = session.path().unwrap().to_path_buf();
    let agent = bench.agent(session);
    let outcome = agent.send("Go.").await;
    agent.close("test").await.unwrap();
    let said = format!("{:?}", outcome.end);
    let address = format!("{base}/chat/completions");
    let check = format!("`curl {base}/models`");
    for part in [&address, &check, "`ollama serve`", "refused"] {
        assert!(said.contains(part), "{part} in {said}");
    }
    assert!(seamline_harness::session::Session::load(&log).is_ok());
}

/// A key that is missing.
#[tokio::test]
async fn a_401_says_where_the_key_comes_from() {
    let bench = Bench::new([Answer::status("401 Unauthorized", r#"{"error":"no key"}"#)]);
    bench
        .fails(&["401", "no key", "`key_env` of [models.test]"])
        .await;
}

/// A model, or an address, that is not there.
#[tokio::test]
async fn a_404_says_how_to_list_the_models() {
    let body = r#"{"error":{"message":"model \"small:1b\" not found"}}"#;
    let mut bench = Bench::new([Answer::status("404 Not Found", body)]);
    bench.options.pull = Some("ollama pull MODEL".to_owned());
    bench
        .fails(&["404", "small:1b", "/v1/models`", "`ollama pull small:1b`"])
        .await;
}

/// A server that stays busy.
#[tokio::test]
async fn a_429_that_stays_ends_after_the_last_attempt() {
    let busy = Answer::status(
        "429 Too Many Requests",
        r#"{"error":{"message":"slow down"}}"#,
    );
    let bench = Bench::new([busy.clone(), busy.clone(), busy]);
    bench
        .fails(&["429", "after 3 requests", "slow down", "--continue"])
        .await;
    assert_eq!(bench.server.asked().len(), 3);
}

/// A wait that is longer than anybody wants to sit through is told at once.
#[tokio::test]
async fn a_long_retry_after_is_told_and_not_waited_for() {
    let busy = Answer::status("429 Too Many Requests", "").header("retry-after: 3600");
    let bench = Bench::new([busy]);
    bench.fails(&["429", "in 3600 s"]).await;
    assert_eq!(bench.server.asked().len(), 1);
}

/// A server that fails.
#[tokio::test]
async fn a_500_points_at_the_servers_log() {
    let failing = Answer::status("500 Internal Server Error", "<h1>oops</h1>");
    let bench = Bench::new([failing.clone(), failing.clone(), failing]);
    bench.fails(&["500", "oops", "server's own log"]).await;
}

/// A conversation that is too long, in the words of different servers; it is not asked again.
#[tokio::test]
async fn a_full_context_window_is_recognised() {
    for (status, body) in [
        (
            "400 Bad Request",
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens.","code":"context_length_exceeded"}}"#,
        ),
        (
            "400 Bad Request",
            r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}"#,
        ),
        (
            "400 Bad Request",
            r#"{"object":"error","message":"This model's maximum context length is 4096","type":"BadRequestError","code":400}"#,
        ),
    ] {
        let bench = Bench::new([Answer::status(status, body)]);
        bench
            .fails(&["longer than the model can read", "--fork"])
            .await;
        assert_eq!(bench.server.asked().len(), 1);
    }
}

/// The server gives up in the middle: nothing of the half answer is kept.
#[tokio::test]
async fn an_error_in_the_middle_is_the_servers_own_word() {
    let bench = Bench::new([Answer::cut(&[
        &text("Half"),
        r#"{"error":{"message":"CUDA out of memory","type":"server_error"}}"#,
    ])]);
    bench
        .fails(&["CUDA out of memory", "while it answered"])
        .await;
}

/// A stream that ends without an end is no answer.
#[tokio::test]
async fn a_truncated_stream_is_no_answer() {
    for answer in [
        Answer::cut(&[&text("Half")]),
        Answer::raw("data: {\"choices\":[{\"del"),
    ] {
        let bench = Bench::new([answer]);
        bench.fails(&["before it was complete"]).await;
    }
}

/// Something else than a model listens there.
#[tokio::test]
async fn garbage_names_the_address() {
    let page = Answer::status("200 OK", "<html>router</html>");
    let json = Answer::status("200 OK", r#"{"ok":true}"#);
    for answer in [Answer::raw("data: {not json}\n\n"), page, json] {
        let bench = Bench::new([answer]);
        bench
            .fails(&["no chat completion", "/v1/chat/completions", "base_url"])
            .await;
    }
}

/// Silence ends the turn, before the answer, before its first frame and after it, and closes the
/// connection.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stall_ends_the_turn_and_closes_the_connection() {
    for (answer, what) in [
        (Answer::mute(), "has not begun to answer"),
        (Answer::stall(&[]), "nothing more"),
        (Answer::stall(&[&text("Half")]), "nothing more"),
    ] {
        let mut bench = Bench::new([answer]);
        bench.options.idle = Duration::from_millis(200);
        bench.fails(&[what, "0.2 s", "idle_timeout"]).await;
        bench.server.wait_closed();
    }
}
