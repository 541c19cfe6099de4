//! A model server that says what it is told to, over real HTTP on loopback.
//!
//! It answers requests in order, each with one [`Answer`], and keeps what it was sent. When it has no
//! more answers it refuses with 418, so that a test that asks too often fails. It ends with its test.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Far longer than anything here takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// What was sent to the server.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// `POST /v1/chat/completions`.
    pub(crate) line: String,
    /// Names are in small letters.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// What the server does with one request.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    status: &'static str,
    headers: Vec<String>,
    /// Each is written and flushed by itself.
    pieces: Vec<Vec<u8>>,
    /// Afterwards the connection stays open until the other side closes it.
    holds: bool,
    /// Not even the status is sent.
    mute: bool,
}

impl Answer {
    /// A stream of these events, `[DONE]` after them.
    pub(crate) fn stream(events: &[&str]) -> Self {
        let mut answer = Self::cut(events);
        answer.pieces.push(b"data: [DONE]\n\n".to_vec());
        answer
    }

    /// A stream that ends after these events without saying so.
    pub(crate) fn cut(events: &[&str]) -> Self {
        let piece = |event: &&str| format!("data: {event}\n\n").into_bytes();
        Self {
            status: "200 OK",
            headers: vec!["content-type: text/event-stream".to_owned()],
            pieces: events.iter().map(piece).collect(),
            holds: false,
            mute: false,
        }
    }

    /// A stream that says these events and then nothing, without an end.
    pub(crate) fn stall(events: &[&str]) -> Self {
        Self {
            holds: true,
            ..Self::cut(events)
        }
    }

    /// The request is taken and nothing comes of it.
    pub(crate) fn mute() -> Self {
        Self {
            mute: true,
            ..Self::stall(&[])
        }
    }

    /// A refusal.
    pub(crate) fn status(status: &'static str, body: &str) -> Self {
        Self {
            status,
            headers: vec!["content-type: application/json".to_owned()],
            pieces: vec![body.as_bytes().to_vec()],
            holds: false,
            mute: false,
        }
    }

    /// Any text as a stream of events.
    pub(crate) fn raw(text: &str) -> Self {
        Self {
            pieces: vec![text.as_bytes().to_vec()],
            ..Self::cut(&[])
        }
    }

    pub(crate) fn header(mut self, header: &str) -> Self {
        self.headers.push(header.to_owned());
        self
    }
}

/// The server.
pub(crate) struct Server {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    /// One for every answer that was held until the other side closed it.
    closed: Receiver<()>,
}

struct Shared {
    answers: Mutex<VecDeque<Answer>>,
    asked: Arc<Mutex<Vec<Asked>>>,
    closed: Mutex<Sender<()>>,
}

impl Server {
    pub(crate) fn start(answers: impl IntoIterator<Item = Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (sender, closed) = channel();
        let shared = Arc::new(Shared {
            answers: Mutex::new(answers.into_iter().collect()),
            asked: Arc::clone(&asked),
            closed: Mutex::new(sender),
        });
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                // A client that goes away early is what some tests are about.
                thread::spawn(move || serve(&shared, stream).ok());
            }
        });
        Self {
            address,
            asked,
            closed,
        }
    }

    /// Everything before `/chat/completions`.
    pub(crate) fn base(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// Waits until the other side closed an answer that was held.
    pub(crate) fn wait_closed(&self) {
        self.closed
            .recv_timeout(PATIENCE)
            .unwrap_or_else(|error| panic!("the connection is not closed: {error}"));
    }
}

fn serve(shared: &Shared, mut stream: TcpStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let asked = read(&mut reader)?;
    let answer = shared.answers.lock().unwrap().pop_front();
    shared.asked.lock().unwrap().push(asked);
    let answer = answer.unwrap_or_else(|| Answer::status("418 Too Often", "{}"));
    let headers: String = answer
        .headers
        .iter()
        .map(|it| format!("{it}\r\n"))
        .collect();
    let status = answer.status;
    if !answer.mute {
        write!(
            stream,
            "HTTP/1.1 {status}\r\n{headers}connection: close\r\n\r\n"
        )?;
    }
    for piece in &answer.pieces {
        stream.write_all(piece)?;
        stream.flush()?;
    }
    if answer.holds {
        let mut rest = Vec::new();
        // Whether it ends well or with a reset: it was closed.
        let _ = reader.read_to_end(&mut rest);
        let _ = shared.closed.lock().unwrap().send(());
    }
    Ok(())
}

fn read(reader: &mut BufReader<TcpStream>) -> std::io::Result<Asked> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let line = line.trim_end().trim_end_matches(" HTTP/1.1").to_owned();
    let mut headers = Vec::new();
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.trim_end().split_once(": ") else {
            break;
        };
        let name = name.to_ascii_lowercase();
        if name == "content-length" {
            length = value.parse().unwrap();
        }
        headers.push((name, value.to_owned()));
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Asked {
        line,
        headers,
        body,
    })
}

/// An event with a piece of text.
pub(crate) fn text(text: &str) -> String {
    event(&serde_json::json!({ "content": text }))
}

/// An event with one whole tool call.
pub(crate) fn call(index: u32, id: &str, name: &str, arguments: &str) -> String {
    let function = serde_json::json!({ "name": name, "arguments": arguments });
    let call =
        serde_json::json!({ "index": index, "id": id, "type": "function", "function": function });
    event(&serde_json::json!({ "tool_calls": [call] }))
}

/// An event with this delta.
pub(crate) fn event(delta: &serde_json::Value) -> String {
    let choice = serde_json::json!({ "index": 0, "delta": delta, "finish_reason": null });
    chunk(&choice)
}

/// The event that ends an answer.
pub(crate) fn finish(reason: &str) -> String {
    let delta = serde_json::json!({});
    chunk(&serde_json::json!({ "index": 0, "delta": delta, "finish_reason": reason }))
}

fn chunk(choice: &serde_json::Value) -> String {
    let kind = "chat.completion.chunk";
    serde_json::json!({ "id": "chatcmpl-1", "object": kind, "choices": [choice] }).to_string()
}

/// A whole answer of these events.
pub(crate) fn answer(events: &[String], reason: &str) -> Answer {
    let end = finish(reason);
    let events = events.iter().chain([&end]).map(String::as_str);
    Answer::stream(&events.collect::<Vec<_>>())
}
